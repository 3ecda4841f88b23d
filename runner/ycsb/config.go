package ycsb

import "time"

// maxRecord bounds a record's bytes, since each thread holds one.
const maxRecord = 1 << 30

// A Config is what the properties of YCSB say about a run of the core workload, as one process of possibly several sees it.
// Fields have the properties' names and meanings where no comment says more.
type Config struct {
	// Properties are all of them, for those that a binding or a report reads.
	Properties *Properties
	// Warnings are sentences about properties that nothing reads, and about values that are seldom meant.
	Warnings []string

	// DoTransactions is false for a load.
	DoTransactions bool
	// OperationCount is how many operations this process does in a run; 0 means until MaxExecutionTime or a stop.
	OperationCount int64
	// RecordCount is how many records the table holds when all of the load is done; 2147483647 where it is not set.
	RecordCount        int64
	recordCountMissing bool
	// InsertStart and InsertCount are the range of keys that this process loads, or that a run chooses from by the
	// distributions uniform, sequential, hotspot and zipfian.
	InsertStart, InsertCount int64
	ThreadCount              int
	// Target is the operations per second of all threads together; 0 means as many as possible.
	Target int64
	// MaxExecutionTime ends the run; 0 means never.
	MaxExecutionTime time.Duration
	// Status says that a line of status, beginning with Label, is printed every StatusInterval.
	Status         bool
	StatusInterval time.Duration
	Label          string
	// ExportFile is where the report goes, "" for standard output; Exporter is the Java class with which YCSB writes it.
	ExportFile, Exporter string
	Table                string

	FieldCount      int
	FieldNamePrefix string
	// FieldLength is a value's length in bytes, and the greatest length where FieldLengthDistribution is uniform or zipfian.
	FieldLength, MinFieldLength        int
	FieldLengthDistribution            string
	FieldLengthHistogram               string // the file's path
	ReadAllFields, ReadAllFieldsByName bool
	WriteAllFields                     bool
	DataIntegrity                      bool

	// The proportions are weights: their sum need not be 1.
	ReadProportion, UpdateProportion, InsertProportion, ScanProportion, ReadModifyWriteProportion float64

	RequestDistribution                     string
	HotspotDataFraction, HotspotOpnFraction float64
	ExponentialPercentile, ExponentialFrac  float64
	MinScanLength, MaxScanLength            int // records
	ScanLengthDistribution                  string
	ZeroPadding                             int
	// OrderedInserts says that keys are not hashed.
	OrderedInserts bool

	// RetryLimit is how often an insert of the load is carried out again after it failed, each time after about
	// RetryInterval. KeepGoing lets a thread's load go on after an insert that failed for good.
	RetryLimit    int64
	RetryInterval time.Duration
	KeepGoing     bool

	// Seed is what all random numbers of the run follow from, with Shard and a thread's index. SeedGiven says that the
	// property hadoopbench.seed was set.
	Seed      uint64
	SeedGiven bool
	// Shard, from 0, of the Shards processes that share one run: hadoopbench.shard and hadoopbench.shards.
	Shard, Shards int64
	// InsertBase is the number of the first record that the shards of a run insert: hadoopbench.insertbase, by default
	// RecordCount. Between the two lie records that earlier runs inserted, which this one leaves alone.
	InsertBase int64
	// ExactZipfian is set by hadoopbench.zipfian=exact: zipfian keys follow Zipf's law exactly, and are not YCSB's.
	ExactZipfian bool
}

// Operations returns how many operations the phase has: those of the run, 0 for no bound, or the inserts of the load.
func (c *Config) Operations() int64 {
	if c.DoTransactions {
		return c.OperationCount
	}
	return c.InsertCount
}
