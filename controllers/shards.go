package controllers

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// shardPhase is how far a shard's pod is. The order matters: a later phase is progress.
type shardPhase int

const (
	shardAbsent    shardPhase = iota // no pod yet
	shardCreated                     // not on a node
	shardScheduled                   // on a node, not started
	shardStarted                     // its container runs
	shardReady                       // prepared, waiting for the start
	shardEnded                       // its container ended, with or without a report
	shardLost                        // its pod vanished or cannot be heard of any more
)

// shard is what is known of one index of an attempt.
type shard struct {
	index    int32
	phase    shardPhase
	pod      string
	uid      types.UID
	node     string
	imageID  string
	startAt  string // as patched
	reminder string // the same, given again
	stop     string // as patched

	waiting   string // why the pod is not on a node, or its container not started
	exitCode  *int32
	endReason string // of the container or the pod, such as OOMKilled
	disrupted string // why Kubernetes ended the pod, if it did

	report *report.Report // believed: identity and index fit
	badMsg string         // why an ended shard has no believable report
}

// complete says whether the shard did everything it was told.
func (s shard) complete() bool {
	return s.report != nil && s.report.Envelope.Outcome == report.Complete
}

// over says whether nothing more is to be expected of the shard.
func (s shard) over() bool { return s.phase >= shardEnded }

// failed says whether the shard is over without a complete report.
func (s shard) failed() bool { return s.over() && !s.complete() }

// lost says whether the shard is over without any believable report of its own.
func (s shard) lost() bool { return s.over() && s.report == nil }

// shardsOf reads the shards of an attempt from its Job and pods; opened says whether its gate has opened, gone which of
// the pods exist no more and are shown as they last were. It looks at the runner's container only, whatever
// sidecars do, and never at the Job's conditions, which come when all its indexes are over.
func shardsOf(id report.Identity, n int32, opened bool, job *batchv1.Job, pods []corev1.Pod, gone map[types.UID]bool, now time.Time) ([]shard, error) {
	out := make([]shard, n)
	for i := range out {
		out[i].index = int32(i)
	}
	slices.SortFunc(pods, func(a, b corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, p := range pods {
		i, err := strconv.ParseInt(p.Annotations[batchv1.JobCompletionIndexAnnotation], 10, 32)
		if err != nil || i < 0 || i >= int64(n) || out[i].pod != "" {
			continue // no pod of this attempt's Job
		}
		out[i] = shardOf(id, int32(i), p, now)
		if s := &out[i]; gone[p.UID] && !s.over() {
			s.phase, s.badMsg = shardLost, "its pod is gone"
		}
	}
	failed := map[int32]bool{}
	if job != nil {
		var err error
		if failed, err = jobs.ParseIndexes(value(job.Status.FailedIndexes, "")); err != nil {
			return nil, fmt.Errorf("read Job %s: %w", job.Name, err)
		}
	}
	for i := range out {
		// A pod that was there and is gone took its report with it. Before the gate opens, only the Job knows that it
		// was there: the index failed, and is not made again.
		if out[i].phase == shardAbsent && (opened || failed[int32(i)]) {
			out[i].phase, out[i].badMsg = shardLost, "its pod is gone"
		}
	}
	return out, nil
}

func shardOf(id report.Identity, index int32, p corev1.Pod, now time.Time) shard {
	s := shard{
		index: index, phase: shardCreated, pod: p.Name, uid: p.UID, node: p.Spec.NodeName,
		startAt: p.Annotations[plan.AnnotationStartAt], reminder: p.Annotations[plan.AnnotationReminder], stop: p.Annotations[plan.AnnotationStop],
	}
	for _, c := range p.Status.Conditions {
		switch {
		case c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue:
			s.waiting = joinReason(c.Reason, c.Message)
		case c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue:
			s.disrupted = joinReason(c.Reason, c.Message)
		case c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue:
			s.phase = shardReady
		}
	}
	if s.phase == shardCreated && s.node != "" {
		s.phase = shardScheduled
	}
	if p.DeletionTimestamp != nil && s.disrupted == "" {
		s.disrupted = "the pod was deleted"
	}
	for _, c := range p.Status.InitContainerStatuses {
		if c.Name == jobs.InstallContainer {
			readInstaller(&s, c)
		}
	}
	ended := false
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == plan.Container {
			ended = readContainer(&s, id, c)
		}
	}
	switch {
	case ended:
		s.phase = shardEnded
	case p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded:
		s.phase, s.endReason = shardEnded, orDefault(s.endReason, joinReason(p.Status.Reason, p.Status.Message))
		s.badMsg = "its pod ended without a state of its container"
	case p.DeletionTimestamp != nil && now.After(p.DeletionTimestamp.Add(lostAfterGrace)):
		s.phase, s.badMsg = shardLost, "its pod is being deleted and its node does not answer"
	}
	return s
}

// lostAfterGrace is how long after the end of its grace period a deleted pod is waited for. A deletion time is the
// moment at which the grace ends.
const lostAfterGrace = 15 * time.Second

// readInstaller fills s with what keeps the container that comes before the runner's from its end.
func readInstaller(s *shard, c corev1.ContainerStatus) {
	switch {
	case c.State.Waiting != nil && c.State.Waiting.Reason != "ContainerCreating" && c.State.Waiting.Reason != "PodInitializing":
		s.waiting = joinReason(c.State.Waiting.Reason, c.State.Waiting.Message)
	case c.State.Terminated != nil && c.State.Terminated.ExitCode != 0:
		t := c.State.Terminated
		s.endReason = fmt.Sprintf("container %s ended with exit code %d (%s)", c.Name, t.ExitCode, joinReason(t.Reason, t.Message))
	}
}

// readContainer fills s from the runner's container and says whether it ended.
func readContainer(s *shard, id report.Identity, c corev1.ContainerStatus) bool {
	s.imageID = c.ImageID
	switch {
	case c.State.Waiting != nil && c.State.Waiting.Reason != "ContainerCreating" && c.State.Waiting.Reason != "PodInitializing":
		s.waiting = joinReason(c.State.Waiting.Reason, c.State.Waiting.Message)
	case c.State.Running != nil && s.phase < shardStarted:
		s.phase = shardStarted
	case c.State.Terminated != nil:
		t := c.State.Terminated
		s.exitCode, s.endReason = &t.ExitCode, t.Reason
		s.report, s.badMsg = believe(id, s.index, t.Message)
		if s.report != nil && (s.report.Envelope.ExitCode != int(t.ExitCode)) {
			s.report, s.badMsg = nil, fmt.Sprintf("its report says exit code %d, the container ended with %d", s.report.Envelope.ExitCode, t.ExitCode)
		}
		return true
	}
	return false
}

// believe decodes a termination message and accepts it only if it is this shard's own, of this very attempt.
func believe(id report.Identity, index int32, message string) (*report.Report, string) {
	if message == "" {
		return nil, "it left no report"
	}
	r, err := report.Decode([]byte(message))
	switch {
	case errors.Is(err, report.ErrTruncated):
		return nil, "its report is truncated"
	case err != nil:
		return nil, err.Error()
	case r.Envelope.Identity != id || r.Envelope.Index != index:
		return nil, fmt.Sprintf("its report is another attempt's: %+v, shard %d", r.Envelope.Identity, r.Envelope.Index)
	}
	if err := r.Validate(); err != nil {
		return nil, "its report is impossible: " + err.Error()
	}
	return r, ""
}

// neverBegan says whether the shard was prepared and says itself that it did not start with the others: now and then a
// kubelet shows a pod its start time only with its next periodic look at the pod, many seconds late.
func (s shard) neverBegan() bool {
	return s.report != nil && s.report.Envelope.ExitCode == report.ExitNeverBegan
}

// failureOf tells what happened to a failed shard, and where.
func failureOf(step string, s shard) *v1alpha1.Failure {
	f := &v1alpha1.Failure{Step: step, Shard: &s.index, Pod: s.pod, Node: s.node, ExitCode: s.exitCode}
	if s.pod != "" {
		f.Container = plan.Container
	}
	where := fmt.Sprintf("shard %d", s.index)
	if s.pod != "" {
		where += fmt.Sprintf(" (pod %s on node %s)", s.pod, orDefault(s.node, "none"))
	}
	switch {
	case s.disrupted != "":
		f.Reason = v1alpha1.ReasonPodDisrupted
		f.Message = fmt.Sprintf("%s was ended by Kubernetes: %s", where, s.disrupted)
	case s.report != nil && s.report.Envelope.Failure != nil:
		r := s.report.Envelope.Failure
		f.Reason = r.Reason
		f.Message = fmt.Sprintf("%s: %s", where, r.Message)
		if r.Remedy != "" {
			f.Message += ". " + r.Remedy
		}
	case s.report != nil:
		f.Reason = v1alpha1.ReasonShardFailed
		f.Message = fmt.Sprintf("%s ended with a %s report", where, s.report.Envelope.Outcome)
	default:
		f.Reason = v1alpha1.ReasonShardLost
		f.Message = fmt.Sprintf("%s was lost: %s", where, s.badMsg)
		switch {
		case s.exitCode != nil:
			f.Message += fmt.Sprintf("; exit code %d %s", *s.exitCode, s.endReason)
		case s.endReason != "":
			f.Message += "; " + s.endReason
		}
	}
	f.Message = truncate(f.Message, maxMessage)
	return f
}

// firstFailure is the failed shard that tells most: one that ended by itself before one that missed the start, and that
// before one that was stopped because of it.
func firstFailure(shards []shard) *shard {
	var best *shard
	rank := func(s *shard) int {
		switch {
		case s.exitCode != nil && *s.exitCode == report.ExitInterrupted && s.disrupted == "":
			return 3 // told to stop: a consequence
		case s.neverBegan():
			return 2
		case s.phase == shardLost && s.disrupted == "":
			return 1
		}
		return 0
	}
	for i := range shards {
		if s := &shards[i]; s.failed() && (best == nil || rank(s) < rank(best)) {
			best = s
		}
	}
	return best
}

// maxMessage bounds messages in status; a condition may hold 32 KiB, but many of them share 64 KiB.
const maxMessage = 1024

// truncate cuts s to n bytes at the border of a rune.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const dots = "..."
	cut := n - len(dots)
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + dots
}

func joinReason(reason, message string) string {
	switch {
	case message == "":
		return reason
	case reason == "":
		return message
	}
	return reason + ": " + message
}
