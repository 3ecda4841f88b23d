package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// versions are the configurations of two versions of HBase, the newer one last.
func versions() []string { return []string{"client-1.7", "client-2.6"} }

// TestYCSBVersions: the method by which HBase 1 and HBase 2 were compared, small: one manifest, applied to both. It takes
// some ten minutes; without HADOOPBENCH_LONG=1 the API server only says whether it would take it.
func TestYCSBVersions(t *testing.T) {
	if !long() {
		t.Parallel()
	}
	s := begin(t, "ycsb-versions")
	var runs []*v1alpha1.YCSBRun
	for _, version := range versions() {
		run := s.versionManifest(version)
		runs = append(runs, run)
		if !long() {
			if err := s.client.Create(t.Context(), run, client.DryRunAll); err != nil {
				t.Errorf("%s: %v", run.Name, err)
			}
			continue
		}
		t.Cleanup(func() { s.dropTable(version) })
		s.hbaseConfig(run.Spec.Target.HadoopConfig.ConfigMapRef.Name, version)
		s.create(run)
		s.awaitEnd(run, methodLimit)
		s.expectSuccess(run)
		s.expect(run, v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonMeasuredProperly)
		s.expectMethodSteps(run)
		s.expectYCSBFigures(run)
		s.expectRows(version, run.Spec.RecordCount, 10, 100)
		if got, want := run.Status.Environment.Facts["hbase.version"], strings.TrimPrefix(version, "client-"); !strings.HasPrefix(got, want) {
			t.Errorf("%s is of HBase %s, want %s", run.Name, got, want)
		}
	}
	if long() {
		t.Logf("the same manifest on both versions:\n%s", s.comparison(runs))
	}
}

// versionManifest is the sample of the method for one of the versions: only the configuration differs.
func (s *story) versionManifest(version string) *v1alpha1.YCSBRun {
	s.t.Helper()
	run := s.readYCSBSample()
	run.Name = "hbase-" + strings.NewReplacer("client-", "", ".", "-").Replace(version)
	run.Spec.Target.HadoopConfig.ConfigMapRef.Name = hbaseConfigName + strings.TrimPrefix(version, "client")
	return run
}

// comparison is a table of means over the repeats: a line for each measured step and figure, a column for each run.
func (s *story) comparison(runs []*v1alpha1.YCSBRun) string {
	s.t.Helper()
	figures := []struct {
		name, title string
		per         float64
	}{
		{report.FigureOps, "ops/s", 1}, {report.FigureMeanLatency, "mean ms", 1e6}, {report.FigureP95, "p95 ms", 1e6}, {report.FigureP99, "p99 ms", 1e6},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %-8s", "step", "figure")
	for _, run := range runs {
		fmt.Fprintf(&b, " %20s", run.Status.Environment.Facts["hbase.version"])
	}
	b.WriteString("\n")
	for _, step := range []string{"load", "workload-a", "workload-c", "workload-f", "update-only"} {
		for _, f := range figures {
			fmt.Fprintf(&b, "%-12s %-8s", step, f.title)
			for _, run := range runs {
				fmt.Fprintf(&b, " %20s", s.aggregate(run, step, f.name, f.per))
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

// aggregate is a figure's mean over the repeats, with its coefficient of variation.
func (s *story) aggregate(run *v1alpha1.YCSBRun, step, figure string, per float64) string {
	s.t.Helper()
	for _, a := range run.Status.Aggregates {
		if a.Step != step || a.Figure != figure {
			continue
		}
		text := fmt.Sprintf("%.2f", s.number(a.Mean)/per)
		if a.CVPercent != "" {
			text += fmt.Sprintf(" (CV %.0f %%)", s.number(a.CVPercent))
		}
		return text
	}
	s.t.Errorf("run %s has no mean of %s %s", run.Name, step, figure)
	return "-"
}
