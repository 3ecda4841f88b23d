package step_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/plan"
)

// Pages as HBase 2.6 has them, cut down to a few lines.
const (
	jvmPage    = `{"beans" : [ {"name": "java.lang:type=Runtime", "VmName": "OpenJDK 64-Bit Server VM", "VmVersion": "17.0.15+6"} ]}`
	memoryPage = `{"beans" : [ {"HeapMemoryUsage": {"committed": 1, "init": 2, "max": 778043392, "used": 3}} ]}`
	serverPage = `{"beans" : [ {"blockCacheFreeSize": 311119816, "blockCacheSize": 281048} ]}`
	confPage   = `<?xml version="1.0"?><configuration>
<property><name>hbase.wal.provider</name><value>filesystem</value><source>hbase-site.xml</source></property>
</configuration>`
)

// webServer answers like a RegionServer, or like a master.
func webServer(t *testing.T, regionServer bool) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := map[string]string{
			"/jmx?qry=java.lang:type=Runtime": jvmPage, "/jmx?qry=java.lang:type=Memory": memoryPage, "/conf": confPage,
			"/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Server": `{"beans" : [ ]}`,
		}
		if regionServer {
			answer["/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Server"] = serverPage
		}
		_, _ = w.Write([]byte(answer[r.URL.String()]))
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// TestWebFacts: servers that agree are told of once, and one that does not answer is a fact as well.
func TestWebFacts(t *testing.T) {
	f := newFakeHBase()
	p := fakePods(t, f)
	p.clock = nil
	a, b, master := webServer(t, true), webServer(t, true), webServer(t, false)
	planned := newPlan("uid", "t", plan.StepPreflight, 1)
	planned.YCSB.HTTP = []string{master, a, b, "127.0.0.1:1"}
	facts := p.complete(planned)[0].Body.Facts
	told := map[string]string{}
	for _, name := range []string{"hbase.jvm", "hbase.heapMiB", "hbase.blockCacheMiB", "hbase.walProvider", "hbase.masterJvm", "hbase.masterHeapMiB"} {
		told[name] = facts[name]
	}
	if diff := cmp.Diff(map[string]string{
		"hbase.jvm": "OpenJDK 64-Bit Server VM 17.0.15+6", "hbase.heapMiB": "742", "hbase.blockCacheMiB": "296", "hbase.walProvider": "filesystem",
		"hbase.masterJvm": "OpenJDK 64-Bit Server VM 17.0.15+6", "hbase.masterHeapMiB": "742",
	}, told); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if !strings.Contains(facts["hbase.webErrors"], "127.0.0.1:1") {
		t.Errorf("errors %q", facts["hbase.webErrors"])
	}
	// Queues are asked for where RegionServers are, and where one may be.
	f.make(nil)
	wait := newPlan("uid", "t", plan.StepCompact, 1)
	wait.YCSB.HTTP = planned.YCSB.HTTP
	if facts := p.complete(wait)[0].Body.Facts; facts["queues"] != "empty" {
		t.Errorf("facts %v", facts)
	}
	if diff := cmp.Diff([]string{a, b, "127.0.0.1:1"}, f.web); diff != "" {
		t.Errorf("asked for queues (-want +got):\n%s", diff)
	}
	wait.YCSB.HTTP = []string{a, master}
	if facts := p.complete(wait)[0].Body.Facts; facts["queues"] != "unknown: spec.target.http names 1 RegionServers, and the table is on 2" {
		t.Errorf("facts %v", facts)
	}
}
