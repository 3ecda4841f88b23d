package step_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// newWait is a slice of 20 s of a wait for a rest of 60 s. Looks are 2 s apart.
func newWait() *plan.Plan {
	planned := newPlan("uid", "t", plan.StepCompact, 1)
	planned.YCSB.SliceMillis, planned.YCSB.SettleMillis, planned.YCSB.DeadlineMillis = 20_000, 60_000, 300_000
	return planned
}

// allSlices carries slices out until the wait is over, and returns what was waited for after each but the last one.
func allSlices(p *pods, planned *plan.Plan) (waited []string, facts map[string]string) {
	p.t.Helper()
	for range 100 {
		facts = p.complete(planned)[0].Body.Facts
		if facts[plan.FactUnfinished] == "" {
			return waited, facts
		}
		waited = append(waited, facts[plan.FactUnfinished])
		planned.Earlier = facts
	}
	p.t.Fatal("the wait does not end")
	return nil, nil
}

// TestCompact: the rest counts over slices and begins anew with every compaction and every change of the store files; flush
// and major compaction are asked for once.
func TestCompact(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
		f.make(madeBy("uid", 1, "loading"))
		f.looks = nil
		for range 15 { // 30 s: half of the second slice
			f.looks = append(f.looks, look(3, 42))
		}
		for range 10 {
			f.looks = append(f.looks, look(0, 42))
		}
		f.looks = append(f.looks, look(0, 12), look(1, 12), look(0, 12)) // and 60 s of that
		planned := newWait()
		planned.YCSB.MajorCompact = true
		waited, facts := allSlices(p, planned)
		want := []string{
			"3 of 6 regions still compacting, 42 store files (MINOR in 3 of 6 regions)",
			"6 regions with 42 store files at rest for 12s of 1m0s",
			"6 regions with 12 store files at rest for 10s of 1m0s",
			"6 regions with 12 store files at rest for 30s of 1m0s",
			"6 regions with 12 store files at rest for 50s of 1m0s",
		}
		if diff := cmp.Diff(want, waited); diff != "" {
			t.Errorf("waited for (-want +got):\n%s", diff)
		}
		told := map[string]string{}
		for _, name := range []string{"regions", "storeFiles", "storeFileMiB", "majorCompact", "queues"} {
			told[name] = facts[name]
		}
		if diff := cmp.Diff(map[string]string{
			"regions": "6", "storeFiles": "12", "storeFileMiB": "12", "majorCompact": "true",
			"queues": "unknown: spec.target.http names no RegionServers: queued compactions are not seen",
		}, told); diff != "" {
			t.Errorf("facts (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"SetValues", "Flush", "MajorCompact"}, f.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

// TestCompactDeadline: the deadline counts over slices.
func TestCompactDeadline(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
		f.make(nil)
		f.looks = []admin.Look{look(6, 600)}
		planned := newWait()
		planned.YCSB.DeadlineMillis = 50_000
		for range 2 {
			planned.Earlier = p.complete(planned)[0].Body.Facts
		}
		r := p.carry(planned)[0].Envelope
		if r.ExitCode != report.ExitDeadline || r.Failure.Reason != steps.ReasonCompactionDeadline || !strings.Contains(r.Failure.Message, "6 of 6 regions still compacting, 600 store files") {
			t.Errorf("exit %d %+v", r.ExitCode, r.Failure)
		}
	})
}

// TestCompactInterrupted: what was not asked for to its end is asked for again.
func TestCompactInterrupted(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
		f.make(nil)
		f.errors["Flush"] = errors.New("region is closed")
		planned := newWait()
		p.failed(planned, steps.ReasonHBaseRefused)
		delete(f.errors, "Flush")
		planned.YCSB.SettleMillis = 0
		if _, facts := allSlices(p, planned); facts["waited"] != "0s" {
			t.Errorf("facts %v", facts)
		}
		if diff := cmp.Diff([]string{"Flush", "Flush"}, f.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}
