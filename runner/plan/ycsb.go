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

// YCSB is the part of a plan that only YCSB steps have. Counts are totals over all shards; shard i of n has the threads
// [threads·i/n, threads·(i+1)/n) of them, loads the records [recordCount·i/n, recordCount·(i+1)/n), and does its share of
// the operations in proportion to its threads.
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
	// measurement of a run has another one, beyond all that earlier ones may have inserted.
	InsertBase     int64 `json:"insertBase,omitempty"`
	DurationMillis int64 `json:"durationMillis,omitempty"`
	WarmupMillis   int64 `json:"warmupMillis,omitempty"`
	RateMilli      int64 `json:"rateMilli,omitempty"` // thousandths of an operation per second; 0: as fast as it goes

	// Of the step compact.
	MajorCompact   bool  `json:"majorCompact,omitempty"`
	SettleMillis   int64 `json:"settleMillis,omitempty"`
	DeadlineMillis int64 `json:"deadlineMillis,omitempty"`

	// HTTP are web addresses of RegionServers and masters, asked for facts and for the lengths of compaction queues;
	// empty: they are not asked.
	HTTP []string `json:"http,omitempty"`
}
