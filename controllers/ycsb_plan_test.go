package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// recordDefaults are YCSB's, of the records.
func recordDefaults(more map[string]string) map[string]string {
	out := map[string]string{
		"fieldcount": "10", "fieldlength": "100", "fieldlengthdistribution": "constant", "fieldnameprefix": "field",
		"readallfields": "true", "readallfieldsbyname": "false", "writeallfields": "false", "dataintegrity": "false",
		"insertorder": "hashed", "zeropadding": "1", "durability": "USE_DEFAULT", "clientbuffering": "false",
	}
	for k, v := range more {
		out[k] = v
	}
	return out
}

func ycsbPlanOf(run Run, step string, repeat, attempt int32) *plan.Plan {
	p := &plan.Plan{Identity: report.Identity{Step: step, Repeat: repeat, Attempt: attempt}}
	YCSB{}.Fill(run, p)
	return p
}

func TestYCSBPlanDefaults(t *testing.T) {
	run := ycsbRun()
	base := plan.YCSB{
		Table: "usertable", ColumnFamily: "family", Regions: 1, CreatePolicy: "Create", Compression: "NONE",
		Steps: []string{"load", "workload-a", "workload-e"}, RecordCount: 1000, Threads: 4, Properties: recordDefaults(nil),
	}
	load := base
	load.Properties = recordDefaults(map[string]string{"core_workload_insertion_retry_limit": "0", "core_workload_insertion_retry_interval": "3"})
	compact := base
	compact.SettleMillis, compact.DeadlineMillis, compact.SliceMillis = 60_000, 7_200_000, 60_000
	a := base
	a.Operations, a.InsertBase = 10_000, plan.InsertBase(1000, 0, 2, 3)
	a.Properties = recordDefaults(map[string]string{
		"readproportion": "0.5", "updateproportion": "0.5", "insertproportion": "0", "scanproportion": "0", "readmodifywriteproportion": "0",
		"requestdistribution": "zipfian",
	})
	e := base
	e.DurationMillis, e.InsertBase = 60_000, plan.InsertBase(1000, 1, 2, 3)
	e.Properties = recordDefaults(map[string]string{
		"readproportion": "0", "updateproportion": "0", "insertproportion": "0.05", "scanproportion": "0.95", "readmodifywriteproportion": "0",
		"requestdistribution": "zipfian", "minscanlength": "1", "maxscanlength": "100", "scanlengthdistribution": "uniform", "hbase.usepagefilter": "true",
	})
	for step, want := range map[string]plan.YCSB{"preflight": base, "create": base, "load": load, "compact": compact, "workload-a": a, "workload-e": e} {
		got := ycsbPlanOf(run, step, 2, 3).YCSB
		if diff := cmp.Diff(&want, got, cmpopts.IgnoreFields(plan.YCSB{}, "Seed")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
		if got.Seed <= 0 {
			t.Errorf("%s: seed %d", step, got.Seed)
		}
	}
}

func TestYCSBPlanOfEverything(t *testing.T) {
	run := ycsbRun(func(s *v1alpha1.YCSBRunSpec) {
		s.Table = v1alpha1.YCSBTable{
			Name: "bench:t", ColumnFamily: "cf", Regions: ptr(int32(250)), CreatePolicy: v1alpha1.YCSBCreateIfMissing, DropAfter: ptr(true),
			Compression: "Snappy", Values: map[string]v1alpha1.PropertyValue{"hbase.hregion.memstore.flush.size": "1048576"},
		}
		s.RecordCount, s.Seed, s.ConnectionsPerShard, s.Warmup = 1_000_000_000, ptr(int64(7)), ptr(int32(4)), duration(2*time.Second)
		s.Target.HTTP = &v1alpha1.HTTPAddresses{Masters: []string{"http://m:16010"}, RegionServers: []string{"http://r:16030"}}
		s.Load = &v1alpha1.YCSBLoad{
			Threads: ptr(int32(256)), Target: "1000.5", MajorCompact: ptr(true), SettleTime: duration(time.Second), CompactionDeadline: duration(time.Hour),
		}
		s.FieldLengthDistribution, s.MinFieldLength, s.ClientBuffering, s.WriteBufferSize = "zipfian", ptr(int32(5)), ptr(true), ptr(int64(1024))
		s.Durability, s.InsertionRetryLimit, s.InsertionRetryInterval, s.ZipfianScrambling = "AsyncWAL", ptr(int32(2)), duration(time.Second), "Exact"
		s.Properties = map[string]v1alpha1.PropertyValue{"debug": "true"}
		s.Workloads = []v1alpha1.YCSBWorkload{
			{Name: "mine", Preset: "F", Duration: duration(time.Minute), OperationCount: ptr(int64(9)), Target: "0.5", Warmup: duration(time.Second), YCSBMix: v1alpha1.YCSBMix{
				ReadProportion: "0.5", UpdateProportion: "0.25", ReadModifyWriteProportion: "0.25",
			}},
			{Preset: "UpdateOnly", OperationCount: ptr(int64(9)), YCSBMix: v1alpha1.YCSBMix{RequestDistribution: "hotspot", HotspotDataFraction: "0.1"}},
			{Name: "latest", OperationCount: ptr(int64(9)), YCSBMix: v1alpha1.YCSBMix{ReadProportion: "3", RequestDistribution: "exponential"}},
		}
	})
	base := plan.YCSB{
		Table: "bench:t", ColumnFamily: "cf", Regions: 250, CreatePolicy: "IfMissing", Compression: "SNAPPY", DropAfter: true,
		TableValues: map[string]string{"hbase.hregion.memstore.flush.size": "1048576"},
		Steps:       []string{"load", "mine", "update-only", "latest"}, RecordCount: 1_000_000_000, Seed: 7, Threads: 4, Connections: 4,
		HTTP: []string{"http://m:16010", "http://r:16030"},
	}
	properties := func(more map[string]string) map[string]string {
		out := recordDefaults(map[string]string{
			"fieldlengthdistribution": "zipfian", "minfieldlength": "5", "clientbuffering": "true", "writebuffersize": "1024", "durability": "ASYNC_WAL", "debug": "true",
		})
		for k, v := range more {
			out[k] = v
		}
		return out
	}
	load := base
	load.Threads, load.RateMilli = 256, 1_000_500
	load.Properties = properties(map[string]string{"core_workload_insertion_retry_limit": "2", "core_workload_insertion_retry_interval": "1"})
	compact := base
	compact.MajorCompact, compact.SettleMillis, compact.DeadlineMillis, compact.SliceMillis = true, 1000, 3_600_000, 300_000
	compact.Properties = properties(nil)
	mine := base
	mine.Operations, mine.DurationMillis, mine.RateMilli, mine.WarmupMillis, mine.InsertBase = 9, 60_000, 500, 1000, plan.InsertBase(1_000_000_000, 0, 1, 11)
	mine.Properties = properties(map[string]string{
		"readproportion": "0.5", "updateproportion": "0.25", "insertproportion": "0", "scanproportion": "0", "readmodifywriteproportion": "0.25",
		"requestdistribution": "zipfian", "hadoopbench.zipfian": "exact",
	})
	updates := base
	updates.Operations, updates.WarmupMillis, updates.InsertBase = 9, 2000, plan.InsertBase(1_000_000_000, 1, 1, 11)
	updates.Properties = properties(map[string]string{
		"readproportion": "0", "updateproportion": "1", "insertproportion": "0", "scanproportion": "0", "readmodifywriteproportion": "0",
		"requestdistribution": "hotspot", "hotspotdatafraction": "0.1", "hotspotopnfraction": "0.8",
	})
	latest := base
	latest.Operations, latest.WarmupMillis, latest.InsertBase = 9, 2000, plan.InsertBase(1_000_000_000, 2, 1, 11)
	latest.Properties = properties(map[string]string{
		"readproportion": "3", "updateproportion": "0", "insertproportion": "0", "scanproportion": "0", "readmodifywriteproportion": "0",
		"requestdistribution": "exponential", "exponential.percentile": "95", "exponential.frac": "0.8571428571",
	})
	for step, want := range map[string]plan.YCSB{"load": load, "compact": compact, "mine": mine, "update-only": updates, "latest": latest} {
		if diff := cmp.Diff(&want, ycsbPlanOf(run, step, 1, 11).YCSB); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step, diff)
		}
	}
}

// TestYCSBPresets: the operations of YCSB's own workload files.
func TestYCSBPresets(t *testing.T) {
	want := map[string]string{
		"A": "readproportion=0.5,updateproportion=0.5 zipfian", "B": "readproportion=0.95,updateproportion=0.05 zipfian",
		"C": "readproportion=1 zipfian", "D": "insertproportion=0.05,readproportion=0.95 latest",
		"E": "insertproportion=0.05,scanproportion=0.95 zipfian", "F": "readmodifywriteproportion=0.5,readproportion=0.5 zipfian",
		"UpdateOnly": "updateproportion=1 zipfian",
	}
	got := map[string]string{}
	for name, p := range presets() {
		got[name] = joined(p.proportions) + " " + p.distribution
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("presets (-want +got):\n%s", diff)
	}
}

func TestYCSBExistingTable(t *testing.T) {
	run := ycsbRun(func(s *v1alpha1.YCSBRunSpec) { s.UseExisting = ptr(true) })
	p := ycsbPlanOf(run, "preflight", 1, 1).YCSB
	if p.CreatePolicy != plan.CreateNever || !p.UseExisting {
		t.Errorf("policy %s, useExisting %t", p.CreatePolicy, p.UseExisting)
	}
	wantSlice(t, "measured steps", []string{"workload-a", "workload-e"}, p.Steps)
}

// TestSeed: a run's own seed is above zero, the same in every plan of it, and another one than another run's.
func TestSeed(t *testing.T) {
	seeds := map[int64]string{}
	for _, uid := range []string{"a", "b", testUID} {
		one, two := ycsbRun(), ycsbRun()
		one.SetUID(types.UID(uid))
		two.SetUID(types.UID(uid))
		seed := seedOf(one)
		if seed <= 0 || seed != seedOf(two) || seeds[seed] != "" {
			t.Errorf("seed of %s is %d, of the same %d, of %q the same", uid, seed, seedOf(two), seeds[seed])
		}
		seeds[seed] = uid
	}
}
