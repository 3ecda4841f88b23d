package controllers

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// Options implements Benchmark. Those of a workload have its name before theirs.
func (YCSB) Options(run Run) map[string]string {
	s := ycsbSpec(run)
	p := ycsbPlan(run, report.Identity{})
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	out := map[string]string{
		"table.name": p.Table, "table.columnFamily": p.ColumnFamily, "table.createPolicy": p.CreatePolicy,
		"recordCount": number(p.RecordCount), "useExisting": strconv.FormatBool(p.UseExisting), "seed": number(p.Seed),
		"threads": number(int64(p.Threads)), "shards": number(int64(value(s.Shards, 1))),
	}
	if p.Connections > 0 {
		out["connectionsPerShard"] = number(int64(p.Connections))
	}
	if mayCreate(s) {
		out["table.regions"], out["table.compression"] = number(int64(p.Regions)), orDefault(s.Table.Compression, "None")
		out["table.dropAfter"] = strconv.FormatBool(p.DropAfter)
	}
	if len(p.TableValues) > 0 {
		out["table.values"] = joined(p.TableValues)
	}
	if len(s.Properties) > 0 {
		out["properties"] = joined(s.Properties)
	}
	if s.Rest != nil {
		out["rest"] = s.Rest.Duration.Duration.String()
	}
	maps.Copy(out, recordOptions(s, p.Properties))
	maps.Copy(out, loadOptions(run))
	for _, w := range ycsbWorkloads(s) {
		for name, v := range workloadOptions(s, w) {
			out[w.name+"."+name] = v
		}
	}
	return out
}

// joined is a map as one text.
func joined[V ~string](m map[string]V) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		parts = append(parts, k+"="+string(m[k]))
	}
	return truncate(strings.Join(parts, ","), maxMessage)
}

// recordOptions are the fields of the records and of HBase's binding.
func recordOptions(s *v1alpha1.YCSBRunSpec, properties map[string]string) map[string]string {
	out := map[string]string{}
	fields := fieldsOfProperties()
	for property, v := range properties {
		if field := fields[property]; field != "" {
			out[field] = v
		}
	}
	out["durability"] = orDefault(s.Durability, "UseDefault")
	for _, w := range ycsbWorkloads(s) {
		if w.does(propertyScan) {
			out["usePageFilter"] = strconv.FormatBool(value(s.UsePageFilter, true))
		}
		if w.distribution == distributionZipfian {
			out["zipfianScrambling"] = orDefault(s.ZipfianScrambling, "YCSB")
		}
	}
	return out
}

// loadOptions are those of the load and of the wait after it, if there are such.
func loadOptions(run Run) map[string]string {
	s := ycsbSpec(run)
	if !loads(s) {
		return nil
	}
	p := ycsbPlan(run, report.Identity{Step: plan.StepLoad, Repeat: 1, Attempt: 1})
	load := ycsbLoad(s)
	out := map[string]string{
		"load.threads": strconv.Itoa(int(p.Threads)), "load.shards": strconv.Itoa(int(value(load.Shards, value(s.Shards, 1)))),
		"load.waitForCompaction": strconv.FormatBool(compacts(s)),
		"insertionRetryLimit":    p.Properties["core_workload_insertion_retry_limit"],
	}
	if value(s.InsertionRetryLimit, 0) > 0 {
		out["insertionRetryInterval"] = durationOr(s.InsertionRetryInterval, defaultRetryInterval).String()
	}
	if load.Target != "" {
		out["load.target"] = load.Target
	}
	if compacts(s) {
		out["load.majorCompact"] = strconv.FormatBool(value(load.MajorCompact, false))
		out["load.settleTime"] = durationOr(load.SettleTime, defaultSettleTime).String()
		out["load.compactionDeadline"] = durationOr(load.CompactionDeadline, defaultCompactionDeadline).String()
	}
	return out
}

// workloadOptions are those of one workload, by the names of its fields.
func workloadOptions(s *v1alpha1.YCSBRunSpec, w ycsbWorkload) map[string]string {
	out := map[string]string{"repeats": strconv.Itoa(int(value(w.Repeats, value(s.Repeats, 1))))}
	fields := fieldsOfProperties()
	for property, v := range w.properties(s) {
		field, ok := strings.CutPrefix(fields[property], "workloads[].")
		if idle := w.proportions[property] != "" && !w.does(property); ok && !idle {
			out[field] = v
		}
	}
	if w.OperationCount != nil {
		out["operationCount"] = strconv.FormatInt(*w.OperationCount, 10)
	}
	for name, d := range map[string]time.Duration{"duration": durationOr(w.Duration, 0), "warmup": warmupOf(s, w)} {
		if d > 0 {
			out[name] = d.String()
		}
	}
	if w.Target != "" {
		out["target"] = w.Target
	}
	return out
}
