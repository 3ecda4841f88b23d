package e2e

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

const (
	// sampleLimit bounds the sample, which moves tens of gigabytes.
	sampleLimit = 12 * time.Minute
	// properLength is what one measurement of the sample should take on a small machine.
	properLength = 10 * time.Second
)

// TestSample: somebody applies the sample as it is and gets a result to believe. Without HADOOPBENCH_LONG=1 its files are a
// quarter as long, which saves five minutes of writing, and may be measured in less than the five seconds that it takes to
// believe others.
func TestSample(t *testing.T) {
	s := begin(t, "sample")
	run := s.applySample()
	s.awaitEnd(run, sampleLimit)
	s.expectSuccess(run)
	s.expect(run, v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonMeasuredProperly)

	n := s.number(run.Status.Effective.Options["nrFiles"])
	size := s.number(strings.TrimSuffix(run.Status.Effective.Options["size"], "B"))
	s.expectFigures(run, int64(n), int64(size))
	s.expectSampleSteps(run)
	s.expectMeans(run)
	s.expectUpstreamText(run, n, n*size)
	s.expectEvents(run)
	s.expectColumns(run)
	s.expectNothingAt(dirOf(run))
}

func (s *story) applySample() *v1alpha1.DFSIORun {
	s.t.Helper()
	file := s.root + "/config/samples/dfsiorun.yaml"
	run := &v1alpha1.DFSIORun{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "sample"}}
	if long() {
		s.kubectl("apply", "-f", file)
		return run
	}
	data, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(data, run); err != nil {
		s.t.Fatal(err)
	}
	if run.Spec.Size != "4608MB" {
		s.t.Fatalf("the sample's files have %s, want 4608MB", run.Spec.Size)
	}
	run.Namespace, run.Spec.Size = s.namespace, "1152MB"
	run.Spec.MinDuration = &v1alpha1.Duration{Duration: metav1.Duration{Duration: time.Second}}
	s.create(run)
	return run
}

func (s *story) expectSampleSteps(run *v1alpha1.DFSIORun) {
	s.t.Helper()
	var steps []string
	for _, r := range run.Status.Steps {
		steps = append(steps, fmt.Sprintf("%s %d %s", r.Name, r.Repeat, r.State))
		if r.Result == nil {
			continue
		}
		s.t.Logf("%s %d: %.1f s, %.1f MiB/s", r.Name, r.Repeat, float64(r.Result.WallMicros)/1e6, s.rate(r, "aggregateMiBps"))
		if wall := time.Duration(r.Result.WallMicros) * time.Microsecond; wall < properLength {
			s.t.Logf("note: %s %d took less than %s; the sample is small for this machine", r.Name, r.Repeat, properLength)
		}
	}
	want := []string{
		"preflight 1 Done", "write 1 Done", "write 2 Done", "write 3 Done", "read 1 Done", "read 2 Done", "read 3 Done", "cleanup 1 Done",
	}
	if diff := cmp.Diff(want, steps); diff != "" {
		s.t.Errorf("steps and their states (-want +got):\n%s", diff)
	}
	s.expectJobs(run, map[string]int{"preflight": 1, "write": 3, "read": 3, "cleanup": 1})
}

// expectMeans computes the mean over the repeats anew.
func (s *story) expectMeans(run *v1alpha1.DFSIORun) {
	s.t.Helper()
	for _, step := range []string{"write", "read"} {
		sum, n := 0.0, 0.0
		for _, r := range run.Status.Steps {
			if r.Name == step && r.Result != nil {
				sum, n = sum+s.rate(r, "aggregateMiBps"), n+1
			}
		}
		found := false
		for _, a := range run.Status.Aggregates {
			if a.Step != step || a.Figure != "aggregateMiBps" {
				continue
			}
			found = true
			if got := s.number(a.Mean); float64(a.N) != n || math.Abs(got-sum/n) > 2*roundingError {
				s.t.Errorf("%s: mean %.3f of %d repeats, want %.3f of %.0f", step, got, a.N, sum/n, n)
			}
		}
		if !found {
			s.t.Errorf("no aggregate of %s", step)
		}
	}
}

func (s *story) expectUpstreamText(run *v1alpha1.DFSIORun, files, bytes float64) {
	s.t.Helper()
	_, text := s.report(run)
	got := map[string]int{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		for _, start := range []string{"----- TestDFSIO", "Number of files:", "Total MBytes processed:"} {
			if strings.HasPrefix(line, start) {
				got[line]++
			}
		}
	}
	want := map[string]int{
		"----- TestDFSIO ----- : write": 3, "----- TestDFSIO ----- : read": 3,
		"Number of files: " + strconv.FormatFloat(files, 'f', -1, 64):                6,
		"Total MBytes processed: " + strconv.FormatFloat(bytes/(1<<20), 'f', -1, 64): 6,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("lines of TestDFSIO_results.log (-want +got):\n%s\n%s", diff, text)
	}
}

// expectEvents: kubectl describe tells what happened.
func (s *story) expectEvents(run *v1alpha1.DFSIORun) {
	s.t.Helper()
	want := []string{"Finished: " + run.Status.Summary, "Started: execution 1 started"}
	for _, r := range run.Status.Steps {
		if r.Result != nil {
			want = append(want, fmt.Sprintf("Measured: step %s, repeat %d: %[1]s: ", r.Name, r.Repeat))
		}
	}
	for _, w := range want {
		s.eventually(soon, "event "+w, func() bool {
			return slices.ContainsFunc(s.events(run), func(e string) bool { return strings.HasPrefix(e, w) })
		})
	}
}

// expectColumns: kubectl get shows the result.
func (s *story) expectColumns(run *v1alpha1.DFSIORun) {
	s.t.Helper()
	lines := strings.Split(strings.TrimSpace(s.kubectl("get", "dfsio")), "\n")
	if len(lines) != 2 {
		s.t.Fatalf("kubectl get dfsio printed %q", lines)
	}
	if diff := cmp.Diff([]string{"NAME", "PHASE", "SUCCEEDED", "VALID", "SUMMARY", "AGE"}, strings.Fields(lines[0])); diff != "" {
		s.t.Errorf("columns of kubectl get dfsio (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{run.Name, "Succeeded", "True", "True"}, strings.Fields(lines[1])[:4]); diff != "" {
		s.t.Errorf("row of kubectl get dfsio (-want +got):\n%s", diff)
	}
	s.mentions(lines[1], run.Status.Summary)
	s.mentions(run.Status.Summary, "write ", "read ", "MiB/s", "n=3")
}
