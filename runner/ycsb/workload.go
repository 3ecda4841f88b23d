package ycsb

import (
	"fmt"
	"sync/atomic"

	"github.com/hadoop-bench/operator/runner/ycsb/generator"
)

// An Operation is one thing to do with the database. It belongs to the Thread that made it, and with all that it holds it
// is valid until that thread's next call of Next or NextLoad; until then it may be carried out again with the same values.
type Operation struct {
	// Kind is MetricRead, MetricUpdate, MetricInsert, MetricScan or MetricReadModifyWrite. The last is a read of Key and
	// Fields, then an update of Key with Values.
	Kind Metric
	// Key is the record's key, for a scan that of its first record.
	Key []byte
	// Fields are the names to read; nil means all.
	Fields [][]byte
	// Values is what to write.
	Values []Field
	// Count is how many records a scan reads.
	Count int
	// insert is the number of an insert in this shard's own sequence, or the load's key.
	insert int64
}

// A Workload is what all threads of YCSB's core workload share. It is safe for concurrent use.
type Workload struct {
	config   *Config
	names    [][]byte
	mix      *generator.Discrete
	keys     generator.Generator     // of distributions that draw a key
	ranks    generator.Exponential   // of the exponential distribution
	latest   *generator.Latest       // of the latest distribution, otherwise nil
	inserted *generator.Acknowledged // nil without inserts in the mix
	scans    generator.Generator
	lengths  generator.Generator
	longest  int          // the greatest of lengths
	loaded   atomic.Int64 // next key of the load
	end      int64        // first key that is not loaded
}

// NewWorkload prepares the workload that a configuration describes; Seed must be set. Errors name a property.
func NewWorkload(c *Config) (*Workload, error) {
	w := &Workload{
		config: c, names: fieldNames(c), mix: mixOf(c), keys: keyGenerator(c), scans: scanLengths(c),
		ranks: generator.NewExponential(c.ExponentialPercentile, float64(c.RecordCount)*c.ExponentialFrac),
		end:   c.InsertStart + c.InsertCount,
	}
	w.loaded.Store(c.InsertStart)
	if c.RequestDistribution == "latest" {
		w.latest = generator.NewLatest()
	}
	if c.InsertProportion > 0 && c.DoTransactions {
		w.inserted = generator.NewAcknowledged(generator.Window)
	}
	var err error
	w.lengths, w.longest, err = fieldLengths(c)
	return w, err
}

// Thread returns the part of the workload that thread index (from 0, within this process) uses alone.
func (w *Workload) Thread(index int) *Thread {
	c := w.config
	return &Thread{
		workload: w,
		random:   generator.NewRandom(c.Seed, uint64(c.Shard)<<32|uint64(index)),
		keys:     w.keyChooser(),
		key:      make([]byte, 0, 32+c.ZeroPadding),
		values:   make([]Field, 0, c.FieldCount),
		buffer:   make([]byte, c.FieldCount*w.longest),
		expected: make([]byte, c.FieldLength),
	}
}

// A Thread makes the operations of one thread. It is not safe for concurrent use. Its methods do not allocate, except
// that Verify does where it finds a difference.
type Thread struct {
	workload *Workload
	random   *generator.Random
	keys     keyChooser
	op       Operation
	key      []byte
	values   []Field
	one      [1][]byte
	buffer   []byte // room for the values of all fields
	expected []byte // room for the value that Verify compares with
}

// Next makes the next operation of the run phase, chosen by the proportions. After an insert, Done must be called. The
// error, generator.ErrWindow, means that 2^20 inserts are neither done nor failed.
func (t *Thread) Next() (*Operation, error) {
	t.op.Kind = Metric(t.workload.mix.Next(t.random))
	t.op.Fields, t.op.Values, t.op.Count = nil, nil, 0
	if t.op.Kind == MetricInsert {
		return t.insert()
	}
	t.setKey(t.keys.next(t.random))
	t.fill()
	return &t.op, nil
}

// insert makes an insert of the run phase: the next key of this shard, with values for all fields.
func (t *Thread) insert() (*Operation, error) {
	n, err := t.workload.inserted.Next()
	if err != nil {
		return nil, fmt.Errorf("choose a key to insert: %w", err)
	}
	t.op.insert = n
	t.setKey(t.workload.config.insertKey(n))
	t.allValues()
	return &t.op, nil
}

// NextLoad makes the next insert of the load phase; false says that every key has been handed out. Each key of
// [insertstart, insertstart+insertcount) is handed out once, to whichever thread asks. Done need not be called.
func (t *Thread) NextLoad() (*Operation, bool) {
	key := t.workload.loaded.Add(1) - 1
	if key >= t.workload.end {
		return nil, false
	}
	t.op.Kind, t.op.Fields, t.op.Count, t.op.insert = MetricInsert, nil, 0, key
	t.setKey(key)
	t.allValues()
	return &t.op, true
}

// Done says how an operation of the run phase ended. A key that was inserted may be read from now on, by this process
// alone; one whose insert failed is never read. For other operations it does nothing.
func (t *Thread) Done(op *Operation, status Status) {
	if op.Kind != MetricInsert || t.workload.inserted == nil {
		return
	}
	if status == OK || status == BatchedOK {
		t.workload.inserted.Acknowledge(op.insert)
	} else {
		t.workload.inserted.Fail(op.insert)
	}
}
