package controllers

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
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
		"rerun":             {func(r *v1alpha1.DFSIORun) { r.Spec.Rerun = "again" }, true},
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
