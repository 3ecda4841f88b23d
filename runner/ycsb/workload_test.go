package ycsb_test

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/ycsb"
)

func workload(t testing.TB, c *ycsb.Config) *ycsb.Workload {
	t.Helper()
	w, err := ycsb.NewWorkload(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func next(t testing.TB, thread *ycsb.Thread) *ycsb.Operation {
	t.Helper()
	op, err := thread.Next()
	if err != nil {
		t.Fatal(err)
	}
	return op
}

// number returns the number of an ordered key.
func number(t testing.TB, op *ycsb.Operation) int64 {
	t.Helper()
	n, err := strconv.ParseInt(strings.TrimPrefix(string(op.Key), "user"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// testdata/keys.txt was made by YCSB's CoreWorkload; its first lines say how.
func TestKeysAreYCSBs(t *testing.T) {
	file, err := os.Open("testdata/keys.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		row := strings.Split(lines.Text(), " ")
		if row[0] == "#" {
			continue
		}
		c := config(t, fmt.Sprintf("dotransactions=false\nrecordcount=10000000000000\ninsertorder=%s\nzeropadding=%s\ninsertstart=%s\ninsertcount=1", row[0], row[1], row[2]))
		if op, ok := workload(t, c).Thread(0).NextLoad(); !ok || string(op.Key) != row[3] {
			t.Errorf("key %q, want %q", op.Key, row[3])
		}
	}
}

// Every number of digits, and both sides of each power of ten.
func TestOrderedKeysAreDecimal(t *testing.T) {
	for power := int64(1); power < 1_000_000_000_000_000_000; power *= 10 {
		for _, start := range []int64{power - 1, power, power + 7, power * 12 / 11} {
			c := config(t, fmt.Sprintf("dotransactions=false\nrecordcount=1152921504606846976\ninsertorder=ordered\nzeropadding=0\ninsertstart=%d\ninsertcount=1", start))
			if op, _ := workload(t, c).Thread(0).NextLoad(); string(op.Key) != fmt.Sprintf("user%d", start) {
				t.Errorf("key %s of %d", op.Key, start)
			}
		}
	}
}

func TestLoadInsertsEachKeyOnce(t *testing.T) {
	const threads = 8
	w := workload(t, config(t, "dotransactions=false\nrecordcount=12000\ninsertstart=1000\ninsertcount=10000\ninsertorder=ordered\nfieldcount=1"))
	seen := make([]map[int64]int, threads)
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			seen[i] = map[int64]int{}
			thread := w.Thread(i)
			for op, ok := thread.NextLoad(); ok; op, ok = thread.NextLoad() {
				seen[i][number(t, op)]++
			}
		})
	}
	all.Wait()
	total := map[int64]int{}
	for _, keys := range seen {
		for key, times := range keys {
			total[key] += times
		}
	}
	for key := int64(1000); key < 11_000; key++ {
		if total[key] != 1 {
			t.Fatalf("key %d was inserted %d times", key, total[key])
		}
	}
	if len(total) != 10_000 {
		t.Errorf("%d keys were inserted", len(total))
	}
}

func TestMixFollowsProportions(t *testing.T) {
	want := map[ycsb.Metric]float64{
		ycsb.MetricRead: 0.3, ycsb.MetricUpdate: 0.1, ycsb.MetricInsert: 0.2, ycsb.MetricScan: 0.15, ycsb.MetricReadModifyWrite: 0.25,
	}
	thread := workload(t, config(t, "recordcount=100\nreadproportion=6\nupdateproportion=2\ninsertproportion=4\nscanproportion=3\nreadmodifywriteproportion=5\nhadoopbench.seed=1")).Thread(0)
	const n = 200_000
	counts := map[ycsb.Metric]float64{}
	for range n {
		op := next(t, thread)
		counts[op.Kind]++
		thread.Done(op, ycsb.OK)
	}
	for kind, share := range want {
		if got := counts[kind] / n; math.Abs(got-share) > 4*math.Sqrt(share/n) {
			t.Errorf("metric %d has share %.4f, want %v", kind, got, share)
		}
	}
	if len(counts) != len(want) {
		t.Errorf("kinds %v", counts)
	}
}

func TestSeedsDecideEverything(t *testing.T) {
	draw := func(properties string, index int) (text string) {
		thread := workload(t, embedded(t, "workloada", properties)).Thread(index)
		for range 20 {
			op := next(t, thread)
			text += fmt.Sprintf("%d %s %s\n", op.Kind, op.Key, op.Values)
		}
		return text
	}
	first := draw("hadoopbench.seed=1", 0)
	if first != draw("hadoopbench.seed=1", 0) {
		t.Error("the same seed gives other operations")
	}
	for name, other := range map[string]string{
		"seed":   draw("hadoopbench.seed=2", 0),
		"thread": draw("hadoopbench.seed=1", 1),
		"shard":  draw("hadoopbench.seed=1\nhadoopbench.shards=2\nhadoopbench.shard=1", 0),
	} {
		if first == other {
			t.Errorf("another %s gives the same operations", name)
		}
	}
}

var distributions = []string{"uniform", "zipfian", "latest", "hotspot", "sequential", "exponential", "zipfian\nhadoopbench.zipfian=exact"}

// Readers choose only keys that the load wrote or that this process inserted, in every distribution, and reach the inserted
// ones where the distribution is to reach them. Where inserts begin beyond recordcount, nothing in between is chosen.
func TestReadersChooseWrittenKeys(t *testing.T) {
	for _, distribution := range distributions {
		for _, base := range []int64{50, 1000, 4_323_455_642_275_676_160} {
			t.Run(fmt.Sprintf("%s from %d", distribution, base), func(t *testing.T) { testReaders(t, distribution, base) })
		}
	}
}

func testReaders(t *testing.T, distribution string, base int64) {
	thread := workload(t, config(t, fmt.Sprintf("recordcount=50\noperationcount=4000\nreadproportion=0.5\nupdateproportion=0\ninsertproportion=0.5\ninsertorder=ordered\n"+
		"hadoopbench.shard=1\nhadoopbench.shards=3\nhadoopbench.insertbase=%d\nhadoopbench.seed=5\nrequestdistribution=%s", base, distribution))).Thread(0)
	written, failed, readNew := map[int64]bool{}, 0, 0
	for key := range int64(50) {
		written[key] = true
	}
	for i := range 4000 {
		op := next(t, thread)
		key := number(t, op)
		if op.Kind == ycsb.MetricRead {
			if !written[key] {
				t.Fatalf("read %d, which was not written", key)
			}
			if key >= 50 {
				readNew++
			}
			continue
		}
		if want := base + 1 + int64(len(written)-50+failed)*3; key != want {
			t.Fatalf("inserted %d, want %d", key, want)
		}
		if i%5 == 0 {
			failed++
			thread.Done(op, ycsb.ErrorStatus)
		} else {
			written[key] = true
			thread.Done(op, ycsb.OK)
		}
	}
	reaches := map[string]bool{"zipfian": true, "latest": true, "exponential": true}[strings.Fields(distribution)[0]]
	if (readNew > 0) != reaches {
		t.Errorf("inserted keys were read %d times", readNew)
	}
}

// Several threads insert and read at the same time: a key is chosen only after its insert was done.
func TestThreadsReadOnlyWhatIsDone(t *testing.T) {
	w := workload(t, config(t, "recordcount=10\noperationcount=40000\nreadproportion=0.5\nupdateproportion=0\ninsertproportion=0.5\nrequestdistribution=latest"))
	var done sync.Map
	for key := range loaded(t, "recordcount=10") {
		done.Store(key, true)
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			thread := w.Thread(i)
			for range 10_000 {
				op, err := thread.Next()
				if err != nil {
					t.Error(err)
					return
				}
				if op.Kind == ycsb.MetricInsert {
					done.Store(string(op.Key), true)
					thread.Done(op, ycsb.OK)
				} else if _, ok := done.Load(string(op.Key)); !ok {
					t.Errorf("read %s, which was not written", op.Key)
					return
				}
			}
		})
	}
	all.Wait()
}

// loaded returns the keys of a load.
func loaded(t *testing.T, text string) map[string]bool {
	thread, keys := workload(t, config(t, text+"\ndotransactions=false")).Thread(0), map[string]bool{}
	for op, ok := thread.NextLoad(); ok; op, ok = thread.NextLoad() {
		keys[string(op.Key)] = true
	}
	return keys
}

func TestNextDoesNotAllocate(t *testing.T) {
	for _, name := range []string{"workloada", "workloadc", "workloadd", "workloade", "workloadf", "updateonly"} {
		thread := workload(t, embedded(t, name, "dataintegrity=true")).Thread(0)
		if allocations := testing.AllocsPerRun(1000, func() {
			op := next(t, thread)
			thread.Done(op, ycsb.OK)
		}); allocations != 0 {
			t.Errorf("%s: %v allocations per operation", name, allocations)
		}
	}
}

func TestRetries(t *testing.T) {
	thread := workload(t, config(t, "dotransactions=false\nrecordcount=1\ncore_workload_insertion_retry_limit=2\ncore_workload_insertion_retry_interval=10")).Thread(0)
	for failures, want := range map[int]bool{1: true, 2: true, 3: false} {
		pause, again := thread.Retry(failures)
		if again != want || again && (pause < 8*time.Second || pause >= 12*time.Second) {
			t.Errorf("after failure %d: %v, %t", failures, pause, again)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	for _, name := range []string{"workloada", "workloadc", "workloadd", "workloade", "workloadf"} {
		for variant, more := range map[string]string{"own": "", "exact": "hadoopbench.zipfian=exact", "uniform": "requestdistribution=uniform"} {
			b.Run(name+"/"+variant, func(b *testing.B) {
				thread := workload(b, embedded(b, name, "recordcount=1000000\n"+more)).Thread(0)
				b.ReportAllocs()
				for b.Loop() {
					op, err := thread.Next()
					if err != nil {
						b.Fatal(err)
					}
					thread.Done(op, ycsb.OK)
				}
			})
		}
	}
}
