package ycsb

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

const (
	// maxRecords bounds counts and keys, so that sums of two do not leave an int64.
	maxRecords = 1 << 60
	// maxSeconds bounds times that properties give in seconds.
	maxSeconds = 1_000_000_000
	maxInt32   = math.MaxInt32
)

// The names that the property workload may have: YCSB's core workload, now and in versions up to 0.14.
var coreWorkloads = []string{"site.ycsb.workloads.CoreWorkload", "com.yahoo.ycsb.workloads.CoreWorkload"}

// ParseConfig reads the properties of a run. others are names of further properties that somebody reads, such as those
// of a binding; one that ends in * stands for all names with that beginning. A property that nobody reads is warned of and
// not refused, since YCSB's users keep those of several databases in one file. The error tells every property that is
// wrong. Seed is 0 unless the property is set: the caller chooses one.
func ParseConfig(p *Properties, others ...string) (*Config, error) {
	r := &reader{properties: p, known: map[string]bool{}}
	c := &Config{Properties: p}
	r.workload()
	r.readClient(c)
	r.readRecords(c)
	r.readFields(c)
	r.readOperations(c)
	r.readKeys(c)
	r.readOurs(c)
	if len(r.errors) == 0 {
		r.checkTogether(c)
	}
	if err := errors.Join(r.errors...); err != nil {
		return nil, err
	}
	c.Warnings = append(r.unknown(others), warnings(c)...)
	return c, nil
}

func (r *reader) workload() {
	name := r.text("workload", "")
	switch {
	case name == "":
		r.wrong("property workload is missing: give -P with a workload file, or set it to %s", coreWorkloads[0])
	case name != coreWorkloads[0] && name != coreWorkloads[1]:
		r.wrong("property workload: %q is not supported: set it to %s", name, coreWorkloads[0])
	}
}

// readClient reads what YCSB's client reads, beside the workload.
func (r *reader) readClient(c *Config) {
	c.DoTransactions = r.boolean("dotransactions", true)
	c.OperationCount = r.integer("operationcount", 0, 0, maxRecords)
	c.ThreadCount = int(r.integer("threadcount", 1, 1, 1<<20))
	c.Target = r.integer("target", 0, 0, maxInt32)
	c.MaxExecutionTime = r.seconds("maxexecutiontime", 0, 0)
	c.Status = r.boolean("status", false)
	c.StatusInterval = r.seconds("status.interval", 10, 1)
	r.known["label"] = true
	c.Label, _ = r.properties.Get("label") // a space at its end is meant: what follows it begins without
	c.ExportFile = r.text("exportfile", "")
	c.Exporter = r.text("exporter", "site.ycsb.measurements.exporter.TextMeasurementsExporter")
	c.Table = r.text("table", "usertable")
	if c.Table == "" {
		r.wrong("property table is empty: give the name of a table")
	}
}

// readRecords reads which keys there are. YCSB takes the recordcount 0 for 2147483647, and reads these counts as 32 bits.
func (r *reader) readRecords(c *Config) {
	c.RecordCount = r.integer("recordcount", 0, 0, maxRecords)
	if c.RecordCount == 0 {
		c.RecordCount, c.recordCountMissing = maxInt32, true
	}
	c.InsertStart = r.integer("insertstart", 0, 0, maxRecords)
	rest := c.RecordCount - c.InsertStart
	c.InsertCount = r.integer("insertcount", rest, math.MinInt64, maxRecords)
	if c.InsertCount < 1 || c.InsertCount > rest {
		r.wrong("properties insertstart %d and insertcount %d: the range is to hold a record and to end at recordcount %d at most",
			c.InsertStart, c.InsertCount, c.RecordCount)
	}
	if _, ok := r.properties.Get("insertcount"); !ok && !c.DoTransactions && c.recordCountMissing {
		r.wrong("property recordcount is missing: a load inserts that many records")
	}
}

func (r *reader) readFields(c *Config) {
	c.FieldCount = int(r.integer("fieldcount", 10, 1, 1<<20))
	c.FieldNamePrefix = r.text("fieldnameprefix", "field")
	c.FieldLength = int(r.integer("fieldlength", 100, 0, maxRecord))
	c.MinFieldLength = int(r.integer("minfieldlength", 1, 0, maxRecord))
	c.FieldLengthDistribution = r.word("fieldlengthdistribution", "constant", "uniform", "zipfian", "histogram")
	c.FieldLengthHistogram = r.text("fieldlengthhistogram", "hist.txt")
	c.ReadAllFields = r.boolean("readallfields", true)
	c.ReadAllFieldsByName = r.boolean("readallfieldsbyname", false)
	c.WriteAllFields = r.boolean("writeallfields", false)
	c.DataIntegrity = r.boolean("dataintegrity", false)
}

func (r *reader) readOperations(c *Config) {
	c.ReadProportion = r.number("readproportion", 0.95, 0, math.MaxFloat32)
	c.UpdateProportion = r.number("updateproportion", 0.05, 0, math.MaxFloat32)
	c.InsertProportion = r.number("insertproportion", 0, 0, math.MaxFloat32)
	c.ScanProportion = r.number("scanproportion", 0, 0, math.MaxFloat32)
	c.ReadModifyWriteProportion = r.number("readmodifywriteproportion", 0, 0, math.MaxFloat32)
	c.MinScanLength = int(r.integer("minscanlength", 1, 1, maxInt32))
	c.MaxScanLength = int(r.integer("maxscanlength", 1000, 1, maxInt32))
	c.ScanLengthDistribution = r.word("scanlengthdistribution", "uniform", "zipfian")
	c.RetryLimit = r.integer("core_workload_insertion_retry_limit", 0, 0, maxInt32)
	c.RetryInterval = r.seconds("core_workload_insertion_retry_interval", 3, 0)
	c.KeepGoing = r.boolean("core_workload_insertion_keep_going_on_error", false)
}

// readKeys reads how keys are chosen and written. YCSB orders the keys for any insertorder but "hashed", and takes a
// fraction out of its range for 0; here both are refused.
func (r *reader) readKeys(c *Config) {
	c.RequestDistribution = r.word("requestdistribution", "uniform", "zipfian", "latest", "hotspot", "sequential", "exponential")
	c.HotspotDataFraction = r.number("hotspotdatafraction", 0.2, 0, 1)
	c.HotspotOpnFraction = r.number("hotspotopnfraction", 0.8, 0, 1)
	c.ExponentialPercentile = r.number("exponential.percentile", 95, 1e-6, 100-1e-6)
	c.ExponentialFrac = r.number("exponential.frac", 0.8571428571, 1e-12, 1e12)
	c.ZeroPadding = int(r.integer("zeropadding", 1, 0, 32_000))
	c.OrderedInserts = r.word("insertorder", "hashed", "ordered") == "ordered"
}

func (r *reader) readOurs(c *Config) {
	_, c.SeedGiven = r.properties.Get("hadoopbench.seed")
	c.Seed = r.unsigned("hadoopbench.seed")
	c.Shards = r.integer("hadoopbench.shards", 1, 1, 1<<20)
	c.Shard = r.integer("hadoopbench.shard", 0, 0, 1<<20)
	c.InsertBase = r.integer("hadoopbench.insertbase", c.RecordCount, c.RecordCount, math.MaxInt64-maxRecords)
	c.ExactZipfian = r.word("hadoopbench.zipfian", "ycsb", "exact") == "exact"
}

// checkTogether finds what is wrong only in company of another property.
func (r *reader) checkTogether(c *Config) {
	varies := c.FieldLengthDistribution == "uniform" || c.FieldLengthDistribution == "zipfian"
	if varies && c.MinFieldLength > c.FieldLength {
		r.wrong("property minfieldlength: %d is more than fieldlength %d", c.MinFieldLength, c.FieldLength)
	}
	if int64(c.FieldCount)*int64(c.FieldLength) > maxRecord {
		r.wrong("property fieldlength: %d fields of %d bytes are more than %d bytes a record", c.FieldCount, c.FieldLength, maxRecord)
	}
	if c.MinScanLength > c.MaxScanLength {
		r.wrong("property minscanlength: %d is more than maxscanlength %d", c.MinScanLength, c.MaxScanLength)
	}
	if c.DataIntegrity && c.FieldLengthDistribution != "constant" {
		r.wrong("property dataintegrity needs values of one length: set fieldlengthdistribution to constant and not to %q", c.FieldLengthDistribution)
	}
	if c.DataIntegrity && !ascii(c.FieldNamePrefix) {
		r.wrong("property dataintegrity needs ASCII names: fieldnameprefix %q is not", c.FieldNamePrefix)
	}
	if c.DoTransactions && mixOf(c).Empty() {
		r.wrong("property readproportion: all proportions are 0: set one above")
	}
	if c.Shard >= c.Shards {
		r.wrong("property hadoopbench.shard: %d is to be below hadoopbench.shards, %d", c.Shard, c.Shards)
	}
	if float64(c.OperationCount)*c.InsertProportion*2*float64(c.Shards) > maxRecords {
		r.wrong("property operationcount: %d operations with insertproportion %v are more inserts than %d keys", c.OperationCount, c.InsertProportion, int64(maxRecords))
	}
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// Buffered says whether the binding is asked to collect writes in a buffer, so that an operation is over before its
// record is stored.
func (c *Config) Buffered() bool {
	buffering, _ := c.Properties.Get("clientbuffering")
	return strings.EqualFold(strings.TrimSpace(buffering), "true")
}

// warnings tells of what is allowed and seldom meant.
func warnings(c *Config) []string {
	if !c.DoTransactions {
		return nil
	}
	list := proportionWarnings(c)
	if c.recordCountMissing {
		list = append(list, fmt.Sprintf("property recordcount is not set: keys are chosen from %d records", c.RecordCount))
	}
	if c.OperationCount == 0 && c.MaxExecutionTime == 0 {
		list = append(list, "neither operationcount nor maxexecutiontime is set: the run goes on until it is stopped")
	}
	if c.Buffered() && c.InsertProportion > 0 && c.ReadProportion+c.ScanProportion+c.ReadModifyWriteProportion > 0 {
		list = append(list, "property clientbuffering: inserted records are chosen for reads before they were sent, and are then not found")
	}
	if draws := c.expectedInserts() / c.RecordCount; c.RequestDistribution == "zipfian" && draws >= 100 {
		list = append(list, fmt.Sprintf("property operationcount: %d foresees so many inserts that a zipfian key is drawn about %d times until it is one that exists; lower it",
			c.OperationCount, draws))
	}
	return list
}

func proportionWarnings(c *Config) (list []string) {
	total, set := 0.0, false
	for _, proportion := range []struct {
		name  string
		value float64
	}{
		{"readproportion", c.ReadProportion},
		{"updateproportion", c.UpdateProportion},
		{"insertproportion", c.InsertProportion},
		{"scanproportion", c.ScanProportion},
		{"readmodifywriteproportion", c.ReadModifyWriteProportion},
	} {
		total += proportion.value
		if _, ok := c.Properties.Get(proportion.name); ok {
			set = true
		} else if proportion.value > 0 {
			list = append(list, fmt.Sprintf("property %s is not set: its default %v applies; set it to 0 to leave the operation out", proportion.name, proportion.value))
		}
	}
	if !set {
		list = nil // the defaults are a whole
	}
	if math.Abs(total-1) > 1e-9 {
		list = append(list, fmt.Sprintf("the proportions' sum is %v and not 1: they are taken as shares of it", total))
	}
	return list
}

// seconds reads a time in whole seconds.
func (r *reader) seconds(name string, standard, least int64) time.Duration {
	return time.Duration(r.integer(name, standard, least, maxSeconds)) * time.Second
}
