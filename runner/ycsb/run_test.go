package ycsb_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// A thread that hangs for 500 ms delays what is due meanwhile, and the intended latencies say exactly how long; the measured
// ones do not show it. With a second thread nothing else is delayed.
func TestIntendedLatencyUnderAStall(t *testing.T) {
	for name, tc := range map[string]struct {
		threads       int
		intended, sum time.Duration // greatest but one, and the sum
	}{
		// Arrivals are 100 ms apart; the third hangs for 500 ms, so that the next five begin late.
		"one thread":  {1, 401 * ms, (500 + 401 + 302 + 203 + 104 + 5 + 4) * ms},
		"two threads": {2, 1 * ms, (500 + 9) * ms},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				n := 0
				db := &fakeDB{do: func(_ context.Context, c call) (ycsb.Status, error) {
					mu.Lock()
					if c.what == "read" {
						n++
					}
					hang := c.what == "read" && n == 3
					mu.Unlock()
					switch {
					case hang:
						time.Sleep(500 * ms)
					case c.what == "read":
						time.Sleep(ms)
					}
					return ycsb.OK, nil
				}}
				r := newRun(t, db, reads+" measurement.interval=both hdrhistogram.percentiles=90,100")
				r.Threads, r.Operations, r.Rate = tc.threads, 10, rate(10)
				result := do(t, r)
				read := result.Metric(ycsb.MetricRead)
				if got := time.Duration(read.Intended.Sum()); got != tc.sum {
					t.Errorf("intended latencies add up to %s, want %s", got, tc.sum)
				}
				if got := time.Duration(read.Latency.Sum()); got != 509*ms {
					t.Errorf("measured latencies add up to %s, want 509ms", got)
				}
				text := result.Text()
				highest := func(d time.Duration) int64 { // what an HDR histogram makes of it
					c := new(ycsb.HDRCounts)
					h := new(ycsb.HDR)
					h.Record(d.Microseconds())
					c.Add(h)
					return c.Max()
				}
				for measurement, want := range map[string]time.Duration{
					"90thPercentileLatency(us)": tc.intended, "100thPercentileLatency(us)": 500 * ms,
				} {
					if got, _ := text.Find("Intended-READ", measurement); got != report.YCSBWhole(highest(want)) {
						t.Errorf("Intended-READ %s = %s, want %d", measurement, got, highest(want))
					}
				}
				if got, _ := text.Find("READ", "90thPercentileLatency(us)"); got != report.YCSBWhole(1000) {
					t.Errorf("READ 90th percentile %s, want 1000", got)
				}
				if result.Due != 10 || result.Operations != 10 {
					t.Errorf("%d due, %d done, want 10 of each", result.Due, result.Operations)
				}
			})
		})
	}
}

// One schedule serves all threads: operations begin an interval apart, whichever thread takes them.
func TestTargetIsOneScheduleForAllThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &fakeDB{do: takes(25 * ms)}
		r := newRun(t, db, reads)
		r.Threads, r.Operations, r.Rate = 3, 50, rate(100)
		result := do(t, r)
		began := db.begins("read")
		first := began[0]
		if first >= 10*ms {
			t.Errorf("the first operation begins after %s, want within an interval", first)
		}
		threads := map[int]bool{}
		for k := range 50 {
			if got, want := began[k], first+time.Duration(k)*10*ms; got != want {
				t.Fatalf("operation %d begins after %s, want %s", k, got, want)
			}
			threads[db.calls[k].thread] = true
		}
		if len(threads) != 3 || result.Operations != 50 || result.Due != 50 {
			t.Errorf("%d threads worked, %d operations of %d due", len(threads), result.Operations, result.Due)
		}
	})
}

// A target that cannot be reached is missed by as much as the report says.
func TestDueTellsAMissedTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, &fakeDB{do: takes(20 * ms)}, reads)
		r.Rate, r.MaxTime = rate(100), 10*time.Second
		result := do(t, r)
		if result.Due != 1000 || result.Operations < 499 || result.Operations > 501 || !result.TimeUp {
			t.Errorf("%d operations of %d due, time up %v", result.Operations, result.Due, result.TimeUp)
		}
		if result.RunTime() < 10*time.Second || result.RunTime() > 10*time.Second+20*ms {
			t.Errorf("run time %s", result.RunTime())
		}
	})
}

func TestSharesOfThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &fakeDB{do: takes(ms)}
		r := newRun(t, db, reads)
		r.Threads, r.Operations = 4, 10
		result := do(t, r)
		got := map[int]int{}
		for _, c := range db.calls {
			if c.what == "read" {
				got[c.thread]++
			}
		}
		// Sessions are opened at the same time, so which thread has which is not known.
		counts := map[int]int{}
		for _, n := range got {
			counts[n]++
		}
		if diff := cmp.Diff(map[int]int{3: 2, 2: 2}, counts); diff != "" || result.Operations != 10 {
			t.Errorf("%d operations, threads by operations (-want +got):\n%s", result.Operations, diff)
		}
		if db.count("close") != 4 || result.Metric(ycsb.MetricCleanup).Successes() != 4 {
			t.Errorf("%d sessions closed, %d recorded", db.count("close"), result.Metric(ycsb.MetricCleanup).Successes())
		}
	})
}

func TestWarmupIsNotMeasured(t *testing.T) {
	for name, tc := range map[string]struct {
		warmup ycsb.Warmup
		rate   *measure.Rate
		calls  int
		begins time.Duration
	}{
		"a time":                 {ycsb.Warmup{Duration: time.Second}, nil, 100 + 10, time.Second},
		"a number":               {ycsb.Warmup{Operations: 7}, nil, 7 + 10, 40 * ms},
		"a time with a target":   {ycsb.Warmup{Duration: time.Second}, rate(10), 10 + 10, time.Second},
		"a number with a target": {ycsb.Warmup{Operations: 10}, rate(10), 10 + 10, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := &fakeDB{do: takes(10 * ms)}
				r := newRun(t, db, reads)
				if tc.rate == nil {
					r.Threads = 2
				}
				if tc.warmup.Duration > 0 {
					r.Threads = 1
				}
				r.Operations, r.Warmup, r.Rate = 10, tc.warmup, tc.rate
				result := do(t, r)
				if got := db.count("read"); got != tc.calls {
					t.Errorf("%d reads, want %d", got, tc.calls)
				}
				if n := result.Metric(ycsb.MetricRead).Successes(); n != 10 || result.Operations != 10 || result.Metric(ycsb.MetricRead).Series.Total() != 10 {
					t.Errorf("%d reads measured, %d operations", n, result.Operations)
				}
				if got := result.Origin.Sub(db.epoch); tc.begins > 0 && got != tc.begins {
					t.Errorf("the measurement begins after %s, want %s", got, tc.begins)
				}
			})
		})
	}
}

// A load is not warmed up: each of its records is inserted once, and measured.
func TestLoadHasNoWarmup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &fakeDB{}
		r := newRun(t, db, "dotransactions=false recordcount=10")
		r.Operations, r.Warmup = 10, ycsb.Warmup{Operations: 5}
		if result := do(t, r); result.Metric(ycsb.MetricInsert).Successes() != 10 || db.count("insert") != 10 {
			t.Errorf("%d inserts", db.count("insert"))
		}
	})
}

func TestReadModifyWriteIsOneOperationOfThreeMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		db := &fakeDB{do: func(_ context.Context, c call) (ycsb.Status, error) {
			if c.what == "close" {
				return ycsb.OK, nil
			}
			time.Sleep(3 * ms)
			if n++; n == 5 { // the third read
				return ycsb.NotFound, nil
			}
			return ycsb.OK, nil
		}}
		r := newRun(t, db, "readproportion=0 updateproportion=0 readmodifywriteproportion=1 recordcount=100")
		r.Operations = 10
		result := do(t, r)
		if result.Operations != 10 || result.Failed != 1 || db.count("read") != 10 || db.count("update") != 10 {
			t.Errorf("%d operations, %d failed; %d reads, %d updates", result.Operations, result.Failed, db.count("read"), db.count("update"))
		}
		rmw := result.Metric(ycsb.MetricReadModifyWrite)
		if rmw.Successes() != 9 || rmw.Latency.Min() != int64(6*ms) || rmw.Latency.Max() != int64(6*ms) || rmw.Failed.Count() != 1 {
			t.Errorf("%+v", rmw)
		}
		if whole := result.Latency; whole.Count() != 9 || whole.Min() != int64(6*ms) || whole.Max() != int64(6*ms) || result.Series.Total() != 9 {
			t.Errorf("latency of operations %+v, %d in the series", report.LatencyOf(whole), result.Series.Total())
		}
		want := strings.Join([]string{
			"[READ], Operations, 9", "[READ], Return=OK, 9", "[READ], Return=NOT_FOUND, 1", "[READ-FAILED], Operations, 1",
			"[UPDATE], Operations, 10", "[UPDATE], Return=OK, 10",
			"[READ-MODIFY-WRITE], Operations, 9", "[READ-MODIFY-WRITE-FAILED], Operations, 1", "[CLEANUP], Operations, 1",
		}, "\n")
		if diff := cmp.Diff(want, counts(t, result)); diff != "" {
			t.Errorf("counts in the report (-want +got):\n%s", diff)
		}
	})
}

// counts are the lines of the report that hold counts of operations.
func counts(t *testing.T, r *ycsb.Result) string {
	t.Helper()
	var lines []string
	for _, l := range r.Text() {
		if l.Measurement == "Operations" || strings.HasPrefix(l.Measurement, "Return=") {
			lines = append(lines, fmt.Sprintf("[%s], %s, %s", l.Metric, l.Measurement, l.Value))
		}
	}
	return strings.Join(lines, "\n")
}

// classedError is counted under a name of its own.
type classedError struct{ error }

func (classedError) ErrorClass() string { return "NotServingRegionException" }

func TestFailuresAreCountedAndTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		db := &fakeDB{do: func(_ context.Context, c call) (ycsb.Status, error) {
			n++
			switch {
			case c.what == "close" || n%2 == 0:
				return ycsb.OK, nil
			case n%3 == 0:
				return ycsb.ServiceUnavailable, fmt.Errorf("region moved: %w", classedError{errors.New("no such region")})
			}
			return ycsb.NotFound, nil
		}}
		r := newRun(t, db, reads+" latencytrackederrors=NOT_FOUND")
		r.Operations = 12
		var told []string
		r.OnError = func(m ycsb.Metric, class, text string) { told = append(told, m.String()+" "+class+" "+text) }
		result := do(t, r)
		read := result.Metric(ycsb.MetricRead)
		if diff := cmp.Diff([]report.ErrorCount{
			{Class: "NOT_FOUND", Count: 4, First: "READ: NOT_FOUND"},
			{Class: "NotServingRegionException", Count: 2, First: "READ: region moved: no such region"},
		}, read.Errors); diff != "" {
			t.Errorf("errors (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"READ NOT_FOUND NOT_FOUND", "READ NotServingRegionException region moved: no such region"}, told); diff != "" {
			t.Errorf("told (-want +got):\n%s", diff)
		}
		if result.Operations != 12 || result.Failed != 6 || read.Failures() != 6 || read.Failed.Count() != 6 || read.Latency.Count() != 6 {
			t.Errorf("%d operations, %d failed, %d and %d failures", result.Operations, result.Failed, read.Failures(), read.Failed.Count())
		}
		want := "[READ], Operations, 6\n[READ], Return=OK, 6\n[READ], Return=NOT_FOUND, 4\n[READ], Return=SERVICE_UNAVAILABLE, 2\n" +
			"[READ-FAILED], Operations, 2\n[READ-NOT_FOUND], Operations, 4\n[CLEANUP], Operations, 1"
		if diff := cmp.Diff(want, counts(t, result)); diff != "" {
			t.Errorf("counts in the report (-want +got):\n%s", diff)
		}
	})
}

// A stop ends the run when operations under way have ended, and the report holds what was done.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, &fakeDB{do: takes(10 * ms)}, reads)
		cause := errors.New("enough")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1005*ms, func() { cancel(cause) })
		result, err := r.Do(ctx)
		if err != nil || !errors.Is(result.Cause, cause) {
			t.Fatalf("%v, cause %v", err, result.Cause)
		}
		if result.Operations != 101 || result.Unfinished != 0 || result.RunTime() != 1010*ms {
			t.Errorf("%d operations in %s, %d unfinished", result.Operations, result.RunTime(), result.Unfinished)
		}
	})
}

func TestStopInTheWarmup(t *testing.T) {
	for name, warmup := range map[string]ycsb.Warmup{"of a number": {Operations: 1000}, "of a time": {Duration: time.Minute}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := &fakeDB{do: takes(10 * ms)}
				r := newRun(t, db, reads)
				r.Warmup, r.OnStatus, r.StatusInterval = warmup, func(report.YCSBStatus) {}, time.Second
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				result, err := r.Do(ctx)
				if err != nil || result.Operations != 0 || result.Cause == nil || len(result.Metrics) != 0 || !result.Origin.IsZero() {
					t.Errorf("%v, %+v", err, result)
				}
				if db.count("close") != 1 {
					t.Error("the session is not closed")
				}
			})
		})
	}
}

func TestNothingIsMeasuredWithoutSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused := errors.New("table usertable does not exist")
		db := &fakeDB{open: func(thread int) error {
			if thread == 2 {
				return refused
			}
			return nil
		}}
		r := newRun(t, db, reads)
		r.Threads = 8
		if _, err := r.Do(t.Context()); !errors.Is(err, ycsb.ErrNotOpen) || !errors.Is(err, refused) {
			t.Errorf("Do: %v", err)
		}
		if db.count("read") != 0 || db.count("close") != db.sessions-1 {
			t.Errorf("%d reads; %d of %d sessions closed", db.count("read"), db.count("close"), db.sessions-1)
		}
	})
}

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &fakeDB{do: takes(ms)}
		r := newRun(t, db, reads)
		r.Operations = 3
		r.Gate = func(ctx context.Context) (time.Time, error) {
			time.Sleep(time.Minute)
			return time.Now(), nil
		}
		if result := do(t, r); result.Origin.Sub(db.epoch) != time.Minute || result.RunTime() != 3*ms || db.calls[0].at != time.Minute {
			t.Errorf("begins at %s, takes %s", result.Origin.Sub(db.epoch), result.RunTime())
		}
		missed := errors.New("no order came")
		r = newRun(t, db, reads)
		r.Gate = func(context.Context) (time.Time, error) { return time.Time{}, missed }
		if _, err := r.Do(t.Context()); !errors.Is(err, missed) {
			t.Errorf("Do: %v", err)
		}
	})
}

func TestStatusLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, &fakeDB{do: takes(100 * ms)}, reads)
		r.Operations, r.StatusInterval = 25, time.Second
		var lines []string
		r.OnStatus = func(s report.YCSBStatus) {
			s.Time = time.Date(2026, 12, 1, 1, 2, 3, 0, time.UTC)
			lines = append(lines, strings.TrimPrefix(s.String(), "2026-12-01 01:02:03:000 "))
		}
		do(t, r)
		const each = " Max=100031, Min=99968, Avg=99999.5, 50=100031, 90=100031, 99=100031, 99.9=100031, 99.99=100031] "
		for k := range lines {
			lines[k] = strings.ReplaceAll(lines[k], each, " ...")
		}
		// At whole seconds the tenth operation may just have ended or not.
		if len(lines) != 4 || lines[0] != "0 sec: 0 operations; est completion in 0 second " ||
			!strings.HasPrefix(lines[3], "2 sec: 25 operations; ") || !strings.Contains(lines[3], "[CLEANUP: Count=1, Max=0, Min=0, Avg=0,") {
			t.Errorf("lines %q", lines)
		}
	})
}
