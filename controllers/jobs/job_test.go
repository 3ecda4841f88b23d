package jobs

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares an object's YAML with a file of testdata.
func golden(t *testing.T, file string, obj any) {
	t.Helper()
	got, err := yaml.Marshal(obj)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", file)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got), write it anew with -update if this is meant:\n%s", path, diff)
	}
}

func TestJobGolden(t *testing.T) {
	tests := map[string]struct {
		in   Input
		file string
	}{
		"default":             {gatedInput(), "job_default.yaml"},
		"full template":       {fullInput(), "job_full.yaml"},
		"step without a gate": {ungatedInput(), "job_ungated.yaml"},
		"Kerberos":            {kerberosInput(), "job_kerberos.yaml"},
		"the original tool":   {upstreamInput(), "job_upstream.yaml"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { golden(t, tc.file, Job(tc.in)) })
	}
}

func TestPlanGolden(t *testing.T) {
	cm, err := PlanConfigMap(gatedInput())
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "plan_default.yaml", cm)
}

func TestPlanRoundTrip(t *testing.T) {
	in := gatedInput()
	cm, err := PlanConfigMap(in)
	if err != nil {
		t.Fatal(err)
	}
	var got plan.Plan
	if err := json.Unmarshal([]byte(cm.Data["plan.json"]), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in.Plan, got); diff != "" {
		t.Errorf("plan read back differs (-want +got):\n%s", diff)
	}
	if cm.Immutable == nil || !*cm.Immutable {
		t.Error("the plan can be changed under the shards that read it")
	}
}

// TestFullTemplateIsFull keeps the golden file of the full template honest: a new field must be set in it.
func TestFullTemplateIsFull(t *testing.T) {
	v := reflect.ValueOf(*fullTemplate())
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("fullTemplate does not set %s", v.Type().Field(i).Name)
		}
	}
}

// TestNothingIsShared changes everything in what was built and looks for traces of it in the input.
func TestNothingIsShared(t *testing.T) {
	builders := map[string]func(Input) any{
		"Job": func(in Input) any { return Job(in) },
		"plan": func(in Input) any {
			cm, err := PlanConfigMap(in)
			if err != nil {
				t.Fatal(err)
			}
			return cm
		},
	}
	for name, build := range builders {
		for kind, in := range inputs() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				scramble(reflect.ValueOf(build(in)))
				if diff := cmp.Diff(inputs()[kind], in); diff != "" {
					t.Errorf("the input was changed (-before +after):\n%s", diff)
				}
				if diff := cmp.Diff(build(inputs()[kind]), build(in)); diff != "" {
					t.Errorf("a second object differs (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// TestJobNeverEndsPods asserts the rules of a Job that does not take reports away.
func TestJobNeverEndsPods(t *testing.T) {
	for name, in := range inputs() {
		t.Run(name, func(t *testing.T) {
			got := Job(in).Spec
			got.Template = corev1.PodTemplateSpec{}
			want := batchv1.JobSpec{
				Completions: ptr(in.Plan.Shards), Parallelism: ptr(in.Plan.Shards), CompletionMode: ptr(batchv1.IndexedCompletion),
				BackoffLimitPerIndex: ptr(int32(0)), PodReplacementPolicy: ptr(batchv1.Failed),
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Job's spec without its template (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLabelsAndAnnotations(t *testing.T) {
	in := gatedInput()
	in.Template = &v1alpha1.PodTemplate{
		Labels:      map[string]v1alpha1.LabelValue{LabelRunUID: "forged", LabelAttempt: "forged", "team": "storage"},
		Annotations: map[string]v1alpha1.AnnotationValue{AnnotationRun: "forged", "note": "kept"},
	}
	job := Job(in)
	hash := AttemptHash(in.Plan.Identity)
	ours := map[string]string{
		LabelManaged: ManagedBy, LabelRunUID: testUID, LabelKind: "dfsiorun", LabelStep: "write", LabelAttempt: hash,
	}
	if diff := cmp.Diff(ours, job.Labels); diff != "" {
		t.Errorf("the Job's labels (-want +got):\n%s", diff)
	}
	ours["team"] = "storage"
	if diff := cmp.Diff(ours, job.Spec.Template.Labels); diff != "" {
		t.Errorf("the pods' labels (-want +got):\n%s", diff)
	}
	annotations := map[string]string{
		AnnotationRun: "nightly.hdfs", "note": "kept",
		"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true",
	}
	if diff := cmp.Diff(annotations, job.Spec.Template.Annotations); diff != "" {
		t.Errorf("the pods' annotations (-want +got):\n%s", diff)
	}
}

// TestSizeDoesNotGrow: nothing in the objects is proportional to the number of shards.
func TestSizeDoesNotGrow(t *testing.T) {
	size := func(n int32) int {
		in := fullInput()
		in.Plan.Shards, in.Parallelism, in.Plan.DFSIO.NrFiles = n, n, n
		cm, err := PlanConfigMap(in)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := json.Marshal([]any{Job(in), cm})
		if err != nil {
			t.Fatal(err)
		}
		return len(doc)
	}
	if small, big := size(1), size(10000); big-small > 64 {
		t.Errorf("objects take %d bytes for one shard and %d for 10,000", small, big)
	}
}
