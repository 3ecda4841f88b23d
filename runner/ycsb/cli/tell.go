package cli

import (
	"fmt"
	"maps"
	"math"
	"runtime/debug"
	"slices"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// collected is what Go's garbage collector has done by now.
func collected() report.YCSBCollector {
	var stats debug.GCStats
	debug.ReadGCStats(&stats)
	return report.YCSBCollector{Name: "Go", Count: stats.NumGC, Millis: stats.PauseTotal.Milliseconds()}
}

// print writes YCSB's report.
func (s *session) print(result *ycsb.Result, before report.YCSBCollector) error {
	gc := collected()
	gc.Count, gc.Millis = gc.Count-before.Count, gc.Millis-before.Millis
	if err := s.export.write(result, result.Text(gc)); err != nil {
		return &steps.Error{Exit: report.ExitBenchmark, Cause: err, Failure: report.Failure{
			Reason: steps.ReasonIOError, Message: err.Error(), Remedy: "make room for the report, or set exportfile",
		}}
	}
	return nil
}

// tellFacts logs what the database is.
func (s *session) tellFacts(db ycsb.DB) {
	facts := db.Facts()
	var args []any
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		args = append(args, name, facts[name])
	}
	s.log.Info("Connected", args...)
}

// tell logs what YCSB's report has no place for.
func (s *session) tell(result *ycsb.Result, db ycsb.DB) {
	for _, m := range result.Metrics {
		for _, e := range m.Errors {
			s.log.Error("Operations failed", "op", m.Metric, "class", e.Class, "count", e.Count, "first", e.First)
		}
		s.tellLatencies(&m)
	}
	if seconds := result.RunTime().Seconds(); seconds > 0 {
		succeeded := result.Operations - result.Failed
		s.log.Info("Figures", "operations", result.Operations, "succeeded", succeeded, "failed", result.Failed,
			"succeededPerSec", math.Round(float64(succeeded)/seconds*1000)/1000, "runTimeMicros", result.RunTime().Microseconds(),
			"threads", result.Threads, "insertRetries", result.Retries, "unfinished", result.Unfinished)
	}
	if client, ok := db.(interface{ Counters() hbase.Counters }); ok {
		n := client.Counters()
		s.log.Info("Client", "retries", n.Retries, "relocations", n.Relocations, "lostConnections", n.Lost, "busy", n.Busy)
	}
	if missed := result.Due - result.Operations - result.Unfinished; result.Due > 0 && missed*100 > result.Due {
		s.log.Warn("The target was not reached, so the figures are those of another load", "reason", "RateNotReached",
			"target", s.config.Target, "due", result.Due, "carriedOut", result.Operations, "remedy", "lower -target, or raise -threads")
	}
}

func (s *session) tellLatencies(m *ycsb.MetricResult) {
	for _, h := range []struct {
		name string
		of   *report.Histogram
	}{{"service", m.Latency}, {"intended", m.Intended}} {
		if h.of == nil || h.of.Count() == 0 {
			continue
		}
		s.log.Info("Latency", "op", m.Metric, "kind", h.name, "count", h.of.Count(), "meanNanos", int64(h.of.Mean()),
			"p50Nanos", h.of.Quantile(0.5), "p99Nanos", h.of.Quantile(0.99), "p999Nanos", h.of.Quantile(0.999), "maxNanos", h.of.Max())
	}
}

// verdict is how the run ended, as an error if the exit code is to tell.
func (s *session) verdict(result *ycsb.Result) error {
	if result.Cause != nil {
		return result.Cause
	}
	if result.Unfinished > 0 {
		if s.config.Buffered() {
			s.log.Error("What the write buffers of threads that hung held was not written; the figures count it as BATCHED_OK",
				"threads", result.Unfinished)
		}
		return steps.Fail(report.ExitDeadline, reasonHung, "look into the database's log at that time",
			"%d operations hung when the time was over, and were cut off; they are not in the report", result.Unfinished)
	}
	if err := s.lost(result); err != nil {
		return err
	}
	if result.Operations > 0 && result.Failed == result.Operations {
		return steps.Fail(report.ExitBenchmark, reasonEveryFailed, "look into the database's log at that time",
			"none of %d operations succeeded", result.Operations)
	}
	return nil
}

// lost is the failure of a load that did not insert all its records, whether it tried them or not; nil if it did.
func (s *session) lost(result *ycsb.Result) error {
	if s.config.DoTransactions {
		return nil
	}
	const remedy = "load them again: give insertstart and insertcount, or set core_workload_insertion_retry_limit"
	// What a write buffer holds at the end is written when the session ends.
	if m := result.Metric(ycsb.MetricCleanup); m != nil && m.Failures() > 0 {
		return steps.Fail(report.ExitBenchmark, reasonLost, remedy, "the last records of %d threads were not all written", m.Failures())
	}
	missing := s.config.InsertCount - (result.Operations - result.Failed)
	if missing <= 0 {
		return nil
	}
	if result.TimeUp && result.Failed == 0 {
		s.log.Warn("The time was over before all records were inserted", "missing", missing)
		return nil
	}
	text := fmt.Sprintf("%d of %d records were not inserted", missing, s.config.InsertCount)
	if untried := s.config.InsertCount - result.Operations; untried > 0 {
		text += fmt.Sprintf(", %d of them were not tried after others had failed", untried)
	}
	return steps.Fail(report.ExitBenchmark, reasonLost, remedy, "%s", text)
}
