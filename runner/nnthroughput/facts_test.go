package nnthroughput_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
)

// beans is an answer as Hadoop 3.5.0 gives it, cut down.
const beans = `{"beans":[
 {"name":"Hadoop:service=NameNode,name=RpcDetailedActivityForPort8020","modelerType":"RpcDetailedActivityForPort8020","tag.Hostname":"nn",
  "CreateNumOps":13,"CreateAvgTime":0.25,"DeferredCreateNumOps":0,"OverallCreateNumOps":13,"RenameNumOps":7},
 {"name":"Hadoop:service=NameNode,name=RpcDetailedActivityForPort8021","CreateNumOps":2}]}`

func TestParseCalls(t *testing.T) {
	got, err := nnthroughput.ParseCalls([]byte(beans))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int64{"Create": 15, "DeferredCreate": 0, "OverallCreate": 13, "Rename": 7}, got); diff != "" {
		t.Errorf("counts (-want +got):\n%s", diff)
	}
	if got, err := nnthroughput.ParseCalls([]byte(`{"beans":[]}`)); err != nil || len(got) > 0 {
		t.Errorf("no beans: %v, %v; a NameNode that nobody called has none", got, err)
	}
	for _, text := range []string{``, `<html>`, `{}`, `{"beans":[{"CreateNumOps":"13"}]}`, `{"beans":[{"CreateNumOps":1.5}]}`, `{"beans":[{"CreateNumOps":-1}]}`} {
		if got, err := nnthroughput.ParseCalls([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

func FuzzParseCalls(f *testing.F) {
	f.Add([]byte(beans))
	f.Add([]byte(`{"beans":[{"CreateNumOps":9223372036854775807}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		counts, err := nnthroughput.ParseCalls(text)
		for call, n := range counts {
			if err != nil || n < 0 {
				t.Errorf("%s was called %d times, %v", call, n, err)
			}
		}
	})
}

func TestJMXURL(t *testing.T) {
	const want = "://nn:9870/jmx?qry=Hadoop:service=NameNode,name=RpcDetailedActivityForPort*"
	for address, scheme := range map[string]string{"nn:9870": "http", "http://nn:9870": "http", "https://nn:9870/": "https", "http://nn:9870/dfshealth.html#x": "http"} {
		if got, err := nnthroughput.JMXURL(address); err != nil || got != scheme+want {
			t.Errorf("%s: %s, %v", address, got, err)
		}
	}
	for _, address := range []string{"", "ftp://nn", "http://", "http://%"} {
		if got, err := nnthroughput.JMXURL(address); err == nil {
			t.Errorf("%q: %s", address, got)
		}
	}
}

// TestCallFacts: counts are summed over the NameNodes; what cannot be had is a fact and no failure.
func TestCallFacts(t *testing.T) {
	// Metrics are taken anew at every third question; what was counted before is one less each.
	var asked atomic.Int64
	good := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			fmt.Fprint(w, strings.Replace(beans, `"CreateNumOps":13`, `"GetServerDefaultsNumOps":1,"CreateNumOps":12`, 1))
		} else {
			fmt.Fprint(w, strings.Replace(beans, `"CreateNumOps":13`, `"GetServerDefaultsNumOps":3,"CreateNumOps":13`, 1))
		}
	}))
	defer good.Close()
	still := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, beans) }))
	defer still.Close()
	closed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you?", http.StatusUnauthorized) }))
	defer closed.Close()
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 5 << 10 {
			if _, err := fmt.Fprint(w, strings.Repeat(" ", 1<<10)); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	tests := map[string]struct {
		http []string
		want map[string]string
	}{
		"none":         {nil, map[string]string{}},
		"one":          {[]string{good.URL}, map[string]string{"calls.before.Create": "15", "calls.before.Complete": "0", "calls.before.Rename": "7"}},
		"two":          {[]string{good.URL, strings.TrimPrefix(still.URL, "http://")}, map[string]string{"calls.before.Create": "30", "calls.before.Complete": "0", "calls.before.Rename": "14"}},
		"one too old":  {[]string{still.URL}, map[string]string{"calls.before": "unavailable: the metrics stood still for 20s"}},
		"one refuses":  {[]string{good.URL, closed.URL}, map[string]string{"calls.before": "unavailable: " + closed.URL + " answers 401 Unauthorized"}},
		"one too long": {[]string{endless.URL}, map[string]string{"calls.before": "unavailable: " + endless.URL + " answers more than 4194304 bytes"}},
		"no address":   {[]string{"ftp://nn"}, map[string]string{"calls.before": `unavailable: "ftp://nn" is no web address such as http://<namenode>:9870`}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			asked.Store(0)
			b := newInspection(t, func(n *plan.NNThroughput) { n.Operations, n.HTTP = []string{plan.OpRename}, tt.http })
			b.mustRun(t)
			got := map[string]string{}
			for fact, value := range b.body.Facts {
				if strings.HasPrefix(fact, "calls.") {
					got[fact] = value
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}
