package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// What hack/test.sh e2e starts and tells of: HBase with two RegionServers on HDFS, what kills, throttles and starts them,
// and HBase's own client.
const (
	hbaseControlEnv = "HADOOPBENCH_TEST_HBASE_CONTROL"
	hbaseTableEnv   = "HADOOPBENCH_TEST_HBASE_TABLE"
	hbaseCluster    = "client" // its configuration in hack/hbase/conf
	hbaseConfigName = "hbase-config"
	hbaseRegions    = 6 // of the stories' tables
)

// Web addresses of the cluster's servers.
const hbaseMaster = "http://198.18.0.1:16010"

func hbaseRegionServers() []string {
	return []string{"http://198.18.0.1:16031", "http://198.18.0.1:16032"}
}

const (
	// hbaseToolLimit bounds what HBase's own client does.
	hbaseToolLimit = 90 * time.Second
	// hbaseMetricsLimit is how soon RegionServers count what was done, with much to spare.
	hbaseMetricsLimit = 20 * time.Second
)

// beginHBase begins a story with the configuration of the local HBase. Its table goes at the end.
func beginHBase(t *testing.T, name string) *story {
	t.Helper()
	var s *story
	t.Cleanup(func() { // after the namespace, and so after what might be dumped
		if s != nil {
			s.dropTable(hbaseCluster)
		}
	})
	s = begin(t, name)
	s.hbaseConfig(hbaseConfigName, hbaseCluster)
	return s
}

// hbaseConfig makes a ConfigMap as a user does, of a directory of hack/hbase/conf.
func (s *story) hbaseConfig(name, client string) {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.root, "hack/hbase/conf", client, "hbase-site.xml"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.create(&corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}, Data: map[string]string{"hbase-site.xml": string(text)},
	})
}

// table is the story's own; nobody else has one of this name.
func (s *story) table() string { return strings.ReplaceAll(s.namespace, "-", "_") }

// dropTable drops the story's table, if it is there.
func (s *story) dropTable(client string) {
	ctx, cancel := context.WithTimeout(context.Background(), hbaseToolLimit)
	defer cancel()
	if out, err := hbaseTool(ctx, client, "drop", s.table()); err != nil {
		s.t.Errorf("drop table %s: %v\n%s", s.table(), err, out)
	}
}

// hbaseTool runs HBase's own client.
func hbaseTool(ctx context.Context, client string, args ...string) (string, error) {
	tool := os.Getenv(hbaseTableEnv)
	if tool == "" {
		return "", fmt.Errorf("%s is not set: hack/test.sh e2e sets it", hbaseTableEnv)
	}
	cmd := exec.CommandContext(ctx, tool, args...)
	cmd.Env = append(os.Environ(), "HBASE_CLIENT="+client)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// hbase runs HBase's own client on the story's table.
func (s *story) hbase(client, command string, args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), hbaseToolLimit)
	defer cancel()
	out, err := hbaseTool(ctx, client, append([]string{command, s.table()}, args...)...)
	if err != nil {
		s.t.Fatalf("%s table %s: %v\n%s", command, s.table(), err, out)
	}
	return out
}

// expectRows has HBase's own client count the records of the story's table. Every one has fields of length bytes, and there
// is nothing else.
func (s *story) expectRows(client string, rows, fields, length int64) {
	s.t.Helper()
	want := fmt.Sprintf("rows %d cells %d bytes %d\n", rows, rows*fields, rows*fields*length)
	if got := s.hbase(client, "count"); !strings.HasSuffix(got, want) {
		s.t.Errorf("HBase's own client counts %q, want %q", got, want)
	}
}

// expectNoTable has HBase's own client look for the story's table.
func (s *story) expectNoTable(client string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), hbaseToolLimit)
	defer cancel()
	out, err := hbaseTool(ctx, client, "count", s.table())
	if err == nil || !strings.Contains(out, "TableNotFoundException") {
		s.t.Errorf("table %s is there, or HBase's own client cannot tell: %v\n%s", s.table(), err, out)
	}
}

// hbaseControl does something to the servers.
func (s *story) hbaseControl(args ...string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hbaseToolLimit)
	defer cancel()
	out, err := exec.CommandContext(ctx, os.Getenv(hbaseControlEnv), args...).CombinedOutput()
	if err != nil {
		s.t.Errorf("%s %s: %v\n%s", hbaseControlEnv, strings.Join(args, " "), err, out)
	}
}

// regionServerMetric is the sum of a metric over all RegionServers. One that is missing is 0: a RegionServer counts nothing
// before it is ready, and nothing of a table before it has regions of it.
func (s *story) regionServerMetric(sub, metric string) int64 {
	s.t.Helper()
	sum := int64(0)
	for _, server := range hbaseRegionServers() {
		var answer struct {
			Beans []map[string]any `json:"beans"`
		}
		s.getJSON(server+"/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub="+sub, &answer)
		for _, bean := range answer.Beans {
			n, _ := bean[metric].(float64)
			sum += int64(n)
		}
	}
	return sum
}

// tableRequests is how many rows of the story's table were read and written, by the RegionServers' own account.
func (s *story) tableRequests() (reads, writes int64) {
	s.t.Helper()
	prefix := "Namespace_default_table_" + s.table() + "_metric_"
	return s.regionServerMetric("Tables", prefix+"readRequestCount"), s.regionServerMetric("Tables", prefix+"writeRequestCount")
}

// newYCSB is a run of four shards with eight threads on the story's table, whose records and operations are few.
func (s *story) newYCSB(name string, records int64, workloads ...v1alpha1.YCSBWorkload) *v1alpha1.YCSBRun {
	run := &v1alpha1.YCSBRun{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	run.Spec.Target.HadoopConfig = &v1alpha1.HadoopConfig{ConfigMapRef: v1alpha1.LocalObjectReference{Name: hbaseConfigName}}
	run.Spec.Table = v1alpha1.YCSBTable{Name: s.table(), Regions: ptr(int32(hbaseRegions))}
	run.Spec.RecordCount, run.Spec.Workloads = records, workloads
	run.Spec.Shards, run.Spec.Threads = ptr(int32(4)), ptr(int32(8))
	run.Spec.MinDuration = &v1alpha1.Duration{}
	if len(workloads) > 0 {
		run.Spec.Load = &v1alpha1.YCSBLoad{WaitForCompaction: ptr(false)}
	} else {
		run.Spec.Load = &v1alpha1.YCSBLoad{SettleTime: duration(time.Second)}
	}
	return run
}

func duration(d time.Duration) *v1alpha1.Duration {
	return &v1alpha1.Duration{Duration: metav1.Duration{Duration: d}}
}

// measuredOps sums up what was recorded under the names of metrics, over all measurements.
func measuredOps(run *v1alpha1.YCSBRun, names ...string) int64 {
	sum := int64(0)
	for _, r := range run.Status.Steps {
		if r.Result == nil {
			continue
		}
		for _, m := range r.Result.Metrics {
			for _, name := range names {
				if m.Name == name {
					sum += m.Count
				}
			}
		}
	}
	return sum
}
