package hbase_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
)

func TestGetAndMutate(t *testing.T) {
	for _, old := range []bool{false, true} {
		t.Run(fmt.Sprintf("HBase 1: %v", old), func(t *testing.T) {
			cluster := hbasetest.Start(t, hbasetest.Options{
				Servers: 2, Old: old,
				Tables: []hbasetest.Table{table("m"), {Name: "ns:t", Families: []string{"f"}}},
			})
			s := open(t, cluster, nil).Session()
			put := &hbase.Mutation{Table: "t", Row: []byte("x"), Family: []byte("f"), Columns: []hbase.Column{
				{Qualifier: []byte("a"), Value: []byte("1")}, {Qualifier: []byte("b"), Value: []byte("2")}, {Qualifier: []byte(""), Value: nil},
			}}
			if err := s.Mutate(t.Context(), put); err != nil {
				t.Fatalf("Mutate: %v", err)
			}
			read := func(what string, g *hbase.Get, want ...string) {
				t.Helper()
				row, err := s.Get(t.Context(), g)
				if diff := cmp.Diff(want, texts(row)); diff != "" || err != nil {
					t.Errorf("%s: error %v (-want +got):\n%s", what, err, diff)
				}
			}
			read("family", get("x"), "f:=", "f:a=1", "f:b=2")
			read("row", &hbase.Get{Table: "t", Row: []byte("x")}, "f:=", "f:a=1", "f:b=2")
			read("column", &hbase.Get{Table: "default:t", Row: []byte("x"), Family: []byte("f"), Columns: [][]byte{[]byte("b")}}, "f:b=2")
			read("absent", get("a"))
			read("namespace", &hbase.Get{Table: "ns:t", Row: []byte("x"), Family: []byte("f")})
			if err := s.Mutate(t.Context(), &hbase.Mutation{Table: "t", Row: []byte("x"), Family: []byte("f"), Delete: true}); err != nil {
				t.Fatalf("delete: %v", err)
			}
			read("deleted", get("x"))
			if got := cluster.Calls("meta.Scan"); got != 3 {
				t.Errorf("%d look-ups, want 3, one for each region", got)
			}
		})
	}
}

func TestWhatNoRetryHelpsAgainst(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{Tables: []hbasetest.Table{
		table(), {Name: "off", Families: []string{"f"}, Disabled: true},
	}})
	client := open(t, cluster, nil)
	s := client.Session()
	family := new(hbase.NoFamilyError)
	_, err := s.Get(t.Context(), &hbase.Get{Table: "t", Row: []byte("r"), Family: []byte("g")})
	if !errors.As(err, &family) || family.Family != "g" || family.Table != "t" {
		t.Errorf("family: %v, want a NoFamilyError of t and g", err)
	}
	checkError(t, err, "NoSuchColumnFamilyException")
	for _, name := range []string{"absent", "aaa", "zzz", "ns:t"} {
		_, err = s.Get(t.Context(), &hbase.Get{Table: name, Row: []byte("r")})
		if !errors.Is(err, hbase.ErrTableNotFound) {
			t.Errorf("table %s: %v, want ErrTableNotFound", name, err)
		}
		checkError(t, err, "TableNotFoundException")
	}
	err = s.Mutate(t.Context(), &hbase.Mutation{Table: "off", Row: []byte("r"), Family: []byte("f"), Delete: true})
	if !errors.Is(err, hbase.ErrTableDisabled) {
		t.Errorf("disabled table: %v, want ErrTableDisabled", err)
	}
	if got := client.Counters().Retries; got != 0 {
		t.Errorf("%d retries, want none", got)
	}
}

func TestRefusedBeforeSending(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{Tables: []hbasetest.Table{table()}})
	s := open(t, cluster, func(o *hbase.Options) { o.MaxCell = 100 }).Session()
	column := []hbase.Column{{Value: []byte("v")}}
	mutations := map[string]hbase.Mutation{
		"a row key of 0 bytes":                 {Family: []byte("f"), Columns: column},
		"a row key of 32768 bytes":             {Row: make([]byte, 1<<15), Family: []byte("f"), Columns: column},
		"family's name of 0 bytes":             {Row: []byte("r"), Columns: column},
		"no column is given":                   {Row: []byte("r"), Family: []byte("f")},
		"only whole families":                  {Row: []byte("r"), Family: []byte("f"), Columns: column, Delete: true},
		"durability 9":                         {Row: []byte("r"), Family: []byte("f"), Columns: column, Durability: 9},
		"hbase.client.keyvalue.maxsize 100; r": {Row: []byte("r"), Family: []byte("f"), Columns: []hbase.Column{{Value: make([]byte, 100)}}},
	}
	for want, m := range mutations {
		refused := new(hbase.RowError)
		m.Table = "t"
		if err := s.Mutate(t.Context(), &m); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("Mutate: %v, want a RowError with %q", err, want)
		}
		if err := s.Mutator(0).Add(t.Context(), 1, &m); !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("Add: %v, want a RowError with %q", err, want)
		}
	}
	if _, err := s.Get(t.Context(), &hbase.Get{Table: "t"}); err == nil {
		t.Error("a Get without a row was sent")
	}
	if _, err := s.Multi(t.Context(), []hbase.Action{{}}); err == nil {
		t.Error("an empty action was sent")
	}
}

func TestMoveAndSplit(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{Servers: 2, Tables: []hbasetest.Table{table("m")}})
	client := open(t, cluster, nil)
	s := client.Session()
	mustPut(t, s, "a", "n")
	read := func(row string) {
		t.Helper()
		got, err := s.Get(t.Context(), get(row))
		if diff := cmp.Diff([]string{"f:q=of " + row}, texts(got)); diff != "" || err != nil {
			t.Errorf("Get(%s): error %v (-want +got):\n%s", row, err, diff)
		}
	}
	cluster.Move("t", "a", 1, true)
	read("a")
	if got := cluster.Calls("meta.Scan"); got != 2 {
		t.Errorf("%d look-ups, want 2: the old server said where the region is", got)
	}
	cluster.Move("t", "n", 0, false)
	read("n")
	cluster.Split("t", "c", 0)
	read("a")
	mustPut(t, s, "c", "b")
	read("c")
	cluster.MoveMeta(1)
	cluster.Move("t", "a", 0, false)
	read("a")
	want := hbase.Counters{Retries: 5, Relocations: 6}
	if got := client.Counters(); got.Lost != 0 || got.Busy != 0 || got.Retries == 0 || got.Relocations < 4 {
		t.Errorf("Counters %+v, want about %+v", got, want)
	}
	l, err := client.Locate(t.Context(), "t", []byte("c"))
	if err != nil || string(l.Start) != "c" || string(l.End) != "m" || l.Server != cluster.Address(0) || l.Table != "t" {
		t.Errorf("Locate: %+v, %v", l, err)
	}
}

func TestRegions(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{Servers: 3, Tables: []hbasetest.Table{
		table("d", "m"), {Name: "t-2"}, {Name: "t2"}, {Name: "s"}, {Name: "ns:t", Splits: []string{"x"}},
	}})
	cluster.Split("t", "f", 2)
	client := open(t, cluster, nil)
	regions, err := client.Regions(t.Context(), "t")
	var got []string
	for _, r := range regions {
		got = append(got, fmt.Sprintf("%s [%s,%s) %s %d", r.Table, r.Start, r.End, r.Server, r.StartCode))
	}
	server := func(i int) string { return cluster.Address(i) + " 1700000000000" }
	want := []string{"t [,d) " + server(0), "t [d,f) " + server(1), "t [f,m) " + server(2), "t [m,) " + server(2)}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Regions: error %v (-want +got):\n%s", err, diff)
	}
	before := cluster.Calls("meta.Scan")
	mustPut(t, client.Session(), "a", "e", "g", "z")
	if cluster.Calls("meta.Scan") != before {
		t.Error("regions were looked up again behind Regions")
	}
	if regions, err = client.Regions(t.Context(), "ns:t"); len(regions) != 2 || err != nil {
		t.Errorf("Regions(ns:t): %d, %v, want 2", len(regions), err)
	}
	if _, err = client.Regions(t.Context(), "absent"); !errors.Is(err, hbase.ErrTableNotFound) {
		t.Errorf("Regions(absent): %v, want ErrTableNotFound", err)
	}
}

// TestLookUpsAreShared has 64 sessions miss the same region at once.
func TestLookUpsAreShared(t *testing.T) {
	const sessions = 64
	var gate sync.WaitGroup
	gate.Add(sessions)
	var moved atomic.Bool
	cluster := hbasetest.Start(t, hbasetest.Options{Servers: 2, Tables: []hbasetest.Table{table()}})
	client := open(t, cluster, nil)
	all := make([]*hbase.Session, sessions)
	for i := range all {
		all[i] = client.Session()
	}
	mustPut(t, all[0], "r")
	cluster.Move("t", "r", 1, false)
	moved.Store(true)
	before := cluster.Calls("meta.Scan")
	var wait sync.WaitGroup
	for _, s := range all {
		wait.Go(func() {
			gate.Done()
			gate.Wait()
			if _, err := s.Get(t.Context(), get("r")); err != nil {
				t.Errorf("Get: %v", err)
			}
		})
	}
	wait.Wait()
	if got := cluster.Calls("meta.Scan") - before; got != 1 {
		t.Errorf("%d look-ups by %d sessions, want 1", got, sessions)
	}
	if got := client.Counters().Relocations; got != 1 {
		t.Errorf("%d relocations, want 1", got)
	}
}

func TestServerDies(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{Servers: 2, Tables: []hbasetest.Table{table("m")}})
	clock := newClock()
	client := open(t, cluster, func(o *hbase.Options) { o.Clock = clock })
	s := client.Session()
	mustPut(t, s, "a", "z")
	cluster.Kill(1)
	clock.waited = func() { // the master notices on the third try
		if len(clock.waits) == 3 {
			cluster.Move("t", "z", 0, false)
		}
	}
	mustPut(t, s, "a", "z")
	if got := client.Counters(); got.Relocations == 0 || got.Retries < 3 {
		t.Errorf("Counters %+v, want relocations and 3 retries", got)
	}
	if cluster.Value("t", "z", "f:q") != "of z" {
		t.Error("the row was not written")
	}
}

// TestDeadline has a server that never answers, with real time.
func TestDeadline(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{
		Tables: []hbasetest.Table{table()},
		Fault:  func(hbasetest.Request) hbasetest.Fault { return hbasetest.Fault{Silent: true} },
	})
	client := open(t, cluster, func(o *hbase.Options) {
		o.Clock = nil
		o.Calls = hbase.CallTime{Operation: 250 * time.Millisecond, Attempt: 100 * time.Millisecond, Pause: time.Millisecond}
	})
	_, err := client.Session().Get(t.Context(), get("r"))
	checkError(t, err, "CallTimeout")
	if got := cluster.Calls("Get"); got < 2 {
		t.Errorf("%d attempts, want 2 or more", got)
	}
	m := client.Session().Mutator(0)
	if err := m.Add(t.Context(), 1, put("r", "v")); err != nil {
		t.Fatal(err)
	}
	failed := new(hbase.FlushError)
	if err := m.Flush(t.Context()); !errors.As(err, &failed) || failed.ErrorClass() != "CallTimeout" {
		t.Errorf("Flush: %v, want a FlushError of class CallTimeout", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err = client.Session().Get(ctx, get("r")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Get with a context that ends: %v, want its cause", err)
	}
}

func TestOpenFails(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{})
	registry := cluster.Registry()
	cluster.Close()
	_, err := hbase.Open(t.Context(), hbase.Options{Registry: registry})
	for _, want := range []string{"find HBase", registry.Servers[0], "hbase.client.bootstrap.servers"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Open: %v, want an error with %q", err, want)
		}
	}
	if _, err = hbase.Open(t.Context(), hbase.Options{}); err == nil || !strings.Contains(err.Error(), "hbase.zookeeper.quorum") {
		t.Errorf("Open without a registry: %v, want the name of the property", err)
	}
}

// TestManySessionsWhileRegionsMove checks that nothing is lost. Run it with -race.
func TestManySessionsWhileRegionsMove(t *testing.T) {
	const sessions, rows = 16, 40
	cluster := hbasetest.Start(t, hbasetest.Options{Servers: 3, Tables: []hbasetest.Table{table("4", "8", "c")}})
	// The sessions' waits add up on the one clock.
	client := open(t, cluster, func(o *hbase.Options) { o.Calls.Operation = time.Hour })
	ended := make(chan struct{})
	var mover sync.WaitGroup
	mover.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			default:
			}
			cluster.Move("t", fmt.Sprintf("%x", i%16), i%3, i%2 == 0)
			if i%5 == 0 {
				cluster.DropAll()
			}
			if _, err := client.Regions(t.Context(), "t"); err != nil {
				t.Errorf("Regions: %v", err)
			}
		}
	})
	var wait sync.WaitGroup
	for n := range sessions {
		wait.Go(func() {
			s := client.Session()
			for i := range rows {
				row := fmt.Sprintf("%x-%d", n, i)
				if err := s.Mutate(t.Context(), put(row, row)); err != nil {
					t.Errorf("Mutate: %v", err)
				}
				if got, err := s.Get(t.Context(), get(row)); err != nil || len(got) != 1 || string(got[0].Value) != row {
					t.Errorf("Get(%s): %v, %v", row, texts(got), err)
				}
			}
		})
	}
	wait.Wait()
	close(ended)
	mover.Wait()
	if got := cluster.Rows("t"); got != sessions*rows {
		t.Errorf("%d rows, want %d", got, sessions*rows)
	}
}
