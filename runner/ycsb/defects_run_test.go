package ycsb_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// Each test here shows that a defect of YCSB's client is not one of ours.

// YCSB's run ends without a report when a scan returns no row.
func TestDefectScanOfNoRows(t *testing.T) {
	for name, tc := range map[string]struct {
		rows int
		each time.Duration
	}{"no rows": {0, 0}, "some": {7, 1428571 * time.Nanosecond}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRun(t, &fakeDB{do: takes(10 * ms), rows: tc.rows}, "readproportion=0 updateproportion=0 scanproportion=1 recordcount=100")
				r.Operations = 10
				result := do(t, r)
				if n := result.Metric(ycsb.MetricScan).Successes(); n != 10 {
					t.Errorf("%d scans", n)
				}
				each := result.Metric(ycsb.MetricScanPerRecord)
				if tc.rows == 0 {
					if each != nil {
						t.Errorf("%d latencies per record of scans without any", each.Successes())
					}
					return
				}
				if each.Latency.Min() != int64(tc.each) || each.Successes() != 10 {
					t.Errorf("%d latencies per record, %s", each.Successes(), time.Duration(each.Latency.Min()))
				}
				if got, _ := result.Text().Find("SCAN-LATENCY-PER-RECORD", "MaxLatency(us)"); got != report.YCSBWhole(1428) {
					t.Errorf("the report has %s", got)
				}
			})
		})
	}
}

// YCSB's throughput counts what failed. Its text is that, to the byte; our own figures tell successes and failures apart.
func TestDefectFailuresInThroughput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, &fakeDB{do: func(_ context.Context, c call) (ycsb.Status, error) {
			if c.what == "close" {
				return ycsb.OK, nil
			}
			time.Sleep(100 * ms)
			return ycsb.ErrorStatus, errors.New("no")
		}}, reads)
		r.Operations = 10
		result := do(t, r)
		if got, _ := result.Text().Find("OVERALL", "Throughput(ops/sec)"); got != report.YCSBDouble(10) {
			t.Errorf("throughput %s", got)
		}
		if read := result.Metric(ycsb.MetricRead); result.Failed != 10 || read.Successes() != 0 || read.Latency != nil || read.Series != nil {
			t.Errorf("%d failed, %d successes", result.Failed, read.Successes())
		}
		// All failed: the plain metric is there, and empty, as in YCSB.
		want := "[READ], Operations, 0\n[READ], Return=ERROR, 10\n[READ-FAILED], Operations, 10\n[CLEANUP], Operations, 1"
		if diff := cmp.Diff(want, counts(t, result)); diff != "" {
			t.Errorf("counts (-want +got):\n%s", diff)
		}
	})
}

// YCSB keeps latencies in 32 bits of microseconds, 35 minutes, and verifications' in 32 bits of nanoseconds.
func TestDefectLongLatencies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, &fakeDB{do: takes(time.Hour)}, reads)
		r.Operations = 1
		result := do(t, r)
		if got := result.Metric(ycsb.MetricRead).Latency.Max(); got != int64(time.Hour) {
			t.Errorf("latency %s", time.Duration(got))
		}
		if got, _ := result.Text().Find("READ", "MinLatency(us)"); got.Float() < 3600e6*0.999 || got.Float() > 3600e6 {
			t.Errorf("the report has %s", got)
		}
	})
}

// YCSB connects, and locates the table, within the run time and the first operation's latency.
func TestDefectConnectingIsMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &fakeDB{do: takes(ms), open: func(int) error { time.Sleep(time.Minute); return nil }}
		r := newRun(t, db, reads)
		r.Threads, r.Operations = 4, 8
		result := do(t, r)
		if result.RunTime() != 2*ms || result.Metric(ycsb.MetricRead).Latency.Max() != int64(ms) || result.First != result.Origin {
			t.Errorf("run time %s, latency up to %d", result.RunTime(), result.Metric(ycsb.MetricRead).Latency.Max())
		}
		if origin := result.Origin.Sub(db.epoch); origin < time.Minute {
			t.Errorf("the measurement begins after %s, before all sessions are open", origin)
		}
	})
}

// YCSB's HBase bindings record CLEANUP twice per thread.
func TestDefectDoubleCleanup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, &fakeDB{do: func(_ context.Context, c call) (ycsb.Status, error) {
			time.Sleep(ms)
			return ycsb.OK, nil
		}}, reads)
		r.Threads, r.Operations = 4, 8
		result := do(t, r)
		if got := result.Metric(ycsb.MetricCleanup); got.Successes() != 4 || got.Latency.Max() != int64(ms) {
			t.Errorf("%d cleanups", got.Successes())
		}
		if result.RunTime() != 3*ms {
			t.Errorf("run time %s is without the end of sessions", result.RunTime())
		}
	})
}

// YCSB's retried insert writes empty values, since the first attempt has drained them.
func TestDefectRetriesWriteNothing(t *testing.T) {
	for name, tc := range map[string]struct {
		words         string
		failing       int // attempts of the first record that fail
		inserts       int
		lost, retries int64
		waited        [2]time.Duration
	}{
		"it succeeds":       {"core_workload_insertion_retry_limit=3", 2, 5, 0, 2, [2]time.Duration{4800 * ms, 7200 * ms}},
		"it is given up":    {"core_workload_insertion_retry_limit=1 core_workload_insertion_retry_interval=1", 9, 2, 1, 1, [2]time.Duration{800 * ms, 1200 * ms}},
		"no retry is asked": {"", 9, 1, 1, 0, [2]time.Duration{0, 0}},
		"going on": {
			"core_workload_insertion_retry_limit=1 core_workload_insertion_keep_going_on_error=true", 2, 4, 1, 1,
			[2]time.Duration{2400 * ms, 3600 * ms},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				db := &fakeDB{do: func(_ context.Context, c call) (ycsb.Status, error) {
					if n++; c.what == "insert" && n <= tc.failing {
						return ycsb.ErrorStatus, errors.New("no")
					}
					return ycsb.OK, nil
				}}
				r := newRun(t, db, "dotransactions=false recordcount=3 "+tc.words)
				r.Operations = 3
				result := do(t, r)
				if got := db.count("insert"); got != tc.inserts || result.LostInserts != tc.lost || result.Retries != tc.retries {
					t.Errorf("%d inserts, %d lost, %d retries", got, result.LostInserts, result.Retries)
				}
				for k := range tc.retries + 1 {
					if first, again := db.calls[0], db.calls[k]; again.key != first.key || again.values != first.values || len(again.values) < 1000 {
						t.Errorf("attempt %d writes %s of %d bytes, the first %s of %d", k, again.key, len(again.values), first.key, len(first.values))
					}
				}
				if result.RunTime() < tc.waited[0] || result.RunTime() > tc.waited[1] {
					t.Errorf("waited %s, want %s", result.RunTime(), tc.waited)
				}
			})
		})
	}
}

// YCSB waits for operations that hang after maxexecutiontime, however long they do.
func TestDefectHangAtMaxExecutionTime(t *testing.T) {
	for name, tc := range map[string]struct {
		obeys      bool // the call ends with its context
		rate       int64
		operations int64 // of the thread that does not hang
	}{
		"deaf":             {false, 0, 1000},
		"with a context":   {true, 0, 1000},
		"deaf, and a rate": {false, 10, 99},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				var hung sync.Once
				db := &fakeDB{do: func(ctx context.Context, c call) (ycsb.Status, error) {
					if c.what == "close" {
						return ycsb.OK, nil
					}
					hang := false
					hung.Do(func() { hang = true })
					if !hang {
						time.Sleep(10 * ms)
						return ycsb.OK, nil
					}
					if tc.obeys {
						<-ctx.Done()
						return ycsb.ErrorStatus, ctx.Err()
					}
					<-release
					return ycsb.OK, nil
				}}
				r := newRun(t, db, reads)
				r.Threads, r.MaxTime, r.Grace = 2, 10*time.Second, 2*time.Second
				if tc.rate > 0 {
					r.Rate = rate(tc.rate)
				}
				result := do(t, r)
				if took := time.Since(db.epoch); took < 12*time.Second || took > 13*time.Second {
					t.Errorf("the run took %s", took)
				}
				// An operation may be under way when the time is over.
				if result.Unfinished != 1 || !result.TimeUp || result.RunTime() < 10*time.Second || result.RunTime() >= 10*time.Second+10*ms {
					t.Errorf("%d unfinished, time up %v after %s", result.Unfinished, result.TimeUp, result.RunTime())
				}
				read := result.Metric(ycsb.MetricRead)
				if read.Successes() != tc.operations || read.Failures() != 0 || result.Operations != tc.operations || result.Failed != 0 {
					t.Errorf("%d successes and %d failures, %d operations", read.Successes(), read.Failures(), result.Operations)
				}
				// What still comes of the operation that hung changes nothing.
				close(release)
				synctest.Wait()
				if read.Successes() != tc.operations {
					t.Errorf("%d successes later", read.Successes())
				}
			})
		})
	}
}

// YCSB divides the target by the threads it was told, and then runs fewer of them where there are fewer operations.
func TestDefectTargetOfFewerThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &fakeDB{do: takes(ms)}
		r := newRun(t, db, reads)
		r.Threads, r.Operations, r.Rate = 100, 20, rate(10)
		result := do(t, r)
		if result.Threads != 20 || db.sessions != 20 {
			t.Errorf("%d threads, %d sessions", result.Threads, db.sessions)
		}
		began := db.begins("read")
		if took := began[19] - began[0]; took != 1900*ms {
			t.Errorf("20 operations at 10 a second began within %s", took)
		}
	})
}

// The order of YCSB's metrics is that of a hash table.
func TestDefectOrderOfMetrics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRun(t, &fakeDB{rows: 1, do: takes(ms)}, "readproportion=1 updateproportion=1 scanproportion=1 insertproportion=1 "+
			"readmodifywriteproportion=1 recordcount=100 operationcount=500 measurement.interval=both")
		r.Operations = 500
		var got []string
		for _, l := range do(t, r).Text() {
			if l.Measurement == "Operations" {
				got = append(got, l.Metric)
			}
		}
		want := "READ UPDATE INSERT SCAN READ-MODIFY-WRITE SCAN-LATENCY-PER-RECORD CLEANUP " +
			"Intended-READ Intended-UPDATE Intended-INSERT Intended-SCAN Intended-READ-MODIFY-WRITE Intended-CLEANUP"
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("metrics (-want +got):\n%s", diff)
		}
	})
}

// Percentiles of several YCSB clients cannot be merged. Results have histograms that can, and a series that tells when.
func TestDefectResultsCannotBeMerged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := report.NewHistogram(report.DefaultScale)
		for k := range 3 {
			r := newRun(t, &fakeDB{do: takes(time.Duration(k+1) * ms)}, reads)
			r.Operations = 10
			read := do(t, r).Metric(ycsb.MetricRead)
			if err := all.Merge(read.Latency); err != nil {
				t.Fatal(err)
			}
		}
		if all.Count() != 30 || all.Sum() != int64(60*ms) || all.Max() != int64(3*ms) {
			t.Errorf("%d latencies of %d ns", all.Count(), all.Sum())
		}
	})
}
