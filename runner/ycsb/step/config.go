package step

import (
	"fmt"
	"hash/fnv"
	"strconv"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// A share is what one shard does of a measured step.
type share struct {
	threads      int
	first, count int64 // records of a load
	operations   int64 // of a workload; 0: its duration alone ends it
}

// shareOf is the share of shard index.
func shareOf(p *plan.Plan, index int32) share {
	y, step := p.YCSB, p.Identity.Step
	if !measures(step) {
		return share{}
	}
	_, threads := plan.ThreadShare(y.Threads, p.Shards, index)
	s := share{threads: int(threads)}
	if step == plan.StepLoad {
		s.first, s.count = plan.RecordShare(y.RecordCount, p.Shards, index)
	} else {
		s.operations = plan.OperationShare(y.Operations, y.Threads, p.Shards, index)
	}
	return s
}

// planned is how many operations the share has; 0 if nobody knows.
func (s share) planned() int64 { return max(s.count, s.operations) }

// coreWorkload is what the property workload says.
const coreWorkload = "site.ycsb.workloads.CoreWorkload"

// propertiesOf are YCSB's properties for shard index: those of the plan, and those that follow from it.
func propertiesOf(p *plan.Plan, index int32) *ycsb.Properties {
	y, own := p.YCSB, shareOf(p, index)
	properties := ycsb.NewProperties()
	for name, value := range y.Properties {
		properties.Set(name, value)
	}
	number := func(name string, value int64) { properties.Set(name, strconv.FormatInt(value, 10)) }
	properties.Set("workload", coreWorkload)
	properties.Set("table", y.Table)
	properties.Set("columnfamily", y.ColumnFamily)
	number("recordcount", y.RecordCount)
	properties.Set("hadoopbench.seed", strconv.FormatUint(seedOf(p), 10))
	if y.Connections > 0 {
		number("hbase.client.ipc.pool.size", int64(y.Connections))
	}
	if k := p.Target.Kerberos; k != nil && k.Keytab != "" {
		properties.Set("principal", k.Principal)
		properties.Set("keytab", k.Keytab)
	}
	if !measures(p.Identity.Step) {
		properties.Set("dotransactions", "false")
		return properties
	}
	number("threadcount", int64(own.threads))
	number("hadoopbench.shard", int64(index))
	number("hadoopbench.shards", int64(p.Shards))
	if p.Identity.Step == plan.StepLoad {
		properties.Set("dotransactions", "false")
		number("insertstart", own.first)
		number("insertcount", own.count)
		return properties
	}
	number("operationcount", own.operations)
	number("maxexecutiontime", (y.DurationMillis+999)/1000)
	if y.InsertBase > 0 {
		number("hadoopbench.insertbase", y.InsertBase)
	}
	return properties
}

// otherProperties are those that are for HBase's client.
func otherProperties() []string { return []string{"hbase.*", "zookeeper.*", "hadoop.*"} }

// seedOf is the seed of one measurement. Another attempt has the same one, another repeat of the step another, so that
// repeats do not choose the very records that the one before has brought into caches.
func seedOf(p *plan.Plan) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d/%s/%d", p.YCSB.Seed, p.Identity.Step, p.Identity.Repeat)
	return max(h.Sum64(), 1)
}
