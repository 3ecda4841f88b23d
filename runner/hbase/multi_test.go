package hbase_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
)

func TestMulti(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{Servers: 2, Tables: []hbasetest.Table{
		table("g", "m", "t"), {Name: "u", Families: []string{"f"}},
	}})
	s := open(t, cluster, nil).Session()
	mustPut(t, s, "a", "h", "n", "z")
	before := cluster.Calls("Multi")
	results, err := s.Multi(t.Context(), []hbase.Action{
		{Get: get("z")},
		{Mutation: put("b", "new")},
		{Get: &hbase.Get{Table: "t", Row: []byte("h"), Family: []byte("g")}},
		{Get: get("a")},
		{Mutation: &hbase.Mutation{Table: "t", Row: []byte("n"), Family: []byte("f"), Delete: true}},
		{Get: get("absent")},
		{Get: &hbase.Get{Table: "absent", Row: []byte("r")}},
		{Mutation: &hbase.Mutation{Table: "u", Row: []byte("r"), Family: []byte("f"), Columns: []hbase.Column{{Value: []byte("v")}}}},
	})
	if err != nil {
		t.Fatalf("Multi: %v", err)
	}
	var got []string
	for _, r := range results {
		class := ""
		if failed := new(hbase.OperationError); errors.As(r.Err, &failed) {
			class = failed.ErrorClass()
		}
		got = append(got, strings.Join(texts(r.Row), " ")+class)
	}
	want := []string{"f:q=of z", "", "NoSuchColumnFamilyException", "f:q=of a", "", "", "TableNotFoundException", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if cluster.Value("t", "b", "f:q") != "new" || cluster.Value("t", "n", "f:q") != "" || cluster.Value("u", "r", "f:") != "v" {
		t.Error("mutations were not carried out")
	}
	// The fake counts a Multi for each region.
	if calls := cluster.Calls("Multi") - before; calls != 5 {
		t.Errorf("%d regions were asked, want 5", calls)
	}
}

// TestMultiRetries has whole regions fail at first.
func TestMultiRetries(t *testing.T) {
	faults := map[string]hbasetest.Fault{
		"not serving":     {Exception: exception("NotServingRegionException", nil)},
		"busy":            {Exception: exception("RegionTooBusyException", nil)},
		"connection lost": {Drop: true},
		"answer lost":     {Lose: true},
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			var n atomic.Int64
			cluster := hbasetest.Start(t, hbasetest.Options{
				Servers: 2, Tables: []hbasetest.Table{table("g", "m", "t")},
				Fault: func(r hbasetest.Request) hbasetest.Fault {
					if n.Add(1) <= 3 {
						return fault
					}
					return hbasetest.Fault{}
				},
			})
			client := open(t, cluster, nil)
			s := client.Session()
			m := s.Mutator(0)
			for i := range 100 {
				row := fmt.Sprintf("%c%d", 'a'+i%26, i)
				if err := m.Add(t.Context(), int64(i), put(row, row)); err != nil {
					t.Fatalf("Add: %v", err)
				}
			}
			cluster.Move("t", "h", 0, true)
			if err := m.Flush(t.Context()); err != nil {
				t.Errorf("Flush: %v", err)
			}
			if cluster.Rows("t") != 100 || m.Buffered() != 0 {
				t.Errorf("%d rows, %d still buffered, want 100 and none", cluster.Rows("t"), m.Buffered())
			}
			if client.Counters().Retries == 0 {
				t.Error("nothing was retried")
			}
		})
	}
}

// TestLargeBatchIsCut has more bytes than one request takes.
func TestLargeBatchIsCut(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{Tables: []hbasetest.Table{table()}})
	client := open(t, cluster, nil)
	m := client.Session().Mutator(64 << 20)
	value := strings.Repeat("v", 1<<20)
	for i := range 10 {
		if err := m.Add(t.Context(), int64(i), put(fmt.Sprint(i), value)); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatalf("Flush: %v", err)
	}
	if got := cluster.Calls("Multi"); got != 4 || cluster.Rows("t") != 10 || client.Counters().Retries != 0 {
		t.Errorf("%d requests, %d rows, %d retries; want 4, 10 and none", got, cluster.Rows("t"), client.Counters().Retries)
	}
}
