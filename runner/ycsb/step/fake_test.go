package step_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/cell"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/step"
)

// bubbleClock is the time of a synctest bubble, which passes only while everybody waits.
type bubbleClock struct{}

func (bubbleClock) Now() time.Time { return time.Now() }

func (bubbleClock) Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(max(d, time.Millisecond))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fakeHBase is one table in memory, or none. All shards of a test share it.
type fakeHBase struct {
	status     admin.Status
	namespaces []string
	errors     map[string]error // by the method of Target, of Rows, or of a session
	looks      []admin.Look     // taken one after the other; the last one stays
	// operate is asked before each operation of a session: for what, of which key. An error is the operation's.
	operate func(ctx context.Context, what, key string) error
	took    time.Duration // by each operation

	mu       sync.Mutex
	table    *admin.Table
	rows     map[string]map[string]string
	written  map[string]int // how often a row was written by sessions, by "insert key" and "update key"
	calls    []string       // of Target that change something
	web      []string       // whom the last look asked for queues
	counters hbase.Counters
}

func newFakeHBase() *fakeHBase {
	return &fakeHBase{
		status: admin.Status{
			Version: "2.6.4", ClusterID: "c", Master: "m:16000",
			Servers: []admin.Server{{Host: "a", Port: 1, Regions: 3, StoreMB: 4}, {Host: "b", Port: 1, Regions: 4, StoreMB: 5}},
		},
		errors: map[string]error{}, rows: map[string]map[string]string{}, written: map[string]int{},
		looks: []admin.Look{look(0, 6)},
	}
}

// look is one at a table of six regions of which some are compacting.
func look(compacting int, files int64) admin.Look {
	var l admin.Look
	for i := range 6 {
		r := admin.RegionCompaction{Region: fmt.Sprint(i), Server: []string{"a:1", "b:1"}[i%2], StoreFiles: files / 6, SizeMB: 2}
		if i < compacting {
			r.State = admin.CompactionMinor
		}
		l.Regions = append(l.Regions, r)
	}
	return l
}

func (f *fakeHBase) connect(context.Context, *step.Env, *ycsb.Properties) (step.Target, error) {
	if err := f.errors["connect"]; err != nil {
		return nil, err
	}
	return f, nil
}

// make puts a table there.
func (f *fakeHBase) make(values map[string]string) {
	f.table = &admin.Table{Name: "t", Families: []admin.Family{{Name: "family"}}, Values: values}
}

// changes notes a call.
func (f *fakeHBase) changes(call string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	return f.errors[call]
}

func (f *fakeHBase) Status(context.Context) (admin.Status, error) {
	return f.status, f.errors["Status"]
}

func (f *fakeHBase) Descriptor(context.Context) (admin.Table, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.errors["Descriptor"]; err != nil {
		return admin.Table{}, err
	}
	if f.table == nil {
		return admin.Table{}, fmt.Errorf("describe: %w", hbase.ErrTableNotFound)
	}
	t := *f.table
	t.Values = maps.Clone(t.Values)
	return t, nil
}

func (f *fakeHBase) NamespaceExists(_ context.Context, namespace string) (bool, error) {
	return slices.Contains(f.namespaces, namespace), f.errors["NamespaceExists"]
}

func (f *fakeHBase) CreateTable(_ context.Context, t admin.Table) error {
	if err := f.changes("CreateTable"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.table = &t
	return nil
}

func (f *fakeHBase) AwaitOnline(context.Context) error { return f.changes("AwaitOnline") }

func (f *fakeHBase) SetValues(_ context.Context, values map[string]string) error {
	if err := f.changes("SetValues"); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	maps.Copy(f.table.Values, values)
	return nil
}

func (f *fakeHBase) Drop(context.Context) error         { return f.changes("Drop") }
func (f *fakeHBase) Flush(context.Context) error        { return f.changes("Flush") }
func (f *fakeHBase) MajorCompact(context.Context) error { return f.changes("MajorCompact") }

func (f *fakeHBase) Look(_ context.Context, web []string) (admin.Look, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.web = web
	l := f.looks[0]
	if len(f.looks) > 1 {
		f.looks = f.looks[1:]
	}
	return l, f.errors["Look"]
}

func (f *fakeHBase) Regions(context.Context) ([]hbase.LocatedRegion, error) {
	return []hbase.LocatedRegion{{Server: "a:1"}, {Server: "b:1"}, {Server: "b:1"}}, f.errors["Regions"]
}

func (f *fakeHBase) Reach(_ context.Context, servers []string) error {
	if len(servers) != len(f.status.Servers) {
		return errors.New("not all servers are asked")
	}
	return f.errors["Reach"]
}

func (f *fakeHBase) Rows() step.Rows { return fakeRows{f} }

func (f *fakeHBase) Open(context.Context) (ycsb.DB, error) { return f, f.errors["Open"] }

func (f *fakeHBase) Counters() hbase.Counters {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counters
}

func (f *fakeHBase) Session(context.Context) (ycsb.Session, error) {
	return &fakeSession{f}, f.errors["Session"]
}
func (f *fakeHBase) Facts() map[string]string { return nil }
func (f *fakeHBase) Close() error             { return nil }

// put writes a row.
func (f *fakeHBase) put(key string, fields map[string]string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rows[key] == nil {
		f.rows[key] = map[string]string{}
	}
	maps.Copy(f.rows[key], fields)
}

// inserted are the keys that sessions inserted, in no order.
func (f *fakeHBase) inserted() (keys []string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for what := range f.written {
		if key, ok := strings.CutPrefix(what, "insert "); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// fakeRows gives cells the time of the bubble, or of the machine, and a server that is 5 s ahead.
type fakeRows struct{ *fakeHBase }

const serverAhead = 5 * time.Second

func (r fakeRows) Get(_ context.Context, get *hbase.Get) (hbase.Row, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var row hbase.Row
	for _, name := range slices.Sorted(maps.Keys(r.rows[string(get.Row)])) {
		row = append(row, cell.Cell{
			Row: get.Row, Qualifier: []byte(name), Value: []byte(r.rows[string(get.Row)][name]), Timestamp: time.Now().Add(serverAhead).UnixMilli(),
		})
	}
	return row, r.errors["Get"]
}

func (r fakeRows) Mutate(_ context.Context, m *hbase.Mutation) error {
	if m.Delete {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.rows, string(m.Row))
		return r.errors["Mutate"]
	}
	for _, c := range m.Columns {
		r.put(string(m.Row), map[string]string{string(c.Qualifier): string(c.Value)})
	}
	return r.errors["Mutate"]
}

type fakeSession struct{ f *fakeHBase }

// do carries out an operation that act is the effect of.
func (s *fakeSession) do(ctx context.Context, what string, key []byte, act func(row map[string]string)) (ycsb.Status, error) {
	if s.f.took > 0 {
		time.Sleep(s.f.took)
	}
	if s.f.operate != nil {
		if err := s.f.operate(ctx, what, string(key)); err != nil {
			return ycsb.ErrorStatus, err
		}
	}
	s.f.mu.Lock()
	defer s.f.mu.Unlock()
	row := s.f.rows[string(key)]
	if row == nil && (what == "insert" || what == "update") {
		row = map[string]string{}
		s.f.rows[string(key)] = row
	}
	if row == nil {
		return ycsb.NotFound, errors.New("no such row")
	}
	act(row)
	s.f.written[what+" "+string(key)]++
	return ycsb.OK, nil
}

func (s *fakeSession) Read(ctx context.Context, key []byte, _ [][]byte, into *ycsb.Record) (ycsb.Status, error) {
	return s.do(ctx, "read", key, func(row map[string]string) {
		for name, value := range row {
			*into = append(*into, ycsb.Field{Name: []byte(name), Value: []byte(value)})
		}
	})
}

func (s *fakeSession) Scan(ctx context.Context, key []byte, _ int, _ [][]byte, visit func(ycsb.Record)) (ycsb.Status, error) {
	return s.do(ctx, "scan", key, func(map[string]string) { visit(nil) })
}

func (s *fakeSession) write(ctx context.Context, what string, key []byte, values []ycsb.Field) (ycsb.Status, error) {
	return s.do(ctx, what, key, func(row map[string]string) {
		for _, v := range values {
			row[string(v.Name)] = string(v.Value)
		}
	})
}

func (s *fakeSession) Update(ctx context.Context, key []byte, values []ycsb.Field) (ycsb.Status, error) {
	return s.write(ctx, "update", key, values)
}

func (s *fakeSession) Insert(ctx context.Context, key []byte, values []ycsb.Field) (ycsb.Status, error) {
	return s.write(ctx, "insert", key, values)
}

func (s *fakeSession) Delete(context.Context, []byte) (ycsb.Status, error) {
	return ycsb.NotImplemented, nil
}
func (s *fakeSession) Close(context.Context) (ycsb.Status, error) { return ycsb.OK, nil }

// denied is what a server says to somebody who may not do what he asks for.
func denied() error {
	return &rpc.RemoteError{Class: "org.apache.hadoop.hbase.security.AccessDeniedException", Message: "Insufficient permissions"}
}
