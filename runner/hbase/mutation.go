package hbase

import (
	"fmt"
	"math"

	"github.com/hadoop-bench/operator/runner/hbase/cell"
)

func checkRow(row []byte) error {
	if len(row) == 0 || len(row) > cell.MaxRow {
		return &RowError{Reason: fmt.Sprintf("a row key of %d bytes: it must have between 1 and %d", len(row), cell.MaxRow)}
	}
	return nil
}

// operation names a mutation in errors.
func (m *Mutation) operation() string {
	if m.Delete {
		return "delete"
	}
	return "put"
}

// cells is how many cells carry the mutation.
func (m *Mutation) cells() int {
	if m.Delete {
		return 1
	}
	return len(m.Columns)
}

// check refuses what a server would refuse, or what would break it.
func (m *Mutation) check(maxCell int64) error {
	if err := checkRow(m.Row); err != nil {
		return err
	}
	switch {
	case len(m.Family) == 0 || len(m.Family) > cell.MaxFamily:
		return &RowError{Reason: fmt.Sprintf("%s of row %q: a column family's name of %d bytes: it must have between 1 and %d", m.operation(), m.Row, len(m.Family), cell.MaxFamily)}
	case m.Durability < UseDefault || m.Durability > FsyncWAL:
		return &RowError{Reason: fmt.Sprintf("%s of row %q: durability %d is none of the five", m.operation(), m.Row, m.Durability)}
	case m.Delete && len(m.Columns) > 0:
		return &RowError{Reason: fmt.Sprintf("delete of row %q: only whole families can be deleted, but columns are given", m.Row)}
	case !m.Delete && len(m.Columns) == 0:
		return &RowError{Reason: fmt.Sprintf("put of row %q: no column is given", m.Row)}
	}
	for _, c := range m.Columns {
		size := cell.Size(m.cell(c))
		if size > math.MaxInt32 || maxCell > 0 && int64(size) > maxCell {
			return &RowError{Reason: fmt.Sprintf("put of row %q: column %q takes %d bytes, more than hbase.client.keyvalue.maxsize %d; raise it here and on the servers (hbase.server.keyvalue.maxsize)", m.Row, c.Qualifier, size, maxCell)}
		}
	}
	return nil
}

// cell is a column of a put, whose timestamp is the server's.
func (m *Mutation) cell(c Column) *cell.Cell {
	return &cell.Cell{
		Row: m.Row, Family: m.Family, Qualifier: c.Qualifier, Timestamp: cell.LatestTimestamp, Type: cell.Put, Value: c.Value,
	}
}

// appendCells encodes the mutation's cells. A mutation that passes check has none that the encoding refuses.
func (m *Mutation) appendCells(b []byte) []byte {
	if m.Delete {
		b, _ = cell.Append(b, &cell.Cell{Row: m.Row, Family: m.Family, Timestamp: cell.LatestTimestamp, Type: cell.DeleteFamily})
		return b
	}
	for _, c := range m.Columns {
		b, _ = cell.Append(b, m.cell(c))
	}
	return b
}
