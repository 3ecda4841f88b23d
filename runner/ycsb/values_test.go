package ycsb_test

import (
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

func TestRecordHasAllFields(t *testing.T) {
	op, _ := workload(t, config(t, "dotransactions=false\nrecordcount=1\nfieldcount=11\nfieldlength=7")).Thread(0).NextLoad()
	var names []string
	for _, field := range op.Values {
		names = append(names, string(field.Name))
		if len(field.Value) != 7 {
			t.Errorf("%s has %d bytes", field.Name, len(field.Value))
		}
	}
	want := strings.Fields("field0 field1 field2 field3 field4 field5 field6 field7 field8 field9 field10")
	if diff := cmp.Diff(want, names); diff != "" || op.Kind != ycsb.MetricInsert {
		t.Errorf("%v: %s", op.Kind, diff)
	}
}

// shape tells what an operation reads and writes: "-" nothing, "all" by nil, "one", or how many.
func shape(op *ycsb.Operation) string {
	count := func(n int, none bool, text string) string {
		switch {
		case none:
			return text
		case n == 1:
			return "one"
		}
		return strconv.Itoa(n)
	}
	return count(len(op.Fields), op.Fields == nil, "all") + "/" + count(len(op.Values), op.Values == nil, "-")
}

func TestFieldsOfOperations(t *testing.T) {
	const read, scan, update, rmw = "readproportion", "scanproportion", "updateproportion", "readmodifywriteproportion"
	for _, test := range []struct{ operation, properties, want string }{
		{read, "", "all/-"},
		{read, "readallfieldsbyname=true", "10/-"},
		{read, "dataintegrity=true", "10/-"},
		{read, "readallfields=false", "one/-"},
		{read, "readallfields=false\nreadallfieldsbyname=true", "one/-"},
		{scan, "", "all/-"},
		{scan, "readallfields=false", "one/-"},
		{update, "", "all/one"},
		{update, "writeallfields=true", "all/10"},
		{rmw, "readallfields=false", "one/one"},
		{rmw, "writeallfields=true", "all/10"},
	} {
		t.Run(test.operation+" "+test.properties, func(t *testing.T) {
			thread := workload(t, config(t, "recordcount=10\nreadproportion=0\nupdateproportion=0\n"+test.operation+"=1\n"+test.properties)).Thread(0)
			for range 100 {
				if got := shape(next(t, thread)); got != test.want {
					t.Fatalf("reads/writes %s, want %s", got, test.want)
				}
			}
		})
	}
}

func TestScanLengthsAreInRange(t *testing.T) {
	for _, distribution := range []string{"uniform", "zipfian"} {
		thread := workload(t, config(t, "recordcount=10\nreadproportion=0\nupdateproportion=0\nscanproportion=1\nminscanlength=3\nmaxscanlength=7\nscanlengthdistribution="+distribution)).Thread(0)
		seen := map[int]bool{}
		for range 5000 {
			seen[next(t, thread).Count] = true
		}
		if diff := cmp.Diff([]int{3, 4, 5, 6, 7}, slices.Sorted(maps.Keys(seen))); diff != "" {
			t.Errorf("%s: %s", distribution, diff)
		}
	}
}

func TestFieldLengths(t *testing.T) {
	path := t.TempDir() + "/hist.txt"
	if err := os.WriteFile(path, []byte("BlockSize\t4\n0\t1\n1\t0\n2\t1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for properties, want := range map[string][]int{
		"fieldlengthdistribution=constant\nfieldlength=5":                        {5},
		"fieldlengthdistribution=uniform\nminfieldlength=3\nfieldlength=5":       {3, 4, 5},
		"fieldlengthdistribution=zipfian\nminfieldlength=3\nfieldlength=5":       {3, 4, 5},
		"fieldlengthdistribution=histogram\nfieldlengthhistogram=" + path + "\n": {4, 12},
	} {
		thread := workload(t, config(t, "recordcount=10\nreadproportion=0\nupdateproportion=1\nwriteallfields=true\n"+properties)).Thread(0)
		seen := map[int]bool{}
		for range 200 {
			for _, field := range next(t, thread).Values {
				seen[len(field.Value)] = true
			}
		}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(seen))); diff != "" {
			t.Errorf("%s: %s", properties, diff)
		}
	}
}

func TestHistogramFileIsRefusedByName(t *testing.T) {
	path := t.TempDir() + "/hist.txt"
	for text, want := range map[string]string{
		"BlockSize 4\n":                 "property fieldlengthhistogram: " + path + ": line 1",
		"BlockSize\t1000000000\n0\t1\n": "with 10 fields more than 1073741824 bytes a record",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := ycsb.NewWorkload(config(t, "recordcount=10\nfieldlengthdistribution=histogram\nfieldlengthhistogram="+path))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestVerify(t *testing.T) {
	thread := workload(t, config(t, "recordcount=10\nfieldcount=3\nfieldlength=60\ndataintegrity=true\nreadproportion=1\nupdateproportion=0")).Thread(0)
	// What was written, from another thread.
	writer := workload(t, config(t, "dotransactions=false\nrecordcount=10\nfieldcount=3\nfieldlength=60\ndataintegrity=true")).Thread(0)
	written := map[string]ycsb.Record{}
	for op, ok := writer.NextLoad(); ok; op, ok = writer.NextLoad() {
		for _, field := range op.Values {
			written[string(op.Key)] = append(written[string(op.Key)], ycsb.Field{Name: field.Name, Value: slices.Clone(field.Value)})
		}
	}
	op := next(t, thread)
	all := written[string(op.Key)]
	differs := slices.Clone(all)
	differs[1].Value = append(slices.Clone(all[1].Value[:59]), '!')
	short := slices.Clone(all)
	short[2].Value = all[2].Value[:10]
	for _, test := range []struct {
		name   string
		record ycsb.Record
		status ycsb.Status
		want   string
	}{
		{"all", all, ycsb.OK, ""},
		{"another order", ycsb.Record{all[2], all[0], all[1]}, ycsb.OK, ""},
		{"nothing", nil, ycsb.ErrorStatus, "the read returned no field"},
		{"a byte differs", differs, ycsb.UnexpectedState, "field field1 holds 60 bytes that differ from what was written from byte 59 on"},
		{"a value is short", short, ycsb.UnexpectedState, "field field2 holds 10 bytes that differ from what was written from byte 10 on"},
		{"a field is missing", all[:2], ycsb.UnexpectedState, "field field2 is missing"},
		{"a field came twice", ycsb.Record{all[0], all[1], all[1]}, ycsb.UnexpectedState, "field field2 is missing"},
		{"a field too many", append(slices.Clone(all), all[0]), ycsb.UnexpectedState, "the read returned 4 fields and not the 3 it asked for"},
	} {
		t.Run(test.name, func(t *testing.T) {
			status, err := thread.Verify(op, test.record)
			if status != test.status || (err == nil) != (test.want == "") || err != nil && !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("status %d, error %v", status, err)
			}
		})
	}
	if allocations := testing.AllocsPerRun(100, func() { _, _ = thread.Verify(op, all) }); allocations != 0 {
		t.Errorf("%v allocations", allocations)
	}
}
