package ycsb_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// instantDB is a database that does nothing, at once.
type instantDB struct{}

func (instantDB) Session(context.Context) (ycsb.Session, error) { return instantDB{}.session(), nil }
func (instantDB) session() ycsb.Session                         { return instantSession{} }
func (instantDB) Facts() map[string]string                      { return nil }
func (instantDB) Close() error                                  { return nil }

type instantSession struct{}

func (instantSession) Read(context.Context, []byte, [][]byte, *ycsb.Record) (ycsb.Status, error) {
	return ycsb.OK, nil
}

func (instantSession) Scan(context.Context, []byte, int, [][]byte, func(ycsb.Record)) (ycsb.Status, error) {
	return ycsb.OK, nil
}

func (instantSession) Update(context.Context, []byte, []ycsb.Field) (ycsb.Status, error) {
	return ycsb.OK, nil
}

func (instantSession) Insert(context.Context, []byte, []ycsb.Field) (ycsb.Status, error) {
	return ycsb.OK, nil
}
func (instantSession) Delete(context.Context, []byte) (ycsb.Status, error) { return ycsb.OK, nil }
func (instantSession) Close(context.Context) (ycsb.Status, error)          { return ycsb.OK, nil }

// instantRun is a run against no database, all by the machine's clock.
func instantRun(t testing.TB, words string, threads int, operations int64) *ycsb.Run {
	t.Helper()
	w, p := runWorkload(t, words)
	texts, _, err := ycsb.NewTextOptions(p)
	if err != nil {
		t.Fatal(err)
	}
	return &ycsb.Run{
		Workload: w, DB: instantDB{}, Clock: measure.System(), Log: slog.New(slog.DiscardHandler), Threads: threads,
		Operations: operations, Texts: texts, Delta0: 100 * time.Millisecond,
	}
}

const zipfianReads = reads + " requestdistribution=zipfian operationcount=1000"

// BenchmarkRun is the whole loop with nothing behind it: on two cores, less than 500 ns an operation of workload C.
func BenchmarkRun(b *testing.B) {
	for name, words := range map[string]string{
		"reads":         zipfianReads,
		"uniform reads": reads,
		"half updates":  "readproportion=0.5 updateproportion=0.5 recordcount=100 requestdistribution=zipfian operationcount=1000",
		"load":          "dotransactions=false recordcount=1000000000",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			r := instantRun(b, words, 2, int64(b.N))
			b.ResetTimer()
			result, err := r.Do(b.Context())
			if err != nil || result.Operations != int64(b.N) {
				b.Fatalf("%v, %d operations", err, result.Operations)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "ops/s")
		})
	}
}

// A million more reads allocate nothing: what a run allocates is there before it begins, or of its first operations.
func TestReadsDoNotAllocate(t *testing.T) {
	if testing.Short() {
		t.Skip("a million reads")
	}
	allocations := func(operations int64) float64 {
		return testing.AllocsPerRun(1, func() {
			if _, err := instantRun(t, zipfianReads+" measurement.interval=both", 2, operations).Do(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
	few, many := allocations(100_000), allocations(1_100_000)
	// A latency that the few had none of takes a page of an HDR histogram, and the runtime allocates a little itself.
	if many > few+100 {
		t.Errorf("%.0f allocations of 100000 reads, %.0f of 1100000", few, many)
	}
}
