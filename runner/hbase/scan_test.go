package hbase_test

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
)

// scanned are the rows of the tables that scans go over: r00 to r29, in regions that begin at r10, r20 and x.
func scanned() []string {
	var rows []string
	for i := range 30 {
		rows = append(rows, fmt.Sprintf("r%02d", i))
	}
	return rows
}

func TestScan(t *testing.T) {
	all := scanned()
	tests := map[string]struct {
		scan  hbase.Scan
		want  []string
		calls int64 // of method Scan, HBase 2
		old   int64 // the same, of a server that knows no limit of rows, so that its scanner must be closed
	}{
		"all":                      {hbase.Scan{}, all, 4, 4},
		"within a region":          {hbase.Scan{Start: []byte("r03"), Limit: 4}, all[3:7], 1, 2},
		"over regions":             {hbase.Scan{Start: []byte("r08"), Limit: 14}, all[8:22], 3, 4},
		"to a row":                 {hbase.Scan{Start: []byte("r08"), Stop: []byte("r12")}, all[8:12], 2, 2},
		"to a region's end":        {hbase.Scan{Start: []byte("r08"), Stop: []byte("r20")}, all[8:20], 2, 2},
		"limit at a region's end":  {hbase.Scan{Start: []byte("r05"), Limit: 5}, all[5:10], 1, 1},
		"caching":                  {hbase.Scan{Start: []byte("r01"), Limit: 7, Caching: 3}, all[1:8], 3, 4},
		"caching over regions":     {hbase.Scan{Start: []byte("r08"), Limit: 12, Caching: 4}, all[8:20], 4, 4},
		"page filter":              {hbase.Scan{Start: []byte("r03"), Limit: 4, PageFilter: true}, all[3:7], 1, 1},
		"page filter over regions": {hbase.Scan{Start: []byte("r08"), Limit: 5, PageFilter: true}, all[8:13], 2, 2},
		"more than there is":       {hbase.Scan{Start: []byte("r25"), Limit: 1000}, all[25:], 2, 2},
		"beyond all":               {hbase.Scan{Start: []byte("y")}, nil, 1, 1},
		"from a row to itself":     {hbase.Scan{Start: []byte("r03"), Stop: []byte("r03")}, nil, 0, 0},
		"backwards":                {hbase.Scan{Start: []byte("r09"), Stop: []byte("r03")}, nil, 0, 0},
	}
	for name, tt := range tests {
		for _, old := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, early HBase 1: %v", name, old), func(t *testing.T) {
				cluster := hbasetest.Start(t, hbasetest.Options{Servers: 2, Old: old, Tables: []hbasetest.Table{table("r10", "r20", "x")}})
				s := open(t, cluster, nil).Session()
				mustPut(t, s, all...)
				tt.scan.Table, tt.scan.Family = "t", []byte("f")
				got := scan(t, s, &tt.scan)
				if diff := cmp.Diff(tt.want, got); diff != "" {
					t.Errorf("rows (-want +got):\n%s", diff)
				}
				if calls := cluster.Calls("Scan"); calls != map[bool]int64{false: tt.calls, true: tt.old}[old] {
					t.Errorf("%d calls, want %d, of an early HBase 1 %d", calls, tt.calls, tt.old)
				}
				if n := cluster.Scanners(); n != 0 {
					t.Errorf("%d scanners left open", n)
				}
			})
		}
	}
}

// TestScanGoesOn disturbs a scan after each of its first requests.
func TestScanGoesOn(t *testing.T) {
	tests := map[string]func(c *hbasetest.Cluster, n int){
		"scanner gone":    func(c *hbasetest.Cluster, n int) { c.ForgetScanners() },
		"connection lost": func(c *hbasetest.Cluster, n int) { c.DropAll() },
		"region moved":    func(c *hbasetest.Cluster, n int) { c.Move("t", "r05", 1, true) },
		"region gone":     func(c *hbasetest.Cluster, n int) { c.Move("t", "r05", 1, false) },
		"region split":    func(c *hbasetest.Cluster, n int) { c.Split("t", fmt.Sprintf("r%02d", n+1), 1) },
	}
	for name, disturb := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := hbasetest.Start(t, hbasetest.Options{Servers: 2, Tables: []hbasetest.Table{table("r10", "r20")}})
			client := open(t, cluster, nil)
			mustPut(t, client.Session(), scanned()...)
			var got []string
			err := client.Session().Scan(t.Context(), &hbase.Scan{Table: "t", Caching: 3}, func(row hbase.Row) error {
				if got = append(got, string(row[0].Row)); len(got) == 2 || len(got) == 8 {
					disturb(cluster, len(got))
				}
				return nil
			})
			if diff := cmp.Diff(scanned(), got); diff != "" || err != nil {
				t.Errorf("error %v, rows (-want +got):\n%s", err, diff)
			}
			// A connection that is found broken before it is used is replaced unseen.
			if client.Counters().Retries == 0 && name != "connection lost" {
				t.Error("the scan was not disturbed")
			}
		})
	}
}

func TestScanRetriesExceptions(t *testing.T) {
	for _, class := range []string{"UnknownScannerException", "regionserver.LeaseException", "exceptions.OutOfOrderScannerNextException", "exceptions.ScannerResetException", "CallQueueTooBigException"} {
		t.Run(class, func(t *testing.T) {
			var n atomic.Int64
			cluster := hbasetest.Start(t, hbasetest.Options{
				Tables: []hbasetest.Table{table("r10")},
				Fault: func(r hbasetest.Request) hbasetest.Fault {
					if r.Method == "Scan" && n.Add(1)%2 == 0 {
						return hbasetest.Fault{Exception: exception(class, final)}
					}
					return hbasetest.Fault{}
				},
			})
			s := open(t, cluster, nil).Session()
			mustPut(t, s, scanned()...)
			got := scan(t, s, &hbase.Scan{Table: "t", Start: []byte("r02"), Limit: 20, Caching: 2})
			if !slices.Equal(got, scanned()[2:22]) {
				t.Errorf("rows %v, want r02 to r21", got)
			}
		})
	}
}

func TestScanEnds(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{Tables: []hbasetest.Table{table()}})
	s := open(t, cluster, nil).Session()
	mustPut(t, s, scanned()...)
	enough := errors.New("enough")
	n := 0
	err := s.Scan(t.Context(), &hbase.Scan{Table: "t", Caching: 5}, func(hbase.Row) error {
		if n++; n == 7 {
			return enough
		}
		return nil
	})
	if err != enough || n != 7 || cluster.Scanners() != 0 {
		t.Errorf("error %v after %d rows, %d scanners open; want the visitor's error after 7 and none", err, n, cluster.Scanners())
	}
	err = s.Scan(t.Context(), &hbase.Scan{Table: "t", Family: []byte("g")}, nil)
	checkError(t, err, "NoSuchColumnFamilyException")
	if err = s.Scan(t.Context(), &hbase.Scan{Table: "t", Limit: -1}, nil); err == nil {
		t.Error("a scan with a negative limit was sent")
	}
}
