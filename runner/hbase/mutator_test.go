package hbase_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
)

// fourFill is a size of buffers that four mutations of add fill.
const fourFill = 1000

// add adds mutations of rows 100, 101 and so on, whose numbers are their rows'.
func add(ctx context.Context, m *hbase.Mutator, from, to int) error {
	value := strings.Repeat("v", 270) // about 305 bytes with its key and row
	for i := from; i < to; i++ {
		if err := m.Add(ctx, int64(i), put(fmt.Sprint(i), value)); err != nil {
			return fmt.Errorf("Add of %d: %w", i, err)
		}
	}
	return nil
}

// failures are the classes of what failed, by number.
func failures(t *testing.T, err error) (sent int, classes map[int64]string) {
	t.Helper()
	failed := new(hbase.FlushError)
	if !errors.As(err, &failed) {
		t.Fatalf("%v, want a FlushError", err)
	}
	classes = map[int64]string{}
	for _, f := range failed.Failed {
		one := new(hbase.OperationError)
		if errors.As(f.Err, &one) {
			classes[f.Op] = one.ErrorClass()
		}
	}
	return failed.Sent, classes
}

// TestMutatorFlushesInTheBackground holds the first flush back while a second buffer is filled.
func TestMutatorFlushesInTheBackground(t *testing.T) {
	came, release := make(chan struct{}, 10), make(chan struct{})
	cluster := hbasetest.Start(t, hbasetest.Options{
		Tables: []hbasetest.Table{table()},
		Fault: func(hbasetest.Request) hbasetest.Fault {
			came <- struct{}{}
			<-release
			return hbasetest.Fault{}
		},
	})
	m := open(t, cluster, func(o *hbase.Options) { o.WriteBuffer = fourFill }).Session().Mutator(0)
	if err := add(t.Context(), m, 100, 103); err != nil {
		t.Fatal(err)
	}
	if cluster.Calls("Multi") != 0 {
		t.Error("something was sent before the buffer was full")
	}
	if err := add(t.Context(), m, 103, 104); err != nil {
		t.Fatal(err)
	}
	<-came
	if err := add(t.Context(), m, 104, 107); err != nil {
		t.Fatal(err)
	}
	if m.Buffered() != 7 {
		t.Errorf("%d buffered, want 7", m.Buffered())
	}
	full := make(chan error, 1)
	go func() { full <- add(t.Context(), m, 107, 108) }()
	select {
	case err := <-full:
		t.Errorf("Add of the mutation that fills the second buffer did not wait: %v", err)
	default:
	}
	close(release)
	if err := <-full; err != nil {
		t.Error(err)
	}
	if cluster.Rows("t") < 4 || m.Buffered() != 4 {
		t.Errorf("%d rows, %d buffered, want the first four written, the last four buffered", cluster.Rows("t"), m.Buffered())
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Errorf("Flush: %v", err)
	}
	if cluster.Rows("t") != 8 || cluster.Calls("Multi") != 2 || m.Buffered() != 0 {
		t.Errorf("%d rows by %d requests, %d buffered, want 8, 2 and none", cluster.Rows("t"), cluster.Calls("Multi"), m.Buffered())
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Errorf("Flush of nothing: %v", err)
	}
}

// refuse has servers refuse the first requests for data.
func refuse(first int64) func(hbasetest.Request) hbasetest.Fault {
	return func(r hbasetest.Request) hbasetest.Fault {
		if r.Count <= first {
			return hbasetest.Fault{Exception: exception("DoNotRetryIOException", nil)}
		}
		return hbasetest.Fault{}
	}
}

const refused = "DoNotRetryIOException"

// TestBackgroundFailureIsTold looks at the Add that comes after a flush failed, or has to wait for it.
func TestBackgroundFailureIsTold(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{Tables: []hbasetest.Table{table()}, Fault: refuse(1)})
	m := open(t, cluster, nil).Session().Mutator(fourFill)
	if err := add(t.Context(), m, 100, 104); err != nil {
		t.Fatal(err)
	}
	var told error
	next := 104
	for ; told == nil && next < 108; next++ {
		told = add(t.Context(), m, next, next+1)
	}
	sent, got := failures(t, told)
	want := map[int64]string{100: refused, 101: refused, 102: refused, 103: refused}
	if diff := cmp.Diff(want, got); diff != "" || sent != 4 {
		t.Errorf("sent %d, failed (-want +got):\n%s", sent, diff)
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Errorf("Flush: %v", err)
	}
	if cluster.Rows("t") != next-104 {
		t.Errorf("%d rows, want %d: all that were added to the second buffer", cluster.Rows("t"), next-104)
	}
}

// TestFlushTellsOfBothFlushes has the one in the background fail, and the last one.
func TestFlushTellsOfBothFlushes(t *testing.T) {
	came, release := make(chan struct{}, 2), make(chan struct{})
	fault := refuse(2)
	cluster := hbasetest.Start(t, hbasetest.Options{
		Tables: []hbasetest.Table{table()},
		Fault: func(r hbasetest.Request) hbasetest.Fault {
			came <- struct{}{}
			<-release
			return fault(r)
		},
	})
	m := open(t, cluster, nil).Session().Mutator(fourFill)
	if err := add(t.Context(), m, 100, 106); err != nil {
		t.Fatal(err)
	}
	<-came
	close(release)
	sent, got := failures(t, m.Flush(t.Context()))
	want := map[int64]string{100: refused, 101: refused, 102: refused, 103: refused, 104: refused, 105: refused}
	if diff := cmp.Diff(want, got); diff != "" || sent != 6 {
		t.Errorf("sent %d, failed (-want +got):\n%s", sent, diff)
	}
}

// TestWaitForFlushEnds has a server that does not answer: whoever waits for it ends the flush with its context.
func TestWaitForFlushEnds(t *testing.T) {
	waits := map[string]func(context.Context, *hbase.Mutator) error{
		"Add":   func(ctx context.Context, m *hbase.Mutator) error { return add(ctx, m, 104, 108) },
		"Flush": func(ctx context.Context, m *hbase.Mutator) error { return m.Flush(ctx) },
	}
	for name, wait := range waits {
		t.Run(name, func(t *testing.T) {
			came := make(chan struct{}, 2)
			cluster := hbasetest.Start(t, hbasetest.Options{
				Tables: []hbasetest.Table{table()},
				Fault: func(r hbasetest.Request) hbasetest.Fault {
					came <- struct{}{}
					return hbasetest.Fault{Silent: r.Count == 1}
				},
			})
			m := open(t, cluster, nil).Session().Mutator(fourFill)
			adding, added := context.WithCancel(t.Context())
			if err := add(adding, m, 100, 104); err != nil {
				t.Fatal(err)
			}
			added()
			<-came // the flush goes on, though the context of Add has ended
			gone := errors.New("gone")
			ctx, end := context.WithCancelCause(t.Context())
			end(gone)
			err := wait(ctx, m)
			if sent, got := failures(t, err); sent != 4 || len(got) != 4 || !errors.Is(err, gone) {
				t.Errorf("of %d failed %v: %v, want all four by the context's cause", sent, got, err)
			}
			_ = m.Flush(ctx)
			if m.Buffered() != 0 {
				t.Errorf("%d buffered, want none", m.Buffered())
			}
		})
	}
}

func TestMutatorTellsWhoseMutationFailed(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{
		Servers: 2, Tables: []hbasetest.Table{table("m")},
		Fault: func(r hbasetest.Request) hbasetest.Fault {
			if strings.HasPrefix(r.Region, "t,m,") {
				return hbasetest.Fault{Exception: exception("DoNotRetryIOException", nil)}
			}
			return hbasetest.Fault{}
		},
	})
	s := open(t, cluster, nil).Session()
	m := s.Mutator(0)
	for i, row := range []string{"a", "n", "b", "z"} {
		if err := m.Add(t.Context(), int64(100+i), put(row, row)); err != nil {
			t.Fatal(err)
		}
	}
	bad := put("c", "c")
	bad.Family = []byte("g")
	if err := m.Add(t.Context(), 104, bad); err != nil {
		t.Fatal(err)
	}
	sent, got := failures(t, m.Flush(t.Context()))
	want := map[int64]string{101: refused, 103: refused, 104: "NoSuchColumnFamilyException"}
	if diff := cmp.Diff(want, got); diff != "" || sent != 5 {
		t.Errorf("sent %d, failed (-want +got):\n%s", sent, diff)
	}
	if cluster.Rows("t") != 2 {
		t.Errorf("%d rows, want 2", cluster.Rows("t"))
	}
}

// TestLastMutationOfARowWins mixes rows that are written often with failures, some of single regions only, over many flushes.
func TestLastMutationOfARowWins(t *testing.T) {
	var n atomic.Int64
	cluster := hbasetest.Start(t, hbasetest.Options{
		Servers: 2, Tables: []hbasetest.Table{table("3", "6")},
		Fault: func(hbasetest.Request) hbasetest.Fault {
			switch n.Add(1) % 5 {
			case 0:
				return hbasetest.Fault{Exception: exception("RegionTooBusyException", nil)}
			case 3:
				return hbasetest.Fault{Lose: true}
			}
			return hbasetest.Fault{}
		},
	})
	s := open(t, cluster, nil).Session()
	m := s.Mutator(4 << 10)
	last := map[string]string{}
	for i := range 2000 {
		row := fmt.Sprint(i * i % 10)
		last[row] = fmt.Sprint(i)
		if err := m.Add(t.Context(), int64(i), put(row, last[row])); err != nil {
			t.Fatalf("Add: %v", err)
		}
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatalf("Flush: %v", err)
	}
	for row, want := range last {
		if got := cluster.Value("t", row, "f:q"); got != want {
			t.Errorf("row %s has %s, want %s", row, got, want)
		}
	}
}
