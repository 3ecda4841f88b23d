package plan

// Steps of a YCSBRun beside its workloads, which have names of their own.
const (
	StepCreate  = "create"  // make the table, where that is the run's business
	StepLoad    = "load"    // insert the records
	StepCompact = "compact" // flush, then wait until compactions are over
)

// Policies of YCSB.CreatePolicy.
const (
	CreateTable     = "Create"
	CreateIfMissing = "IfMissing"
	CreateNever     = "Never"
)

// FactUnfinished, in the complete report of a shard of a step that goes on in slices, says that the step is not over and
// what is still waited for, such as "3 of 6 regions still compacting, 41 store files". The operator shows it and begins
// another attempt of the step, whose plan has the report's other facts as Plan.Earlier. Without it the step is over.
const FactUnfinished = "unfinished"

// FactRetries is the fact by which a shard tells how often its client repeated calls and why, such as "12 retries, 1 region
// moved, 1 server lost"; absent if it never did.
const FactRetries = "retries"

// FactsAfter begins the names of facts about the servers that shard 0 of a measured step finds at its end. The latest ones
// are shown beside those of preflight.
const FactsAfter = "after."

// YCSB is the part of a plan that only YCSB steps have. Counts are totals over all shards. What shard i of n has of them
// say ThreadShare, RecordShare and OperationShare: the threads [threads·i/n, threads·(i+1)/n), of a load the records
// [recordCount·i/n, recordCount·(i+1)/n), and of operations and rates a part in proportion to its threads.
type YCSB struct {
	Table        string            `json:"table"` // name, or namespace:name
	ColumnFamily string            `json:"columnFamily"`
	Regions      int32             `json:"regions"`
	CreatePolicy string            `json:"createPolicy"`
	Compression  string            `json:"compression,omitempty"` // of the column family: NONE, GZ, SNAPPY, LZ4, ZSTD
	TableValues  map[string]string `json:"tableValues,omitempty"`
	UseExisting  bool              `json:"useExisting,omitempty"` // the records are there: preflight looks at a sample
	DropAfter    bool              `json:"dropAfter,omitempty"`

	// Steps are all measured steps of the run, in order: preflight looks ahead.
	Steps []string `json:"steps"`

	RecordCount int64 `json:"recordCount"`
	// Properties are YCSB's, in its own spelling, of this step: those of the records, of the mix of operations and of the
	// HBase binding. Counts, threads, target and times are not among them.
	Properties map[string]string `json:"properties"`
	Seed       int64             `json:"seed"` // above zero

	Threads     int32 `json:"threads"`
	Connections int32 `json:"connections,omitempty"` // of each shard to each RegionServer; 0: as configured
	Operations  int64 `json:"operations,omitempty"`  // 0: DurationMillis alone ends the measurement
	// InsertBase is the number of the first record that a workload inserts: shard i inserts InsertBase + i + k·n. Every
	// measurement of a run has another one, beyond all that earlier ones may have inserted. 0: there is none left, and a
	// workload with inserts must be refused.
	InsertBase     int64 `json:"insertBase,omitempty"`
	DurationMillis int64 `json:"durationMillis,omitempty"`
	WarmupMillis   int64 `json:"warmupMillis,omitempty"`
	RateMilli      int64 `json:"rateMilli,omitempty"` // thousandths of an operation per second; 0: as fast as it goes

	// Of the step compact. It is carried out in slices, each a pod of its own: after SliceMillis a shard that still has to
	// wait ends with a complete report and FactUnfinished. SettleMillis and DeadlineMillis count over all slices, from what
	// earlier ones told (Plan.Earlier).
	MajorCompact   bool  `json:"majorCompact,omitempty"`
	SettleMillis   int64 `json:"settleMillis,omitempty"`
	DeadlineMillis int64 `json:"deadlineMillis,omitempty"`
	SliceMillis    int64 `json:"sliceMillis,omitempty"`

	// HTTP are web addresses of RegionServers and masters, asked for facts and for the lengths of compaction queues;
	// empty: they are not asked.
	HTTP []string `json:"http,omitempty"`
}
