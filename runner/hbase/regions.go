package hbase

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"
)

// A region is where a part of a table is believed to be. It never changes; what is no longer true is replaced.
type region struct {
	LocatedRegion
	specifier []byte // field 1 of requests about it
	table     *table
}

func newRegion(t *table, l LocatedRegion) *region {
	return &region{LocatedRegion: l, specifier: specifier(l.Name), table: t}
}

// holds says whether the region holds a row.
func (r *region) holds(row []byte) bool {
	return bytes.Compare(r.Start, row) <= 0 && (len(r.End) == 0 || bytes.Compare(row, r.End) < 0)
}

// overlaps says whether two regions have rows in common.
func (r *region) overlaps(other *region) bool {
	return (len(r.End) == 0 || bytes.Compare(other.Start, r.End) < 0) &&
		(len(other.End) == 0 || bytes.Compare(r.Start, other.End) < 0)
}

// A table is what is known of a table's regions. Looking a row up takes no lock; changes replace the whole list.
type table struct {
	name    string
	looking chan struct{} // held by whoever asks hbase:meta, so that all others wait for one answer

	mu        sync.Mutex // held to change regions
	regions   atomic.Pointer[[]*region]
	forgotten int // regions that were dropped and not found again yet
}

func newTable(name string) *table {
	t := &table{name: name, looking: make(chan struct{}, 1)}
	t.regions.Store(new([]*region))
	return t
}

// find returns the region that holds a row, or nil if it is not known.
func (t *table) find(row []byte) *region {
	regions := *t.regions.Load()
	low, high := 0, len(regions)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if bytes.Compare(regions[middle].Start, row) <= 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	if low == 0 || !regions[low-1].holds(row) {
		return nil
	}
	return regions[low-1]
}

// add takes in regions, in place of all that overlap them.
func (t *table) add(added ...*region) {
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := make([]*region, 0, len(*t.regions.Load())+len(added))
	for _, old := range *t.regions.Load() {
		if !slices.ContainsFunc(added, old.overlaps) {
			kept = append(kept, old)
		}
	}
	kept = append(kept, added...)
	slices.SortFunc(kept, func(a, b *region) int { return bytes.Compare(a.Start, b.Start) })
	t.regions.Store(&kept)
}

// replaceAll takes regions, which must be sorted, for the whole table.
func (t *table) replaceAll(regions []*region) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.regions.Store(&regions)
	t.forgotten = 0
}

// forget drops the regions that are drop; it says whether there were any.
func (t *table) forget(drop func(*region) bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := *t.regions.Load()
	if !slices.ContainsFunc(old, drop) {
		return false
	}
	kept := slices.DeleteFunc(slices.Clone(old), drop)
	t.regions.Store(&kept)
	t.forgotten += len(old) - len(kept)
	return true
}

// foundAgain takes note that a region was found, and says whether that is one in place of a dropped one.
func (t *table) foundAgain() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	again := t.forgotten > 0
	t.forgotten = max(0, t.forgotten-1)
	return again
}

// tables are the tables that were ever asked for.
type tables struct {
	mu    sync.RWMutex
	known map[string]*table
}

func (ts *tables) get(name string) *table {
	ts.mu.RLock()
	t := ts.known[name]
	ts.mu.RUnlock()
	if t != nil {
		return t
	}
	ts.mu.Lock()
	defer ts.mu.Unlock()
	if t = ts.known[name]; t == nil {
		t = newTable(name)
		if ts.known == nil {
			ts.known = map[string]*table{}
		}
		ts.known[name] = t
	}
	return t
}

// each calls f for every table.
func (ts *tables) each(f func(*table)) {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	for _, t := range ts.known {
		f(t)
	}
}
