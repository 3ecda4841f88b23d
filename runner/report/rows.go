package report

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// rowsVersion is the version of the stored rows.
const rowsVersion = 1

// maxRowsBytes bounds what DecodeRows inflates: 100,000 shards at their largest.
const maxRowsBytes = 16 << 20

// ShardRow is what is kept of every single shard.
type ShardRow struct {
	Index       int32   `json:"index"`
	Node        string  `json:"node,omitempty"`
	Outcome     Outcome `json:"outcome"`
	StartMicros int64   `json:"startMicros"` // after the first shard's start, by the target's clock
	ExecMicros  int64   `json:"execMicros"`  // 0 if it never started
	Bytes       int64   `json:"bytes"`
	Operations  int64   `json:"operations"`
	Errors      int64   `json:"errors,omitempty"`
	P99Nanos    int64   `json:"p99Nanos"`
	CPUPermille int64   `json:"cpuPermille,omitempty"` // CPU time in thousandths of the allowance
}

// rowOf is the row of a shard in an attempt whose first shard started at first.
func (s shard) row(first int64) ShardRow {
	b := &s.Body
	row := ShardRow{
		Index: s.Envelope.Index, Node: s.node, Outcome: s.Envelope.Outcome, ExecMicros: s.exec(),
		Bytes: b.Bytes, Operations: b.Operations, CPUPermille: min(int64(s.cpuRatio()*1000+0.5), 99_999),
	}
	if s.started() {
		row.StartMicros = s.start - first
	}
	for _, e := range b.Errors {
		sum, ok := addInt64(row.Errors, e.Count)
		if !ok {
			sum = maxInt64
		}
		row.Errors = sum
	}
	if b.Latency != nil {
		row.P99Nanos = b.Latency.Quantile(0.99)
	}
	return row
}

// outliers are the rows of up to MaxOutliers shards at either end of the order by rate; equal rates go by index.
func outliers(started []shard, first int64) (slowest, fastest []ShardRow) {
	order := slices.Clone(started)
	slices.SortStableFunc(order, func(a, b shard) int { return cmp.Compare(a.rate(), b.rate()) })
	n := len(order)
	for i := range min(MaxOutliers, (n+1)/2) {
		slowest = append(slowest, order[i].row(first))
	}
	for i := range min(MaxOutliers, n/2) {
		fastest = append(fastest, order[n-1-i].row(first))
	}
	return slowest, fastest
}

// Rows makes the rows of all shards that reported, by index.
func Rows(in MergeInput) ([]ShardRow, error) {
	shards, err := inOrder(in)
	if err != nil {
		return nil, fmt.Errorf("making shard rows: %w", err)
	}
	first := int64(0)
	for _, s := range shards {
		if s.started() && (first == 0 || s.start < first) {
			first = s.start
		}
	}
	rows := make([]ShardRow, len(shards))
	for i, s := range shards {
		rows[i] = s.row(first)
	}
	return rows, nil
}

// rowLine is a row as it is stored. Nodes are numbers, since their names can be longer than all the rest.
type rowLine struct {
	Index    int32   `json:"i"`
	Node     int     `json:"n"` // position in rowsHead.Nodes
	Outcome  Outcome `json:"r,omitempty"`
	Start    int64   `json:"s"`
	Exec     int64   `json:"x"`
	Bytes    int64   `json:"b,omitempty"`
	Ops      int64   `json:"o,omitempty"`
	Errors   int64   `json:"e,omitempty"`
	P99Nanos int64   `json:"p,omitempty"`
	CPU      int64   `json:"c,omitempty"`
}

// rowsHead is the first line of the stored rows.
type rowsHead struct {
	Version int      `json:"v"`
	Nodes   []string `json:"nodes"`
}

// EncodeRows stores rows as gzip'd JSON lines: first {"v":1,"nodes":[...]}, then one line of at most 100 bytes per row:
// i index, n position of the node in nodes, r outcome unless Complete, s start after the first shard's and x execution
// time (both µs), b bytes, o operations, e errors, p the 99 % quantile of the latency (ns), c CPU use (‰). Zeros may be
// left out. Equal rows give equal bytes.
func EncodeRows(rows []ShardRow) ([]byte, error) {
	head := rowsHead{Version: rowsVersion, Nodes: []string{}}
	number := make(map[string]int)
	for _, r := range rows {
		if _, ok := number[r.Node]; !ok {
			number[r.Node] = len(head.Nodes)
			head.Nodes = append(head.Nodes, r.Node)
		}
	}
	var out bytes.Buffer
	z, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("encoding shard rows: %w", err)
	}
	e := json.NewEncoder(z)
	err = e.Encode(head)
	for i := 0; i < len(rows) && err == nil; i++ {
		r := rows[i]
		line := rowLine{
			r.Index, number[r.Node], r.Outcome, r.StartMicros, r.ExecMicros, r.Bytes, r.Operations, r.Errors,
			r.P99Nanos, r.CPUPermille,
		}
		if line.Outcome == Complete {
			line.Outcome = ""
		}
		err = e.Encode(line)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, fmt.Errorf("encoding shard rows: %w", err)
	}
	return out.Bytes(), nil
}

// DecodeRows reads what EncodeRows stored.
func DecodeRows(data []byte) ([]ShardRow, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("decoding shard rows: %w", err)
	}
	d := json.NewDecoder(io.LimitReader(z, maxRowsBytes))
	var head rowsHead
	if err := d.Decode(&head); err != nil {
		return nil, fmt.Errorf("decoding the head of shard rows: %w", err)
	}
	if head.Version != rowsVersion {
		return nil, fmt.Errorf("decoding shard rows: %w: %d, this program reads %d", ErrVersion, head.Version, rowsVersion)
	}
	var rows []ShardRow
	for {
		var l rowLine
		if err := d.Decode(&l); errors.Is(err, io.EOF) {
			return rows, nil
		} else if err != nil {
			return nil, fmt.Errorf("decoding shard row %d: %w", len(rows), err)
		}
		if l.Node < 0 || l.Node >= len(head.Nodes) {
			return nil, fmt.Errorf("decoding shard row %d: node %d of %d", len(rows), l.Node, len(head.Nodes))
		}
		rows = append(rows, ShardRow{
			l.Index, head.Nodes[l.Node], cmp.Or(l.Outcome, Complete), l.Start, l.Exec, l.Bytes, l.Ops, l.Errors,
			l.P99Nanos, l.CPU,
		})
	}
}
