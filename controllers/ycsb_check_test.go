package controllers

import (
	"slices"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

type ycsbEdit = func(*v1alpha1.YCSBRunSpec)

func ycsbRun(edits ...ycsbEdit) *v1alpha1.YCSBRun {
	return newYCSBRun(func(r *v1alpha1.YCSBRun) {
		for _, edit := range edits {
			edit(&r.Spec)
		}
	})
}

// of is a run of one workload.
func of(w v1alpha1.YCSBWorkload) ycsbEdit {
	return func(s *v1alpha1.YCSBRunSpec) {
		if w.OperationCount == nil && w.Duration == nil {
			w.OperationCount = ptr(int64(10_000))
		}
		s.Workloads = []v1alpha1.YCSBWorkload{w}
	}
}

func TestYCSBCheck(t *testing.T) {
	type (
		spec     = v1alpha1.YCSBRunSpec
		load     = v1alpha1.YCSBLoad
		workload = v1alpha1.YCSBWorkload
		mix      = v1alpha1.YCSBMix
	)
	existing := func(s *spec) { s.UseExisting = ptr(true) }
	property := func(name, value string) ycsbEdit {
		return func(s *spec) { s.Properties = map[string]v1alpha1.PropertyValue{name: v1alpha1.PropertyValue(value)} }
	}
	tests := map[string]struct {
		edits []ycsbEdit
		want  []string
	}{
		"fine":         {nil, nil},
		"load alone":   {[]ycsbEdit{func(s *spec) { s.Workloads = nil }}, nil},
		"existing":     {[]ycsbEdit{existing}, nil},
		"Cloudera's F": {[]ycsbEdit{of(workload{Preset: "F", YCSBMix: mix{ReadProportion: "0.5", UpdateProportion: "0.25", ReadModifyWriteProportion: "0.25"}})}, nil},

		"no cluster": {
			[]ycsbEdit{func(s *spec) {
				s.Target.Properties = map[string]v1alpha1.PropertyValue{"fs.defaultFS": "hdfs://namenode:8020"}
			}},
			[]string{"spec.target: neither hadoopConfig nor hbase.zookeeper.quorum is invalid; name the ConfigMap with the cluster's hbase-site.xml in spec.target.hadoopConfig.configMapRef, or set hbase.zookeeper.quorum, hbase.masters or hbase.client.bootstrap.servers in spec.target.properties"},
		},
		"address of a page": {
			[]ycsbEdit{func(s *spec) {
				s.Target.HTTP = &v1alpha1.HTTPAddresses{RegionServers: []string{"http://a:16030", "http://a:16030/jmx"}}
			}},
			[]string{"spec.target.http.regionServers[1]: http://a:16030/jmx is invalid; write it as http://host:port"},
		},
		"nothing to do": {
			[]ycsbEdit{existing, func(s *spec) { s.Workloads = nil }},
			[]string{"spec.workloads: none with useExisting is invalid; name one: there is nothing else to measure"},
		},
		"a shard without a thread": {
			[]ycsbEdit{func(s *spec) { s.Shards = ptr(int32(5)) }},
			[]string{"spec.shards: 5 is invalid; raise spec.threads to as many, or use at most 4 shards: each needs a thread"},
		},
		"negative rest": {[]ycsbEdit{func(s *spec) { s.Rest = duration(-time.Second) }}, []string{"spec.rest: -1s is invalid; give a duration of zero or more"}},
		"repeats of nothing": {
			[]ycsbEdit{func(s *spec) { s.Workloads, s.Repeats = nil, ptr(int32(3)) }},
			[]string{"spec.repeats: an option of workloads is invalid; remove it: the run has none"},
		},

		"table of HBase's own": {
			[]ycsbEdit{existing, func(s *spec) { s.Table = v1alpha1.YCSBTable{Name: "hbase:meta", ColumnFamily: "info"} }},
			[]string{"spec.table.name: hbase:meta is invalid; name a table of another namespace: those of hbase are HBase's own, and a run writes to its table"},
		},
		"regions of somebody else's table": {
			[]ycsbEdit{func(s *spec) {
				s.Table = v1alpha1.YCSBTable{CreatePolicy: v1alpha1.YCSBCreateNever, Regions: ptr(int32(6)), DropAfter: ptr(true)}
			}},
			[]string{
				"spec.table.regions: an option of a table that the run makes, with createPolicy Never is invalid; remove one of the two",
				"spec.table.dropAfter: an option of a table that the run makes, with createPolicy Never is invalid; remove one of the two",
			},
		},
		"attribute of the runs' own": {
			[]ycsbEdit{func(s *spec) {
				s.Table.Values = map[string]v1alpha1.PropertyValue{"hadoopbench.run": "mine", "hbase.x": "1"}
			}},
			[]string{"spec.table.values[hadoopbench.run]: mine is invalid; choose a name outside hadoopbench.: by those attributes runs know whose a table is"},
		},
		"existing table, made": {
			[]ycsbEdit{existing, func(s *spec) {
				s.Table = v1alpha1.YCSBTable{CreatePolicy: v1alpha1.YCSBCreate, Compression: "GZ", Values: map[string]v1alpha1.PropertyValue{"a": "b"}}
			}},
			[]string{
				"spec.table.createPolicy: Create with useExisting is invalid; remove one of the two: a table that holds the records is there already",
				"spec.table.compression: an option of a table that the run makes, with useExisting is invalid; remove one of the two",
				"spec.table.values: an option of a table that the run makes, with useExisting is invalid; remove one of the two",
			},
		},
		"existing table, loaded": {
			[]ycsbEdit{existing, func(s *spec) { s.Load = &load{}; s.InsertionRetryLimit = ptr(int32(1)) }},
			[]string{
				"spec.useExisting: true with load is invalid; remove one of the two: the records are there already",
				"spec.insertionRetryLimit: an option of the load is invalid; remove it: the run has none",
			},
		},
		"existing table, written to by nobody": {
			[]ycsbEdit{existing, of(workload{Preset: "C"}), func(s *spec) { s.Durability, s.WriteAllFields = "SkipWAL", ptr(true) }},
			[]string{
				"spec.writeAllFields: an option of workloads with updates or read-modify-writes is invalid; remove it: the run has none",
				"spec.durability: an option of writes is invalid; remove it: the run has none",
			},
		},

		"a load shard without a thread": {
			[]ycsbEdit{func(s *spec) { s.Load = &load{Shards: ptr(int32(5))} }},
			[]string{"spec.load.shards: 5 is invalid; have at least as many load threads (4) as load shards (5): each shard needs one"},
		},
		"fewer load threads than shards": {
			[]ycsbEdit{func(s *spec) { s.Load = &load{Threads: ptr(int32(1))} }},
			[]string{"spec.load.threads: 1 is invalid; have at least as many load threads (1) as load shards (2): each shard needs one"},
		},
		"a thread without a record": {
			[]ycsbEdit{func(s *spec) { s.RecordCount = 3 }},
			[]string{"spec.recordCount: 3 is invalid; load more records, or by fewer than 4 threads: each needs one"},
		},
		"rates": {
			[]ycsbEdit{func(s *spec) {
				s.Load, s.Workloads[0].Target, s.Workloads[1].Target = &load{Target: "0.000"}, "0.003", "1."
			}},
			[]string{
				"spec.load.target: 0.000 is invalid; give a rate above zero, or remove it",
				"spec.workloads[0].target: 0.003 is invalid; raise it, or use fewer than 4 threads: a thread would have less than one operation in 1000 s",
				`spec.workloads[1].target: 1. is invalid; "1." is no decimal with at most three places`,
			},
		},
		"waiting for nothing": {
			[]ycsbEdit{func(s *spec) {
				s.Load = &load{WaitForCompaction: ptr(false), MajorCompact: ptr(true), SettleTime: duration(0), CompactionDeadline: duration(time.Hour)}
			}},
			[]string{
				"spec.load.majorCompact: an option of the wait for compactions is invalid; remove it, or set spec.load.waitForCompaction to true",
				"spec.load.settleTime: an option of the wait for compactions is invalid; remove it, or set spec.load.waitForCompaction to true",
				"spec.load.compactionDeadline: an option of the wait for compactions is invalid; remove it, or set spec.load.waitForCompaction to true",
			},
		},
		"nothing after the load": {
			[]ycsbEdit{func(s *spec) { s.Workloads, s.Load = nil, &load{WaitForCompaction: ptr(false)} }},
			[]string{"spec.load.waitForCompaction: false without workloads is invalid; remove it, or add a workload: that the load is complete is noted in the table by the step after it"},
		},
		"settled too late": {
			[]ycsbEdit{func(s *spec) { s.Load = &load{CompactionDeadline: duration(time.Minute)} }},
			[]string{"spec.load.compactionDeadline: 1m0s is invalid; give more than spec.load.settleTime, which is 1m0s"},
		},

		"lengths": {
			[]ycsbEdit{func(s *spec) {
				s.FieldLengthDistribution, s.MinFieldLength, s.DataIntegrity = "uniform", ptr(int32(101)), ptr(true)
			}},
			[]string{
				"spec.minFieldLength: 101 is invalid; give at most spec.fieldLength, which is 100",
				"spec.dataIntegrity: true with fieldLengthDistribution uniform is invalid; use constant lengths: the check knows what every field holds only then",
			},
		},
		"shortest of constant lengths": {
			[]ycsbEdit{func(s *spec) { s.MinFieldLength = ptr(int32(10)) }},
			[]string{"spec.minFieldLength: 10 is invalid; remove it, or choose another spec.fieldLengthDistribution: constant lengths have no shortest one"},
		},
		"one field by all names": {
			[]ycsbEdit{func(s *spec) { s.ReadAllFields, s.ReadAllFieldsByName = ptr(false), ptr(true) }},
			[]string{"spec.readAllFieldsByName: true with readAllFields false is invalid; remove one of the two: one field is always read by its name"},
		},
		"large records": {
			[]ycsbEdit{func(s *spec) { s.FieldCount, s.FieldLength = ptr(int32(1000)), ptr(int32(10_485_760)) }},
			[]string{"spec.fieldLength: 10485760 is invalid; use shorter or fewer fields: a record of 10485760000 bytes is more than 1073741824"},
		},
		"half seconds": {
			[]ycsbEdit{func(s *spec) {
				s.InsertionRetryLimit, s.InsertionRetryInterval = ptr(int32(1)), duration(1500*time.Millisecond)
			}},
			[]string{"spec.insertionRetryInterval: 1.5s is invalid; give whole seconds, as YCSB takes them"},
		},
		"options without what they are of": {
			[]ycsbEdit{of(workload{Preset: "D"}), func(s *spec) {
				s.UsePageFilter, s.ZipfianScrambling, s.WriteBufferSize, s.InsertionRetryInterval = ptr(true), "Exact", ptr(int64(1)), duration(time.Second)
			}},
			[]string{
				"spec.usePageFilter: an option of workloads with scans is invalid; remove it: the run has none",
				"spec.zipfianScrambling: an option of workloads with requestDistribution zipfian is invalid; remove it: the run has none",
				"spec.insertionRetryInterval: an option of an insertionRetryLimit above 0 is invalid; remove it: the run has none",
				"spec.writeBufferSize: an option of clientBuffering is invalid; remove it: the run has none",
			},
		},

		"names": {
			[]ycsbEdit{func(s *spec) {
				n := ptr(int64(100))
				s.Workloads = []workload{
					{Preset: "A", OperationCount: n},
					{Name: "workload-a", Preset: "B", OperationCount: n},
					{Name: "load", Preset: "C", OperationCount: n},
					{OperationCount: n, YCSBMix: mix{ReadProportion: "1"}},
				}
			}},
			[]string{
				"spec.workloads[1].name: workload-a is invalid; give each workload a name of its own; repeats measures one more often",
				"spec.workloads[2].name: load is invalid; choose another: a step of the operator's own has this one",
				"spec.workloads[3].name: no name is invalid; name the workload, or choose a preset",
			},
		},
		"extents": {
			[]ycsbEdit{func(s *spec) {
				s.Workloads = []workload{
					{Preset: "A"}, {Preset: "B", OperationCount: ptr(int64(3))}, {Preset: "C", Duration: duration(0), Warmup: duration(-1)},
				}
			}},
			[]string{
				"spec.workloads[0].operationCount: neither operationCount nor duration is invalid; set one of the two: the workload would never end",
				"spec.workloads[1].operationCount: 3 is invalid; raise it, or use fewer than 4 threads: each needs an operation",
				"spec.workloads[2].duration: 0s is invalid; give a duration above zero, or remove it",
				"spec.workloads[2].warmup: -1ns is invalid; give a duration of zero or more",
			},
		},
		"no operations": {
			[]ycsbEdit{of(workload{Preset: "A", YCSBMix: mix{ReadProportion: "0.00"}})},
			[]string{"spec.workloads[0].readProportion: no operations is invalid; set a proportion above zero, or choose a preset"},
		},
		"longest scan": {
			[]ycsbEdit{of(workload{Preset: "E", YCSBMix: mix{MinScanLength: ptr(int32(101))}})},
			[]string{"spec.workloads[0].minScanLength: 101 is invalid; give at most maxScanLength, which is 100"},
		},
		"scan options without scans": {
			[]ycsbEdit{of(workload{Preset: "A", YCSBMix: mix{MinScanLength: ptr(int32(1)), MaxScanLength: ptr(int32(1)), ScanLengthDistribution: "zipfian"}})},
			[]string{
				"spec.workloads[0].minScanLength: an option of scans is invalid; remove it, or set scanProportion",
				"spec.workloads[0].maxScanLength: an option of scans is invalid; remove it, or set scanProportion",
				"spec.workloads[0].scanLengthDistribution: an option of scans is invalid; remove it, or set scanProportion",
			},
		},
		"options of other distributions": {
			[]ycsbEdit{of(workload{Preset: "A", YCSBMix: mix{HotspotOpnFraction: "0.5", ExponentialFrac: "0.1"}})},
			[]string{
				"spec.workloads[0].hotspotOpnFraction: an option of requestDistribution hotspot is invalid; remove it, or choose that distribution",
				"spec.workloads[0].exponentialFrac: an option of requestDistribution exponential is invalid; remove it, or choose that distribution",
			},
		},
		"no hot record": {
			[]ycsbEdit{of(workload{Preset: "A", YCSBMix: mix{RequestDistribution: "hotspot", HotspotDataFraction: "0.0001"}})},
			[]string{"spec.workloads[0].hotspotDataFraction: 0.0001 is invalid; choose it so that some of the 1000 records are hot and others are not"},
		},
		"nothing exponential": {
			[]ycsbEdit{of(workload{Preset: "A", YCSBMix: mix{RequestDistribution: "exponential", ExponentialPercentile: "0.0"}})},
			[]string{"spec.workloads[0].exponentialPercentile: 0.0 is invalid; give a number above zero"},
		},

		"property with a field":    {[]ycsbEdit{property("fieldcount", "5")}, []string{"spec.properties[fieldcount]: 5 is invalid; use spec.fieldCount"}},
		"property of a workload":   {[]ycsbEdit{property("readproportion", "1")}, []string{"spec.properties[readproportion]: 1 is invalid; use spec.workloads[].readProportion"}},
		"property of the operator": {[]ycsbEdit{property("insertstart", "5")}, []string{"spec.properties[insertstart]: 5 is invalid; remove it: the operator spreads records and operations over the shards"}},
		"property of the client":   {[]ycsbEdit{property("hbase.rpc.timeout", "5")}, []string{"spec.properties[hbase.rpc.timeout]: 5 is invalid; write it in spec.target.properties: it is a property of the client's configuration, not of YCSB"}},
		"misspelt property":        {[]ycsbEdit{property("fieldLenght", "5")}, []string{"spec.properties[fieldLenght]: 5 is invalid; remove it, or correct its name: neither YCSB nor its HBase binding has such a property; the nearest is fieldlength"}},
		"property without a field": {[]ycsbEdit{property("core_workload_insertion_keep_going_on_error", "true")}, nil},
		"its value":                {[]ycsbEdit{property("debug", "yes")}, []string{"spec.properties[debug]: yes is invalid; write true or false"}},
		"filter":                   {[]ycsbEdit{property("hbase.scanfilteroperator", "less")}, []string{"spec.properties[hbase.scanfilteroperator]: less is invalid; remove it: scans are not filtered by values yet"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range check(YCSB{}, ycsbRun(tc.edits...)) {
				if p.Reason != v1alpha1.ReasonInvalidSpec {
					t.Errorf("reason %s", p.Reason)
				}
				got = append(got, p.Message)
			}
			wantSlice(t, "problems", tc.want, got)
		})
	}
}

// TestKnownProperties: a property is in one of the lists only.
func TestKnownProperties(t *testing.T) {
	own, passed := ownProperties(), passedProperties()
	for name := range fieldsOfProperties() {
		if own[name] != "" || slices.Contains(passed, name) {
			t.Errorf("%s has a field and is in another list, too", name)
		}
	}
	for name := range own {
		if slices.Contains(passed, name) {
			t.Errorf("%s is refused and passed on", name)
		}
	}
}
