package ycsb

import (
	"bytes"
	"fmt"
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/runner/ycsb/generator"
)

// fieldNames returns the names of all fields, in order.
func fieldNames(c *Config) [][]byte {
	names := make([][]byte, c.FieldCount)
	for i := range names {
		names[i] = strconv.AppendInt([]byte(c.FieldNamePrefix), int64(i), 10)
	}
	return names
}

// fill chooses what the operation at hand reads or writes.
func (t *Thread) fill() {
	c := t.workload.config
	switch t.op.Kind {
	case MetricRead:
		t.op.Fields = t.readFields()
	case MetricScan:
		t.op.Fields = t.someFields()
		t.op.Count = int(t.workload.scans.Next(t.random))
	case MetricUpdate:
		t.updateValues(c.WriteAllFields)
	case MetricReadModifyWrite:
		t.op.Fields = t.someFields()
		t.updateValues(c.WriteAllFields)
	}
}

// readFields returns the fields of a read: all (nil), all by name, or one.
func (t *Thread) readFields() [][]byte {
	c := t.workload.config
	if c.ReadAllFields && (c.ReadAllFieldsByName || c.DataIntegrity) {
		return t.workload.names
	}
	return t.someFields()
}

// someFields returns nil for all fields, or one at random where readallfields is false.
func (t *Thread) someFields() [][]byte {
	if t.workload.config.ReadAllFields {
		return nil
	}
	t.one[0] = t.workload.names[t.random.Below(int64(len(t.workload.names)))]
	return t.one[:]
}

func (t *Thread) updateValues(all bool) {
	if all {
		t.allValues()
		return
	}
	t.values = t.values[:0]
	t.addValue(int(t.random.Below(int64(len(t.workload.names)))), 0)
	t.op.Values = t.values
}

func (t *Thread) allValues() {
	t.values = t.values[:0]
	at := 0
	for i := range t.workload.names {
		at = t.addValue(i, at)
	}
	t.op.Values = t.values
}

// addValue makes a value of field i in the buffer at an offset, and returns the offset after it.
func (t *Thread) addValue(i, at int) int {
	end := at + int(t.workload.lengths.Next(t.random))
	value := t.buffer[at:end:end]
	name := t.workload.names[i]
	if t.workload.config.DataIntegrity {
		generator.Integrity(value, t.key, name)
	} else {
		generator.Fill(value, t.random)
	}
	t.values = append(t.values, Field{Name: name, Value: value})
	return end
}

// Verify compares what a read of op returned with what YCSB's data integrity wrote there: OK if every field that was asked
// for is there, once, with exactly its bytes; UnexpectedState if one differs, is missing, came twice or was not asked for;
// ErrorStatus if nothing came back. The error says which. It is to be called after reads, those of read-modify-writes
// included and before their update, if Config.DataIntegrity is set.
func (t *Thread) Verify(op *Operation, record Record) (Status, error) {
	if len(record) == 0 {
		return ErrorStatus, fmt.Errorf("verify %s: the read returned no field", op.Key)
	}
	fields := op.Fields
	if fields == nil {
		fields = t.workload.names
	}
	for _, name := range fields {
		if err := t.verifyField(op.Key, name, record); err != nil {
			return UnexpectedState, err
		}
	}
	if len(record) > len(fields) {
		return UnexpectedState, fmt.Errorf("verify %s: the read returned %d fields and not the %d it asked for", op.Key, len(record), len(fields))
	}
	return OK, nil
}

func (t *Thread) verifyField(key, name []byte, record Record) error {
	for i := range record {
		if !bytes.Equal(record[i].Name, name) {
			continue
		}
		generator.Integrity(t.expected, key, name)
		if !bytes.Equal(record[i].Value, t.expected) {
			return fmt.Errorf("verify %s: field %s holds %d bytes that differ from what was written from byte %d on",
				key, name, len(record[i].Value), firstDifference(record[i].Value, t.expected))
		}
		return nil
	}
	return fmt.Errorf("verify %s: field %s is missing", key, name)
}

func firstDifference(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// Retry says what is to be done after an insert of the load failed for the nth time (from 1): whether it is to be carried
// out again, with the same key and values, and after which pause. Where it says no, the thread ends its load, unless
// Config.KeepGoing is set.
func (t *Thread) Retry(failures int) (pause time.Duration, again bool) {
	c := t.workload.config
	if int64(failures) > c.RetryLimit {
		return 0, false
	}
	return time.Duration(float64(c.RetryInterval) * (0.8 + 0.4*t.random.Float64())), true
}
