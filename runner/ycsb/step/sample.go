package step

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb/generator"
)

const (
	samples       = 1000 // records that preflight looks at, beside the first and the last one
	sampleReaders = 16   // at a time
)

// sampleNumbers are the first and the last of the records, and others in equal distances between them.
func sampleNumbers(records int64) []int64 {
	numbers := []int64{0}
	parts := min(samples+1, records-1)
	for i := int64(1); i <= parts; i++ {
		// (records-1)·i/parts without leaving 63 bits.
		whole, rest := (records-1)/parts, (records-1)%parts
		numbers = append(numbers, whole*i+rest*i/parts)
	}
	return numbers
}

// A flaw is a record that is not as it is to be.
type flaw struct {
	number int64
	absent bool
	what   string
}

// checkRecords looks at a sample of the records that are to be there already.
func (p *inspection) checkRecords(ctx context.Context) error {
	if !p.y.UseExisting {
		return nil
	}
	numbers := sampleNumbers(p.y.RecordCount)
	flaws := make([]*flaw, len(numbers))
	failures := make([]error, sampleReaders)
	var wait sync.WaitGroup
	for reader := range sampleReaders {
		wait.Go(func() {
			rows := p.target.Rows()
			for i := reader; i < len(numbers) && failures[reader] == nil; i += sampleReaders {
				flaws[i], failures[reader] = p.checkRecord(ctx, rows, numbers[i])
			}
		})
	}
	wait.Wait()
	for _, err := range failures {
		if err != nil {
			return p.refused("read a sample of the records", err)
		}
	}
	p.fact("table.sample", strconv.Itoa(len(numbers))+" records")
	return p.judge(numbers, flaws)
}

// judge is the failure that flaws are, if there are any.
func (p *inspection) judge(numbers []int64, flaws []*flaw) error {
	absent, wrong := 0, 0
	var first, firstAbsent *flaw
	for _, f := range flaws {
		switch {
		case f == nil:
		case f.absent:
			if absent++; firstAbsent == nil {
				firstAbsent = f
			}
		default:
			if wrong++; first == nil {
				first = f
			}
		}
	}
	switch {
	case absent > 0:
		return steps.Fail(report.ExitTarget, steps.ReasonDataMissing,
			"load the records by a run without spec.useExisting, or correct spec.recordCount, spec.insertOrder, spec.zeroPadding and spec.table",
			"%d of %d records of a sample are not in table %s; the first is number %d, %s", absent, len(numbers), p.y.Table, firstAbsent.number, firstAbsent.what)
	case wrong > 0:
		return steps.Fail(report.ExitTarget, steps.ReasonDataMismatch,
			"correct spec.fieldCount, spec.fieldLength, spec.fieldNamePrefix and spec.dataIntegrity to what the table was loaded with",
			"%d of %d records of a sample in table %s are not as planned; the first is number %d: %s", wrong, len(numbers), p.y.Table, first.number, first.what)
	}
	return nil
}

// checkRecord reads one record.
func (p *inspection) checkRecord(ctx context.Context, rows Rows, number int64) (*flaw, error) {
	key := p.config.AppendKey(nil, number)
	row, err := rows.Get(ctx, &hbase.Get{Table: p.y.Table, Row: key, Family: []byte(p.y.ColumnFamily)})
	if err != nil {
		return nil, err
	}
	if len(row) == 0 {
		return &flaw{number: number, absent: true, what: string(key)}, nil
	}
	if what := p.compare(key, row); what != "" {
		return &flaw{number: number, what: what}, nil
	}
	return nil, nil
}

// compare says how a row differs from a record; empty if it does not.
func (p *inspection) compare(key []byte, row hbase.Row) string {
	c := p.config
	if len(row) != c.FieldCount {
		return fmt.Sprintf("%s has %d fields, not %d", key, len(row), c.FieldCount)
	}
	least := c.FieldLength
	if c.FieldLengthDistribution != "constant" {
		least = min(c.MinFieldLength, c.FieldLength)
	}
	names := map[string]bool{}
	for i := range c.FieldCount {
		names[c.FieldNamePrefix+strconv.Itoa(i)] = true
	}
	for _, field := range row {
		switch n := len(field.Value); {
		case !names[string(field.Qualifier)]:
			return fmt.Sprintf("%s has a field %q, which none of the plan's is", key, field.Qualifier)
		case n < least || n > c.FieldLength:
			return fmt.Sprintf("field %s of %s has %d bytes, not %s", field.Qualifier, key, n, lengths(least, c.FieldLength))
		case c.DataIntegrity && !intact(key, field.Qualifier, field.Value):
			return fmt.Sprintf("field %s of %s does not hold what dataIntegrity writes", field.Qualifier, key)
		}
	}
	return ""
}

func lengths(least, most int) string {
	if least == most {
		return strconv.Itoa(most)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// intact tells that a value is the one that follows from key and field.
func intact(key, field, value []byte) bool {
	want := make([]byte, len(value))
	generator.Integrity(want, key, field)
	return slices.Equal(want, value)
}
