package measure_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
)

func TestRecorder(t *testing.T) {
	r := measure.NewRecorder(epoch, 100*time.Millisecond, 0)
	at := func(d time.Duration) time.Time { return epoch.Add(d) }
	r.Operation(at(0), at(10*time.Millisecond), 100)
	r.Operation(at(10*time.Millisecond), at(150*time.Millisecond), 200)
	r.Operation(at(150*time.Millisecond), at(199*time.Millisecond), 300)
	r.Error("EOF", "first text")
	r.Error("IOException", "one")
	r.Error("IOException", "two")
	r.Error("Again", "x")

	if r.Bytes() != 600 {
		t.Errorf("Bytes = %d, want 600", r.Bytes())
	}
	var body report.Body
	r.Fill(&body)
	if body.Operations != 3 || body.Bytes != 600 {
		t.Errorf("operations %d, bytes %d, want 3, 600", body.Operations, body.Bytes)
	}
	wantErrors := []report.ErrorCount{
		{Class: "IOException", Count: 2, First: "one"},
		{Class: "Again", Count: 1, First: "x"},
		{Class: "EOF", Count: 1, First: "first text"},
	}
	if diff := cmp.Diff(wantErrors, body.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{100, 500}, body.Series.Amounts()); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if got, want := body.Series.Origin(), epoch.UnixMicro(); got != want {
		t.Errorf("series origin %d, want %d", got, want)
	}
	l := body.Latency
	if l.Count() != 3 || l.Sum() != int64(199*time.Millisecond) || l.Min() != int64(10*time.Millisecond) || l.Max() != int64(140*time.Millisecond) {
		t.Errorf("latency count %d, sum %d, min %d, max %d", l.Count(), l.Sum(), l.Min(), l.Max())
	}
	if got, want := r.Micros(at(time.Second)), epoch.UnixMicro()+1_000_000; got != want {
		t.Errorf("Micros = %d, want %d", got, want)
	}
}

func TestRecorderKeepsTheSeriesInTheTargetsClock(t *testing.T) {
	r := measure.NewRecorder(epoch, 100*time.Millisecond, 50*time.Millisecond)
	r.Operation(epoch, epoch.Add(60*time.Millisecond), 7) // 110 ms by the target's clock
	var body report.Body
	r.Fill(&body)
	if diff := cmp.Diff([]int64{0, 7}, body.Series.Amounts()); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
}

func TestRecorderWithoutOperations(t *testing.T) {
	r := measure.NewRecorder(epoch, time.Second, 0)
	body := report.Body{Operations: 9, Errors: []report.ErrorCount{{Class: "old"}}}
	r.Fill(&body)
	if diff := cmp.Diff(report.Body{}, body); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
}

func TestOperationDoesNotAllocate(t *testing.T) {
	r := measure.NewRecorder(epoch, time.Millisecond, 0)
	now := epoch
	if allocs := testing.AllocsPerRun(1000, func() {
		ended := now.Add(7 * time.Millisecond)
		r.Operation(now, ended, 1<<20)
		now = ended
	}); allocs != 0 {
		t.Errorf("Operation allocates %v times", allocs)
	}
}

func BenchmarkOperation(b *testing.B) {
	r := measure.NewRecorder(epoch, time.Second, 0)
	now := epoch
	for b.Loop() {
		ended := now.Add(time.Millisecond)
		r.Operation(now, ended, 1<<20)
		now = ended
	}
}
