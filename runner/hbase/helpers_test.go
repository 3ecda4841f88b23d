package hbase_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// A fakeClock stands still but for waits, which end at once.
type fakeClock struct {
	mu    sync.Mutex
	now   time.Time
	waits []time.Duration
	// waited is called after each wait, if it is set.
	waited func()
}

func newClock() *fakeClock { return &fakeClock{now: time.Unix(1_800_000_000, 0)} }

func (c *fakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *fakeClock) Wait(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	c.now = c.now.Add(d)
	c.waits = append(c.waits, d)
	waited := c.waited
	c.mu.Unlock()
	if waited != nil {
		waited()
	}
	return context.Cause(ctx)
}

// open makes a client of a fake cluster.
func open(t testing.TB, c *hbasetest.Cluster, change func(*hbase.Options)) *hbase.Client {
	t.Helper()
	o := hbase.Options{Registry: c.Registry(), RPC: rpc.Options{User: "tester"}, Clock: newClock()}
	if change != nil {
		change(&o)
	}
	client, err := hbase.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return client
}

func table(splits ...string) hbasetest.Table {
	return hbasetest.Table{Name: "t", Families: []string{"f"}, Splits: splits}
}

func get(row string) *hbase.Get {
	return &hbase.Get{Table: "t", Row: []byte(row), Family: []byte("f")}
}

func put(row, value string) *hbase.Mutation {
	return &hbase.Mutation{
		Table: "t", Row: []byte(row), Family: []byte("f"),
		Columns: []hbase.Column{{Qualifier: []byte("q"), Value: []byte(value)}},
	}
}

func mustPut(t testing.TB, s *hbase.Session, rows ...string) {
	t.Helper()
	for _, row := range rows {
		if err := s.Mutate(t.Context(), put(row, "of "+row)); err != nil {
			t.Fatalf("Mutate(%s): %v", row, err)
		}
	}
}

// texts are rows as family:qualifier=value.
func texts(row hbase.Row) []string {
	var all []string
	for _, c := range row {
		all = append(all, fmt.Sprintf("%s:%s=%s", c.Family, c.Qualifier, c.Value))
	}
	return all
}

// scan collects the rows of a scan.
func scan(t testing.TB, s *hbase.Session, spec *hbase.Scan) []string {
	t.Helper()
	var rows []string
	if err := s.Scan(t.Context(), spec, func(row hbase.Row) error {
		rows = append(rows, string(row[0].Row))
		return nil
	}); err != nil {
		t.Fatalf("Scan: %v", err)
	}
	return rows
}
