package admin_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
)

// A RegionServer's answer, shortened.
const serverBean = `{
  "beans" : [ {
    "name" : "Hadoop:service=HBase,name=RegionServer,sub=Server",
    "modelerType" : "RegionServer,sub=Server",
    "tag.Context" : "regionserver",
    "regionCount" : 4,
    "compactionQueueLength" : 3,
    "largeCompactionQueueLength" : 1,
    "flushQueueLength" : 2,
    "percentFilesLocal" : 100.0
  } ]
}`

func TestReadQueues(t *testing.T) {
	tests := []struct {
		name    string
		status  int
		body    string
		want    []admin.Queues
		wantErr string
	}{
		{name: "the length", status: 200, body: serverBean, want: []admin.Queues{{Compaction: 3}}},
		{name: "a master", status: 200, body: `{"beans":[]}`, wantErr: "is this the web address of a RegionServer?"},
		{name: "without a length", status: 200, body: `{"beans":[{"flushQueueLength":0}]}`, wantErr: "lack compactionQueueLength"},
		{name: "a negative length", status: 200, body: `{"beans":[{"flushQueueLength":0,"compactionQueueLength":-1}]}`, wantErr: "lack compactionQueueLength"},
		{name: "no JSON", status: 200, body: `<html>`, wantErr: "decode answer"},
		{name: "login needed", status: 401, body: ``, wantErr: "401 Unauthorized"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got, want := r.URL.RequestURI(), "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Server"; got != want {
					t.Errorf("asked for %s, want %s", got, want)
				}
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			}))
			defer server.Close()
			address := strings.TrimPrefix(server.URL, "http://")
			for i := range test.want {
				test.want[i].Address = address
			}
			got, err := admin.ReadQueues(t.Context(), &fakeClock{}, nil, []string{address})
			if test.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), test.wantErr) || !strings.Contains(err.Error(), address) {
					t.Fatalf("error %v, want one with %q and the address", err, test.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("queues (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadQueuesBetweenMetrics asks a RegionServer that has just taken its metrics away.
func TestReadQueuesBetweenMetrics(t *testing.T) {
	answers := []string{`{"beans":[]}`, `{"beans":[]}`, serverBean}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(answers[0]))
		answers = answers[1:]
	}))
	defer server.Close()
	got, err := admin.ReadQueues(t.Context(), &fakeClock{}, nil, []string{server.URL})
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff([]admin.Queues{{Address: server.URL, Compaction: 3}}, got); diff != "" {
		t.Errorf("queues (-want +got):\n%s", diff)
	}
}

func TestReadQueuesNobodyThere(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	_, err := admin.ReadQueues(t.Context(), &fakeClock{}, nil, []string{server.URL})
	if err == nil || !strings.Contains(err.Error(), "read queue lengths of RegionServer at "+server.URL) {
		t.Errorf("error %v, want one that names the address", err)
	}
}
