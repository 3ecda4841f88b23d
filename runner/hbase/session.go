package hbase

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/cell"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// A Session carries out operations, one after the other, for one goroutine. Each operation ends within CallTime.Operation,
// give or take a sixteenth of CallTime.Attempt, or with its context; its error is an [*OperationError], or a [*RowError] if
// nothing was sent.
type Session struct {
	client *Client
	number int
	random *rand.Rand
	x      exchange
	table  *table // the last one used
	asked  string // the name that it was asked for by
	trial  trial
	scan   scanner
	groups []*group // of batches
	batch  batch    // of Multi
}

// Session makes one. It needs no closing.
func (c *Client) Session() *Session {
	n := int(c.sessions.Add(1))
	return newSession(c, n, rand.NewPCG(c.o.Seed, uint64(n)))
}

func newSession(c *Client, number int, random rand.Source) *Session {
	s := &Session{client: c, number: number, random: rand.New(random)}
	s.x.call.Connection = number
	return s
}

// companion is a session for another goroutine that uses the same connections as s.
func (s *Session) companion() *Session {
	return newSession(s.client, s.number, rand.NewPCG(s.client.o.Seed, ^uint64(s.number)))
}

// tableOf finds what is known of a table.
func (s *Session) tableOf(name string) *table {
	if s.table == nil || s.asked != name {
		s.table, s.asked = s.client.tables.get(qualified(name)), name
	}
	return s.table
}

// Get returns the cells of a row, in order; none if there is no such row, or none of the columns. They are valid until the
// session's next call.
func (s *Session) Get(ctx context.Context, g *Get) (Row, error) {
	if err := checkRow(g.Row); err != nil {
		return nil, err
	}
	t := s.tableOf(g.Table)
	s.trial.begin(s.client.o.Clock.Now(), "get", g.Table, g.Family, g.Row)
	for {
		row, r, err := s.get(ctx, t, g)
		if err == nil {
			return row, nil
		}
		if err = s.tryAgain(ctx, r, err); err != nil {
			return nil, err
		}
	}
}

// get is one attempt at a Get.
func (s *Session) get(ctx context.Context, t *table, g *Get) (Row, *region, error) {
	r, err := s.locate(ctx, t, g.Row)
	if err != nil {
		return nil, nil, err
	}
	s.x.param, s.x.cells = appendGetRequest(s.x.param[:0], r.specifier, g), s.x.cells[:0]
	if err := s.send(ctx, r, "Get"); err != nil {
		return nil, r, err
	}
	row, err := s.x.row()
	return row, r, err
}

// Mutate puts or deletes cells of one row. If the answer to an attempt is lost the mutation is repeated, as the package's
// comment says.
func (s *Session) Mutate(ctx context.Context, m *Mutation) error {
	if err := m.check(s.client.o.MaxCell); err != nil {
		return err
	}
	t := s.tableOf(m.Table)
	s.trial.begin(s.client.o.Clock.Now(), m.operation(), m.Table, m.Family, m.Row)
	s.x.cells = m.appendCells(s.x.cells[:0])
	for {
		r, err := s.mutate(ctx, t, m)
		if err == nil {
			return nil
		}
		if err = s.tryAgain(ctx, r, err); err != nil {
			return err
		}
	}
}

// mutate is one attempt at a Mutate.
func (s *Session) mutate(ctx context.Context, t *table, m *Mutation) (*region, error) {
	r, err := s.locate(ctx, t, m.Row)
	if err != nil {
		return nil, err
	}
	s.x.param = appendMutateRequest(s.x.param[:0], r.specifier, m)
	if err := s.send(ctx, r, "Mutate"); err != nil {
		return r, err
	}
	return r, parseMutateResponse(s.x.call.Body)
}

// send makes an attempt.
func (s *Session) send(ctx context.Context, r *region, method string) error {
	s.trial.server = r.Server
	return s.x.send(ctx, s.client, r, method, s.left())
}

// An exchange is a request and its answer, in buffers that are used again.
type exchange struct {
	call  rpc.Call
	param []byte
	cells []byte
	found Row
	scan  scanAnswer
}

// metaPriority has requests to hbase:meta served by handlers of their own, as those of the Java client.
const metaPriority = 200

// send sends param and cells to a region's server and waits for the answer, which is then in call.
func (x *exchange) send(ctx context.Context, c *Client, r *region, method string, within time.Duration) error {
	if within <= 0 {
		return &rpc.LostError{Address: r.Server, Method: method, Timeout: true, Err: errNoTimeLeft}
	}
	x.call.Address, x.call.Service, x.call.Method = r.Server, rpc.ClientService, method
	x.call.Param, x.call.Cells, x.call.Timeout = x.param, x.cells, within
	x.call.Priority = 0
	if r.table == c.meta {
		x.call.Priority = metaPriority
	}
	return c.rpc.Do(ctx, &x.call)
}

// row reads the answer to a Get.
func (x *exchange) row() (Row, error) {
	n, err := parseGetResponse(x.call.Body)
	if err != nil {
		return nil, err
	}
	cells := cell.NewReader(x.call.Answer)
	if err := x.take(&cells, n); err != nil {
		return nil, err
	}
	return x.found, atEnd(&cells)
}

// eachRow reads the answer to a Scan.
func (x *exchange) eachRow(visit func(Row) error) error {
	if err := x.scan.parse(x.call.Body); err != nil {
		return err
	}
	cells := cell.NewReader(x.call.Answer)
	for _, n := range x.scan.cells {
		if err := x.take(&cells, n); err != nil {
			return err
		}
		if err := visit(x.found); err != nil {
			return err
		}
	}
	return atEnd(&cells)
}

// take reads the next n cells into found.
func (x *exchange) take(cells *cell.Reader, n int) error {
	x.found = x.found[:0]
	for range n {
		x.found = append(x.found, cell.Cell{})
		if cells.Next(&x.found[len(x.found)-1]) {
			continue
		}
		if err := cells.Err(); err != nil {
			return fmt.Errorf("%w: %w", errAnswer, err)
		}
		return fmt.Errorf("%w: fewer cells than the %d of the row", errAnswer, n)
	}
	return nil
}

func atEnd(cells *cell.Reader) error {
	if n := cells.Left(); n > 0 {
		return fmt.Errorf("%w: %d bytes behind the last cell", errAnswer, n)
	}
	return nil
}
