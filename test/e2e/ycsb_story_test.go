package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// TestYCSBInserts: four shards insert in two workloads of two measurements each, and no record is inserted twice.
func TestYCSBInserts(t *testing.T) {
	t.Parallel()
	s := beginHBase(t, "ycsb-insert")
	run := s.newYCSB("inserts", 2000,
		v1alpha1.YCSBWorkload{Preset: "D", OperationCount: ptr(int64(2000))}, v1alpha1.YCSBWorkload{Preset: "E", OperationCount: ptr(int64(600))})
	run.Spec.Repeats = ptr(int32(2))
	run.Spec.RepeatOrder = v1alpha1.RepeatRoundRobin
	s.create(run)
	s.awaitEnd(run, endOfRun)
	s.expectSuccess(run)
	s.expectYCSBFigures(run)
	var order []string
	for _, r := range run.Status.Steps {
		if r.Result != nil {
			order = append(order, r.Name)
		}
		if r.Attempt > 1 && r.Result != nil {
			t.Logf("note: %s %d took %d attempts", r.Name, r.Repeat, r.Attempt)
		}
	}
	if !slices.Equal(order, []string{"load", "workload-d", "workload-e", "workload-d", "workload-e"}) {
		t.Errorf("measured in this order: %v", order)
	}
	inserted := measuredOps(run, "INSERT")
	if inserted <= run.Spec.RecordCount {
		t.Errorf("%d records inserted, want more than the load", inserted)
	}
	s.expectRows(hbaseCluster, inserted, 10, 100)
}

// What TestYCSBCompactionWait loads, and how fast a RegionServer may compact its half of it: in some 25 seconds.
const (
	heldRecords = 12_000
	heldLength  = 1000
	heldRate    = "250000"
	heldAtLeast = 15 * time.Second
	settleTime  = 5 * time.Second
)

// TestYCSBCompactionWait: compactions are held by their limit of throughput. The status says so, and the first workload
// does not begin before they are over and have been so for the settle time. Nothing runs beside this story: the queues are
// those of all tables.
func TestYCSBCompactionWait(t *testing.T) {
	s := beginHBase(t, "ycsb-wait")
	run := s.newYCSB("wait", heldRecords, v1alpha1.YCSBWorkload{Preset: "UpdateOnly", OperationCount: ptr(int64(500))})
	run.Spec.FieldCount, run.Spec.FieldLength = ptr(int32(1)), ptr(int32(heldLength))
	run.Spec.Target.HTTP = &v1alpha1.HTTPAddresses{RegionServers: hbaseRegionServers()}
	run.Spec.Load = &v1alpha1.YCSBLoad{MajorCompact: ptr(true), SettleTime: duration(settleTime)}
	t.Cleanup(func() { s.hbaseControl("off") })
	s.hbaseControl("throttle", heldRate)
	before := s.majorCompactions()
	s.create(run)

	// What the servers count as compacted, and what the status says meanwhile.
	var over, asked time.Time
	var told []string
	s.await(run, endOfRun, "the workload has its start time", func() bool {
		if over.IsZero() && time.Since(asked) > time.Second {
			asked = time.Now()
			if s.majorCompactions()-before >= hbaseRegions {
				over = asked
			}
		}
		if r := row(run, "compact"); r != nil && !slices.Contains(told, r.Message) {
			told = append(told, r.Message)
			t.Logf("the status tells: %q", r.Message)
		}
		r := row(run, "update-only")
		return r != nil && r.StartAt != nil
	})
	wait, workload := row(run, "compact"), row(run, "update-only")
	if held := over.Sub(wait.BeginTime.Time); over.IsZero() || held < heldAtLeast {
		t.Errorf("compactions were over after %s (at %v), want them to be held for %s", held, over, heldAtLeast)
	}
	if rest := workload.StartAt.Sub(over); rest < settleTime {
		t.Errorf("the workload starts %s after the end of all compactions, want at least %s", rest, settleTime)
	}
	if !slices.ContainsFunc(told, func(m string) bool {
		return strings.Contains(m, " of 6 regions still compacting, ") && strings.Contains(m, " store files")
	}) {
		t.Errorf("the status never told of the compactions: %q", told)
	}
	s.awaitEnd(run, endOfRun)
	s.expectSuccess(run)
	facts := run.Status.Environment.Facts
	if facts["compact.storeFiles"] != "6" || facts["compact.queues"] != "empty" || facts["compact.unfinished"] != "" {
		t.Errorf("facts after the wait: %v", facts)
	}
}

// majorCompactions is how many major compactions of regions the RegionServers have finished.
func (s *story) majorCompactions() int64 {
	s.t.Helper()
	return s.regionServerMetric("Server", "MajorCompactionTime_num_ops")
}

// What TestYCSBRegionServerKilled measures for, and the time after which operations that hang are cut off.
const (
	killedFor   = 25 * time.Second
	killedGrace = 15 * time.Second
	// killedPause is how long nothing comes from the regions of a RegionServer that is killed, at least: its session ends
	// after ten seconds.
	killedPause = 5 * time.Second
)

// TestYCSBRegionServerKilled: a RegionServer is killed in mid-measurement. The measurement ends in time and tells of the
// pause, and no record is lost.
func TestYCSBRegionServerKilled(t *testing.T) {
	s := beginHBase(t, "ycsb-kill")
	run := s.newYCSB("killed", 2000, v1alpha1.YCSBWorkload{Preset: "A", Duration: duration(killedFor)})
	t.Cleanup(func() { s.hbaseControl("start", "2") })
	s.create(run)
	s.await(run, endOfRun, "well under way", func() bool {
		return started(run, "workload-a") && time.Since(row(run, "workload-a").StartAt.Time) > underWay
	})
	s.hbaseControl("kill9", "2")
	s.awaitEnd(run, endOfRun)
	s.expect(run, v1alpha1.ConditionCompleted, metav1.ConditionTrue, "")
	r := row(run, "workload-a").Result
	if r == nil || r.Latency == nil {
		t.Fatalf("no result: %s", run.Status.Summary)
	}
	facts := run.Status.Environment.Facts
	t.Logf("%d operations, %d failed, %d unfinished in %.1f s, the slowest took %.1f s; %v; retries: %s; facts after: %s RegionServers, %s dead",
		r.Operations, r.Errors, r.Unfinished, float64(r.WallMicros)/1e6, float64(r.Latency.MaxMicros)/1e6, r.ErrorClasses,
		facts["retries"], facts["after.hbase.regionServers"], facts["after.hbase.deadRegionServers"])
	if wall := time.Duration(r.WallMicros) * time.Microsecond; wall > killedFor+killedGrace {
		t.Errorf("the measurement took %s, want %s", wall, killedFor)
	}
	if pause := time.Duration(r.Latency.MaxMicros) * time.Microsecond; pause < killedPause && r.Errors+r.Unfinished == 0 {
		t.Errorf("the slowest operation took %s and none failed", pause)
	}
	s.mentions(facts["retries"], "workload-a, repeat 1, shard 0: ", "1 server lost")
	if facts["after.hbase.deadRegionServers"] == "0" {
		t.Errorf("facts: %v", facts)
	}
	if r.Errors+r.Unfinished > 0 {
		s.expect(run, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonOperationErrors)
	}
	s.expectRows(hbaseCluster, run.Spec.RecordCount, 10, 100)
}

// TestYCSBSuspendInLoad: a run is suspended in mid-load. Others see whose the table is and that it is not loaded; the run
// goes on to its end and drops it.
func TestYCSBSuspendInLoad(t *testing.T) {
	t.Parallel()
	s := beginHBase(t, "ycsb-suspend")
	run := s.newYCSB("suspended", 4000)
	run.Spec.Load.Target, run.Spec.Table.DropAfter = "500", ptr(true)
	s.create(run)
	s.await(run, endOfRun, "well under way", func() bool {
		return started(run, "load") && time.Since(row(run, "load").StartAt.Time) > underWay
	})
	s.patch(run, `{"spec":{"suspend":true}}`)
	s.await(run, soon, "suspended", func() bool {
		c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionReconciling)
		return c.Reason == v1alpha1.ReasonSuspended && !running(run)
	})
	s.expectHalfLoaded(run)
	s.patch(run, `{"spec":{"suspend":false}}`)
	s.awaitEnd(run, endOfRun)
	s.expectSuccess(run)
	s.expectYCSBFigures(run)
	if r := row(run, "load"); r.Attempt < 2 {
		t.Errorf("the load was suspended, but it took %d attempt", r.Attempt)
	}
	s.expectNoTable(hbaseCluster)
}

// TestYCSBDeadlineInLoad: activeDeadline passes in mid-load. The run says so and leaves the table, and others see its state.
func TestYCSBDeadlineInLoad(t *testing.T) {
	t.Parallel()
	s := beginHBase(t, "ycsb-deadline")
	run := s.newYCSB("late", 100_000)
	run.Spec.Load.Target, run.Spec.ActiveDeadline = "500", duration(time.Minute)
	s.create(run)
	s.awaitEnd(run, endOfRun)
	s.mentions(s.expectFailure(run, v1alpha1.ReasonDeadlineExceeded), "spec.activeDeadline of 1m0s")
	if f := run.Status.Failure; f == nil || f.Step != "load" {
		t.Errorf("failure: %+v", f)
	}
	if n := rowOps(run, "load"); n == 0 || n >= run.Spec.RecordCount {
		t.Errorf("%d of %d records are told to be loaded", n, run.Spec.RecordCount)
	}
	s.expectHalfLoaded(run)
}

// expectHalfLoaded: neither does another run load into the table of one that is not loaded to its end, nor does it measure
// there.
func (s *story) expectHalfLoaded(run *v1alpha1.YCSBRun) {
	s.t.Helper()
	other := s.newYCSB("other", run.Spec.RecordCount)
	reader := s.newYCSB("reader", run.Spec.RecordCount, v1alpha1.YCSBWorkload{Preset: "C", OperationCount: ptr(int64(100))})
	reader.Spec.UseExisting, reader.Spec.Load, reader.Spec.Table.Regions = ptr(true), nil, nil
	s.create(other)
	s.create(reader)
	s.awaitEnd(other, soon)
	s.awaitEnd(reader, soon)
	s.expect(other, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, "LeftoversFound")
	s.mentions(s.expectFailure(other, "LeftoversFound"), s.table(), s.namespace+"/"+run.Name, string(run.UID), "drop '"+s.table()+"'", "spec.useExisting")
	s.expect(reader, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, "LoadIncomplete")
	s.mentions(s.expectFailure(reader, "LoadIncomplete"), s.table())
}
