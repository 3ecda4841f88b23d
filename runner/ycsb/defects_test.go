package ycsb_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/ycsb"
)

// Defects of YCSB's core workload and generators, each with what is done here.

// Keys are narrowed to 32 bits in YCSB, and records beyond 2^31 are loaded and read under wrong keys.
func TestDefectKeysBeyond32Bits(t *testing.T) {
	const records = "recordcount=10000000000000\ninsertorder=ordered\n"
	load := workload(t, config(t, "dotransactions=false\ninsertstart=9999999999998\n"+records)).Thread(0)
	for _, want := range []string{"user9999999999998", "user9999999999999"} {
		if op, ok := load.NextLoad(); !ok || string(op.Key) != want {
			t.Errorf("loaded %s, want %s", op.Key, want)
		}
	}
	if op, ok := load.NextLoad(); ok {
		t.Errorf("loaded %s, beyond the last record", op.Key)
	}
	for _, distribution := range distributions {
		thread := workload(t, config(t, records+"readproportion=1\nupdateproportion=0\nhadoopbench.seed=1\nrequestdistribution="+distribution)).Thread(0)
		if distribution == "sequential" {
			continue // begins at 0
		}
		large := 0
		for range 1000 {
			key := number(t, next(t, thread))
			if key < 0 || key >= 10_000_000_000_000 {
				t.Fatalf("%s: key %d", distribution, key)
			}
			if key > 1<<31 {
				large++
			}
		}
		if large == 0 {
			t.Errorf("%s: no key beyond 2^31", distribution)
		}
	}
}

// All processes of YCSB insert the same keys from recordcount on.
func TestDefectProcessesInsertTheSameKeys(t *testing.T) {
	seen := map[string]bool{}
	for _, shard := range []string{"0", "1", "2"} {
		thread := workload(t, config(t, "recordcount=10\nreadproportion=0\nupdateproportion=0\ninsertproportion=1\nhadoopbench.shards=3\nhadoopbench.shard="+shard)).Thread(0)
		for range 100 {
			op := next(t, thread)
			seen[string(op.Key)] = true
			thread.Done(op, ycsb.OK)
		}
	}
	if len(seen) != 300 {
		t.Errorf("300 inserts made %d keys", len(seen))
	}
}

// YCSB's zipfian distribution needs operationcount, even for a load, and ends with a NumberFormatException without.
func TestDefectZipfianNeedsOperationCount(t *testing.T) {
	for _, phase := range []string{"dotransactions=false", "maxexecutiontime=1"} {
		workload(t, config(t, "recordcount=10\nrequestdistribution=zipfian\n"+phase))
	}
}

// A second attempt at an insert writes empty values in YCSB, since the first has drained them.
func TestDefectRetriesWriteEmptyValues(t *testing.T) {
	thread := workload(t, config(t, "dotransactions=false\nrecordcount=1\ncore_workload_insertion_retry_limit=1")).Thread(0)
	op, _ := thread.NextLoad()
	first := make([]string, len(op.Values))
	for i, field := range op.Values {
		first[i] = string(field.Value)
	}
	if _, again := thread.Retry(1); !again {
		t.Fatal("no second attempt")
	}
	for i, field := range op.Values {
		if len(field.Value) != 100 || string(field.Value) != first[i] {
			t.Errorf("field %d is %q, was %q", i, field.Value, first[i])
		}
	}
}

// YCSB acknowledges an insert that failed, and its readers then look for what is not there. Here the insert is left out,
// and holds up none after it.
func TestDefectFailedInsertsAreRead(t *testing.T) {
	thread := workload(t, config(t, "recordcount=1\nreadproportion=0.5\nupdateproportion=0\ninsertproportion=0.5\ninsertorder=ordered\nrequestdistribution=latest")).Thread(0)
	inserts, reads := 0, map[int64]bool{}
	for range 10_000 {
		op := next(t, thread)
		if op.Kind == ycsb.MetricRead {
			reads[number(t, op)] = true
			continue
		}
		status := ycsb.OK
		if inserts++; inserts == 1 || inserts == 3 {
			status = ycsb.ErrorStatus
		}
		thread.Done(op, status)
	}
	if reads[1] || reads[3] || !reads[0] || !reads[2] || !reads[4] {
		t.Errorf("key 1 %t, 3 %t (failed); 0 %t, 2 %t, 4 %t", reads[1], reads[3], reads[0], reads[2], reads[4])
	}
}

// A load with insertstart and without insertcount goes on beyond recordcount in YCSB.
func TestDefectLoadGoesBeyondRecordCount(t *testing.T) {
	c := config(t, "dotransactions=false\nrecordcount=10\ninsertstart=7\ninsertorder=ordered")
	thread := workload(t, c).Thread(0)
	var keys []string
	for op, ok := thread.NextLoad(); ok; op, ok = thread.NextLoad() {
		keys = append(keys, string(op.Key))
	}
	if c.Operations() != 3 || !slices.Equal(keys, []string{"user7", "user8", "user9"}) {
		t.Errorf("%d operations, keys %v", c.Operations(), keys)
	}
}

// The latest distribution of YCSB never chooses key 0, and adds up one term a record before it starts.
func TestDefectLatestLeavesOutTheOldestKey(t *testing.T) {
	thread := workload(t, config(t, "recordcount=5\nreadproportion=1\nupdateproportion=0\ninsertorder=ordered\nrequestdistribution=latest")).Thread(0)
	seen := map[int64]bool{}
	for range 1000 {
		seen[number(t, next(t, thread))] = true
	}
	if len(seen) != 5 || !seen[0] {
		t.Errorf("keys %v", seen)
	}
	next(t, workload(t, config(t, "recordcount=1000000000000000\nrequestdistribution=latest")).Thread(0)) // at once
}

// An empty hot or cold set divides by zero in YCSB.
func TestDefectEmptyHotspot(t *testing.T) {
	for _, fractions := range []string{"hotspotdatafraction=0", "hotspotdatafraction=1", "hotspotdatafraction=0.01"} {
		thread := workload(t, config(t, "recordcount=10\nrequestdistribution=hotspot\n"+fractions)).Thread(0)
		for range 100 {
			next(t, thread)
		}
	}
}

// The last bucket of a histogram of lengths gives the bound of the one before in YCSB.
func TestDefectHistogramsLastBucket(t *testing.T) {
	path := t.TempDir() + "/hist.txt"
	if err := os.WriteFile(path, []byte("BlockSize\t10\n0\t0\n1\t1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	op, _ := workload(t, config(t, "dotransactions=false\nrecordcount=1\nfieldlengthdistribution=histogram\nfieldlengthhistogram="+path)).Thread(0).NextLoad()
	if len(op.Values[0].Value) != 20 {
		t.Errorf("a value of bucket 1 has %d bytes, want 20", len(op.Values[0].Value))
	}
}

// A record that lacks a field passes YCSB's data integrity check, which looks only at fields that came back.
func TestDefectMissingFieldsPass(t *testing.T) {
	const properties = "recordcount=1\nfieldcount=2\ndataintegrity=true\n"
	thread := workload(t, config(t, properties+"readproportion=1\nupdateproportion=0")).Thread(0)
	written, _ := workload(t, config(t, properties+"dotransactions=false")).Thread(0).NextLoad()
	if status, err := thread.Verify(next(t, thread), written.Values[:1]); status != ycsb.UnexpectedState || err == nil {
		t.Errorf("status %d, %v", status, err)
	}
}

// Misspelled names, and values that Java's parsers take for false or for another word, are silent in YCSB.
func TestDefectMisspellingsAreSilent(t *testing.T) {
	if c := config(t, "recordcount=1\noperationcount=1\nreadalfields=false"); len(c.Warnings) != 1 {
		t.Errorf("warnings %q", c.Warnings)
	}
	for _, text := range []string{"dataintegrity=ture", "insertorder=HASHED"} {
		if _, err := ycsb.ParseConfig(properties(t, core+text)); err == nil || !strings.Contains(err.Error(), "property "+strings.Split(text, "=")[0]) {
			t.Errorf("%s: error %v", text, err)
		}
	}
	// Spaces at a line's end do no harm, where Java's Boolean takes "true " for false and its Integer refuses "10 ".
	if c := config(t, "dataintegrity=true \nrecordcount=10 "); !c.DataIntegrity || c.RecordCount != 10 {
		t.Errorf("dataintegrity %t, recordcount %d", c.DataIntegrity, c.RecordCount)
	}
}
