package report

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// A YCSBStatus is what a YCSB client says now and then while it works.
type YCSBStatus struct {
	Label                string        // stands before the time, with nothing between them
	Time                 time.Time     // now; its location is the zone that is printed
	Elapsed              time.Duration // since the start
	Interval             time.Duration // since the last status
	Operations, Previous int64         // done by now, and by the last status
	Todo                 int64         // operations that are left; 0: none, or nobody knows
	// Summaries are those of the metrics during the interval; see YCSBLatency.Summary.
	Summaries []string
}

// String is the status line, without its line feed. Rates are made of whole milliseconds, as YCSB does; a rate of an
// interval of none is infinite, or NaN, which counts as 0 where the time that is left is made of it.
func (s YCSBStatus) String() string {
	elapsed, interval := s.Elapsed.Milliseconds(), s.Interval.Milliseconds()
	overall := 1000 * (float64(s.Operations) / float64(elapsed))
	current := 1000 * (float64(s.Operations-s.Previous) / float64(interval))
	var b strings.Builder
	b.WriteString(s.Label + s.Time.Format("2006-01-02 15:04:05:") + threeDigits(s.Time.Nanosecond()/1e6))
	b.WriteString(" " + strconv.FormatInt(elapsed/1000, 10) + " sec: " + strconv.FormatInt(s.Operations, 10) + " operations; ")
	if s.Operations != 0 {
		b.WriteString(javaDecimal(current) + " current ops/sec; ")
	}
	if s.Todo != 0 {
		b.WriteString("est completion in " + remaining(javaLong(math.Ceil(float64(s.Todo)/overall))))
	}
	for _, summary := range s.Summaries {
		b.WriteString(summary + " ")
	}
	return b.String()
}

func threeDigits(n int) string {
	text := strconv.Itoa(1000 + n)
	return text[1:]
}

// javaLong is Java's (long) of a double: the nearest there is, and 0 of what is no number.
func javaLong(v float64) int64 {
	switch {
	case math.IsNaN(v):
		return 0
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(v)
}

// remaining tells a time in YCSB's words, the unit in the singular also for all of a single digit below a minute.
func remaining(seconds int64) string {
	const minute, hour, day = 60, 3600, 86400
	var b strings.Builder
	unit := func(n int64, one string) {
		b.WriteString(strconv.FormatInt(n, 10) + " " + one)
		if n != 1 {
			b.WriteString("s")
		}
		b.WriteString(" ")
	}
	days := seconds / day
	if days > 0 {
		unit(days, "day")
	}
	if hours := seconds % day / hour; hours > 0 {
		unit(hours, "hour")
	}
	if minutes := seconds % hour / minute; days < 1 && minutes > 0 {
		unit(minutes, "minute")
	}
	if b.Len() > 0 {
		return b.String()
	}
	text := strconv.FormatInt(seconds, 10)
	if len(text) == 1 {
		return text + " second "
	}
	return text + " seconds "
}

// Summary is a metric in a status line.
func (l YCSBLatency) Summary() string {
	var b strings.Builder
	b.WriteString("[" + l.Name + ": Count=" + strconv.FormatInt(l.Operations, 10) + ", Max=" + strconv.FormatInt(l.Max, 10) +
		", Min=" + strconv.FormatInt(l.Min, 10) + ", Avg=" + javaDecimal(l.Average))
	for _, p := range l.Percentiles {
		b.WriteString(", " + javaDecimal(p.Percent) + "=" + strconv.FormatInt(p.Micros, 10))
	}
	b.WriteString("]")
	return b.String()
}

// YCSBAverageSummary is a metric in a status line where only the average is kept; empty if nothing was measured.
func YCSBAverageSummary(name string, operations int64, sumMicros int64) string {
	if operations == 0 {
		return ""
	}
	return "[" + name + " AverageLatency(us)=" + javaDecimal(float64(sumMicros)/float64(operations)) + "]"
}
