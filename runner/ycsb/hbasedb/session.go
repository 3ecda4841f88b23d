package hbasedb

import (
	"context"
	"errors"
	"fmt"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// errNotFound is why a read is NotFound.
var errNotFound error = notFound{errors.New("there is no such row, or none of the columns in it")}

type notFound struct{ error }

func (notFound) ErrorClass() string { return "NotFound" }

// session is one thread's. What it hands to the client it uses again, so that the steady state needs no new memory.
type session struct {
	db      *DB
	hbase   *hbase.Session
	mutator *hbase.Mutator // nil without a write buffer
	added   int64          // mutations that were given to the mutator
	failed  int64          // those of them that are known to have failed
	first   error          // why the first of these did

	get     hbase.Get
	scan    hbase.Scan
	put     hbase.Mutation
	remove  hbase.Mutation
	record  ycsb.Record
	visit   func(ycsb.Record)
	takeRow func(hbase.Row) error // s.row, made once
}

func newSession(db *DB) *session {
	family, table := []byte(db.settings.Family), db.settings.Table
	s := &session{
		db: db, hbase: db.client.Session(),
		get:    hbase.Get{Table: table, Family: family},
		scan:   hbase.Scan{Table: table, Family: family, PageFilter: db.settings.PageFilter},
		put:    hbase.Mutation{Table: table, Family: family, Durability: db.settings.Durability},
		remove: hbase.Mutation{Table: table, Family: family, Durability: db.settings.Durability, Delete: true},
	}
	s.takeRow = s.row
	if db.settings.Buffering {
		s.mutator = s.hbase.Mutator(db.settings.BufferSize)
	}
	return s
}

// Read gets the row of a key: all columns of the family, or those named. A row without any of them is NotFound.
func (s *session) Read(ctx context.Context, key []byte, fields [][]byte, into *ycsb.Record) (ycsb.Status, error) {
	s.get.Row, s.get.Columns = key, fields
	row, err := s.hbase.Get(ctx, &s.get)
	status := ycsb.OK
	switch {
	case err != nil:
		status = ycsb.ErrorStatus
	case len(row) == 0:
		status, err = ycsb.NotFound, errNotFound
	}
	*into = appendFields((*into)[:0], row)
	s.debug("read", key, status, err)
	return status, err
}

func appendFields(record ycsb.Record, row hbase.Row) ycsb.Record {
	for i := range row {
		record = append(record, ycsb.Field{Name: row[i].Qualifier, Value: row[i].Value})
	}
	return record
}

// Scan reads up to count rows from key on, all of which one answer can have. Fewer rows are no error.
func (s *session) Scan(ctx context.Context, key []byte, count int, fields [][]byte, visit func(ycsb.Record)) (ycsb.Status, error) {
	s.scan.Start, s.scan.Columns, s.scan.Limit, s.scan.Caching = key, fields, count, count
	s.visit = visit
	err := s.hbase.Scan(ctx, &s.scan, s.takeRow)
	status := statusOf(err, ycsb.OK)
	s.debug("scan", key, status, err)
	return status, err
}

// row hands one row of a scan on.
func (s *session) row(row hbase.Row) error {
	s.record = appendFields(s.record[:0], row)
	s.visit(s.record)
	return nil
}

// Update puts columns, whether or not the row exists.
func (s *session) Update(ctx context.Context, key []byte, values []ycsb.Field) (ycsb.Status, error) {
	s.put.Row, s.put.Columns = key, s.put.Columns[:0]
	for i := range values {
		s.put.Columns = append(s.put.Columns, hbase.Column{Qualifier: values[i].Name, Value: values[i].Value})
	}
	status, err := s.mutate(ctx, &s.put)
	s.debug("put", key, status, err)
	return status, err
}

// Insert is Update, as in YCSB's binding: HBase knows no difference.
func (s *session) Insert(ctx context.Context, key []byte, values []ycsb.Field) (ycsb.Status, error) {
	return s.Update(ctx, key, values)
}

// Delete deletes the family of a row, whether or not the row exists.
func (s *session) Delete(ctx context.Context, key []byte) (ycsb.Status, error) {
	s.remove.Row = key
	status, err := s.mutate(ctx, &s.remove)
	s.debug("delete", key, status, err)
	return status, err
}

// mutate sends a mutation, or buffers it: then it is BatchedOK, unless it learns that some of what was buffered earlier has
// failed.
func (s *session) mutate(ctx context.Context, m *hbase.Mutation) (ycsb.Status, error) {
	if s.mutator == nil {
		err := s.hbase.Mutate(ctx, m)
		return statusOf(err, ycsb.OK), err
	}
	s.added++
	err := s.mutator.Add(ctx, s.added, m)
	s.remember(err)
	return statusOf(err, ycsb.BatchedOK), err
}

// remember keeps what became of buffered mutations.
func (s *session) remember(err error) {
	flush := new(hbase.FlushError)
	if err == nil || !errors.As(err, &flush) {
		return
	}
	if s.failed == 0 {
		s.first = flush.Failed[0].Err
	}
	s.failed += int64(len(flush.Failed))
}

// statusOf is success, or Error, which is the only other word that YCSB's binding has for writes and scans. What went wrong
// is told by the error's class.
func statusOf(err error, success ycsb.Status) ycsb.Status {
	if err != nil {
		return ycsb.ErrorStatus
	}
	return success
}

// Close sends what is buffered. It fails if any buffered mutation of the session did, also one that a flush in between has
// told of: such a flush counts as one failed operation, whatever number of mutations it lost.
func (s *session) Close(ctx context.Context) (ycsb.Status, error) {
	if s.mutator == nil {
		return ycsb.OK, nil
	}
	err := s.mutator.Flush(ctx)
	s.remember(err)
	if s.failed > 0 {
		err = &LostError{Lost: s.failed, Buffered: s.added, First: s.first}
	}
	return statusOf(err, ycsb.OK), err
}

// A LostError says how many of the mutations that a session buffered were not carried out, as far as is known.
type LostError struct {
	Lost, Buffered int64
	First          error // of the first one
}

// Error says how many, and why the first one.
func (e *LostError) Error() string {
	return fmt.Sprintf("%d of %d buffered mutations failed, the first one: %v", e.Lost, e.Buffered, e.First)
}

// Unwrap returns the first one's error.
func (e *LostError) Unwrap() error { return e.First }

// ErrorClass is that of the first one's error.
func (e *LostError) ErrorClass() string {
	var classed ycsb.Classed
	if errors.As(e.First, &classed) {
		return classed.ErrorClass()
	}
	return "Error"
}

// debug tells of an operation where that is wanted.
func (s *session) debug(operation string, key []byte, status ycsb.Status, err error) {
	if s.db.settings.Debug {
		s.db.log.Info("Operation", "operation", operation, "key", string(key), "status", status.String(), "error", err)
	}
}
