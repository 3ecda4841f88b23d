package controllers

import (
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// Defaults of what a YCSBRun waits for.
const (
	defaultSettleTime         = time.Minute
	defaultCompactionDeadline = 2 * time.Hour
	defaultRetryInterval      = 3 * time.Second
	defaultWriteBuffer        = 12 << 20
)

// sliceOverhead is what a slice of the step compact may take beside: the flush of all regions, the order to compact them.
const sliceOverhead = 10 * time.Minute

// sliceOf is how long an attempt of the step compact looks. The slices are short at first, when there is most to see, and
// longer later: every one leaves a plan behind, and nothing is looked at between two of them.
func sliceOf(attempt int32) time.Duration {
	switch {
	case attempt <= 2:
		return 15 * time.Second
	case attempt <= 10:
		return time.Minute
	}
	return 5 * time.Minute
}

// ycsbPlan is the plan's part with every default filled in. The defaults are YCSB's, except that a column family has one.
func ycsbPlan(run Run, id report.Identity) *plan.YCSB {
	s := ycsbSpec(run)
	p := &plan.YCSB{
		Table: orDefault(s.Table.Name, "usertable"), ColumnFamily: orDefault(s.Table.ColumnFamily, "family"),
		Regions: value(s.Table.Regions, 1), CreatePolicy: createPolicyOf(s), Compression: compressionOf(s),
		UseExisting: value(s.UseExisting, false), DropAfter: value(s.Table.DropAfter, false),
		RecordCount: s.RecordCount, Properties: recordProperties(s), Seed: seedOf(run), Connections: value(s.ConnectionsPerShard, 0),
		Threads: value(s.Threads, 1), HTTP: hbaseAddresses(&s.Target),
	}
	for name, v := range s.Table.Values {
		if p.TableValues == nil {
			p.TableValues = map[string]string{}
		}
		p.TableValues[name] = string(v)
	}
	if loads(s) {
		p.Steps = append(p.Steps, plan.StepLoad)
	}
	workloads := ycsbWorkloads(s)
	for _, w := range workloads {
		p.Steps = append(p.Steps, w.name)
	}
	switch i := slices.IndexFunc(workloads, func(w ycsbWorkload) bool { return w.name == id.Step }); {
	case id.Step == plan.StepLoad:
		fillLoad(p, s)
	case id.Step == plan.StepCompact:
		fillCompact(p, s, id.Attempt)
	case i >= 0:
		fillWorkload(p, s, workloads[i])
		p.InsertBase = plan.InsertBase(s.RecordCount, i, id.Repeat, id.Attempt)
	}
	return p
}

func fillLoad(p *plan.YCSB, s *v1alpha1.YCSBRunSpec) {
	load := ycsbLoad(s)
	p.Threads = value(load.Threads, p.Threads)
	p.RateMilli, _ = parseRate(orDefault(load.Target, "0")) // Check has refused what does not parse
	p.Properties["core_workload_insertion_retry_limit"] = strconv.Itoa(int(value(s.InsertionRetryLimit, 0)))
	p.Properties["core_workload_insertion_retry_interval"] = strconv.Itoa(int(durationOr(s.InsertionRetryInterval, defaultRetryInterval).Seconds()))
}

func fillCompact(p *plan.YCSB, s *v1alpha1.YCSBRunSpec, attempt int32) {
	load := ycsbLoad(s)
	p.MajorCompact = value(load.MajorCompact, false)
	p.SettleMillis = durationOr(load.SettleTime, defaultSettleTime).Milliseconds()
	p.DeadlineMillis = durationOr(load.CompactionDeadline, defaultCompactionDeadline).Milliseconds()
	p.SliceMillis = sliceOf(attempt).Milliseconds()
}

func fillWorkload(p *plan.YCSB, s *v1alpha1.YCSBRunSpec, w ycsbWorkload) {
	maps.Copy(p.Properties, w.properties(s))
	p.Operations = value(w.OperationCount, 0)
	p.DurationMillis = durationOr(w.Duration, 0).Milliseconds()
	p.WarmupMillis = warmupOf(s, w).Milliseconds()
	p.RateMilli, _ = parseRate(orDefault(w.Target, "0")) // Check has refused what does not parse
}

// warmupOf is the workload's warm-up, or else the run's.
func warmupOf(s *v1alpha1.YCSBRunSpec, w ycsbWorkload) time.Duration {
	return durationOr(w.Warmup, durationOr(s.Warmup, 0))
}

// recordProperties are YCSB's, of the records and of HBase's binding.
func recordProperties(s *v1alpha1.YCSBRunSpec) map[string]string {
	number := func(n int32) string { return strconv.Itoa(int(n)) }
	out := map[string]string{
		"fieldcount":              number(value(s.FieldCount, 10)),
		"fieldlength":             number(value(s.FieldLength, 100)),
		"fieldlengthdistribution": orDefault(s.FieldLengthDistribution, distributionConstant),
		"fieldnameprefix":         orDefault(s.FieldNamePrefix, "field"),
		"readallfields":           strconv.FormatBool(value(s.ReadAllFields, true)),
		"readallfieldsbyname":     strconv.FormatBool(value(s.ReadAllFieldsByName, false)),
		"writeallfields":          strconv.FormatBool(value(s.WriteAllFields, false)),
		"dataintegrity":           strconv.FormatBool(value(s.DataIntegrity, false)),
		"insertorder":             orDefault(s.InsertOrder, "hashed"),
		"zeropadding":             number(value(s.ZeroPadding, 1)),
		"durability":              durabilityOf(s),
		"clientbuffering":         strconv.FormatBool(value(s.ClientBuffering, false)),
	}
	if out["fieldlengthdistribution"] != distributionConstant {
		out["minfieldlength"] = number(value(s.MinFieldLength, 1))
	}
	if value(s.ClientBuffering, false) {
		out["writebuffersize"] = strconv.FormatInt(value(s.WriteBufferSize, defaultWriteBuffer), 10)
	}
	for name, v := range s.Properties {
		out[name] = string(v)
	}
	return out
}

// durabilityOf is HBase's own word.
func durabilityOf(s *v1alpha1.YCSBRunSpec) string {
	return map[string]string{
		"": "USE_DEFAULT", "UseDefault": "USE_DEFAULT", "SkipWAL": "SKIP_WAL", "AsyncWAL": "ASYNC_WAL", "SyncWAL": "SYNC_WAL", "FsyncWAL": "FSYNC_WAL",
	}[s.Durability]
}

// compressionOf is HBase's own word.
func compressionOf(s *v1alpha1.YCSBRunSpec) string {
	return map[string]string{"": "NONE", "None": "NONE", "GZ": "GZ", "Snappy": "SNAPPY", "LZ4": "LZ4", "ZSTD": "ZSTD"}[s.Table.Compression]
}

// createPolicyOf says who makes the table: of one with existing records, it is never the run.
func createPolicyOf(s *v1alpha1.YCSBRunSpec) string {
	if !loads(s) {
		return plan.CreateNever
	}
	return orDefault(string(s.Table.CreatePolicy), plan.CreateTable)
}

// hbaseAddresses are the web addresses of HBase's servers.
func hbaseAddresses(t *v1alpha1.Target) []string {
	if t.HTTP == nil {
		return nil
	}
	return slices.Concat(t.HTTP.Masters, t.HTTP.RegionServers)
}

// seedOf is the spec's seed, or one of the run's own.
func seedOf(run Run) int64 {
	if seed := value(ycsbSpec(run).Seed, 0); seed != 0 {
		return seed
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(run.GetUID())) // it never fails
	return max(int64(h.Sum64()&math.MaxInt64), 1)
}
