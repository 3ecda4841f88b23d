package step

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// fill puts what was measured into the report's body. entered is when the shard passed the gate.
func (s *step) fill(r *ycsb.Result, entered time.Time) {
	if r.Origin.IsZero() || r.First.IsZero() {
		return // it was stopped before anything began
	}
	micros := func(t time.Time) int64 { return r.Origin.UnixMicro() + t.Sub(r.Origin).Microseconds() }
	first := r.First
	if s.y.RateMilli > 0 {
		// Waiting for the time of the first operation is part of the measurement.
		first = r.Origin
		if entered.After(first) {
			first = entered
		}
	}
	b := s.body
	b.Start, b.End = micros(first), max(micros(first), micros(r.Last))
	b.Operations, b.Tried, b.Unfinished, b.Due = r.Operations-r.Failed, r.Operations, r.Unfinished, r.Due
	b.Latency, b.Intended, b.Series = r.Latency, r.Intended, r.Series
	b.Parts, b.Errors = partsOf(r), errorsOf(r)
}

// partsOf are the figures of each metric, failures apart.
func partsOf(r *ycsb.Result) (parts []report.Part) {
	for k := range r.Metrics {
		m := &r.Metrics[k]
		name := m.Metric.String()
		part := report.Part{Name: name, Latency: m.Latency, Intended: m.Intended}
		if m.Metric.Returns() {
			for status, n := range m.Statuses {
				if n > 0 {
					part.Returns = append(part.Returns, report.ReturnCount{Status: ycsb.Status(status).String(), Count: n})
				}
			}
		}
		if part.Latency != nil || len(part.Returns) > 0 {
			parts = append(parts, part)
		}
		if m.Failed != nil {
			parts = append(parts, report.Part{Name: name + "-FAILED", Latency: m.Failed})
		}
	}
	return parts
}

// errorsOf are the failures of all metrics by class. Those of a read-modify-write are told with its parts.
func errorsOf(r *ycsb.Result) []report.ErrorCount {
	byClass := map[string]*report.ErrorCount{}
	for k := range r.Metrics {
		if r.Metrics[k].Metric == ycsb.MetricReadModifyWrite {
			continue
		}
		for _, e := range r.Metrics[k].Errors {
			if sum := byClass[e.Class]; sum != nil {
				sum.Count += e.Count
			} else {
				byClass[e.Class] = &e
			}
		}
	}
	var all []report.ErrorCount
	for _, e := range byClass {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b report.ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class))
	})
	return all
}

// verdict is how the measurement ended. failure is what kept a thread from going on.
func (s *step) verdict(r *ycsb.Result, failure error) error {
	switch {
	case r.Cause != nil && !s.finished(r):
		return r.Cause
	case failure != nil:
		return &steps.Error{Exit: report.ExitBenchmark, Cause: failure, Failure: report.Failure{
			Reason: steps.ReasonIOError, Message: failure.Error(), Remedy: "look into the shard's log",
		}}
	case r.Operations+r.Unfinished > 0 && r.Failed == r.Operations:
		return s.everyOperation(r)
	case s.plan.Identity.Step == plan.StepLoad && !s.finished(r):
		return s.lost(r)
	}
	return s.mismatch(r)
}

// finished tells whether all that was planned was done: a stop order that comes then comes too late. What a load did not
// insert is not done.
func (s *step) finished(r *ycsb.Result) bool {
	if s.plan.Identity.Step == plan.StepLoad {
		return r.Operations-r.Failed == s.share.count && buffered(r)
	}
	return s.share.operations > 0 && r.Operations == s.share.operations
}

// buffered tells whether what waited in buffers at the end was written.
func buffered(r *ycsb.Result) bool {
	end := r.Metric(ycsb.MetricCleanup)
	return end == nil || end.Failures() == 0
}

// lost is the failure of a load that did not insert all its records.
func (s *step) lost(r *ycsb.Result) error {
	done := r.Operations - r.Failed
	text := "see the shard's log"
	if all := errorsOf(r); len(all) > 0 {
		text = fmt.Sprintf("the most frequent error is %s: %s", all[0].Class, all[0].First)
	}
	what := fmt.Sprintf("%d of %d records are not inserted", s.share.count-done, s.share.count)
	if done == s.share.count {
		what = "not all records that were buffered are inserted"
	}
	return steps.Fail(report.ExitBenchmark, steps.ReasonRecordsLost,
		"look into the logs of the RegionServers at that time; spec.insertionRetryLimit has inserts repeated", "%s, %d hung; %s", what, r.Unfinished, text)
}

// everyOperation is the failure of a shard none of whose operations succeeded.
func (s *step) everyOperation(r *ycsb.Result) error {
	text := "no error is told"
	if all := errorsOf(r); len(all) > 0 {
		text = fmt.Sprintf("the most frequent error is %s: %s", all[0].Class, all[0].First)
	}
	return steps.Fail(report.ExitBenchmark, steps.ReasonEveryOperation, "look into the logs of the RegionServers at that time",
		"none of %d operations succeeded, %d hung; %s", r.Operations+r.Unfinished, r.Unfinished, text)
}

// mismatch is the failure of a shard that read other data than were written.
func (s *step) mismatch(r *ycsb.Result) error {
	verify := r.Metric(ycsb.MetricVerify)
	if verify == nil || verify.Statuses[ycsb.UnexpectedState] == 0 {
		return nil
	}
	first := ""
	if len(verify.Errors) > 0 {
		first = verify.Errors[0].First
	}
	return steps.Fail(report.ExitBenchmark, steps.ReasonDataMismatch, "find out who else writes to the table, and whether it was loaded with dataIntegrity",
		"%d of %d reads returned other data than were written; for example: %s", verify.Statuses[ycsb.UnexpectedState], verify.Successes()+verify.Failures(), first)
}
