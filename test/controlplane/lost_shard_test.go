package controlplane

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// TestShardLostInMeasurement: somebody takes a measuring pod away. The run ends at once, says which pod it was, where
// and why, and keeps what the others have measured so far.
func TestShardLostInMeasurement(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		take     func(s *scenario, pod *corev1.Pod) error
		reason   string
		says     string
		partials int32 // reports that are kept: a pod that is killed at once leaves none
	}{
		"deleted": {
			take:   func(s *scenario, pod *corev1.Pod) error { return s.client.Delete(s.ctx, pod) },
			reason: v1alpha1.ReasonPodDisrupted, says: "deleted", partials: 3,
		},
		"deleted by force": {
			take: func(s *scenario, pod *corev1.Pod) error {
				return s.client.Delete(s.ctx, pod, client.GracePeriodSeconds(0))
			},
			reason: v1alpha1.ReasonPodDisrupted, says: "deleted", partials: 2,
		},
		"evicted": {
			take: func(s *scenario, pod *corev1.Pod) error {
				return s.kube.PolicyV1().Evictions(s.ns).Evict(s.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: pod.Name}})
			},
			reason: v1alpha1.ReasonPodDisrupted, says: "EvictionByEvictionAPI", partials: 3,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			s.player.hold(s.ns, "write")
			m := s.manage(nil, nil)
			run := s.create(func(r *v1alpha1.DFSIORun) { r.Spec.Repeats, r.Spec.KeepResults = ptr(int32(2)), nil })
			s.measuring("write", 1, 3)
			victim := s.pods(run, "write", 1)[1]
			if err := c.take(s, &victim); err != nil {
				t.Fatal(err)
			}
			run = s.finished("bench")
			s.wantCondition(run, v1alpha1.ConditionCompleted, metav1.ConditionFalse, c.reason, victim.Name, victim.Spec.NodeName, c.says)
			s.wantCondition(run, v1alpha1.ConditionSucceeded, metav1.ConditionFalse, c.reason)
			s.wantCondition(run, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonShardsMissing)
			s.wantCondition(run, v1alpha1.ConditionStalled, metav1.ConditionTrue, c.reason)
			if got := kstatus(t, run); got != status.FailedStatus {
				t.Errorf("kstatus is %s, want Failed", got)
			}
			f := run.Status.Failure
			if f.Pod != victim.Name || f.Node != victim.Spec.NodeName || f.Step != "write" || f.Shard == nil || *f.Shard != 1 {
				t.Errorf("failure is %+v, want pod %s on node %s", f, victim.Name, victim.Spec.NodeName)
			}
			doc, _ := s.document(run)
			if len(doc.Sections) != 1 || doc.Sections[0].Merged == nil {
				t.Fatalf("report.json has %+v, want one measurement", doc.Sections)
			}
			if got := doc.Sections[0].Merged; got.Shards.Partial != c.partials || got.Bytes != int64(c.partials)*32<<20 {
				t.Errorf("report.json has %+v with %d bytes, want %d partial reports of 32 MiB", got.Shards, got.Bytes, c.partials)
			}
			if len(doc.Steps) != 0 || len(run.Status.Aggregates) != 0 {
				t.Errorf("a partial measurement counts: %+v", run.Status.Aggregates)
			}
			s.wantJobs(run, "write", 1, 1)
			s.wantJobs(run, "write", 2, 0)
			if s.jobsMade(run, "write", 2, 1) != 0 {
				t.Error("a second repeat was measured after the first had failed")
			}
			if r := row(run, plan.StepCleanup, 1); r.State != v1alpha1.StepDone {
				t.Errorf("cleanup is %+v, want Done", r)
			}
			if n := len(m.log.errors()); n > 0 {
				t.Errorf("the manager logged %d errors: %v", n, m.log.errors())
			}
		})
	}
}

// TestShardLostBeforeStart: a pod that goes before the start costs a new attempt, no failure.
func TestShardLostBeforeStart(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.manage(nil, nil)
	run := s.create(heldPods)
	s.passPreflight(run)
	before := s.waitPods(run, "write", 1, 3)
	s.unhold(before[:1])
	if err := s.client.Delete(s.ctx, &before[2]); err != nil {
		t.Fatal(err)
	}
	s.unhold(s.waitPods(run, "write", 2, 3))
	run = s.finished("bench")
	s.wantCondition(run, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
	if r := row(run, "write", 1); r.Attempt != 2 {
		t.Errorf("write took %d attempts, want 2", r.Attempt)
	}
	s.wantJobs(run, "write", 1, 1)
	s.wantJobs(run, "write", 2, 1)
	if n := s.script.measuring("write", 1, 1); n != 0 {
		t.Errorf("%d shards of the broken attempt measured", n)
	}
}
