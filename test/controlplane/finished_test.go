package controlplane

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// TestFinishedStaysFinished: all that a finished run made is deleted, the run is touched, the manager restarted: nothing
// is made anew, and the run stays as it was.
func TestFinishedStaysFinished(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]bool{"succeeded": false, "failed": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			if fails {
				s.player.hold(s.ns, "write")
			}
			tp := &tap{}
			first := s.manage(tp, nil)
			run := s.create()
			if fails {
				s.measuring("write", 1, 3)
				if err := s.client.Delete(s.ctx, &s.pods(run, "write", 1)[0]); err != nil {
					t.Fatal(err)
				}
			}
			run = s.finished("bench")
			s.visit("bench", tp, 1) // what is to be tidied up is
			made, jobs, pods := tp.created(), s.history.names(s.ns, "Job"), s.history.names(s.ns, "Pod")
			for _, obj := range []client.Object{&corev1.ConfigMap{}, &batchv1.Job{}, &corev1.Pod{}} {
				if err := s.client.DeleteAllOf(s.ctx, obj, client.InNamespace(s.ns), client.PropagationPolicy("Background")); err != nil {
					t.Fatal(err)
				}
			}
			s.wantGone(&corev1.ConfigMapList{}, &batchv1.JobList{}, &corev1.PodList{})
			s.visit("bench", tp, 4)
			first.stop(t)
			again := &tap{}
			s.manage(again, nil)
			s.visit("bench", again, 4)
			if d := cmp.Diff(made, append(tp.created(), again.created()...)); d != "" {
				t.Errorf("objects were made for a finished run:\n%s", d)
			}
			if d := cmp.Diff([][]string{jobs, pods}, [][]string{s.history.names(s.ns, "Job"), s.history.names(s.ns, "Pod")}); d != "" {
				t.Errorf("Jobs or pods were made for a finished run:\n%s", d)
			}
			s.wantGone(&corev1.ConfigMapList{}, &batchv1.JobList{}, &corev1.PodList{})
			if d := cmp.Diff(run.Status, s.live("bench").Status); d != "" {
				t.Errorf("the status of a finished run was changed:\n%s", d)
			}
		})
	}
}

// TestFailedPodsStay: the pods of a failed attempt stay for inspection until the run goes; those of done steps go.
func TestFailedPodsStay(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.player.hold(s.ns, "write")
	tp := &tap{}
	s.manage(tp, nil)
	run := s.create(func(r *v1alpha1.DFSIORun) { r.Spec.KeepResults = nil })
	s.measuring("write", 1, 3)
	if err := s.client.Delete(s.ctx, &s.pods(run, "write", 1)[0]); err != nil {
		t.Fatal(err)
	}
	run = s.finished("bench")
	s.until(func() string {
		var list batchv1.JobList
		if err := s.client.List(s.ctx, &list, client.InNamespace(s.ns)); err != nil {
			return err.Error()
		}
		if len(list.Items) != 1 || list.Items[0].Name != row(run, "write", 1).Job {
			return fmt.Sprintf("%d Jobs are left, want that of write", len(list.Items))
		}
		return ""
	})
	s.visit("bench", tp, 3)
	for _, p := range s.waitPods(run, "write", 1, 2) {
		if p.Status.Phase != corev1.PodFailed || p.DeletionTimestamp != nil {
			t.Errorf("pod %s is %s, deleted %v; want Failed and kept", p.Name, p.Status.Phase, p.DeletionTimestamp)
		}
	}
	if err := s.client.Delete(s.ctx, run); err != nil {
		t.Fatal(err)
	}
	s.wantGone(&corev1.ConfigMapList{}, &batchv1.JobList{}, &corev1.PodList{})
}
