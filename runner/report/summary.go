package report

import (
	"fmt"
	"strings"
)

// Summary is one line for a person about one repeat of a DFSIO test, of an operation that moves no bytes, or of a step that
// mixes kinds of them, such as
//
//	write: 4 files, 8.0 GiB in 12.3 s: aggregate 666.0 MiB/s, per stream 170.2 MiB/s, p99 of one 1.0 MB write 12.1 ms
//	create: 100000 operations on 4 shards in 12.3 s: 8130.1 ops/s, p50 1.2 ms, p99 5.4 ms
//	workload-a: 99997 operations on 4 shards in 12.3 s: 8129.8 ops/s, READ p50 1.2 ms p99 5.4 ms, UPDATE p50 1.4 ms p99 6.1 ms, 3 failed
//
// KiB, MiB and so on are powers of 1024; kB and MB, in which buffers are usually given, are powers of 1000. What cannot
// be told is left out.
func Summary(m *Merged, test string) string {
	switch {
	case len(m.Parts) > 0 && m.Shards.Started > 0:
		return partsSummary(m, test)
	case m.Bytes == 0 && (m.Operations > 0 || m.Tried > 0):
		return operationsSummary(m, test)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", test, files(m.Shards))
	if m.Shards.Started == 0 {
		return b.String()
	}
	if m.Bytes > 0 {
		fmt.Fprintf(&b, ", %s", binarySize(m.Bytes))
	}
	fmt.Fprintf(&b, " in %s", duration(m.Times.WallMicros*1000))
	var parts []string
	if v := m.Rates.AggregateMiBps; v != nil {
		parts = append(parts, fmt.Sprintf("aggregate %.1f MiB/s", *v))
	}
	if v := m.Rates.PerStreamMiBps; v != nil {
		parts = append(parts, fmt.Sprintf("per stream %.1f MiB/s", *v))
	}
	if l := m.Latency; l != nil {
		parts = append(parts, fmt.Sprintf("p99 of one %s %s", call(m, test), duration(l.P99)))
	}
	if n := m.FailedOperations(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed operations", n))
	}
	if len(parts) > 0 {
		b.WriteString(": " + strings.Join(parts, ", "))
	}
	return b.String()
}

// partsSummary is the line of a step that mixes kinds of operations.
func partsSummary(m *Merged, step string) string {
	var parts []string
	if v := m.Rates.OpsPerSec; v != nil {
		parts = append(parts, fmt.Sprintf("%.1f ops/s", *v))
	}
	for _, p := range m.Parts {
		if !isOperation(p.Name) || p.Count == 0 {
			continue
		}
		text := p.Name
		if l := p.Latency; l != nil {
			text += " p50 " + duration(l.P50) + " p99 " + duration(l.P99)
		}
		if l := p.Intended; l != nil {
			text += " intended p50 " + duration(l.P50) + " p99 " + duration(l.P99)
		}
		parts = append(parts, text)
	}
	if n := m.FailedOperations(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", n))
	}
	if m.Unfinished > 0 {
		parts = append(parts, fmt.Sprintf("%d cut off", m.Unfinished))
	}
	return fmt.Sprintf("%s: %s on %s in %s: %s", step, counted(m.Operations, "operation"), shards(m.Shards),
		duration(m.Times.WallMicros*1000), strings.Join(parts, ", "))
}

// operationsSummary is the line where operations, not bytes, are counted.
func operationsSummary(m *Merged, operation string) string {
	var parts []string
	if v := m.Rates.OpsPerSec; v != nil {
		parts = append(parts, fmt.Sprintf("%.1f ops/s", *v))
	}
	if l := m.Latency; l != nil {
		parts = append(parts, "p50 "+duration(l.P50), "p99 "+duration(l.P99))
	}
	if l := m.Intended; l != nil {
		parts = append(parts, "intended p50 "+duration(l.P50), "p99 "+duration(l.P99))
	}
	if n := m.FailedOperations(); n > 0 {
		parts = append(parts, fmt.Sprintf("%d failed operations", n))
	}
	return fmt.Sprintf("%s: %s on %s in %s: %s", operation, counted(m.Operations, "operation"), shards(m.Shards),
		duration(m.Times.WallMicros*1000), strings.Join(parts, ", "))
}

// shards says how many of the shards began.
func shards(s ShardCounts) string {
	if s.Started < s.Expected {
		return fmt.Sprintf("%d of %s", s.Started, counted(int64(s.Expected), "shard"))
	}
	return counted(int64(s.Expected), "shard")
}

func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// files says how many of the shards, one file each, began.
func files(s ShardCounts) string {
	noun := "files"
	if s.Expected == 1 {
		noun = "file"
	}
	if s.Started < s.Expected {
		return fmt.Sprintf("%d of %d %s", s.Started, s.Expected, noun)
	}
	return fmt.Sprintf("%d %s", s.Expected, noun)
}

// call names one operation with its mean size.
func call(m *Merged, test string) string {
	verb := "operation"
	switch test {
	case "write", "append":
		verb = "write"
	case "read", "randomRead", "backwardRead", "skipRead":
		verb = "read"
	}
	if v := m.Rates.MeanIOBytes; v != nil && *v > 0 {
		return decimalSize(*v) + " " + verb
	}
	return verb
}

func binarySize(bytes int64) string {
	return scaled(float64(bytes), 1024, "B", "KiB", "MiB", "GiB", "TiB", "PiB")
}

func decimalSize(bytes float64) string { return scaled(bytes, 1000, "B", "kB", "MB", "GB") }

func duration(nanos int64) string {
	const fraction = 1000
	if v := float64(nanos); v < 60e9 {
		return scaled(v, fraction, "ns", "µs", "ms", "s")
	}
	return fmt.Sprintf("%.1f s", float64(nanos)/1e9)
}

// scaled prints a value in the first unit in which it is below the step, with one decimal except in the smallest unit. It
// looks at the value as printed, so that 1023.99 KiB is 1.0 MiB.
func scaled(v, step float64, units ...string) string {
	for i, unit := range units {
		if i > 0 && (v < step-0.05 || i == len(units)-1) {
			return fmt.Sprintf("%.1f %s", v, unit)
		}
		if i == 0 && v < step-0.5 {
			return fmt.Sprintf("%.0f %s", v, unit)
		}
		v /= step
	}
	return ""
}
