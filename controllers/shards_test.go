package controllers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// seen is what a test says of a shard.
type seen struct {
	Phase    shardPhase
	Node     string
	Waiting  string
	ExitCode int32 // -1: none
	Reason   string
	Disrupt  string
	Outcome  report.Outcome // of the report that is believed
	Bad      string
}

func see(s shard) seen {
	out := seen{Phase: s.phase, Node: s.node, Waiting: s.waiting, ExitCode: value(s.exitCode, -1), Reason: s.endReason, Disrupt: s.disrupted, Bad: s.badMsg}
	if s.report != nil {
		out.Outcome = s.report.Envelope.Outcome
	}
	return out
}

// foreign is a complete report of something else than shard 0 of the attempt.
func foreign(edit func(*report.Envelope)) *report.Report {
	r := completeReport(testID(), 0, testNow)
	edit(&r.Envelope)
	return r
}

func TestShardOf(t *testing.T) {
	whole := encode(completeReport(testID(), 0, testNow))
	onNode := scheduled("node-a")
	evicted := condition(corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI", "Eviction API: evicting")
	failedPod := func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }
	installer := func(state corev1.ContainerState) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "mesh", State: state}, {Name: jobs.InstallContainer, State: state}}
		}
	}
	const others = "its report is another attempt's: "
	tests := map[string]struct {
		pod  []func(*corev1.Pod)
		want seen
	}{
		"pending": {nil, seen{Phase: shardCreated, ExitCode: -1}},
		"unschedulable": {
			[]func(*corev1.Pod){condition(corev1.PodScheduled, corev1.ConditionFalse, "Unschedulable", "0/3 nodes are available: 3 Insufficient cpu.")},
			seen{Phase: shardCreated, ExitCode: -1, Waiting: "Unschedulable: 0/3 nodes are available: 3 Insufficient cpu."},
		},
		"scheduled": {
			[]func(*corev1.Pod){onNode, condition(corev1.PodScheduled, corev1.ConditionTrue, "", ""), waiting("ContainerCreating", "")},
			seen{Phase: shardScheduled, Node: "node-a", ExitCode: -1},
		},
		"init containers run": {[]func(*corev1.Pod){onNode, waiting("PodInitializing", "")}, seen{Phase: shardScheduled, Node: "node-a", ExitCode: -1}},
		"image pull back-off": {
			[]func(*corev1.Pod){onNode, waiting("ImagePullBackOff", `Back-off pulling image "runner:1"`)},
			seen{Phase: shardScheduled, Node: "node-a", ExitCode: -1, Waiting: `ImagePullBackOff: Back-off pulling image "runner:1"`},
		},
		"installer's image cannot be pulled": {
			[]func(*corev1.Pod){onNode, waiting("PodInitializing", ""), installer(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}})},
			seen{Phase: shardScheduled, Node: "node-a", ExitCode: -1, Waiting: "ErrImagePull: no such image"},
		},
		"installer waits its turn": {
			[]func(*corev1.Pod){onNode, waiting("PodInitializing", ""), installer(corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}})},
			seen{Phase: shardScheduled, Node: "node-a", ExitCode: -1},
		},
		"installer failed": {
			[]func(*corev1.Pod){onNode, waiting("PodInitializing", ""), failedPod, installer(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 2, Reason: "Error", Message: "no space"}})},
			seen{Phase: shardEnded, Node: "node-a", ExitCode: -1, Reason: "container install ended with exit code 2 (Error: no space)", Bad: "its pod ended without a state of its container"},
		},
		"installer done": {
			[]func(*corev1.Pod){onNode, running(), installer(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}})},
			seen{Phase: shardStarted, Node: "node-a", ExitCode: -1},
		},
		"running":   {[]func(*corev1.Pod){onNode, running()}, seen{Phase: shardStarted, Node: "node-a", ExitCode: -1}},
		"ready":     {[]func(*corev1.Pod){onNode, running(), ready()}, seen{Phase: shardReady, Node: "node-a", ExitCode: -1}},
		"not ready": {[]func(*corev1.Pod){onNode, running(), condition(corev1.PodReady, corev1.ConditionFalse, "ContainersNotReady", "")}, seen{Phase: shardStarted, Node: "node-a", ExitCode: -1}},
		"complete": {
			[]func(*corev1.Pod){onNode, reported(completeReport(testID(), 0, testNow))},
			seen{Phase: shardEnded, Node: "node-a", Reason: "Completed", Outcome: report.Complete},
		},
		"complete, and a sidecar still runs": {
			[]func(*corev1.Pod){onNode, reported(completeReport(testID(), 0, testNow)), sidecar(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})},
			seen{Phase: shardEnded, Node: "node-a", Reason: "Completed", Outcome: report.Complete},
		},
		"running, and a sidecar has ended": {
			[]func(*corev1.Pod){onNode, running(), sidecar(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: whole}})},
			seen{Phase: shardStarted, Node: "node-a", ExitCode: -1},
		},
		"partial": {
			[]func(*corev1.Pod){onNode, reported(partialReport(testID(), 0, testNow))},
			seen{Phase: shardEnded, Node: "node-a", ExitCode: 6, Reason: "Error", Outcome: report.Partial},
		},
		"failed": {
			[]func(*corev1.Pod){onNode, reported(failedReport(testID(), 0))},
			seen{Phase: shardEnded, Node: "node-a", ExitCode: 3, Reason: "Error", Outcome: report.Failed},
		},
		"exit 0 without a report": {
			[]func(*corev1.Pod){onNode, terminated(0, "Completed", "")},
			seen{Phase: shardEnded, Node: "node-a", Reason: "Completed", Bad: "it left no report"},
		},
		"another run's report": {
			[]func(*corev1.Pod){reported(foreign(func(e *report.Envelope) { e.RunUID = "other" }))},
			seen{Phase: shardEnded, Reason: "Completed", Bad: others + "{RunUID:other Execution:1 Step:write Repeat:1 Attempt:1}, shard 0"},
		},
		"another execution's report": {
			[]func(*corev1.Pod){reported(foreign(func(e *report.Envelope) { e.Execution = 2 }))},
			seen{Phase: shardEnded, Reason: "Completed", Bad: others + "{RunUID:" + testUID + " Execution:2 Step:write Repeat:1 Attempt:1}, shard 0"},
		},
		"another step's report": {
			[]func(*corev1.Pod){reported(foreign(func(e *report.Envelope) { e.Step = "read" }))},
			seen{Phase: shardEnded, Reason: "Completed", Bad: others + "{RunUID:" + testUID + " Execution:1 Step:read Repeat:1 Attempt:1}, shard 0"},
		},
		"another repeat's report": {
			[]func(*corev1.Pod){reported(foreign(func(e *report.Envelope) { e.Repeat = 2 }))},
			seen{Phase: shardEnded, Reason: "Completed", Bad: others + "{RunUID:" + testUID + " Execution:1 Step:write Repeat:2 Attempt:1}, shard 0"},
		},
		"another attempt's report": {
			[]func(*corev1.Pod){reported(foreign(func(e *report.Envelope) { e.Attempt = 2 }))},
			seen{Phase: shardEnded, Reason: "Completed", Bad: others + "{RunUID:" + testUID + " Execution:1 Step:write Repeat:1 Attempt:2}, shard 0"},
		},
		"another shard's report": {
			[]func(*corev1.Pod){reported(foreign(func(e *report.Envelope) { e.Index = 1 }))},
			seen{Phase: shardEnded, Reason: "Completed", Bad: others + "{RunUID:" + testUID + " Execution:1 Step:write Repeat:1 Attempt:1}, shard 1"},
		},
		"truncated report": {
			[]func(*corev1.Pod){terminated(0, "Completed", whole[:len(whole)-40])},
			seen{Phase: shardEnded, Reason: "Completed", Bad: "its report is truncated"},
		},
		"complete report and exit code 1": {
			[]func(*corev1.Pod){terminated(1, "Error", whole)},
			seen{Phase: shardEnded, ExitCode: 1, Reason: "Error", Bad: "its report says exit code 0, the container ended with 1"},
		},
		"failed report and exit code 0": {
			[]func(*corev1.Pod){terminated(0, "Completed", encode(failedReport(testID(), 0)))},
			seen{Phase: shardEnded, Reason: "Completed", Bad: "its report says exit code 3, the container ended with 0"},
		},
		"out of memory": {
			[]func(*corev1.Pod){onNode, terminated(137, "OOMKilled", "")},
			seen{Phase: shardEnded, Node: "node-a", ExitCode: 137, Reason: "OOMKilled", Bad: "it left no report"},
		},
		"evicted in its run": {
			[]func(*corev1.Pod){onNode, evicted, deleted(testNow), reported(partialReport(testID(), 0, testNow))},
			seen{Phase: shardEnded, Node: "node-a", ExitCode: 6, Reason: "Error", Outcome: report.Partial, Disrupt: "EvictionByEvictionAPI: Eviction API: evicting"},
		},
		"evicted, still running": {
			[]func(*corev1.Pod){onNode, running(), ready(), evicted, deleted(testNow.Add(30 * time.Second))},
			seen{Phase: shardReady, Node: "node-a", ExitCode: -1, Disrupt: "EvictionByEvictionAPI: Eviction API: evicting"},
		},
		"no longer a target of disruption": {
			[]func(*corev1.Pod){onNode, running(), condition(corev1.DisruptionTarget, corev1.ConditionFalse, "", "")},
			seen{Phase: shardStarted, Node: "node-a", ExitCode: -1},
		},
		"rejected by the kubelet": {
			[]func(*corev1.Pod){onNode, func(p *corev1.Pod) {
				p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "OutOfcpu", "Node didn't have enough resource"
			}},
			seen{Phase: shardEnded, Node: "node-a", ExitCode: -1, Reason: "OutOfcpu: Node didn't have enough resource", Bad: "its pod ended without a state of its container"},
		},
		"deleted, in its grace": {
			[]func(*corev1.Pod){onNode, running(), deleted(testNow.Add(time.Second))},
			seen{Phase: shardStarted, Node: "node-a", ExitCode: -1, Disrupt: "the pod was deleted"},
		},
		"deleted, grace just over": {
			[]func(*corev1.Pod){onNode, running(), deleted(testNow.Add(-lostAfterGrace))},
			seen{Phase: shardStarted, Node: "node-a", ExitCode: -1, Disrupt: "the pod was deleted"},
		},
		"deleted, its node does not answer": {
			[]func(*corev1.Pod){onNode, running(), deleted(testNow.Add(-lostAfterGrace - time.Second))},
			seen{Phase: shardLost, Node: "node-a", ExitCode: -1, Disrupt: "the pod was deleted", Bad: "its pod is being deleted and its node does not answer"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := shardOf(testID(), 0, podOf(0, tc.pod...), testNow)
			if diff := cmp.Diff(tc.want, see(got)); diff != "" {
				t.Errorf("shard (-want +got):\n%s", diff)
			}
		})
	}
}

func sidecar(state corev1.ContainerState) func(*corev1.Pod) {
	return func(p *corev1.Pod) {
		p.Status.ContainerStatuses = append([]corev1.ContainerStatus{{Name: "istio-proxy", State: state}}, p.Status.ContainerStatuses...)
		p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "other", State: state})
	}
}

// TestReportsThatAreNoReports: whatever a container leaves behind, it is not taken for a result.
func TestReportsThatAreNoReports(t *testing.T) {
	for name, message := range map[string]string{
		"text":          "panic: runtime error",
		"other JSON":    `{"done":true}`,
		"other version": strings.Replace(encode(completeReport(testID(), 0, testNow)), fmt.Sprintf(`"v":%d`, report.Version), `"v":99`, 1),
		"more after it": encode(completeReport(testID(), 0, testNow)) + "\nbye",
		"impossible":    strings.Replace(encode(completeReport(testID(), 0, testNow)), `"ops":1024`, `"ops":-1`, 1),
	} {
		t.Run(name, func(t *testing.T) {
			s := shardOf(testID(), 0, podOf(0, terminated(0, "Completed", message)), testNow)
			if s.report != nil || s.badMsg == "" || !s.lost() || s.complete() {
				t.Errorf("report %v is believed, message %q", s.report, s.badMsg)
			}
		})
	}
}

func TestShardsOf(t *testing.T) {
	lostPod := "its pod is gone"
	job := func(failed string) *batchv1.Job {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Status: batchv1.JobStatus{FailedIndexes: &failed}}
	}
	tests := map[string]struct {
		opened bool
		job    *batchv1.Job
		pods   []corev1.Pod
		gone   map[types.UID]bool
		want   []seen
	}{
		"nothing yet": {
			job: nil, want: []seen{{ExitCode: -1}, {ExitCode: -1}},
		},
		"pods to come": {
			job: job(""), pods: []corev1.Pod{podOf(1, scheduled("b"))},
			want: []seen{{ExitCode: -1}, {Phase: shardScheduled, Node: "b", ExitCode: -1}},
		},
		"vanished before the gate": {
			job: job("0"), pods: []corev1.Pod{podOf(1, scheduled("b"))},
			want: []seen{{Phase: shardLost, ExitCode: -1, Bad: lostPod}, {Phase: shardScheduled, Node: "b", ExitCode: -1}},
		},
		"vanished after the gate": {
			opened: true, job: job(""), pods: []corev1.Pod{podOf(0, scheduled("a"), running())},
			want: []seen{{Phase: shardStarted, Node: "a", ExitCode: -1}, {Phase: shardLost, ExitCode: -1, Bad: lostPod}},
		},
		"the Job vanished after the gate": {
			opened: true,
			want:   []seen{{Phase: shardLost, ExitCode: -1, Bad: lostPod}, {Phase: shardLost, ExitCode: -1, Bad: lostPod}},
		},
		"vanished with known last state": {
			opened: true, job: job(""), gone: map[types.UID]bool{"pod-0": true, "pod-1": true},
			pods: []corev1.Pod{podOf(0, scheduled("a"), running(), ready()), podOf(1, scheduled("b"), reported(completeReport(testID(), 1, testNow)))},
			want: []seen{
				{Phase: shardLost, Node: "a", ExitCode: -1, Bad: lostPod},
				{Phase: shardEnded, Node: "b", Reason: "Completed", Outcome: report.Complete},
			},
		},
		"failed index with its pod": {
			job: job("0-1"), pods: []corev1.Pod{podOf(0, reported(failedReport(testID(), 0))), podOf(1, running())},
			want: []seen{{Phase: shardEnded, ExitCode: 3, Reason: "Error", Outcome: report.Failed}, {Phase: shardStarted, ExitCode: -1}},
		},
		"two pods of one index: the first one counts": {
			job: job(""), pods: []corev1.Pod{
				podOf(0, scheduled("late"), func(p *corev1.Pod) { p.UID, p.CreationTimestamp = "late", metav1.NewTime(testNow.Add(time.Second)) }),
				podOf(0, scheduled("early"), running()), podOf(1),
			},
			want: []seen{{Phase: shardStarted, Node: "early", ExitCode: -1}, {Phase: shardCreated, ExitCode: -1}},
		},
		"pods of other indexes and of none": {
			job: job(""), pods: []corev1.Pod{podOf(2), podOf(-1), podOf(0, func(p *corev1.Pod) { p.Annotations = nil })},
			want: []seen{{ExitCode: -1}, {ExitCode: -1}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := shardsOf(testID(), 2, tc.opened, tc.job, tc.pods, tc.gone, testNow)
			if err != nil {
				t.Fatal(err)
			}
			var all []seen
			for i, s := range got {
				if s.index != int32(i) {
					t.Errorf("shard %d has index %d", i, s.index)
				}
				all = append(all, see(s))
			}
			if diff := cmp.Diff(tc.want, all); diff != "" {
				t.Errorf("shards (-want +got):\n%s", diff)
			}
		})
	}
}

func TestShardsOfReadsOrders(t *testing.T) {
	p := podOf(0, func(p *corev1.Pod) {
		p.Annotations[plan.AnnotationStartAt], p.Annotations[plan.AnnotationStop] = "2026-12-01T12:00:02.000000Z", "Suspended"
	})
	s := shardOf(testID(), 0, p, testNow)
	if s.startAt != "2026-12-01T12:00:02.000000Z" || s.stop != "Suspended" || s.pod != "job-0-abcde" || s.uid != "pod-0" {
		t.Errorf("shard %+v", s)
	}
}

func TestShardsOfRefusesOddIndexes(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "job"}, Status: batchv1.JobStatus{FailedIndexes: ptr("1-")}}
	if got, err := shardsOf(testID(), 2, false, job, nil, nil, testNow); err == nil || got != nil {
		t.Errorf("shards %v, error %v", got, err)
	}
}

func TestFailureOf(t *testing.T) {
	at := func(edits ...func(*corev1.Pod)) shard {
		return shardOf(testID(), 7, podOf(7, append([]func(*corev1.Pod){scheduled("node-a")}, edits...)...), testNow)
	}
	tests := map[string]struct {
		s            shard
		reason, text string
		code         int32
	}{
		"target refused": {
			at(reported(failedReport(testID(), 7))), "TargetUnreachable",
			"shard 7 (pod job-7-abcde on node node-a): hdfs://namenode:8020: no answer. Check spec.target.fs", 3,
		},
		"stopped": {
			at(reported(partialReport(testID(), 7, testNow))), v1alpha1.ReasonShardFailed,
			"shard 7 (pod job-7-abcde on node node-a) ended with a Partial report", 6,
		},
		"out of memory": {
			at(terminated(137, "OOMKilled", "")), v1alpha1.ReasonShardLost,
			"shard 7 (pod job-7-abcde on node node-a) was lost: it left no report; exit code 137 OOMKilled", 137,
		},
		"rejected by the kubelet": {
			at(func(p *corev1.Pod) {
				p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "OutOfcpu", "no room"
			}), v1alpha1.ReasonShardLost,
			"shard 7 (pod job-7-abcde on node node-a) was lost: its pod ended without a state of its container; OutOfcpu: no room", -1,
		},
		"evicted": {
			at(condition(corev1.DisruptionTarget, corev1.ConditionTrue, "EvictionByEvictionAPI", ""), reported(partialReport(testID(), 7, testNow))), v1alpha1.ReasonPodDisrupted,
			"shard 7 (pod job-7-abcde on node node-a) was ended by Kubernetes: EvictionByEvictionAPI", 6,
		},
		"vanished unseen": {
			shard{index: 7, phase: shardLost, badMsg: "its pod is gone"}, v1alpha1.ReasonShardLost, "shard 7 was lost: its pod is gone", -1,
		},
		"never scheduled": {
			shardOf(testID(), 7, podOf(7, deleted(testNow.Add(-time.Hour))), testNow), v1alpha1.ReasonPodDisrupted,
			"shard 7 (pod job-7-abcde on node none) was ended by Kubernetes: the pod was deleted", -1,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			f := failureOf("write", tc.s)
			if f.Reason != tc.reason || f.Message != tc.text || value(f.ExitCode, -1) != tc.code {
				t.Errorf("reason %s, exit code %d, message %q", f.Reason, value(f.ExitCode, -1), f.Message)
			}
			if f.Step != "write" || value(f.Shard, -1) != 7 || f.Pod != tc.s.pod || f.Node != tc.s.node || (f.Container != "") != (f.Pod != "") {
				t.Errorf("failure %+v", f)
			}
		})
	}
}

// TestFirstFailure: the shard that is told of is the cause, not one that was stopped because of it.
func TestFirstFailure(t *testing.T) {
	complete := shardOf(testID(), 0, podOf(0, reported(completeReport(testID(), 0, testNow))), testNow)
	stopped := shardOf(testID(), 1, podOf(1, reported(partialReport(testID(), 1, testNow))), testNow)
	vanished := shard{index: 2, phase: shardLost}
	failed := shardOf(testID(), 3, podOf(3, reported(failedReport(testID(), 3))), testNow)
	evicted := shardOf(testID(), 4, podOf(4, condition(corev1.DisruptionTarget, corev1.ConditionTrue, "Eviction", ""), reported(partialReport(testID(), 4, testNow))), testNow)
	tests := map[string]struct {
		in   []shard
		want int32 // -1: none
	}{
		"none":                         {[]shard{complete}, -1},
		"no shards":                    {nil, -1},
		"only a stopped one":           {[]shard{complete, stopped}, 1},
		"vanished before stopped":      {[]shard{stopped, vanished}, 2},
		"failed before vanished":       {[]shard{stopped, vanished, failed}, 3},
		"evicted before vanished":      {[]shard{vanished, evicted}, 4},
		"the lowest index of a kind":   {[]shard{failed, evicted}, 3},
		"running ones are no failures": {[]shard{{index: 5, phase: shardReady}}, -1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := int32(-1)
			if s := firstFailure(tc.in); s != nil {
				got = s.index
			}
			if got != tc.want {
				t.Errorf("shard %d, want %d", got, tc.want)
			}
		})
	}
}

func FuzzTruncate(f *testing.F) {
	for _, s := range []string{"", "short", strings.Repeat("ä", 600), strings.Repeat("\xff", 2000), strings.Repeat("𝄞", 300)} {
		f.Add(s, 1024)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		if n < 8 || n > 4096 {
			t.Skip("no bound that is used")
		}
		got := truncate(s, n)
		if len(got) > n || len(s) <= n && got != s {
			t.Errorf("truncate(%d bytes, %d) has %d bytes", len(s), n, len(got))
		}
		if head, cut := strings.CutSuffix(got, "..."); len(s) > n && (!cut || !strings.HasPrefix(s, head)) {
			t.Errorf("truncate(%q, %d) = %q", s, n, got)
		}
		if valid := strings.ToValidUTF8(s, "") == s; valid && strings.ToValidUTF8(got, "") != got {
			t.Errorf("truncate(%q, %d) cuts a character", s, n)
		}
	})
}

func TestJoinReason(t *testing.T) {
	got := []string{joinReason("", ""), joinReason("Evicted", ""), joinReason("", "no room"), joinReason("Evicted", "no room")}
	if want := []string{"", "Evicted", "no room", "Evicted: no room"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
