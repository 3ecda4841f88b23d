package controllers

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/controllers/results"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// troubleAfter is the part of startDeadline after which events are read for what keeps pods from starting.
const troubleAfter = 4

// gather reads all that a decision depends on. Pods and Jobs come from the cache; the rest is asked for only when it
// matters, and directly.
func (r *Reconciler) gather(ctx context.Context, run Run) (*observed, error) {
	spec, status := run.RunObject()
	hash, err := specHash(run)
	if err != nil {
		return nil, err
	}
	o := &observed{now: r.Clock.Now(), bench: r.Benchmark, run: run, spec: spec, status: status, hash: hash, image: r.RunnerImage}
	if o.config, err = r.config(ctx, o); err != nil {
		return nil, err
	}
	if status.Effective == nil {
		return o, nil
	}
	job, pods, err := r.children(ctx, o)
	if err != nil {
		return nil, err
	}
	row := present(status)
	if row == nil {
		r.memory.forget(run.GetUID(), "")
		return o, nil
	}
	id := identity(run, status.Execution, *row)
	if pods, err = r.surely(ctx, o, row, id, pods); err != nil {
		return nil, err
	}
	r.memory.forget(run.GetUID(), jobs.AttemptHash(id))
	deleted := r.memory.deletedPods(run.GetUID(), jobs.AttemptHash(id))
	gone := map[types.UID]bool{}
	for _, p := range deleted {
		gone[p.UID] = true
	}
	o.jobFound = job != nil
	o.shards, err = shardsOf(id, row.Shards.Expected, row.StartAt != nil, job, append(pods, deleted...), gone, o.now)
	if err != nil {
		return nil, err
	}
	for i := range o.shards {
		if o.shards[i].startAt == "" {
			o.shards[i].startAt = r.memory.startOf(run.GetUID(), o.shards[i].uid)
		}
	}
	if o.trouble, err = r.trouble(ctx, o, row); err != nil {
		return nil, err
	}
	if row.State == v1alpha1.StepStopping || allOver(o.shards) {
		o.document, err = r.document(ctx, o)
	}
	return o, err
}

// config looks for the Hadoop configuration until the execution has begun with it.
func (r *Reconciler) config(ctx context.Context, o *observed) (config, error) {
	if o.status.Effective != nil || o.spec.Target.HadoopConfig == nil {
		return config{}, nil
	}
	var cm corev1.ConfigMap
	key := types.NamespacedName{Namespace: o.run.GetNamespace(), Name: o.spec.Target.HadoopConfig.ConfigMapRef.Name}
	switch err := r.Direct.Get(ctx, key, &cm); {
	case apierrors.IsNotFound(err):
		return config{wanted: true}, nil
	case err != nil:
		return config{}, fmt.Errorf("read Hadoop configuration: %w", err)
	}
	files := map[string][]byte{}
	for k, v := range cm.Data {
		files[k] = []byte(v)
	}
	maps.Copy(files, cm.BinaryData)
	return config{wanted: true, found: true, hash: plan.ConfHash(files)}, nil
}

// children finds the present attempt's Job and pods, and the run's Jobs that are left of other attempts.
func (r *Reconciler) children(ctx context.Context, o *observed) (*batchv1.Job, []corev1.Pod, error) {
	var list batchv1.JobList
	var pods corev1.PodList
	mine := []client.ListOption{client.InNamespace(o.run.GetNamespace()), client.MatchingFields{indexRunUID: string(o.run.GetUID())}}
	if err := r.Client.List(ctx, &list, mine...); err != nil {
		return nil, nil, fmt.Errorf("list Jobs: %w", err)
	}
	if err := r.Client.List(ctx, &pods, mine...); err != nil {
		return nil, nil, fmt.Errorf("list pods: %w", err)
	}
	row := present(o.status)
	current, attempt := "", ""
	if row != nil {
		current, attempt = row.Job, jobs.AttemptHash(identity(o.run, o.status.Execution, *row))
	}
	var job *batchv1.Job
	for i := range list.Items {
		switch j := &list.Items[i]; {
		case !metav1.IsControlledBy(j, o.run):
			continue // somebody else's, whatever its labels say
		case j.Name == current:
			job = j
		case !inspectable(o.status, j.Name) && j.DeletionTimestamp == nil:
			o.others = append(o.others, j.Name)
		}
	}
	var own []corev1.Pod
	for _, p := range pods.Items {
		if p.Labels[jobs.LabelAttempt] == attempt && row != nil {
			own = append(own, p)
		} else if !runnerEnded(&p) {
			o.othersBusy = true
		}
	}
	return job, own, nil
}

// runnerEnded says whether a pod's runner has ended, whatever sidecars do: it works on no files any more.
func runnerEnded(p *corev1.Pod) bool {
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == plan.Container && c.State.Terminated != nil {
			return true
		}
	}
	return p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded
}

// surely reads the attempt's pods directly if its start has become too near to be given to more of them: what is decided
// then depends on which of them have it, and the cache may not show that yet.
func (r *Reconciler) surely(ctx context.Context, o *observed, row *v1alpha1.StepStatus, id report.Identity, cached []corev1.Pod) ([]corev1.Pod, error) {
	if row.State != v1alpha1.StepRunning || row.StartAt == nil || row.StartAt.Sub(o.now) >= gateMargin {
		return cached, nil
	}
	at := row.StartAt.UTC().Format(plan.TimeFormat)
	if !slices.ContainsFunc(cached, func(p corev1.Pod) bool { return p.Annotations[plan.AnnotationStartAt] != at }) {
		return cached, nil
	}
	var list corev1.PodList
	labels := client.MatchingLabels{jobs.LabelRunUID: string(o.run.GetUID()), jobs.LabelAttempt: jobs.AttemptHash(id)}
	if err := r.Direct.List(ctx, &list, client.InNamespace(o.run.GetNamespace()), labels); err != nil {
		return nil, fmt.Errorf("list pods directly: %w", err)
	}
	return list.Items, nil
}

// inspectable says whether a Job is kept with its failed pods.
func inspectable(st *v1alpha1.RunStatus, job string) bool {
	return slices.ContainsFunc(st.Steps, func(row v1alpha1.StepStatus) bool {
		return row.Job == job && row.State == v1alpha1.StepFailed
	})
}

// trouble reads the events of the present attempt's Job and pods, once the start takes long: quotas that refuse pods
// and volumes that cannot be mounted are told nowhere else.
func (r *Reconciler) trouble(ctx context.Context, o *observed, row *v1alpha1.StepStatus) (string, error) {
	deadline := durationOr(o.spec.StartDeadline, defaultStartDeadline)
	if row.State != v1alpha1.StepPreparing || row.ProgressTime == nil || o.now.Sub(row.ProgressTime.Time) < deadline/troubleAfter {
		return "", nil
	}
	var list corev1.EventList
	if err := r.Direct.List(ctx, &list, client.InNamespace(o.run.GetNamespace()), client.MatchingFields{"type": corev1.EventTypeWarning}, client.Limit(500)); err != nil {
		return "", fmt.Errorf("list events: %w", err)
	}
	var latest *corev1.Event
	for i := range list.Items {
		e := &list.Items[i]
		if e.InvolvedObject.Name != row.Job && !strings.HasPrefix(e.InvolvedObject.Name, row.Job+"-") || !tells(e.Reason) {
			continue
		}
		if latest == nil || latest.LastTimestamp.Before(&e.LastTimestamp) {
			latest = e
		}
	}
	if latest == nil {
		return "", nil
	}
	return truncate(latest.Reason+": "+latest.Message, maxMessage/2), nil
}

// tells says whether an event's reason is one that the pods' own status does not show.
func tells(reason string) bool {
	return reason == "FailedCreate" || reason == "FailedMount" || reason == "FailedAttachVolume" || reason == "FailedCreatePodSandBox"
}

// document reads the results so far.
func (r *Reconciler) document(ctx context.Context, o *observed) (*results.Document, error) {
	var cm corev1.ConfigMap
	key := types.NamespacedName{Namespace: o.run.GetNamespace(), Name: jobs.ReportName(o.run.GetName(), o.run.GetUID(), o.status.Execution)}
	switch err := r.Direct.Get(ctx, key, &cm); {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read results: %w", err)
	}
	if !metav1.IsControlledBy(&cm, o.run) {
		return nil, nil // somebody else's; keeping the results will tell
	}
	return results.Unpack(cm.Data, cm.BinaryData)
}
