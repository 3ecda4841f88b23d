package hbase_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
)

// TestRealFaults moves, splits and kills while sessions read what they wrote.
func TestRealFaults(t *testing.T) {
	dir, control := os.Getenv(clusterEnv), os.Getenv(controlEnv)
	if dir == "" || control == "" {
		t.Skipf("%s and %s do not name a cluster", clusterEnv, controlEnv)
	}
	ctx, cancel := context.WithTimeout(t.Context(), realTimeout)
	defer cancel()
	began := time.Now()
	client := openReal(ctx, t, dir, map[string]string{"hbase.client.operation.timeout": "120000"}) // on a slow machine, too
	r := createReal(ctx, t, client, "c_faults")
	w := startWorkers(ctx, t, r, 8)
	w.progress(ctx, t)
	servers, err := r.admin.Servers(ctx)
	if err != nil || len(servers) != 2 {
		t.Fatalf("servers %v, %v, want 2", servers, err)
	}
	for i, key := range []string{"a", "b", "a"} {
		moveReal(ctx, t, r, key, servers, i)
		w.progress(ctx, t)
	}
	region, err := client.Locate(ctx, r.name, []byte("b1"))
	if err == nil {
		err = r.admin.Split(ctx, region, []byte("b4"))
	}
	if err != nil {
		t.Fatalf("split: %v", err)
	}
	w.progress(ctx, t)
	before := client.Counters()
	t.Logf("moved and split after %v: %+v, %d operations", time.Since(began), before, w.operations.Load())
	// The administrator shares the client, and looks some of the regions up before the workers do.
	if before.Retries < 4 || before.Lost != 0 {
		t.Errorf("Counters %+v, want retries and no lost server", before)
	}
	killReal(ctx, t, r, control, servers, w)
	w.stop(t)
	t.Logf("killed and started again after %v: %+v, %d operations, the longest took %v", time.Since(began), client.Counters(),
		w.operations.Load(), time.Duration(w.longest.Load()))
	if got := client.Counters(); got.Lost == 0 {
		t.Errorf("Counters %+v, want a lost server", got)
	}
	w.check(ctx, t)
}

// moveReal moves the region of a key to the other server.
func moveReal(ctx context.Context, t *testing.T, r realTable, key string, servers []admin.Server, i int) {
	t.Helper()
	region, err := r.client.Locate(ctx, r.name, []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	to := slices.IndexFunc(servers, func(s admin.Server) bool { return s.Address() != region.Server })
	if err := r.admin.Move(ctx, region, servers[to]); err != nil {
		t.Fatalf("move %d: %v", i, err)
	}
}

// killReal kills the RegionServer of hbase:meta, which has regions of the table too, and starts it again. (The command
// line's own test kills one without hbase:meta.)
func killReal(ctx context.Context, t *testing.T, r realTable, control string, servers []admin.Server, w *workers) {
	t.Helper()
	meta, err := r.client.Registry().MetaServer(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if region, err := r.client.Locate(ctx, r.name, []byte("c")); err != nil || region.Server != meta.Address {
		moveReal(ctx, t, r, "c", servers, 0)
	}
	number := meta.Address[len(meta.Address)-1:] // ports are 16021 and 16022
	script := func(word string) {
		t.Helper()
		if out, err := exec.CommandContext(ctx, control, word, number).CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", word, number, err, out)
		}
	}
	t.Cleanup(func() {
		_ = exec.Command(control, "start", number).Run()
	})
	began := time.Now()
	script("kill9")
	w.progress(ctx, t)
	t.Logf("all workers got on %v after the kill", time.Since(began))
	script("start")
	w.progress(ctx, t)
}

// workers write and read rows of their own until they are stopped.
type workers struct {
	table      realTable
	quit       chan struct{}
	wait       sync.WaitGroup
	operations atomic.Int64
	longest    atomic.Int64
	each       []*worker
}

type worker struct {
	number int
	done   atomic.Int64
	err    atomic.Pointer[error]
}

func startWorkers(ctx context.Context, t *testing.T, r realTable, n int) *workers {
	t.Helper()
	w := &workers{table: r, quit: make(chan struct{})}
	for i := range n {
		one := &worker{number: i}
		w.each = append(w.each, one)
		w.wait.Go(func() {
			if err := w.work(ctx, one); err != nil {
				one.err.Store(&err)
			}
		})
	}
	return w
}

// row is a worker's: they go round the regions.
func (w *worker) row(i int64) string {
	return fmt.Sprintf("%c%d-%d-%d", "abcd"[i%4], i%10, w.number, i)
}

// work writes rows, one by one or, every second worker, many at once, and reads them back.
func (w *workers) work(ctx context.Context, one *worker) error {
	s := w.table.client.Session()
	m := s.Mutator(0)
	rows := []int64{1, 20}[one.number%2]
	for first := int64(0); ; first += rows {
		select {
		case <-w.quit:
			return nil
		default:
		}
		began := time.Now()
		if err := w.write(ctx, s, m, one, first, rows); err != nil {
			return err
		}
		w.took(time.Since(began))
		for i := first; i < first+rows; i++ {
			if err := w.read(ctx, s, one.row(i)); err != nil {
				return err
			}
		}
		one.done.Add(rows)
		w.operations.Add(2 * rows)
	}
}

func (w *workers) write(ctx context.Context, s *hbase.Session, m *hbase.Mutator, one *worker, first, rows int64) error {
	if rows == 1 {
		return s.Mutate(ctx, w.table.put(one.row(first), one.row(first)))
	}
	for i := first; i < first+rows; i++ {
		if err := m.Add(ctx, i, w.table.put(one.row(i), one.row(i))); err != nil {
			return err
		}
	}
	return m.Flush(ctx)
}

func (w *workers) read(ctx context.Context, s *hbase.Session, row string) error {
	began := time.Now()
	got, err := s.Get(ctx, w.table.get(row))
	w.took(time.Since(began))
	if err == nil && (len(got) != 1 || string(got[0].Value) != row) {
		err = fmt.Errorf("row %s has %v", row, texts(got))
	}
	return err
}

// took keeps the longest time.
func (w *workers) took(d time.Duration) {
	for {
		if old := w.longest.Load(); int64(d) <= old || w.longest.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// progress waits until every worker has done something in all regions.
func (w *workers) progress(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, one := range w.each {
		for target := one.done.Load() + 8; one.done.Load() < target; time.Sleep(5 * time.Millisecond) {
			if err := one.err.Load(); err != nil || ctx.Err() != nil {
				w.stop(t)
				t.Fatalf("worker %d came to a halt: %v", one.number, ctx.Err())
			}
		}
	}
}

func (w *workers) stop(t *testing.T) {
	t.Helper()
	select {
	case <-w.quit:
		return
	default:
	}
	close(w.quit)
	w.wait.Wait()
	for _, one := range w.each {
		if err := one.err.Load(); err != nil {
			t.Errorf("worker %d: %v", one.number, *err)
		}
	}
}

// check scans all that was written.
func (w *workers) check(ctx context.Context, t *testing.T) {
	t.Helper()
	var want []string
	for _, one := range w.each {
		for i := range one.done.Load() {
			want = append(want, one.row(i))
		}
	}
	slices.Sort(want)
	var got []string
	err := w.table.client.Session().Scan(ctx, &hbase.Scan{Table: w.table.name, Caching: 1000}, func(row hbase.Row) error {
		got = append(got, string(row[0].Row))
		return nil
	})
	if err != nil || !slices.Equal(want, got) {
		t.Errorf("a scan finds %d rows, %v; %d were written", len(got), err, len(want))
	}
}
