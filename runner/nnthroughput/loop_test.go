package nnthroughput_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// oneThread is a plan of n files by a single thread, whose figures are known exactly.
func oneThread(op string, n int64, change ...func(*plan.NNThroughput)) *plan.Plan {
	return newPlan(op, append([]func(*plan.NNThroughput){func(t *plan.NNThroughput) { t.Threads, t.Files, t.Dirs = 1, n, n }}, change...)...)
}

// The body of a report, where each reading of the clock takes a millisecond and each call as long as it is told.
func TestBodyOfOneThread(t *testing.T) {
	b := newBench(t, oneThread(plan.OpFileStatus, 4))
	b.nn.ahead = 250 * time.Millisecond
	b.nn.fail = func(call, _ string) error {
		if call == "getFileInfo" {
			b.clock.advance(7 * time.Millisecond)
		}
		return nil
	}
	b.mustRun(t)
	if b.body.Operations != 4 || b.body.Bytes != 0 || b.body.Planned != 4 {
		t.Errorf("%d operations of %d, %d bytes", b.body.Operations, b.body.Planned, b.body.Bytes)
	}
	l := b.body.Latency
	if l.Count() != 4 || l.Min() != int64(8*time.Millisecond) || l.Max() != int64(8*time.Millisecond) || b.body.Intended != nil {
		t.Errorf("latency %d from %d to %d, intended %v", l.Count(), l.Min(), l.Max(), b.body.Intended)
	}
	// Four operations of two readings and seven milliseconds each: the first reading begins the first one.
	if got, want := b.body.End-b.body.Start, int64(4*8+3)*1000; got != want {
		t.Errorf("from start to end %d µs, want %d", got, want)
	}
	if b.body.SetUp <= 0 || b.body.Prepared <= 0 || b.body.Prepared > b.body.Start {
		t.Errorf("set-up %d, prepared %d, start %d", b.body.SetUp, b.body.Prepared, b.body.Start)
	}
	if c := b.body.Clock; c == nil || c.OffsetMicros < 249_000 || c.OffsetMicros > 251_000 {
		t.Errorf("clock %+v", c)
	}
	if b.body.Client == nil || b.body.Series.Total() != 4 {
		t.Errorf("client %v, series of %d", b.body.Client, b.body.Series.Total())
	}
	if _, err := report.Encode(&report.Report{Body: b.body}); err != nil {
		t.Error(err)
	}
}

// Threads go on for the whole duration: those that read cycle, those that make go on with new names.
func TestDuration(t *testing.T) {
	for _, op := range []string{plan.OpFileStatus, plan.OpOpen, plan.OpCreate, plan.OpMkdirs} {
		t.Run(op, func(t *testing.T) {
			b := newBench(t, oneThread(op, 3, func(n *plan.NNThroughput) { n.DurationMillis = 100 }))
			b.mustRun(t)
			// Each operation takes two readings, and one more asks for the time.
			if b.body.Operations != 33 || b.body.Planned != 0 || len(b.body.Errors) != 0 {
				t.Errorf("%d operations of %d, errors %v", b.body.Operations, b.body.Planned, b.body.Errors)
			}
			if op == plan.OpCreate && len(b.nn.files(base+"/create")) != 33 {
				t.Errorf("%d files", len(b.nn.files(base+"/create")))
			}
		})
	}
}

func TestNamesThatRunOut(t *testing.T) {
	b := newBench(t, oneThread(plan.OpCreate, 3, func(n *plan.NNThroughput) { n.DurationMillis, n.FilesPerDir = 1000, 1 }))
	wantFailure(t, b.run(t), report.ExitBenchmark, steps.ReasonPlanInvalid, "all 19 names are used up")
	if b.body.Operations != 19 {
		t.Errorf("%d operations, want those that had a name", b.body.Operations)
	}
}

// Warming up uses names of its own, is not recorded, and the measurement begins where it ends.
func TestWarmUp(t *testing.T) {
	for _, op := range []string{plan.OpCreate, plan.OpMkdirs, plan.OpOpen, plan.OpDelete, plan.OpAppend, plan.OpFileStatus, plan.OpRename} {
		t.Run(op, func(t *testing.T) {
			b := newBench(t, oneThread(op, 5, func(n *plan.NNThroughput) { n.WarmupMillis, n.Close = 100, true }))
			var warm, real int
			b.nn.fail = func(call, path string) error {
				switch {
				case !calls(op, call):
				case strings.HasPrefix(path, base+"/"+op+".warmup/"):
					warm++
				case strings.HasPrefix(path, base+"/"+op+"/"):
					real++
				}
				return nil
			}
			b.mustRun(t)
			if b.body.Operations != 5 || b.body.Latency.Count() != 5 || len(b.body.Errors) != 0 {
				t.Errorf("%d operations, %d latencies, errors %v", b.body.Operations, b.body.Latency.Count(), b.body.Errors)
			}
			if warm < 10 || real != 5 {
				t.Errorf("%d calls of the warm-up, %d of the measurement", warm, real)
			}
			if late := b.body.Start - b.body.Series.Origin(); late < 0 || late > 5000 || b.body.Start-b.body.Prepared < 100_000 {
				t.Errorf("the first operation began %d µs after the warm-up's end, %d after preparing", late, b.body.Start-b.body.Prepared)
			}
		})
	}
}

// With a rate the warm-up keeps it, too, so that it leaves no queue behind.
func TestWarmUpAtARate(t *testing.T) {
	b := newBench(t, oneThread(plan.OpMkdirs, 3, func(n *plan.NNThroughput) { n.WarmupMillis, n.RateMilli = 500, 10_000 }))
	b.mustRun(t)
	if got := len(b.nn.log("mkdirs " + base + "/mkdirs.warmup/")); got != 5 {
		t.Errorf("%d operations in a warm-up of half a second at ten a second", got)
	}
	if b.body.Operations != 3 || b.body.Due != 3 || b.body.Intended.Max() > int64(10*time.Millisecond) {
		t.Errorf("%d operations of %d, intended up to %d", b.body.Operations, b.body.Due, b.body.Intended.Max())
	}
}

// calls tells whether a call is the operation's own.
func calls(op, call string) bool {
	own := map[string]string{plan.OpOpen: "getBlockLocations", plan.OpFileStatus: "getFileInfo"}[op]
	return call == own || own == "" && call == op
}

// With a rate, latency is the call's own time, and intended latency counts from the schedule, which does not wait for a
// call that hangs.
func TestRate(t *testing.T) {
	p := oneThread(plan.OpFileStatus, 12, func(n *plan.NNThroughput) { n.RateMilli = 10_000 }) // every 100 ms
	p.SeriesMicros = 100_000
	b := newBench(t, p)
	var began []time.Time
	b.nn.fail = func(call, path string) error {
		if call != "getFileInfo" {
			return nil
		}
		if began = append(began, b.clock.peek()); len(began) == 3 {
			b.clock.advance(500 * time.Millisecond)
		}
		return nil
	}
	b.mustRun(t)
	if b.body.Operations != 12 || b.body.Intended.Count() != 12 {
		t.Fatalf("%d operations, %d intended latencies", b.body.Operations, b.body.Intended.Count())
	}
	// One call hung; its own time is the only long one.
	if l := b.body.Latency; l.Max() != int64(501*time.Millisecond) || l.Quantile(0.9) != int64(time.Millisecond) {
		t.Errorf("latency up to %d, 90 %% %d", l.Max(), l.Quantile(0.9))
	}
	// Those that were due while it hung came late by what was left of it: 400, 300, 200 and 100 ms, and a little.
	for q, low := range map[float64]time.Duration{11. / 12: 400, 10. / 12: 300, 9. / 12: 200, 8. / 12: 100, 6. / 12: 0} {
		got := time.Duration(b.body.Intended.Quantile(q))
		if low *= time.Millisecond; got < low || got > low+20*time.Millisecond {
			t.Errorf("intended latency %.0f %%: %s, want about %s", q*100, got, low)
		}
	}
	if b.body.Due != 12 {
		t.Errorf("%d due", b.body.Due)
	}
}

// A rate that cannot be kept leaves a backlog, by number as by duration.
func TestRateNotReached(t *testing.T) {
	for name, tc := range map[string]struct {
		change     func(*plan.NNThroughput)
		operations int64
		low, high  int64 // of what was due
	}{
		"by number":   {func(n *plan.NNThroughput) {}, 10, 18, 20},
		"by duration": {func(n *plan.NNThroughput) { n.DurationMillis = 2000 }, 10, 20, 20},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, oneThread(plan.OpFileStatus, 10, func(n *plan.NNThroughput) { n.RateMilli = 10_000 }, tc.change))
			b.nn.fail = func(call, _ string) error {
				if call == "getFileInfo" {
					b.clock.advance(200 * time.Millisecond)
				}
				return nil
			}
			b.mustRun(t)
			if b.body.Operations != tc.operations || b.body.Due < tc.low || b.body.Due > tc.high {
				t.Errorf("%d operations of %d due", b.body.Operations, b.body.Due)
			}
		})
	}
}

// A stop order ends the loop between operations: calls under way end and count, and the report has what was done.
func TestStopInMidRun(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	b := newBench(t, newPlan(plan.OpFileStatus, func(n *plan.NNThroughput) { n.Files, n.Threads = 3000, 3 }))
	var asked atomic.Int64
	ordered := make(chan struct{}) // closed once the order has reached everybody
	b.nn.fail = func(call, _ string) error {
		if call != "getFileInfo" {
			return nil
		}
		if n := asked.Add(1); n == 100 {
			cancel(&measure.Stopped{Reason: "Suspended"})
			close(ordered)
		} else if n > 100 {
			<-ordered
		}
		return nil
	}
	err := nnthroughput.Run(ctx, b.env, &b.body)
	if stopped := new(measure.Stopped); !errors.As(err, &stopped) {
		t.Fatalf("error %v, want the stop", err)
	}
	if n := b.body.Operations; n != asked.Load() || n < 100 || n > 102 || len(b.body.Errors) != 0 {
		t.Errorf("%d operations of %d calls, errors %v", n, asked.Load(), b.body.Errors)
	}
	if b.body.Start == 0 || b.body.End <= b.body.Start || b.body.Latency.Count() != b.body.Operations {
		t.Errorf("from %d to %d, %d latencies", b.body.Start, b.body.End, b.body.Latency.Count())
	}
	if b.nn.closed != 1 {
		t.Errorf("closed %d times", b.nn.closed)
	}
}

// A call that hangs beyond the grace after a stop order is cut off, and nobody counts it.
func TestStopCutsOffCallsThatHang(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	b := newBench(t, oneThread(plan.OpFileStatus, 10))
	b.env.Clock = impatient{b.clock, ctx}
	n := 0
	b.nn.fail = func(call, _ string) error {
		if call != "getFileInfo" {
			return nil
		}
		if n++; n < 5 {
			return nil
		}
		cancel(&measure.Stopped{Reason: "Deadline"})
		return errHang
	}
	b.env.Connect = func(context.Context, *nnthroughput.Env, int) (nnthroughput.Target, error) { return hanging{b.nn}, nil }
	err := nnthroughput.Run(ctx, b.env, &b.body)
	if stopped := new(measure.Stopped); !errors.As(err, &stopped) || len(b.body.Errors) != 0 || b.body.Operations != 4 {
		t.Errorf("error %v, %d operations, counted %v", err, b.body.Operations, b.body.Errors)
	}
}

// impatient is a clock on which, once the step is stopped, waiting is over at once.
type impatient struct {
	*stepClock
	step context.Context
}

func (c impatient) Wait(ctx context.Context, d time.Duration) error {
	if c.step.Err() != nil {
		return context.Cause(ctx)
	}
	return c.stepClock.Wait(ctx, d)
}

var errHang = errors.New("hangs")

// hanging is a target one call of which waits for its context.
type hanging struct{ *fakeNameNode }

func (h hanging) Thread(int) nnthroughput.NameNode { return hangingNode(h) }

type hangingNode struct{ *fakeNameNode }

func (h hangingNode) GetFileInfo(ctx context.Context, p string) (s namenode.FileStatus, found bool, err error) {
	s, found, err = h.fakeNameNode.GetFileInfo(ctx, p)
	if errors.Is(err, errHang) {
		<-ctx.Done()
		return s, false, context.Cause(ctx)
	}
	return s, found, err
}

// The groups are refreshed before every G-th operation of a thread, outside what is timed.
func TestUGCacheRefreshCount(t *testing.T) {
	b := newBench(t, oneThread(plan.OpFileStatus, 7, func(n *plan.NNThroughput) { n.UGCacheRefreshCount = 3 }))
	b.nn.fail = func(call, _ string) error {
		if call == "refreshUserToGroupsMappings" {
			b.clock.advance(50 * time.Millisecond)
		}
		return nil
	}
	b.mustRun(t)
	var order strings.Builder
	for _, call := range b.nn.log("getFileInfo", "refresh") {
		order.WriteString(call[:1])
	}
	if got, want := order.String(), "ggrgggrgg"; got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
	if b.body.Latency.Max() != int64(time.Millisecond) || b.body.End-b.body.Start < 100_000 {
		t.Errorf("latency up to %d, elapsed %d µs", b.body.Latency.Max(), b.body.End-b.body.Start)
	}
}

// A NameNode that cannot be reached ends the shard with what it did so far.
func TestUnreachable(t *testing.T) {
	b := newBench(t, oneThread(plan.OpFileStatus, 10))
	n := 0
	b.nn.fail = func(call, _ string) error {
		if call == "getFileInfo" {
			if n++; n > 4 {
				return &namenode.UnreachableError{Method: call, Attempts: 3, Answers: []namenode.Answer{{Address: "nn:8020", Err: errors.New("connection refused")}}}
			}
		}
		return nil
	}
	wantFailure(t, b.run(t), report.ExitTarget, steps.ReasonNameNodeUnreachable, "no NameNode answers")
	want := []report.ErrorCount{{Class: b.body.Errors[0].Class, Count: 1, First: b.body.Errors[0].First}}
	if diff := cmp.Diff(want, b.body.Errors); diff != "" || b.body.Operations != 4 {
		t.Errorf("%d operations, errors (-want +got):\n%s", b.body.Operations, diff)
	}
}

// Threads without an item do nothing, and the others do not wait for them.
func TestMoreThreadsThanFiles(t *testing.T) {
	for _, warmup := range []int64{0, 20} {
		t.Run(fmt.Sprint(warmup), func(t *testing.T) {
			b := newBench(t, newPlan(plan.OpOpen, func(n *plan.NNThroughput) { n.Threads, n.Files, n.WarmupMillis = 5, 3, warmup }))
			b.mustRun(t)
			if b.body.Operations != 3 {
				t.Errorf("%d operations", b.body.Operations)
			}
		})
	}
	p := newPlan(plan.OpOpen, func(n *plan.NNThroughput) { n.Threads, n.Files = 5, 3 })
	p.Shards = 5
	b := newBench(t, p)
	b.env.Index = 4
	b.mustRun(t)
	if b.body.Operations != 0 || b.body.Start != 0 || b.body.Planned != 0 {
		t.Errorf("a shard without items: %+v", b.body)
	}
}
