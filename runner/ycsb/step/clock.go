package step

import (
	"context"
	"fmt"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
)

const (
	// clockRow is followed by the shard's index. All shards' rows lie side by side, and so in one region of one server.
	clockRow = "hadoopbench-clock/"
	// clockSamples is how often the server's clock is read.
	clockSamples = 9
	// clockResolution is the step of HBase's timestamps.
	clockResolution = time.Millisecond
	clockTimeout    = 30 * time.Second
)

func (s *step) clockRow() string { return fmt.Sprintf("%s%d", clockRow, s.env.Index) }

// clock finds the offset of this shard's clock to that of the server of its row, by the timestamps that the server gives to
// what is written there. The row is removed again. The offset is nil if the server's clock cannot be read that way.
func (s *step) clock(ctx context.Context) (*report.Clock, error) {
	ctx, cancel := context.WithTimeout(ctx, clockTimeout)
	defer cancel()
	rows := s.target.Rows()
	row, family := []byte(s.clockRow()), []byte(s.y.ColumnFamily)
	put := hbase.Mutation{Table: s.y.Table, Row: row, Family: family, Columns: []hbase.Column{{Qualifier: []byte("t"), Value: []byte{}}}}
	var read []measure.ClockSample
	for range clockSamples {
		sample := measure.ClockSample{Before: s.env.Clock.Now()}
		if err := rows.Mutate(ctx, &put); err != nil {
			return nil, err
		}
		sample.After = s.env.Clock.Now()
		cells, err := rows.Get(ctx, &hbase.Get{Table: s.y.Table, Row: row, Family: family})
		if err != nil {
			return nil, err
		}
		// A deletion of an earlier step hides what a server with a slower clock writes.
		if len(cells) == 1 {
			sample.Target = time.UnixMilli(cells[0].Timestamp)
			read = append(read, sample)
		}
	}
	if err := rows.Mutate(ctx, &hbase.Mutation{Table: s.y.Table, Row: row, Family: family, Delete: true}); err != nil {
		return nil, err
	}
	return measure.Offset(read, clockResolution), nil
}
