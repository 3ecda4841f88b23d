package e2e

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// TestYCSBMissingTable: somebody else is to make the table, and nobody did. The run says so while one still looks at it.
func TestYCSBMissingTable(t *testing.T) {
	t.Parallel()
	s := beginHBase(t, "ycsb-missing")
	run := s.newYCSB("missing", 1000)
	run.Spec.Table.CreatePolicy, run.Spec.Table.Regions = v1alpha1.YCSBCreateNever, nil
	s.create(run)
	s.awaitEnd(run, wrongAddressLimit)
	message := s.expect(run, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, "TableNotFound")
	s.mentions(message, s.table(), "spec.table.name", "spec.table.createPolicy")
	s.expectFailure(run, "TableNotFound")
	if diff := cmp.Diff(map[string]int{"preflight": 1}, s.jobs()); diff != "" {
		t.Errorf("Jobs by step (-want +got):\n%s", diff)
	}
	s.expectNoTable(hbaseCluster)
}

// TestYCSBTableExists: the run is to make the table, and there is one that no run made. It is left as it is.
func TestYCSBTableExists(t *testing.T) {
	t.Parallel()
	s := beginHBase(t, "ycsb-exists")
	s.hbase(hbaseCluster, "create", "family", "2")
	run := s.newYCSB("exists", 1000)
	run.Spec.Table.DropAfter = ptr(true)
	s.create(run)
	s.awaitEnd(run, wrongAddressLimit)
	message := s.expect(run, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, "TableExists")
	s.mentions(message, s.table(), "spec.table.createPolicy IfMissing")
	s.expectFailure(run, "TableExists")
	if diff := cmp.Diff(map[string]int{"preflight": 1}, s.jobs()); diff != "" {
		t.Errorf("Jobs by step (-want +got):\n%s", diff)
	}
	s.expectRows(hbaseCluster, 0, 10, 100)
}

// TestYCSBSamples: the API server takes every sample as it is.
func TestYCSBSamples(t *testing.T) {
	t.Parallel()
	s := begin(t, "ycsb-samples")
	files, err := filepath.Glob(filepath.Join(s.root, "config/samples/ycsbrun*.yaml"))
	if err != nil || len(files) < 3 {
		t.Fatalf("samples of YCSBRun: %v, %v", files, err)
	}
	for _, file := range files {
		s.mentions(s.kubectl("apply", "--dry-run=server", "-f", file), "created (server dry run)")
	}
}
