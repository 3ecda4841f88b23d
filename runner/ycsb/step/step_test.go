package step_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/shard"
	"github.com/hadoop-bench/operator/runner/steps"
)

// fakePods are pods in a bubble, which work on a table in memory.
func fakePods(t *testing.T, f *fakeHBase) *pods {
	t.Helper()
	c, err := conf.Load(nil, conf.Options{Overrides: map[string]string{"hbase.zookeeper.quorum": "zk"}})
	if err != nil {
		t.Fatal(err)
	}
	return &pods{t: t, conf: c, clock: bubbleClock{}, connect: f.connect}
}

// inBubble runs a test with pods and a table in memory.
func inBubble(t *testing.T, test func(t *testing.T, f *fakeHBase, p *pods)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeHBase()
		test(t, f, fakePods(t, f))
	})
}

func TestWholeRun(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
		with := func(name string, shards int32) *plan.Plan {
			planned := newPlan("uid", "t", name, shards)
			planned.Gate = shards > 1
			planned.YCSB.Properties["dataintegrity"] = "true"
			planned.YCSB.TableValues = map[string]string{"hbase.hstore.blockingStoreFiles": "9"}
			return planned
		}
		facts := p.complete(with(plan.StepPreflight, 1))[0].Body.Facts
		if facts["hbase.version"] != "2.6.4" || facts["hbase.regions"] != "a:1 3, b:1 4" || facts["hbase.storeFileMiB"] != "a:1 4, b:1 5" || facts["table.exists"] != "false" {
			t.Errorf("facts %v", facts)
		}
		if made := p.complete(with(plan.StepCreate, 1))[0].Body.Operations; made != 1 {
			t.Errorf("made %d tables", made)
		}
		family := f.table.Families[0]
		if family.Name != "family" || family.Compression != "NONE" || len(f.table.SplitKeys) != 5 || f.table.Values["hbase.hstore.blockingStoreFiles"] != "9" ||
			f.table.Values["hadoopbench.run"] != "bench/uid uid 2000-01-01T00:00:00Z" || f.table.Values["hadoopbench.state"] != "loading" {
			t.Errorf("table %+v", f.table)
		}
		// The tables in memory are never asked to wait.
		f.took = time.Millisecond
		loaded := p.complete(with(plan.StepLoad, 4))
		for _, r := range loaded {
			b := r.Body
			if b.Operations != 1000 || b.Tried != 1000 || b.Planned != 1000 || b.Clock.OffsetMicros != serverAhead.Microseconds()+500 || b.Series.Total() != 1000 || b.Latency.Count() != 1000 {
				t.Errorf("shard %d: %d operations of %d, clock %+v", r.Envelope.Index, b.Operations, b.Planned, b.Clock)
			}
		}
		p.complete(with(plan.StepCompact, 1))
		if diff := cmp.Diff([]string{"CreateTable", "SetValues", "Flush"}, f.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if f.table.Values["hadoopbench.state"] != "loaded 4000 3x20" {
			t.Errorf("state %q", f.table.Values["hadoopbench.state"])
		}
		f.counters = hbase.Counters{Retries: 7}
		measured := p.complete(with("workload-f", 4))
		if n := sum(measured, func(b *report.Body) int64 { return b.Operations }); n != 2000 || part(measured, "VERIFY") != 2000 || part(measured, "READ-MODIFY-WRITE") != part(measured, "UPDATE") {
			t.Errorf("%d operations", n)
		}
		if facts := measured[0].Body.Facts; facts[plan.FactsAfter+"table.regions"] != "3" || facts[plan.FactRetries] != "" || measured[1].Body.Facts != nil {
			t.Errorf("facts %v and %v", facts, measured[1].Body.Facts)
		}
		p.complete(with(plan.StepCleanup, 1))
		if f.calls[len(f.calls)-1] != "Drop" {
			t.Errorf("calls %v", f.calls)
		}
	})
}

// TestLoadsInsertEveryRecordOnce: whatever shards and threads there are, together they load each record once.
func TestLoadsInsertEveryRecordOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 30 {
		records, shards := 1+random.Int64N(700), 1+random.Int32N(12)
		shards = min(shards, int32(records))
		threads := shards + random.Int32N(20)
		t.Run(fmt.Sprintf("%d records, %d shards, %d threads", records, shards, threads), func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
				f.make(nil)
				planned := newPlan("uid", "t", plan.StepLoad, shards)
				planned.YCSB.RecordCount, planned.YCSB.Threads, planned.YCSB.Properties["insertorder"] = records, threads, "ordered"
				p.complete(planned)
				if len(f.written) != int(records) {
					t.Errorf("%d records written, want %d", len(f.written), records)
				}
				for number := range records {
					if n := f.written[fmt.Sprintf("insert user%d", number)]; n != 1 {
						t.Errorf("record %d was inserted %d times", number, n)
					}
				}
			})
		})
	}
}

// TestInsertsNeverCollide: workloads, repeats, attempts and shards insert records of their own, beyond those of the load.
func TestInsertsNeverCollide(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
		f.make(nil)
		load := newPlan("uid", "t", plan.StepLoad, 3)
		load.YCSB.Properties["insertorder"] = "ordered"
		p.complete(load)
		want := int64(testRecords)
		for workload, name := range []string{"workload-d", "workload-e"} {
			for _, at := range [][2]int32{{1, 1}, {1, 2}, {1, 4096}, {2, 1}, {30, 4096}} {
				planned := newPlan("uid", "t", name, 3)
				planned.Identity.Repeat, planned.Identity.Attempt = at[0], at[1]
				planned.YCSB.InsertBase = plan.InsertBase(testRecords, workload, at[0], at[1])
				planned.YCSB.Properties["insertorder"] = "ordered"
				reports := p.complete(planned)
				want += part(reports, "INSERT")
				if part(reports, "INSERT") == 0 || len(f.inserted()) != int(want) {
					t.Fatalf("%s %v: %d keys inserted, want %d", name, at, len(f.inserted()), want)
				}
			}
		}
		for what, n := range f.written {
			if strings.HasPrefix(what, "insert ") && n != 1 {
				t.Errorf("%s %d times", what, n)
			}
		}
	})
}

// TestStops: what a stop order or an unfinished operation leaves is told, and nothing waits for what hangs.
func TestStops(t *testing.T) {
	hang := func(ctx context.Context, what, _ string) error {
		if what == "read" {
			<-ctx.Done()
			return ctx.Err()
		}
		return nil
	}
	tests := map[string]struct {
		operate    func(context.Context, string, string) error
		stopAfter  time.Duration
		duration   int64
		outcome    report.Outcome
		unfinished int64
	}{
		"by order":                        {stopAfter: time.Second, outcome: report.Partial},
		"by order, with what hangs":       {operate: hang, stopAfter: time.Second, outcome: report.Partial, unfinished: 8},
		"at the end":                      {duration: 2000, outcome: report.Complete},
		"at the end, with what hangs":     {operate: hang, duration: 2000, outcome: report.Complete, unfinished: 8},
		"at the end of all operations":    {outcome: report.Complete},
		"by an order that comes too late": {stopAfter: time.Hour, outcome: report.Complete},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
				f.make(nil)
				p.complete(newPlan("uid", "t", plan.StepLoad, 1))
				f.operate, f.took = tt.operate, 10*time.Millisecond
				planned := newPlan("uid", "t", "workload-a", 1)
				planned.Gate, planned.YCSB.DurationMillis = true, tt.duration
				if tt.duration > 0 {
					planned.YCSB.Operations = 0
				}
				if tt.stopAfter > 0 && tt.stopAfter < time.Hour {
					p.meanwhile = func(stop func(string)) {
						time.Sleep(tt.stopAfter)
						stop("Suspended")
					}
				}
				r := p.carry(planned)[0]
				b := r.Body
				if r.Envelope.Outcome != tt.outcome || b.Unfinished != tt.unfinished || b.Operations == 0 || b.Series.Total() != b.Operations {
					t.Errorf("%s: %d operations, %d unfinished, %+v", r.Envelope.Outcome, b.Operations, b.Unfinished, r.Envelope.Failure)
				}
			})
		})
	}
}

// TestFailures: a load that lost records, and a measurement of nothing or of wrong data, are no results.
func TestFailures(t *testing.T) {
	fail := errors.New("disk is full")
	tests := map[string]struct {
		step    string
		change  func(f *fakeHBase, planned *plan.Plan)
		reason  string
		message string
	}{
		"a lost record": {plan.StepLoad, func(f *fakeHBase, planned *plan.Plan) {
			planned.YCSB.Properties["core_workload_insertion_keep_going_on_error"] = "true"
			var n atomic.Int64
			f.operate = func(context.Context, string, string) error {
				if n.Add(1) == 7 {
					return fail
				}
				return nil
			}
		}, steps.ReasonRecordsLost, "1 of 4000 records are not inserted, 0 hung; the most frequent error is Error: INSERT: disk is full"},
		"nothing succeeds": {"workload-a", func(f *fakeHBase, _ *plan.Plan) {
			f.operate = func(context.Context, string, string) error { return fail }
		}, steps.ReasonEveryOperation, "none of 2000 operations succeeded, 0 hung; the most frequent error is Error: "},
		"other data": {"workload-a", func(f *fakeHBase, planned *plan.Plan) {
			planned.YCSB.Properties["dataintegrity"] = "true"
		}, steps.ReasonDataMismatch, "reads returned other data than were written; for example: VERIFY: verify user"},
		"no session": {"workload-a", func(f *fakeHBase, _ *plan.Plan) { f.errors["Session"] = denied() }, steps.ReasonPermissionDenied, "open the sessions of all threads as user \"alice\""},
		"no start":   {"workload-a", func(_ *fakeHBase, planned *plan.Plan) { planned.Gate, planned.Shards = true, 2 }, shard.ReasonNotStarted, "no start order came in time"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
				f.make(nil)
				p.complete(newPlan("uid", "t", plan.StepLoad, 1))
				planned := newPlan("uid", "t", tt.step, 1)
				planned.YCSB.Threads = 2
				tt.change(f, planned)
				r := p.shard(t.Context(), planned, 0, t.TempDir())
				if r.Envelope.Outcome != report.Failed || r.Envelope.Failure.Reason != tt.reason || !strings.Contains(r.Envelope.Failure.Message, tt.message) {
					t.Errorf("%s: %+v, want %s with %q", r.Envelope.Outcome, r.Envelope.Failure, tt.reason, tt.message)
				}
			})
		})
	}
}

// TestRate: shards offer their parts of the rate, and a workload's end and due operations follow from it.
func TestRate(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
		f.make(nil)
		p.complete(newPlan("uid", "t", plan.StepLoad, 1))
		f.took = time.Millisecond
		planned := newPlan("uid", "t", "workload-a", 3)
		planned.Gate, planned.YCSB.Operations, planned.YCSB.DurationMillis, planned.YCSB.WarmupMillis = true, 0, 10_000, 2000
		planned.YCSB.RateMilli = 100_000
		reports := p.complete(planned)
		if due := sum(reports, func(b *report.Body) int64 { return b.Due }); due != 1000 {
			t.Errorf("%d operations due, want 1000", due)
		}
		for _, r := range reports {
			b := r.Body
			if b.Tried != b.Due || b.Intended.Count() != b.Operations || b.Start < b.Prepared+2_000_000 || b.End-b.Start != 10_000_000 {
				t.Errorf("shard %d: %d of %d, from %d to %d", r.Envelope.Index, b.Tried, b.Due, b.Start, b.End)
			}
		}
	})
}

// TestClock: without the right to write, and where a deletion hides what is written, the offset is not known.
func TestClock(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
		f.make(nil)
		p.complete(newPlan("uid", "t", plan.StepLoad, 1))
		f.errors["Mutate"] = denied()
		if b := p.complete(newPlan("uid", "t", "workload-a", 1))[0].Body; b.Clock != nil {
			t.Errorf("clock %+v", b.Clock)
		}
		delete(f.errors, "Mutate")
		if b := p.complete(newPlan("uid", "t", "workload-a", 1))[0].Body; b.Clock == nil || len(f.rows["hadoopbench-clock/0"]) != 0 {
			t.Errorf("clock %+v, its row %v", b.Clock, f.rows["hadoopbench-clock/0"])
		}
	})
}
