package ycsb_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

const ms = time.Millisecond

// bubbleClock is the time of a synctest bubble, which passes only while everybody waits.
type bubbleClock struct{}

func (bubbleClock) Now() time.Time { return time.Now() }

func (bubbleClock) Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// A call is one call of a fakeDB.
type call struct {
	thread int
	what   string // read, scan, update, insert, close
	key    string
	values string // of all fields
	at     time.Duration
}

// fakeDB answers every call by do, and remembers it.
type fakeDB struct {
	do    func(ctx context.Context, c call) (ycsb.Status, error) // nil: OK at once
	open  func(thread int) error
	rows  int // of a scan
	epoch time.Time

	mu       sync.Mutex
	sessions int
	calls    []call
}

func (db *fakeDB) Session(context.Context) (ycsb.Session, error) {
	db.mu.Lock()
	thread := db.sessions
	db.sessions++
	db.mu.Unlock()
	if db.open != nil {
		if err := db.open(thread); err != nil {
			return nil, err
		}
	}
	return &fakeSession{db: db, thread: thread}, nil
}

func (db *fakeDB) Facts() map[string]string { return nil }
func (db *fakeDB) Close() error             { return nil }

// begins is when the calls of a kind began.
func (db *fakeDB) begins(what string) (at []time.Duration) {
	db.mu.Lock()
	defer db.mu.Unlock()
	for _, c := range db.calls {
		if c.what == what {
			at = append(at, c.at)
		}
	}
	return at
}

// count is how many calls there were of a kind.
func (db *fakeDB) count(what string) int { return len(db.begins(what)) }

type fakeSession struct {
	db     *fakeDB
	thread int
}

func (s *fakeSession) call(ctx context.Context, what string, key []byte, values []ycsb.Field) (ycsb.Status, error) {
	c := call{thread: s.thread, what: what, key: string(key), at: time.Since(s.db.epoch)}
	for _, v := range values {
		c.values += string(v.Name) + "=" + string(v.Value) + " "
	}
	s.db.mu.Lock()
	s.db.calls = append(s.db.calls, c)
	s.db.mu.Unlock()
	if s.db.do == nil {
		return ycsb.OK, nil
	}
	return s.db.do(ctx, c)
}

func (s *fakeSession) Read(ctx context.Context, key []byte, _ [][]byte, _ *ycsb.Record) (ycsb.Status, error) {
	return s.call(ctx, "read", key, nil)
}

func (s *fakeSession) Scan(ctx context.Context, key []byte, _ int, _ [][]byte, visit func(ycsb.Record)) (ycsb.Status, error) {
	status, err := s.call(ctx, "scan", key, nil)
	for range s.db.rows {
		visit(nil)
	}
	return status, err
}

func (s *fakeSession) Update(ctx context.Context, key []byte, values []ycsb.Field) (ycsb.Status, error) {
	return s.call(ctx, "update", key, values)
}

func (s *fakeSession) Insert(ctx context.Context, key []byte, values []ycsb.Field) (ycsb.Status, error) {
	return s.call(ctx, "insert", key, values)
}

func (s *fakeSession) Delete(ctx context.Context, key []byte) (ycsb.Status, error) {
	return s.call(ctx, "delete", key, nil)
}

func (s *fakeSession) Close(ctx context.Context) (ycsb.Status, error) {
	return s.call(ctx, "close", nil, nil)
}

// reads is a workload of nothing but reads.
const reads = "readproportion=1 updateproportion=0 recordcount=100"

// runWorkload makes one of properties, given as words.
func runWorkload(t testing.TB, words string) (*ycsb.Workload, *ycsb.Properties) {
	t.Helper()
	p := ycsb.NewProperties()
	p.Set("workload", "site.ycsb.workloads.CoreWorkload")
	p.Set("hadoopbench.seed", "1")
	for word := range strings.FieldsSeq(words) {
		if err := p.Assign(word); err != nil {
			t.Fatal(err)
		}
	}
	c, err := ycsb.ParseConfig(p)
	if err != nil {
		t.Fatal(err)
	}
	w, err := ycsb.NewWorkload(c)
	if err != nil {
		t.Fatal(err)
	}
	return w, p
}

// newRun is a run of one thread in a bubble, with texts.
func newRun(t testing.TB, db *fakeDB, words string) *ycsb.Run {
	t.Helper()
	w, p := runWorkload(t, words)
	texts, _, err := ycsb.NewTextOptions(p)
	if err != nil {
		t.Fatal(err)
	}
	db.epoch = time.Now()
	return &ycsb.Run{Workload: w, DB: db, Clock: bubbleClock{}, Log: slog.New(slog.DiscardHandler), Threads: 1, Texts: texts}
}

func do(t *testing.T, r *ycsb.Run) *ycsb.Result {
	t.Helper()
	result, err := r.Do(t.Context())
	if err != nil {
		t.Fatalf("Do: %v", err)
	}
	return result
}

// takes has each call but close take a time.
func takes(d time.Duration) func(context.Context, call) (ycsb.Status, error) {
	return func(_ context.Context, c call) (ycsb.Status, error) {
		if c.what != "close" {
			time.Sleep(d)
		}
		return ycsb.OK, nil
	}
}

// rate is so many operations a second in all.
func rate(perSecond int64) *measure.Rate {
	return &measure.Rate{Milli: perSecond * 1000, Part: 1, Whole: 1}
}
