package main

import (
	"strings"
	"testing"
)

const ycsbOut = `Command line: -t
YCSB Client 0.17.0
[OVERALL], RunTime(ms), 8051
[OVERALL], Throughput(ops/sec), 1490.4980747733201
[READ], Operations, 6000
[READ], Return=OK, 6000
[UPDATE], Operations, 6000
[UPDATE], Return=OK, 6000
`

// ycsbStatuses are of a run that needed two seconds to get going.
const ycsbStatuses = `2026-12-01 14:10:20:410 0 sec: 0 operations; est completion in 0 second 
2026-12-01 14:10:21:411 1 sec: 0 operations; est completion in 106751991167300 days 15 hours 
Maximum time elapsed. Requesting stop for the workload.
2026-12-01 14:10:22:410 2 sec: 400 operations; 400.4 current ops/sec; [READ: Count=200, Max=5399, Min=0, Avg=676.38] 
2026-12-01 14:10:23:410 3 sec: 2400 operations; 2000 current ops/sec; 
2026-12-01 14:10:24:410 4 sec: 4400 operations; 2000 current ops/sec; 
2026-12-01 14:10:25:910 5 sec: 8000 operations; 2400 current ops/sec; 
2026-12-01 14:10:26:410 6 sec: 8400 operations; 800 current ops/sec; 
`

func TestReadYCSB(t *testing.T) {
	got, err := readYCSB(ycsbOut, ycsbStatuses)
	if err != nil {
		t.Fatal(err)
	}
	// From the status at 3 s, the middle of the 6 s, to the last but one: 5600 operations in 2.5 s.
	want := sample{operations: 12000, rate: 1490.4980747733201, steady: 2240}
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestReadYCSBWithoutMiddle(t *testing.T) {
	got, err := readYCSB(ycsbOut, strings.Join(strings.SplitAfter(ycsbStatuses, "\n")[:2], ""))
	if err != nil || got.steady != 0 {
		t.Errorf("second half %v of two statuses, %v; want 0", got.steady, err)
	}
}

func TestReadYCSBRefuses(t *testing.T) {
	for name, tt := range map[string]struct{ stdout, says string }{
		"no report":         {"Loading workload...\n", "no report"},
		"two reports":       {ycsbOut + ycsbOut, "2 reports"},
		"rows not found":    {ycsbOut + "[READ], Return=NOT_FOUND, 1\n", "Return=NOT_FOUND is 1"},
		"failed operations": {ycsbOut + "[READ-FAILED], Operations, 3\n", "all operations must succeed"},
	} {
		if _, err := readYCSB(tt.stdout, ""); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want an error with %q", name, err, tt.says)
		}
	}
}
