package hbase

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/hadoop-bench/operator/runner/hbase/cell"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// A batch is actions that are sent together, grouped by server and region. The mutations of one row keep their order: they
// lie in one request, or in requests that follow one another, and if one has to be repeated those of the same row behind it
// are repeated too.
type batch struct {
	items []item
	bytes []byte // rows and encoded cells of mutations
	// family is the last mutation's, so that those that follow share it.
	family string
}

// An item is one action of a batch.
type item struct {
	table      *table
	get        *Get // or a mutation:
	remove     bool
	durability Durability
	count      int // of cells
	row, cells span
	family     string // for errors

	state    itemState
	region   *region // asked last
	failures int
	err      error // the last failure
	found    Row   // by a Get
}

// A span is a part of batch.bytes.
type span struct{ from, to int }

type itemState uint8

const (
	waiting itemState = iota
	done
	failed
)

func (b *batch) reset() { b.items, b.bytes = b.items[:0], b.bytes[:0] }

// addMutation takes a copy of a mutation, which must have been checked.
func (b *batch) addMutation(t *table, m *Mutation) {
	row := len(b.bytes)
	b.bytes = append(b.bytes, m.Row...)
	cells := len(b.bytes)
	b.bytes = m.appendCells(b.bytes)
	if b.family != string(m.Family) {
		b.family = string(m.Family)
	}
	b.items = append(b.items, item{
		table: t, remove: m.Delete, durability: m.Durability, count: m.cells(), family: b.family,
		row: span{row, cells}, cells: span{cells, len(b.bytes)},
	})
}

// addGet takes a Get, which must stay as it is until the batch was run.
func (b *batch) addGet(t *table, g *Get) {
	b.items = append(b.items, item{table: t, get: g, family: string(g.Family)})
}

func (b *batch) row(it *item) []byte {
	if it.get != nil {
		return it.get.Row
	}
	return b.bytes[it.row.from:it.row.to]
}

// size is about what an item takes of a request.
func (b *batch) size(it *item) int { return len(b.row(it)) + it.cells.to - it.cells.from }

// run sends a batch until every item is done or has failed for good. Its time is CallTime.Operation.
func (s *Session) run(ctx context.Context, b *batch) {
	s.trial.begin(s.client.o.Clock.Now(), "multi", "", nil, nil)
	for {
		s.place(ctx, b)
		s.sendAll(ctx, b, s.plan(b))
		if !s.settle(ctx, b) {
			return
		}
	}
}

// place locates what waits. Once a look-up failed for a reason that passes, the rest is only looked for in memory, so that
// the time is not used up item by item.
func (s *Session) place(ctx context.Context, b *batch) {
	var failure error
	for i := range b.items {
		it := &b.items[i]
		if it.state != waiting {
			continue
		}
		it.region, it.err = it.table.find(b.row(it)), nil
		if it.region == nil && failure == nil {
			it.region, it.err = s.locate(ctx, it.table, b.row(it))
			if it.err != nil && next(it.err) != giveUp {
				failure = it.err
			}
		} else if it.region == nil {
			it.err = failure
		}
	}
}

// maxRequest is about how many bytes of cells one Multi carries, and maxActions how many actions; both as in Java's client
// or the servers' threshold for a warning. What is beyond follows in the next request.
const (
	maxRequest = 4 << 20
	maxActions = 5000
)

// A group is what goes to one server in one request.
type group struct {
	x       exchange
	server  string
	regions []regionGroup
	at      map[*region]int // in regions
	size    int
	actions int
	err     error
}

// A regionGroup is a RegionAction: the items of one region, in order.
type regionGroup struct {
	region *region
	items  []int // in batch.items
}

// plan groups what waits and is located. The groups' memory is used again.
func (s *Session) plan(b *batch) []*group {
	n := 0
	for i := range b.items {
		it := &b.items[i]
		if it.state != waiting || it.region == nil {
			continue
		}
		g := s.groupFor(&n, it.region.Server)
		size := b.size(it)
		if g.actions > 0 && (g.size+size > maxRequest || g.actions == maxActions) {
			g.size, it.region = maxRequest, nil // full, and stays so, since order must be kept
			continue
		}
		g.add(i, it.region, size)
	}
	return s.groups[:n]
}

// groupFor returns the server's group among the first n, or the next one.
func (s *Session) groupFor(n *int, server string) *group {
	for _, g := range s.groups[:*n] {
		if g.server == server {
			return g
		}
	}
	if *n == len(s.groups) {
		s.groups = append(s.groups, &group{at: map[*region]int{}})
		s.groups[*n].x.call.Connection = s.number
	}
	g := s.groups[*n]
	clear(g.at)
	g.server, g.regions, g.size, g.actions, g.err = server, g.regions[:0], 0, 0, nil
	*n++
	return g
}

func (g *group) add(i int, r *region, size int) {
	at, ok := g.at[r]
	if !ok {
		at = len(g.regions)
		g.at[r] = at
		if at < cap(g.regions) {
			g.regions = g.regions[:at+1]
		} else {
			g.regions = append(g.regions, regionGroup{})
		}
		g.regions[at].region, g.regions[at].items = r, g.regions[at].items[:0]
	}
	g.regions[at].items = append(g.regions[at].items, i)
	g.size, g.actions = g.size+size, g.actions+1
}

// encode makes a MultiRequest. Each action's index is its item's.
func (g *group) encode(b *batch) {
	param, cells := g.x.param[:0], g.x.cells[:0]
	for _, rg := range g.regions {
		var at, action int
		param, at = open(param, 1)
		param = append(param, rg.region.specifier...)
		for _, i := range rg.items {
			it := &b.items[i]
			param, action = open(param, 3)
			param = appendUint(param, 1, uint64(i))
			if it.get != nil {
				param = appendGet(param, 3, it.get)
			} else {
				param = appendMutation(param, 2, b.row(it), it.remove, it.durability, it.count)
				cells = append(cells, b.bytes[it.cells.from:it.cells.to]...)
			}
			param = shut(param, action)
		}
		param = shut(param, at)
	}
	g.x.param, g.x.cells = param, cells
}

// sendAll sends all groups at once and takes their answers in.
func (s *Session) sendAll(ctx context.Context, b *batch, groups []*group) {
	within := s.left()
	send := func(g *group) {
		g.encode(b)
		g.err = g.x.send(ctx, s.client, g.regions[0].region, "Multi", within)
	}
	var others sync.WaitGroup
	for _, g := range groups[min(len(groups), 1):] {
		others.Go(func() { send(g) })
	}
	if len(groups) > 0 {
		send(groups[0])
	}
	others.Wait()
	for _, g := range groups {
		g.takeAnswer(b)
	}
}

var errNoOutcome = fmt.Errorf("%w: no outcome of this action", errAnswer)

// takeAnswer gives each item its outcome.
func (g *group) takeAnswer(b *batch) {
	for _, rg := range g.regions {
		for _, i := range rg.items {
			b.items[i].err = g.err
			if g.err == nil {
				b.items[i].err = errNoOutcome
			}
		}
	}
	if g.err != nil {
		return
	}
	answer := g.x.call.Answer
	if len(answer) > 0 {
		answer = slices.Clone(answer) // rows lie in it, and the call is used again
	}
	cells := cell.NewReader(answer)
	err := parseMultiResponse(g.x.call.Body, func(o outcome) error { return g.takeOutcome(b, o, &cells) })
	if err == nil {
		err = atEnd(&cells)
	}
	if err != nil {
		g.reject(b, err)
	}
}

// reject makes an answer that cannot be used the outcome of all items of the group.
func (g *group) reject(b *batch, err error) {
	for _, rg := range g.regions {
		for _, i := range rg.items {
			b.items[i].state, b.items[i].err = waiting, err
		}
	}
}

// takeOutcome gives an item, or all of a region, their outcome.
func (g *group) takeOutcome(b *batch, o outcome, cells *cell.Reader) error {
	if o.region >= len(g.regions) {
		return fmt.Errorf("%w: outcomes of %d regions, asked were %d", errAnswer, o.region+1, len(g.regions))
	}
	rg := &g.regions[o.region]
	if o.index < 0 {
		err := rpc.NewRemoteError(string(o.exception.name), string(o.exception.value))
		for _, i := range rg.items {
			b.items[i].err = err
		}
		return nil
	}
	if o.index >= len(b.items) || b.items[o.index].region != rg.region {
		return fmt.Errorf("%w: an outcome of action %d, which this region was not asked", errAnswer, o.index)
	}
	it := &b.items[o.index]
	if o.exception.set {
		it.err = rpc.NewRemoteError(string(o.exception.name), string(o.exception.value))
		return nil
	}
	if err := g.x.take(cells, o.cells); err != nil {
		return err
	}
	it.found = nil
	if it.get != nil {
		it.found = slices.Clone(g.x.found)
	}
	it.err, it.state = nil, done
	return nil
}
