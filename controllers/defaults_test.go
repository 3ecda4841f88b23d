package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

func TestSpecHash(t *testing.T) {
	hash := func(r *v1alpha1.DFSIORun) string {
		h, err := specHash(r)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	base := hash(newRun())
	tests := map[string]struct {
		edit func(*v1alpha1.DFSIORun)
		same bool
	}{
		"nothing":          {func(*v1alpha1.DFSIORun) {}, true},
		"suspend":          {func(r *v1alpha1.DFSIORun) { r.Spec.Suspend = ptr(true) }, true},
		"suspend false":    {func(r *v1alpha1.DFSIORun) { r.Spec.Suspend = ptr(false) }, true},
		"ttlAfterFinished": {func(r *v1alpha1.DFSIORun) { r.Spec.TTLAfterFinished = duration(time.Hour) }, true},
		"metadata": {func(r *v1alpha1.DFSIORun) {
			r.Labels, r.Generation, r.ResourceVersion = map[string]string{"a": "b"}, 9, "9"
			r.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl"}}
		}, true},
		"status":            {func(r *v1alpha1.DFSIORun) { r.Status.Phase = "Running" }, true},
		"rerun":             {func(r *v1alpha1.DFSIORun) { r.Spec.Rerun = "again" }, false},
		"a default spelled": {func(r *v1alpha1.DFSIORun) { r.Spec.Repeats = ptr(int32(1)) }, false},
		"a shared field":    {func(r *v1alpha1.DFSIORun) { r.Spec.Target.User = "hdfs" }, false},
		"a kind's field":    {func(r *v1alpha1.DFSIORun) { r.Spec.Size = "1GB" }, false},
		"the pod template":  {func(r *v1alpha1.DFSIORun) { r.Spec.PodTemplate = &v1alpha1.PodTemplate{Image: "x"} }, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := newRun(tc.edit)
			before := run.DeepCopy()
			if got := hash(run); (got == base) != tc.same || len(got) != 16 {
				t.Errorf("hash %s, unchanged %s", got, base)
			}
			if diff := cmp.Diff(before, run); diff != "" {
				t.Errorf("the run was changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestOptions(t *testing.T) {
	defaults := map[string]string{
		"repeats": "1", "repeatOrder": "PerStep", "minDuration": "5s", "startDeadline": "5m0s", "shardFailurePolicy": "Fail", "successCriteria": "Completed",
		"keepResults": "false", "engine": "Native", "client": "Colinmarc", "target.fs": "hdfs://namenode:8020", "tests": "write,read", "nrFiles": "2",
		"parallelism": "2", "size": "1048576B", "bufferSize": "1000000", "baseDir": "/benchmarks/TestDFSIO/bench/nightly", "data.pattern": "Random",
		"data.seed": "0", "verify": "false", "sync": "None",
	}
	if diff := cmp.Diff(defaults, options(DFSIO{}, newRun())); diff != "" {
		t.Errorf("options of a short spec (-want +got):\n%s", diff)
	}
	run := newRun(func(r *v1alpha1.DFSIORun) {
		r.Spec.Repeats, r.Spec.RepeatOrder, r.Spec.KeepResults, r.Spec.Verify = ptr(int32(3)), v1alpha1.RepeatRoundRobin, ptr(true), ptr(true)
		r.Spec.MinDuration, r.Spec.StartDeadline, r.Spec.ActiveDeadline, r.Spec.MaxStartSpread = duration(0), duration(time.Minute), duration(time.Hour), duration(time.Second)
		r.Spec.SuccessCriteria, r.Spec.Replication, r.Spec.BlockSize = v1alpha1.SuccessValid, ptr(int32(2)), "1MB"
		r.Spec.Target = v1alpha1.Target{HadoopConfig: &v1alpha1.HadoopConfig{ConfigMapRef: v1alpha1.LocalObjectReference{Name: "hdfs"}}}
	})
	for k, v := range map[string]string{
		"repeats": "3", "repeatOrder": "RoundRobin", "keepResults": "true", "verify": "true", "minDuration": "0s", "startDeadline": "1m0s",
		"activeDeadline": "1h0m0s", "maxStartSpread": "1s", "successCriteria": "Valid", "replication": "2", "blockSize": "1048576B",
	} {
		defaults[k] = v
	}
	delete(defaults, "target.fs")
	if diff := cmp.Diff(defaults, options(DFSIO{}, run)); diff != "" {
		t.Errorf("options of a long spec (-want +got):\n%s", diff)
	}
}

// TestCheckShared holds what no walk over the fields finds: values that are impossible, and combinations.
func TestCheckShared(t *testing.T) {
	template := func(edit func(*v1alpha1.PodTemplate)) func(*v1alpha1.RunSpec) {
		return func(s *v1alpha1.RunSpec) { s.PodTemplate = &v1alpha1.PodTemplate{}; edit(s.PodTemplate) }
	}
	const choose = " is invalid; choose a key outside hadoopbench.dev and batch.kubernetes.io"
	tests := map[string]struct {
		edit func(*v1alpha1.RunSpec)
		want []string
	}{
		"fine": {func(*v1alpha1.RunSpec) {}, nil},
		"no target": {
			func(s *v1alpha1.RunSpec) { s.Target = v1alpha1.Target{User: "hdfs"} },
			[]string{"InvalidSpec spec.target: neither hadoopConfig nor fs is invalid; name the ConfigMap of the cluster's configuration in spec.target.hadoopConfig.configMapRef, or the NameNode in spec.target.fs or in fs.defaultFS of spec.target.properties"},
		},
		"target in the properties": {
			func(s *v1alpha1.RunSpec) {
				s.Target = v1alpha1.Target{Properties: map[string]v1alpha1.PropertyValue{"fs.defaultFS": "hdfs://namenode:8020"}}
			}, nil,
		},
		"no warm-up":    {func(s *v1alpha1.RunSpec) { s.Warmup = duration(0) }, nil},
		"defaults told": {func(s *v1alpha1.RunSpec) { s.Engine, s.Client, s.ShardFailurePolicy = "Native", "Colinmarc", "Fail" }, nil},
		"Ignore":        {func(s *v1alpha1.RunSpec) { s.ShardFailurePolicy = v1alpha1.ShardFailureIgnore }, []string{"NotSupported spec.shardFailurePolicy: Ignore is not supported yet; use Fail"}},
		"durations of nothing": {
			func(s *v1alpha1.RunSpec) {
				s.StartDeadline, s.ActiveDeadline, s.MaxStartSpread, s.MinDuration = duration(0), duration(-1), duration(0), duration(-time.Second)
			},
			[]string{
				"InvalidSpec spec.startDeadline: 0s is invalid; give a duration above zero, or remove it",
				"InvalidSpec spec.activeDeadline: -1ns is invalid; give a duration above zero, or remove it",
				"InvalidSpec spec.maxStartSpread: 0s is invalid; give a duration above zero, or remove it",
				"InvalidSpec spec.minDuration: -1s is invalid; give a duration of zero or more",
			},
		},
		"no minimum": {func(s *v1alpha1.RunSpec) { s.MinDuration = duration(0) }, nil},
		"reserved labels": {
			template(func(p *v1alpha1.PodTemplate) {
				p.Labels = map[string]v1alpha1.LabelValue{
					"hadoopbench.dev/run": "", "x.hadoopbench.dev/y": "", "job-name": "", "controller-uid": "", "app.kubernetes.io/managed-by": "",
					"batch.kubernetes.io/job-name": "", "kueue.x-k8s.io/queue-name": "q", "myhadoopbench.dev/fine": "", "app.kubernetes.io/name": "",
				}
			}),
			[]string{
				"InvalidSpec spec.podTemplate.labels: app.kubernetes.io/managed-by" + choose, "InvalidSpec spec.podTemplate.labels: batch.kubernetes.io/job-name" + choose,
				"InvalidSpec spec.podTemplate.labels: controller-uid" + choose, "InvalidSpec spec.podTemplate.labels: hadoopbench.dev/run" + choose,
				"InvalidSpec spec.podTemplate.labels: job-name" + choose, "NotSupported spec.podTemplate.labels: kueue.x-k8s.io/queue-name is not supported yet; remove it",
				"InvalidSpec spec.podTemplate.labels: x.hadoopbench.dev/y" + choose,
			},
		},
		"reserved annotations": {
			template(func(p *v1alpha1.PodTemplate) {
				p.Annotations = map[string]v1alpha1.AnnotationValue{"hadoopbench.dev/start-at": "now", "karpenter.sh/do-not-disrupt": "false", "kueue.x-k8s.io/queue-name": "q"}
			}),
			[]string{
				"InvalidSpec spec.podTemplate.annotations: hadoopbench.dev/start-at" + choose,
				"InvalidSpec spec.podTemplate.annotations: karpenter.sh/do-not-disrupt is invalid; remove it: the operator keeps nodes with measuring pods",
			},
		},
		"reserved volumes": {
			template(func(p *v1alpha1.PodTemplate) {
				p.Volumes = []corev1.Volume{{Name: "plan"}, {Name: "mine"}, {Name: "conf"}}
			}),
			[]string{
				"InvalidSpec spec.podTemplate.volumes: plan is invalid; choose another name: the operator has a volume of this one",
				"InvalidSpec spec.podTemplate.volumes: conf is invalid; choose another name: the operator has a volume of this one",
			},
		},
		"reserved variables": {
			template(func(p *v1alpha1.PodTemplate) {
				p.Env = []corev1.EnvVar{{Name: "JOB_COMPLETION_INDEX", Value: "0"}, {Name: "GOMAXPROCS", Value: "2"}}
			}),
			[]string{"InvalidSpec spec.podTemplate.env: JOB_COMPLETION_INDEX is invalid; choose another name: the operator sets this one"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			run := newRun()
			tc.edit(&run.Spec.RunSpec)
			wantSlice(t, "problems", tc.want, problems(checkShared(&run.Spec.RunSpec)))
		})
	}
}
