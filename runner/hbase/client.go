package hbase

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hadoop-bench/operator/runner/hbase/registry"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// A Client knows where a cluster's regions are and holds the connections to its servers. It may be used concurrently.
type Client struct {
	o        Options
	rpc      *rpc.Client
	registry registry.Registry
	tables   tables
	meta     *table // hbase:meta, whose one region the registry locates
	sessions atomic.Int64

	retries, relocations, lost, busy atomic.Int64
}

// Open makes a client of the cluster that the registry names, once that one has said where hbase:meta is. Close must be
// called when it is not needed any more.
func Open(ctx context.Context, o Options) (*Client, error) {
	o = o.complete()
	transport, err := rpc.New(o.RPC)
	if err != nil {
		return nil, fmt.Errorf("make an HBase client: %w", err)
	}
	reg, err := registry.Open(o.Registry, transport)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make an HBase client: %w", err), transport.Close())
	}
	c := &Client{o: o, rpc: transport, registry: reg, meta: newTable(metaTable)}
	c.tables.known = map[string]*table{metaTable: c.meta}
	if _, err := c.locate(ctx, c.meta, nil, false); err != nil {
		return nil, errors.Join(fmt.Errorf("find HBase: %w", err), c.Close())
	}
	return c, nil
}

// Close ends the connections. Operations in flight fail.
func (c *Client) Close() error { return errors.Join(c.registry.Close(), c.rpc.Close()) }

// RPC is the client's transport, for calls that are none of the Session's.
func (c *Client) RPC() *rpc.Client { return c.rpc }

// Registry says where hbase:meta and the active master are.
func (c *Client) Registry() registry.Registry { return c.registry }

// Options are those that the client works by, defaults filled in.
func (c *Client) Options() Options { return c.o }

// Counters is a snapshot of what the client met so far.
func (c *Client) Counters() Counters {
	return Counters{
		Retries: c.retries.Load(), Relocations: c.relocations.Load(),
		Lost: c.lost.Load(), Busy: c.busy.Load(),
	}
}

// learn forgets what a failure shows to be no longer true, counts it, and says what follows. r is the region that was
// asked, or nil. Of several sessions that met the same failure only the first finds something to forget.
func (c *Client) learn(r *region, err error) step {
	what := next(err)
	if r == nil {
		return what
	}
	same := func(other *region) bool { return other == r }
	switch what {
	case relocate:
		r.table.forget(same)
	case follow:
		c.follow(r, movedTo(err))
	case abandon:
		if r.table.forget(same) {
			if lost := new(rpc.LostError); errors.As(err, &lost) {
				c.lost.Add(1)
			}
			c.tables.each(func(t *table) {
				t.forget(func(other *region) bool { return other.Server == r.Server })
			})
		}
	case wait:
		c.busy.Add(1)
	}
	return what
}

// follow puts a region that moved where its last server says it is now.
func (c *Client) follow(r *region, address string) {
	known := r.table.forget(func(other *region) bool { return other == r })
	if !known || address == "" || r.table == c.meta {
		return
	}
	moved := r.LocatedRegion
	moved.Server, moved.StartCode = address, 0
	r.table.add(newRegion(r.table, moved))
	r.table.foundAgain()
	c.relocations.Add(1)
}
