package hbase_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

func TestPauses(t *testing.T) {
	const unit = 100 * time.Millisecond
	tests := map[string]struct {
		got, want time.Duration
	}{
		"first":                   {hbase.PauseAfter(hbase.Again, 1, unit, 0.5), unit},
		"fourth":                  {hbase.PauseAfter(hbase.Again, 4, unit, 0.5), 5 * unit},
		"longest":                 {hbase.PauseAfter(hbase.Again, 99, unit, 0.5), 20 * unit},
		"never beyond 5 s":        {hbase.PauseAfter(hbase.Again, 99, time.Second, 0.5), 5 * time.Second},
		"a tenth less":            {hbase.PauseAfter(hbase.Again, 1, unit, 0), 90 * time.Millisecond},
		"busy":                    {hbase.PauseAfter(hbase.Wait, 1, unit, 0.5), 5 * unit},
		"moved":                   {hbase.PauseAfter(hbase.Follow, 1, unit, 0.5), 0},
		"moved again":             {hbase.PauseAfter(hbase.Follow, 2, unit, 0.5), 2 * unit},
		"scanner lost":            {hbase.PauseAfter(hbase.OpenAgain, 1, unit, 0.5), 0},
		"failures are never none": {hbase.PauseAfter(hbase.Again, 0, unit, 0.5), unit},
	}
	for name, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %v, want %v", name, tt.got, tt.want)
		}
	}
}

func TestMovedTo(t *testing.T) {
	const class = "org.apache.hadoop.hbase.exceptions.RegionMovedException"
	tests := map[string]struct {
		err  error
		want string
	}{
		"in the header":       {&rpc.RemoteError{Class: class, Host: "h", Port: 16020}, "h:16020"},
		"in the text":         {&rpc.RemoteError{Class: class, Message: "Region moved to: hostname=198.18.0.1 port=16022 startCode=1. As of locationSeqNum=3."}, "198.18.0.1:16022"},
		"nowhere":             {&rpc.RemoteError{Class: class, Message: "hostname= port=5"}, ""},
		"no port":             {&rpc.RemoteError{Class: class, Message: "hostname=h port=x "}, ""},
		"of another class":    {&rpc.RemoteError{Class: "x.NotServingRegionException", Host: "h", Port: 16020}, ""},
		"none of a server's ": {nil, ""},
	}
	for name, tt := range tests {
		if got := hbase.MovedTo(tt.err); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

// exception is one as servers send it.
func exception(class string, change func(*hbasetest.Exception)) *hbasetest.Exception {
	e := &hbasetest.Exception{Class: "org.apache.hadoop.hbase." + class, Message: "told by the test"}
	if change != nil {
		change(e)
	}
	return e
}

func final(e *hbasetest.Exception) { e.DoNotRetry = true }

// TestRetries has a server answer the first requests with a failure.
func TestRetries(t *testing.T) {
	tests := map[string]struct {
		fault    hbasetest.Fault
		times    int64
		want     hbase.Counters
		class    string // of the error; empty: it succeeds
		lookUps  int64
		attempts int64
	}{
		"none":                      {attempts: 1, lookUps: 1},
		"not serving":               {fault: hbasetest.Fault{Exception: exception("NotServingRegionException", nil)}, times: 2, want: hbase.Counters{Retries: 2, Relocations: 2}, attempts: 3, lookUps: 3},
		"wrong region":              {fault: hbasetest.Fault{Exception: exception("regionserver.WrongRegionException", nil)}, times: 1, want: hbase.Counters{Retries: 1, Relocations: 1}, attempts: 2, lookUps: 2},
		"server starting":           {fault: hbasetest.Fault{Exception: exception("ipc.ServerNotRunningYetException", nil)}, times: 1, want: hbase.Counters{Retries: 1, Relocations: 1}, attempts: 2, lookUps: 2},
		"server stopped":            {fault: hbasetest.Fault{Exception: exception("regionserver.RegionServerStoppedException", nil)}, times: 1, want: hbase.Counters{Retries: 1, Relocations: 1}, attempts: 2, lookUps: 2},
		"region busy":               {fault: hbasetest.Fault{Exception: exception("RegionTooBusyException", nil)}, times: 3, want: hbase.Counters{Retries: 3, Busy: 3}, attempts: 4, lookUps: 1},
		"queue full":                {fault: hbasetest.Fault{Exception: exception("CallQueueTooBigException", func(e *hbasetest.Exception) { e.Overloaded = true })}, times: 1, want: hbase.Counters{Retries: 1, Busy: 1}, attempts: 2, lookUps: 1},
		"region opening":            {fault: hbasetest.Fault{Exception: exception("exceptions.RegionOpeningException", nil)}, times: 1, want: hbase.Counters{Retries: 1}, attempts: 2, lookUps: 1},
		"an exception of its own":   {fault: hbasetest.Fault{Exception: &hbasetest.Exception{Class: "java.io.IOException"}}, times: 1, want: hbase.Counters{Retries: 1}, attempts: 2, lookUps: 1},
		"connection lost":           {fault: hbasetest.Fault{Drop: true}, times: 2, want: hbase.Counters{Retries: 2, Relocations: 2, Lost: 2}, attempts: 3, lookUps: 3},
		"answer lost":               {fault: hbasetest.Fault{Lose: true}, times: 1, want: hbase.Counters{Retries: 1, Relocations: 1, Lost: 1}, attempts: 2, lookUps: 2},
		"final":                     {fault: hbasetest.Fault{Exception: exception("DoNotRetryIOException", final)}, times: 1, class: "DoNotRetryIOException", attempts: 1, lookUps: 1},
		"final by its mark":         {fault: hbasetest.Fault{Exception: exception("quotas.X", final)}, times: 1, class: "X", attempts: 1, lookUps: 1},
		"moved, to an unknown host": {fault: hbasetest.Fault{Exception: exception("exceptions.RegionMovedException", nil)}, times: 1, want: hbase.Counters{Retries: 1, Relocations: 1}, attempts: 2, lookUps: 2},
		"busy to the end":           {fault: hbasetest.Fault{Exception: exception("RegionTooBusyException", nil)}, times: 1 << 40, want: hbase.Counters{Retries: 14, Busy: 15}, class: "RegionTooBusyException", attempts: 15, lookUps: 1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			cluster := hbasetest.Start(t, hbasetest.Options{
				Tables: []hbasetest.Table{table()},
				Fault: func(r hbasetest.Request) hbasetest.Fault {
					if r.Count <= tt.times {
						return tt.fault
					}
					return hbasetest.Fault{}
				},
			})
			client := open(t, cluster, nil)
			err := client.Session().Mutate(t.Context(), put("r", "v"))
			checkError(t, err, tt.class)
			if diff := cmp.Diff(tt.want, client.Counters()); diff != "" {
				t.Errorf("Counters (-want +got):\n%s", diff)
			}
			if got := cluster.Calls("Mutate"); got != tt.attempts {
				t.Errorf("%d attempts, want %d", got, tt.attempts)
			}
			if got := cluster.Calls("meta.Scan"); got != tt.lookUps {
				t.Errorf("%d look-ups, want %d", got, tt.lookUps)
			}
			if want := map[bool]string{true: "v"}[tt.class == ""]; cluster.Value("t", "r", "f:q") != want {
				t.Errorf("the row has %q, want %q", cluster.Value("t", "r", "f:q"), want)
			}
		})
	}
}

// checkError compares the class of an operation's error.
func checkError(t *testing.T, err error, class string) {
	t.Helper()
	var failed *hbase.OperationError
	switch {
	case class == "" && err != nil:
		t.Errorf("error %v, want none", err)
	case class != "" && (!errors.As(err, &failed) || failed.ErrorClass() != class):
		t.Errorf("error %v, want an OperationError of class %s", err, class)
	}
}

// A session finds out that a region is gone, and while it waits another one finds where it is.
func TestRelocationByAnother(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{
		Tables: []hbasetest.Table{table()},
		Fault: func(r hbasetest.Request) hbasetest.Fault {
			if r.Count == 1 {
				return hbasetest.Fault{Exception: exception("NotServingRegionException", nil)}
			}
			return hbasetest.Fault{}
		},
	})
	clock := newClock()
	client := open(t, cluster, func(o *hbase.Options) { o.Clock = clock })
	clock.waited = func() {
		if _, err := client.Session().Get(t.Context(), get("r")); err != nil {
			t.Errorf("Get: %v", err)
		}
	}
	if err := client.Session().Mutate(t.Context(), put("r", "v")); err != nil {
		t.Errorf("Mutate: %v", err)
	}
	if diff := cmp.Diff(hbase.Counters{Retries: 1, Relocations: 1}, client.Counters()); diff != "" {
		t.Errorf("Counters (-want +got):\n%s", diff)
	}
}

func TestErrorTellsWhatWasMet(t *testing.T) {
	cluster := hbasetest.Start(t, hbasetest.Options{
		Tables: []hbasetest.Table{table()},
		Fault: func(r hbasetest.Request) hbasetest.Fault {
			class := map[bool]string{true: "NotServingRegionException", false: "RegionTooBusyException"}[r.Count%3 == 0]
			return hbasetest.Fault{Exception: exception(class, nil)}
		},
	})
	client := open(t, cluster, func(o *hbase.Options) { o.Calls.Retries = 3 })
	_, err := client.Session().Get(t.Context(), get("row"))
	for _, want := range []string{`get of row "row" in table t at 127.0.0.1:`, "tried 4 times in", "RegionTooBusyException 3", "NotServingRegionException 1", "told by the test"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	once := open(t, cluster, func(o *hbase.Options) { o.Calls.Retries = hbase.NoRetries })
	if _, err = once.Session().Get(t.Context(), get("row")); err == nil || once.Counters().Retries != 0 {
		t.Errorf("error %v after %d retries, want one after none", err, once.Counters().Retries)
	}
}
