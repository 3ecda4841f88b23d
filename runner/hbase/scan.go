package hbase

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// defaultCaching is how many rows an answer to a Scan without a limit has.
const defaultCaching = 100

// A scanner is where a Scan is.
type scanner struct {
	spec  *Scan
	table *table
	from  []byte // the next row that may come, in memory of our own
	seen  int

	region   *region // whose scanner is open; nil: none is
	id       uint64
	sequence uint64 // of the next request to it
}

// Scan hands the rows from Start on to visit, in order, up to Stop or Limit. A row is valid only within visit, which must
// not use the session. An error of visit ends the scan and is returned as it is.
//
// With a limit CallTime.Operation bounds the whole scan, without one each answer. A scanner that is lost on the way, with
// its region or for its age, is replaced by one that goes on behind the last row, so that no row comes twice. A row comes
// whole and from one moment, different rows from different moments.
func (s *Session) Scan(ctx context.Context, spec *Scan, visit func(Row) error) error {
	if spec.Limit < 0 || spec.Caching < 0 {
		return &RowError{Reason: fmt.Sprintf("scan of table %s: limit %d, caching %d: neither may be negative", spec.Table, spec.Limit, spec.Caching)}
	}
	c := &s.scan
	*c = scanner{spec: spec, table: s.tableOf(spec.Table), from: append(c.from[:0], spec.Start...)}
	s.trial.begin(s.client.o.Clock.Now(), "scan", spec.Table, spec.Family, spec.Start)
	for {
		done, err := s.scanOn(ctx, visit)
		if err != nil {
			err = s.resume(ctx, err)
		}
		switch {
		case err != nil || done:
			return err
		case spec.Limit == 0:
			s.trial.begin(s.client.o.Clock.Now(), "scan", spec.Table, spec.Family, spec.Start)
		}
	}
}

// resume says whether a scan goes on after err: nil, or the scan's error. It goes on with a new scanner.
func (s *Session) resume(ctx context.Context, err error) error {
	var stopped *visitError
	if errors.As(err, &stopped) {
		s.closeScanner(ctx)
		return stopped.err
	}
	r := s.scan.region
	s.scan.region = nil
	return s.tryAgain(ctx, r, err)
}

// A visitError is an error of whoever takes the rows.
type visitError struct{ err error }

func (e *visitError) Error() string { return e.err.Error() }

// scanOn makes one request, and says whether the scan is done.
func (s *Session) scanOn(ctx context.Context, visit func(Row) error) (done bool, err error) {
	c := &s.scan
	opening := c.region == nil
	if opening && c.beyondStop(c.from) {
		return true, nil
	}
	if err := s.prepareScan(ctx); err != nil {
		return false, err
	}
	if err := s.send(ctx, c.region, "Scan"); err != nil {
		return false, err
	}
	if err := s.x.eachRow(func(row Row) error { return c.take(row, visit) }); err != nil {
		return false, err
	}
	answer := &s.x.scan
	if !opening {
		c.sequence++
	} else if answer.hasScanner {
		c.id = answer.scanner
	}
	return s.advance(ctx, answer), nil
}

// prepareScan encodes the next request: to the open scanner, or to open one where the scan is.
func (s *Session) prepareScan(ctx context.Context) error {
	c := &s.scan
	rows, limit := c.rows()
	s.x.cells = s.x.cells[:0]
	if c.region != nil {
		s.x.param = appendScanNext(s.x.param[:0], c.id, rows, limit, c.sequence)
		return nil
	}
	r, err := s.locate(ctx, c.table, c.from)
	if err != nil {
		return err
	}
	c.region, c.id, c.sequence = r, 0, 0
	o := scanOpening{
		specifier: r.specifier, start: c.from, stop: c.spec.Stop,
		family: c.spec.Family, columns: c.spec.Columns, rows: rows, limit: limit,
	}
	if c.spec.PageFilter {
		o.page = limit
	}
	s.x.param = o.append(s.x.param[:0])
	return nil
}

// rows is how many rows to ask for now, and how many in all; 0 if there is no limit.
func (c *scanner) rows() (now, limit int) {
	if c.spec.Limit > 0 {
		limit = c.spec.Limit - c.seen
	}
	now = c.spec.Caching
	if now == 0 {
		now = max(limit, 0)
	}
	if now == 0 {
		now = defaultCaching
	}
	if limit > 0 {
		now = min(now, limit)
	}
	return now, limit
}

// beyondStop says whether the scan is over before a row. A server takes a scan from a row to the same row for a Get.
func (c *scanner) beyondStop(row []byte) bool {
	return len(c.spec.Stop) > 0 && bytes.Compare(row, c.spec.Stop) >= 0
}

// take hands on a row and notes that the scan goes on behind it. Rows beyond the limit are not wanted.
func (c *scanner) take(row Row, visit func(Row) error) error {
	if len(row) == 0 || c.spec.Limit > 0 && c.seen == c.spec.Limit {
		return nil
	}
	c.from = append(append(c.from[:0], row[0].Row...), 0)
	c.seen++
	if err := visit(row); err != nil {
		return &visitError{err}
	}
	return nil
}

// advance decides how the scan goes on after an answer, and says whether it is done. A scanner that has told all is closed
// by its server.
func (s *Session) advance(ctx context.Context, a *scanAnswer) (done bool) {
	c := &s.scan
	if !a.more {
		c.region = nil
		return true
	}
	regionDone := a.saysInRegion && !a.moreInRegion || !a.saysInRegion && len(a.cells) == 0
	limited := c.spec.Limit > 0 && c.seen == c.spec.Limit
	if limited && !regionDone {
		s.closeScanner(ctx)
		return true
	}
	if !regionDone {
		return false
	}
	end := c.region.End
	c.region = nil
	if limited || len(end) == 0 || c.beyondStop(end) {
		return true
	}
	c.from = append(c.from[:0], end...)
	return false
}

// closeScanner frees an open scanner. If that fails the server does so in time.
func (s *Session) closeScanner(ctx context.Context) {
	c := &s.scan
	if c.region == nil || c.id == 0 {
		return
	}
	s.x.param, s.x.cells = appendScanClose(s.x.param[:0], c.id), s.x.cells[:0]
	_ = s.send(ctx, c.region, "Scan")
	c.region = nil
}
