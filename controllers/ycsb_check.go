package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// Check implements Benchmark.
func (YCSB) Check(run Run) []Problem {
	s := ycsbSpec(run)
	return slices.Concat(
		checkYCSBShared(s), checkTable(s), checkLoad(s), checkRecords(s), checkUnusedYCSB(s), checkWorkloads(s), checkYCSBProperties(s),
	)
}

// checkYCSBShared looks at the fields that say how much is done, and by whom.
func checkYCSBShared(s *v1alpha1.YCSBRunSpec) []Problem {
	var out []Problem
	if s.KeepResults != nil {
		out = append(out, invalid("keepResults", *s.KeepResults, "remove it: spec.table.dropAfter says what becomes of the table"))
	}
	if !loads(s) && len(s.Workloads) == 0 {
		out = append(out, invalid("workloads", "none with useExisting", "name one: there is nothing else to measure"))
	}
	threads, shards := value(s.Threads, 1), value(s.Shards, 1)
	if threads < shards {
		out = append(out, invalid("shards", shards, fmt.Sprintf("raise spec.threads to as many, or use at most %d shards: each needs a thread", threads)))
	}
	if d := durationOr(s.Rest, 0); d < 0 {
		out = append(out, invalid("rest", d, "give a duration of zero or more"))
	}
	return out
}

// systemNamespace begins the names of tables by which HBase works itself: a row of a run's in hbase:meta may stop the cluster.
const systemNamespace = "hbase:"

// checkTable refuses HBase's own tables, attributes that are the runs' own, and what would be done to a table that is not
// the run's to make.
func checkTable(s *v1alpha1.YCSBRunSpec) []Problem {
	var out []Problem
	if strings.HasPrefix(s.Table.Name, systemNamespace) {
		out = append(out, invalid("table.name", s.Table.Name, "name a table of another namespace: those of hbase are HBase's own, and a run writes to its table"))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Table.Values)) {
		if strings.HasPrefix(name, "hadoopbench.") {
			out = append(out, invalid(fmt.Sprintf("table.values[%s]", name), s.Table.Values[name], "choose a name outside hadoopbench.: by those attributes runs know whose a table is"))
		}
	}
	if mayCreate(s) {
		return out
	}
	why := "createPolicy Never"
	if !loads(s) {
		why = "useExisting"
		if p := s.Table.CreatePolicy; p != "" && p != v1alpha1.YCSBCreateNever {
			out = append(out, invalid("table.createPolicy", fmt.Sprintf("%s with useExisting", p), "remove one of the two: a table that holds the records is there already"))
		}
	}
	for _, f := range []struct {
		field string
		set   bool
	}{
		{"table.regions", s.Table.Regions != nil},
		{"table.compression", s.Table.Compression != ""},
		{"table.values", len(s.Table.Values) > 0},
		{"table.dropAfter", value(s.Table.DropAfter, false)},
	} {
		if f.set {
			out = append(out, invalid(f.field, "an option of a table that the run makes, with "+why, "remove one of the two"))
		}
	}
	return out
}

// checkLoad looks at the load and the wait after it.
func checkLoad(s *v1alpha1.YCSBRunSpec) []Problem {
	var out []Problem
	refuse := func(field string, v any, remedy string) { out = append(out, invalid(field, v, remedy)) }
	if !loads(s) {
		if s.Load != nil {
			refuse("useExisting", "true with load", "remove one of the two: the records are there already")
		}
		return out
	}
	load := ycsbLoad(s)
	threads, shards := value(load.Threads, value(s.Threads, 1)), value(load.Shards, value(s.Shards, 1))
	if threads < shards && (s.Load != nil || value(s.Threads, 1) >= value(s.Shards, 1)) {
		field, v := "load.shards", shards
		if load.Shards == nil {
			field, v = "load.threads", threads
		}
		refuse(field, v, fmt.Sprintf("have at least as many load threads (%d) as load shards (%d): each shard needs one", threads, shards))
	}
	if s.RecordCount < int64(threads) {
		refuse("recordCount", s.RecordCount, fmt.Sprintf("load more records, or by fewer than %d threads: each needs one", threads))
	}
	out = append(out, checkOffered("load.target", load.Target, threads)...)
	if !compacts(s) {
		if len(s.Workloads) == 0 {
			refuse("load.waitForCompaction", "false without workloads", "remove it, or add a workload: that the load is complete is noted in the table by the step after it")
		}
		for _, f := range []struct {
			field string
			set   bool
		}{
			{"load.majorCompact", value(load.MajorCompact, false)},
			{"load.settleTime", load.SettleTime != nil},
			{"load.compactionDeadline", load.CompactionDeadline != nil},
		} {
			if f.set {
				refuse(f.field, "an option of the wait for compactions", "remove it, or set spec.load.waitForCompaction to true")
			}
		}
		return out
	}
	settle, deadline := durationOr(load.SettleTime, defaultSettleTime), durationOr(load.CompactionDeadline, defaultCompactionDeadline)
	if settle < 0 {
		refuse("load.settleTime", settle, "give a duration of zero or more")
	}
	if deadline <= settle {
		refuse("load.compactionDeadline", deadline, fmt.Sprintf("give more than spec.load.settleTime, which is %s", settle))
	}
	return out
}

// checkOffered looks at an offered rate: every thread must have a part of it.
func checkOffered(field, target string, threads int32) []Problem {
	if target == "" {
		return nil
	}
	n, err := parseRate(target)
	switch {
	case err != nil:
		return []Problem{invalid(field, target, err.Error())}
	case n == 0:
		return []Problem{invalid(field, target, "give a rate above zero, or remove it")}
	case n < int64(threads):
		return []Problem{invalid(field, target, fmt.Sprintf("raise it, or use fewer than %d threads: a thread would have less than one operation in 1000 s", threads))}
	}
	return nil
}

// maxRecordBytes bounds a record, since each thread holds one.
const maxRecordBytes = 1 << 30

// checkRecords looks at what records are like.
func checkRecords(s *v1alpha1.YCSBRunSpec) []Problem {
	var out []Problem
	refuse := func(field string, v any, remedy string) { out = append(out, invalid(field, v, remedy)) }
	distribution := orDefault(s.FieldLengthDistribution, distributionConstant)
	length := value(s.FieldLength, 100)
	switch {
	case s.MinFieldLength != nil && distribution == distributionConstant:
		refuse("minFieldLength", *s.MinFieldLength, "remove it, or choose another spec.fieldLengthDistribution: constant lengths have no shortest one")
	case value(s.MinFieldLength, 1) > length:
		refuse("minFieldLength", *s.MinFieldLength, fmt.Sprintf("give at most spec.fieldLength, which is %d", length))
	}
	if size := int64(length) * int64(value(s.FieldCount, 10)); size > maxRecordBytes {
		refuse("fieldLength", length, fmt.Sprintf("use shorter or fewer fields: a record of %d bytes is more than %d", size, maxRecordBytes))
	}
	if value(s.DataIntegrity, false) && distribution != distributionConstant {
		refuse("dataIntegrity", "true with fieldLengthDistribution "+distribution, "use constant lengths: the check knows what every field holds only then")
	}
	if value(s.ReadAllFieldsByName, false) && !value(s.ReadAllFields, true) {
		refuse("readAllFieldsByName", "true with readAllFields false", "remove one of the two: one field is always read by its name")
	}
	if d := durationOr(s.InsertionRetryInterval, defaultRetryInterval); d < 0 || d%time.Second != 0 {
		refuse("insertionRetryInterval", d, "give whole seconds, as YCSB takes them")
	}
	return out
}

// checkUnusedYCSB refuses options that nothing in the run takes.
func checkUnusedYCSB(s *v1alpha1.YCSBRunSpec) []Problem {
	workloads := ycsbWorkloads(s)
	some := func(is func(ycsbWorkload) bool) bool { return slices.ContainsFunc(workloads, is) }
	does := func(properties ...string) bool {
		return some(func(w ycsbWorkload) bool { return w.does(properties...) })
	}
	writes := loads(s) || does(propertyUpdate, propertyInsert, propertyRMW)
	var out []Problem
	for _, f := range []struct {
		field     string
		set, used bool
		of        string
	}{
		{"repeats", value(s.Repeats, 1) > 1, len(workloads) > 0, "workloads"},
		{"warmup", durationOr(s.Warmup, 0) > 0, len(workloads) > 0, "workloads"},
		{"rest", durationOr(s.Rest, 0) > 0, len(workloads) > 0, "workloads"},
		{"readAllFields", s.ReadAllFields != nil, does(propertyRead, propertyScan, propertyRMW), "workloads with reads, scans or read-modify-writes"},
		{"readAllFieldsByName", value(s.ReadAllFieldsByName, false), does(propertyRead), "workloads with reads"},
		{"writeAllFields", value(s.WriteAllFields, false), does(propertyUpdate, propertyRMW), "workloads with updates or read-modify-writes"},
		{"usePageFilter", s.UsePageFilter != nil, does(propertyScan), "workloads with scans"},
		{"zipfianScrambling", s.ZipfianScrambling != "", some(func(w ycsbWorkload) bool { return w.distribution == distributionZipfian }), "workloads with requestDistribution zipfian"},
		{"insertionRetryLimit", value(s.InsertionRetryLimit, 0) > 0, loads(s), "the load"},
		{"insertionRetryInterval", s.InsertionRetryInterval != nil, value(s.InsertionRetryLimit, 0) > 0, "an insertionRetryLimit above 0"},
		{"durability", s.Durability != "", writes, "writes"},
		{"clientBuffering", value(s.ClientBuffering, false), writes, "writes"},
		{"writeBufferSize", s.WriteBufferSize != nil, value(s.ClientBuffering, false), "clientBuffering"},
	} {
		if f.set && !f.used {
			out = append(out, invalid(f.field, "an option of "+f.of, "remove it: the run has none"))
		}
	}
	return out
}
