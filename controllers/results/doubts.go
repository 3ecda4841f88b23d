package results

import (
	"fmt"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// Shares of its time from which a client is said to have measured itself.
const (
	maxCPURatio       = 0.90
	maxThrottledRatio = 0.01
)

// maxBacklogDivisor: of the operations that a rate asked for, one in so many may not be done at the end.
const maxBacklogDivisor = 100

// doubts are the reasons not to believe a measurement, the gravest first.
func doubts(in Input, m *report.Merged) []v1alpha1.Doubt {
	var out []v1alpha1.Doubt
	doubt := func(reason, format string, args ...any) {
		out = append(out, v1alpha1.Doubt{Reason: reason, Message: fmt.Sprintf(format, args...)})
	}
	if m.Shards.Complete < in.Expected {
		out = append(out, missing(m.Shards.Complete, in.Expected))
	}
	if n := m.FailedOperations(); n > 0 {
		doubt(v1alpha1.ReasonOperationErrors, "%d operations failed%s", n, mostFrequent(m.Errors))
	}
	if m.Unfinished > 0 {
		doubt(v1alpha1.ReasonOperationErrors, "%d operations were cut off before they ended", m.Unfinished)
	}
	if backlog := m.Due - m.Operations - m.FailedOperations(); backlog > m.Due/maxBacklogDivisor {
		doubt(v1alpha1.ReasonRateNotReached, "%d operations were tried in a time for which the rate asked for %d; lower the rate, or use more threads", m.Due-backlog, m.Due)
	}
	if i, hash, ok := otherConfig(in); ok {
		doubt(v1alpha1.ReasonConfigChanged, "shard %d read a Hadoop configuration with hash %s, the run began with %s", i, hash, in.Limits.ConfigHash)
	}
	if wall := micros(m.Times.WallMicros); m.Shards.Started > 0 && wall < in.Limits.MinDuration {
		doubt(v1alpha1.ReasonTooShort, "it took %s, less than spec.minDuration of %s; give it more to do", wall, in.Limits.MinDuration)
	}
	limit := in.spreadLimit(m)
	if spread := micros(m.Times.StartSpreadMicros); spread > limit {
		doubt(v1alpha1.ReasonStartSpread, "the shards' starts lie %s apart, the limit is %s", spread, limit)
	}
	switch {
	case in.Expected == 1: // its start has nothing to be compared with
	case m.Clock.Unknown > 0:
		doubt(v1alpha1.ReasonClockSkew, "%d shards do not know how far their clock is from the target's", m.Clock.Unknown)
	case micros(m.Clock.MaxUncertaintyMicros) > limit:
		doubt(v1alpha1.ReasonClockSkew, "the shards' clocks are known to ± %s only, the limit is %s", micros(m.Clock.MaxUncertaintyMicros), limit)
	}
	if u := m.Use; u != nil {
		if u.MaxThrottledRatio > maxThrottledRatio {
			doubt(v1alpha1.ReasonClientSaturated, "shard %d was throttled for %.1f %% of its time; raise its CPU limit, or remove it", u.MaxThrottledIndex, 100*u.MaxThrottledRatio)
		}
		if u.MaxCPURatio > maxCPURatio {
			doubt(v1alpha1.ReasonClientSaturated, "shard %d used %.0f %% of the CPU it may use; spread the load over more pods or nodes", u.MaxCPUIndex, 100*u.MaxCPURatio)
		}
	}
	return out
}

func missing(complete, expected int32) v1alpha1.Doubt {
	return v1alpha1.Doubt{Reason: v1alpha1.ReasonShardsMissing, Message: fmt.Sprintf("%d of %d shards have a complete report", complete, expected)}
}

// mostFrequent names the most frequent error, where errors were counted by class.
func mostFrequent(errors []report.ErrorCount) string {
	if len(errors) == 0 {
		return ""
	}
	return "; the most frequent error: " + errors[0].Class
}

// otherConfig is the first shard that read another configuration than the run began with.
func otherConfig(in Input) (int32, string, bool) {
	for _, s := range in.Shards {
		if s.Report == nil || in.Limits.ConfigHash == "" {
			continue
		}
		if h := s.Report.Body.ConfHash; h != "" && h != in.Limits.ConfigHash {
			return s.Index, h, true
		}
	}
	return 0, "", false
}

// spreadLimit is how far apart the starts may lie.
func (in Input) spreadLimit(m *report.Merged) time.Duration {
	if in.Limits.MaxStartSpread > 0 {
		return in.Limits.MaxStartSpread
	}
	return micros(report.SpreadLimit(m.Times.MinExecMicros))
}

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
