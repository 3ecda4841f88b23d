package e2e

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// underWay is how long after the start every shard has moved some bytes. A file of lossSize is not written until then.
const (
	underWay = 2 * time.Second
	lossSize = "1GB"
)

// TestShardKilled: a runner dies in mid-measurement, as by a lack of memory. The run says where, keeps what the others
// did, and leaves the pods to look at.
func TestShardKilled(t *testing.T) {
	t.Parallel()
	s := begin(t, "killed")
	run := s.start("run", files(3, lossSize), gently)
	victim := s.victim(run)
	s.kill(s.runner(victim))
	s.awaitEnd(run, endOfRun)

	message := s.expectFailure(run, v1alpha1.ReasonShardLost)
	s.mentions(message, victim.Name, victim.Spec.NodeName, "137")
	s.expectFailedAt(run, victim, 137)
	s.expectKept(run, report.ShardCounts{Expected: 3, Partial: 2, Missing: 1, Started: 2}, map[int32]string{0: "Partial", 1: "Lost", 2: "Partial"})
	codes := map[string]int32{}
	for _, p := range s.pods(run, "write") {
		codes[shardOf(&p)] = p.Status.ContainerStatuses[0].State.Terminated.ExitCode
		if stop := p.Annotations[plan.AnnotationStop]; (stop == "") != (p.Name == victim.Name) {
			t.Errorf("pod %s has the order to stop %q", p.Name, stop)
		}
	}
	if diff := cmp.Diff(map[string]int32{"0": report.ExitInterrupted, "1": 137, "2": report.ExitInterrupted}, codes); diff != "" {
		t.Errorf("exit codes of the pods that are left to look at (-want +got):\n%s", diff)
	}
}

// TestShardPodDeleted: somebody deletes a shard's pod by force. Its node is alive and the Job holds on to the pod until it
// has ended, so that even its own partial report is kept.
func TestShardPodDeleted(t *testing.T) {
	t.Parallel()
	s := begin(t, "deleted")
	run := s.start("run", files(3, lossSize), gently)
	victim := s.victim(run)
	if err := s.client.Delete(t.Context(), victim, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	s.awaitEnd(run, endOfRun)
	s.mentions(s.expectFailure(run, v1alpha1.ReasonPodDisrupted), victim.Name, victim.Spec.NodeName, "deleted")
	s.expectFailedAt(run, victim, report.ExitInterrupted)
	s.expectKept(run, report.ShardCounts{Expected: 3, Partial: 3, Started: 3}, map[int32]string{0: "Partial", 1: "Partial", 2: "Partial"})
}

// victim waits until the measurement is well under way and returns the pod of shard 1.
func (s *story) victim(run *v1alpha1.DFSIORun) *corev1.Pod {
	s.t.Helper()
	s.await(run, endOfRun, "well under way", func() bool {
		return started(run, "write") && time.Since(row(run, "write").StartAt.Time) > underWay
	})
	for _, p := range s.pods(run, "write") {
		if shardOf(&p) == "1" {
			return &p
		}
	}
	s.t.Fatal("shard 1 has no pod")
	return nil
}

// expectFailedAt: status.failure says which shard was lost, and where.
func (s *story) expectFailedAt(run *v1alpha1.DFSIORun, victim *corev1.Pod, exitCode int32) {
	s.t.Helper()
	want := &v1alpha1.Failure{
		Step: "write", Shard: ptr(int32(1)), Pod: victim.Name, Node: victim.Spec.NodeName, Container: plan.Container, ExitCode: &exitCode,
	}
	if diff := cmp.Diff(want, run.Status.Failure, cmpopts.IgnoreFields(v1alpha1.Failure{}, "Reason", "Message")); diff != "" {
		s.t.Errorf("status.failure (-want +got):\n%s", diff)
	}
}

// expectKept: what the shards did before the loss is in report.json and in the status, and the data is gone.
func (s *story) expectKept(run *v1alpha1.DFSIORun, shards report.ShardCounts, outcomes map[int32]string) {
	s.t.Helper()
	s.expect(run, v1alpha1.ConditionValid, metav1.ConditionFalse, v1alpha1.ReasonShardsMissing)
	doc, _ := s.report(run)
	if len(doc.Sections) != 1 || doc.Sections[0].Merged == nil {
		s.t.Fatalf("report.json has no measurement, or several: %+v", doc.Sections)
	}
	m := doc.Sections[0].Merged
	if diff := cmp.Diff(shards, m.Shards); diff != "" {
		s.t.Errorf("shards in report.json (-want +got):\n%s", diff)
	}
	got, bytes := map[int32]string{}, int64(0)
	for _, r := range row(run, "write").Result.Outliers {
		if r.Why != "Failed" {
			continue
		}
		got[r.Index] = r.Outcome
		bytes += r.Bytes
		if r.Outcome == string(report.Partial) && r.Bytes == 0 {
			s.t.Errorf("shard %d reported no bytes", r.Index)
		}
	}
	if diff := cmp.Diff(outcomes, got); diff != "" {
		s.t.Errorf("shards in status (-want +got):\n%s", diff)
	}
	if m.Bytes == 0 || m.Bytes != bytes {
		s.t.Errorf("report.json has %d bytes, its shards have %d", m.Bytes, bytes)
	}
	s.expectNothingAt(dirOf(run))
}
