package ycsb

import (
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
)

// statusPercentiles are those of a status line.
func statusPercentiles() []float64 { return []float64{50, 90, 99, 99.9, 99.99} }

// tellStatus calls OnStatus from the begin of the measurement on until the returned function is called, which calls it once
// more.
func (r *Run) tellStatus() (stop func()) {
	if r.OnStatus == nil && r.Logs == nil {
		return func() {}
	}
	ended, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-r.measure:
		case <-ended:
			return
		}
		s := &statusTeller{run: r}
		for next := r.origin; r.OnStatus != nil && r.Clock.Wait(r.waits, next.Sub(r.Clock.Now())) == nil; next = next.Add(r.StatusInterval) {
			s.tell()
		}
		<-ended
		s.tell()
	}()
	return func() {
		close(ended)
		<-told
	}
}

// statusTeller makes status lines, and knows what the last one told.
type statusTeller struct {
	run        *Run
	at         time.Time // of the last one
	operations int64
	// What was measured by then: of measured and intended latencies, by metric and slot.
	before [2][metrics][textSlots]*textTotal
}

func (s *statusTeller) tell() {
	now := s.run.Clock.Now()
	status := report.YCSBStatus{Time: now, Elapsed: max(0, now.Sub(s.run.origin)), Previous: s.operations}
	if !s.at.IsZero() {
		status.Interval = now.Sub(s.at)
	}
	for _, a := range s.run.lanes {
		status.Operations += a.tried.Load()
	}
	if s.run.Operations > 0 {
		status.Todo = max(0, s.run.Operations-status.Operations)
	}
	if s.run.Texts != nil {
		status.Summaries = s.summaries(now)
	}
	s.at, s.operations = now, status.Operations
	if s.run.OnStatus != nil {
		s.run.OnStatus(status)
	}
}

// summaries are those of all metrics that were measured so far, for the time since the last status.
func (s *statusTeller) summaries(now time.Time) (summaries []string) {
	o := s.run.Texts
	for kind := range s.before {
		for m := range metrics {
			for slot := range textSlots {
				sum := s.sum(kind, m, slot)
				if sum.operations(o) == 0 {
					continue
				}
				name := m.String() + slotSuffix(slot)
				if kind == 1 && o.Measured {
					name = "Intended-" + name
				}
				before := s.before[kind][m][slot]
				if before == nil {
					before = new(textTotal)
				}
				since := sum.hdr.Since(&before.hdr)
				summaries = append(summaries, o.summary(name, since, sum.count-before.count, sum.sum-before.sum))
				s.before[kind][m][slot] = sum
				s.log(o.hdrName(name), now, since)
			}
		}
	}
	return summaries
}

// sum is what all threads measured by now, as far as a status shows it.
func (s *statusTeller) sum(kind int, m Metric, slot int) *textTotal {
	var sum *textTotal
	for _, a := range s.run.lanes {
		texts := a.recorder.texts[m].Load()
		if texts == nil {
			continue
		}
		from := texts.measured[slot].Load()
		if kind == 1 {
			from = texts.intended[slot].Load()
		}
		if from == nil {
			continue
		}
		if sum == nil {
			sum = new(textTotal)
		}
		if from.hdr != nil {
			sum.hdr.Add(from.hdr)
		}
		sum.count += from.count.Load()
		sum.sum += from.sum.Load()
	}
	return sum
}

// log writes the histogram of a metric since the last status.
func (s *statusTeller) log(name string, now time.Time, since *HDRCounts) {
	if s.run.Logs == nil || !s.run.Texts.HDR {
		return
	}
	from := s.at
	if from.IsZero() {
		from = s.run.origin
	}
	s.run.Logs.write(name, s.run.origin, from, now, since)
}

// summary is a metric in a status line, of what came since the last one. What is measured in two ways has two lines, as in
// YCSB.
func (o *TextOptions) summary(name string, since *HDRCounts, count, sum int64) string {
	other := ""
	switch {
	case o.Buckets, o.Series:
		other = report.YCSBAverageSummary(o.bucketName(name), count, sum)
	case o.Raw && count > 0:
		average := strconv.FormatFloat(float64(sum)/float64(count), 'f', 2, 64)
		other = o.rawName(name) + " count: " + strconv.FormatInt(count, 10) + ", average latency(us): " + average
	}
	if !o.HDR {
		return other
	}
	text := since.latency(o.hdrName(name), statusPercentiles()).Summary()
	if o.Buckets || o.Raw {
		text += "\n" + other
	}
	return text
}
