package hbase_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
)

// null starts a cluster that costs as little as it can.
func null(t testing.TB) *hbase.Client {
	t.Helper()
	cluster := hbasetest.Start(t, hbasetest.Options{
		Tables: []hbasetest.Table{table("m")}, Null: true, NullColumns: 10, NullValue: 100,
	})
	return open(t, cluster, func(o *hbase.Options) { o.Clock = nil })
}

func record() *hbase.Mutation {
	m := &hbase.Mutation{Table: "t", Row: []byte("user1234567890123456789"), Family: []byte("f")}
	for i := range 10 {
		m.Columns = append(m.Columns, hbase.Column{Qualifier: fmt.Appendf(nil, "field%d", i), Value: make([]byte, 100)})
	}
	return m
}

func TestAllocations(t *testing.T) {
	client := null(t)
	s := client.Session()
	g, m := get("user1234567890123456789"), record()
	buffer := s.Mutator(64 << 20) // which is not filled
	operations := map[string]func(){
		"Get": func() {
			if row, err := s.Get(t.Context(), g); err != nil || len(row) != 10 {
				t.Fatalf("Get: %d cells, %v", len(row), err)
			}
		},
		"Mutate": func() {
			if err := s.Mutate(t.Context(), m); err != nil {
				t.Fatalf("Mutate: %v", err)
			}
		},
		"Add": func() {
			if err := buffer.Add(t.Context(), 1, m); err != nil {
				t.Fatalf("Add: %v", err)
			}
		},
	}
	for name, operation := range operations {
		for range 100 {
			operation()
		}
		if got := testing.AllocsPerRun(500, operation); got >= 1 {
			t.Errorf("%s: %v allocations, want none", name, got)
		}
	}
}

// BenchmarkClient shares b.N operations out among callers, who all use one connection.
func BenchmarkClient(b *testing.B) {
	for _, callers := range []int{1, 8, 64} {
		for _, write := range []bool{false, true} {
			b.Run(fmt.Sprintf("callers=%d/write=%v", callers, write), func(b *testing.B) { benchmark(b, callers, write) })
		}
	}
}

func benchmark(b *testing.B, callers int, write bool) {
	client := null(b)
	b.ReportAllocs()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wait sync.WaitGroup
	b.ResetTimer()
	for range callers {
		wait.Go(func() {
			s, g, m := client.Session(), get("user1234567890123456789"), record()
			for left.Add(-1) >= 0 {
				var err error
				if write {
					err = s.Mutate(b.Context(), m)
				} else {
					_, err = s.Get(b.Context(), g)
				}
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}
