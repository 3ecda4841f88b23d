package report

func clocksOf(shards []shard) Clocks {
	var c Clocks
	for _, s := range shards {
		clock := s.Body.Clock
		if clock == nil {
			c.Unknown++
			continue
		}
		if offset := max(clock.OffsetMicros, -clock.OffsetMicros); offset > c.MaxOffsetMicros {
			c.MaxOffsetMicros, c.MaxOffsetIndex = offset, s.Envelope.Index
		}
		c.MaxUncertaintyMicros = max(c.MaxUncertaintyMicros, clock.UncertaintyMicros)
	}
	return c
}

func useOf(shards []shard) *Use {
	var u *Use
	for _, s := range shards {
		c := s.Body.Client
		if c == nil || s.exec() == 0 {
			continue
		}
		cpu := s.cpuRatio()
		throttled := float64(c.ThrottledMicros) / float64(s.exec())
		if u == nil {
			u = &Use{MaxCPURatio: -1, MaxThrottledRatio: -1}
		}
		if cpu > u.MaxCPURatio {
			u.MaxCPURatio, u.MaxCPUIndex, u.MaxCPUNode = cpu, s.Envelope.Index, s.node
		}
		if throttled > u.MaxThrottledRatio {
			u.MaxThrottledRatio, u.MaxThrottledIndex, u.MaxThrottledNode = throttled, s.Envelope.Index, s.node
		}
	}
	return u
}

// cpuRatio is CPU time over the allowance in the execution time; 0 if either is unknown.
func (s shard) cpuRatio() float64 {
	c := s.Body.Client
	if c == nil || c.AllowanceMilli == 0 || s.exec() == 0 {
		return 0
	}
	return float64(c.CPUMicros) * 1000 / (float64(s.exec()) * float64(c.AllowanceMilli))
}
