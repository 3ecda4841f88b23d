package controllers

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// Reconciler carries out the runs of one kind.
type Reconciler struct {
	// Client reads pods, Jobs and runs from the cache, and writes.
	Client client.Client
	// Direct reads from the API server.
	Direct client.Reader
	// Benchmark knows the kind.
	Benchmark Benchmark
	// RunnerImage is the image of runner pods, unless a run names one.
	RunnerImage string
	// PullSecrets are the names of the Secrets to pull it with, unless a run names some.
	PullSecrets []string
	// Recorder emits events.
	Recorder events.EventRecorder
	// Clock is the time that deadlines and starts are counted by.
	Clock clock.PassiveClock

	memory *memory
}

// Reconcile takes one run one step further.
func (r *Reconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	run := r.Benchmark.New()
	err := r.Client.Get(ctx, req.NamespacedName, run)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	r.memory.forgetNamesakes(req.NamespacedName, run.GetUID())
	if err != nil {
		return ctrl.Result{}, nil // it is gone
	}
	if run.GetDeletionTimestamp() != nil {
		r.memory.forget(run.GetUID(), "")
		return ctrl.Result{}, nil // what it owns goes by itself; its data stays
	}
	o, err := r.gather(ctx, run)
	if err != nil {
		return ctrl.Result{}, err
	}
	d := decide(o)
	if err := r.act(ctx, o, &d); err != nil {
		return r.actFailed(ctx, o, err)
	}
	if err := r.write(ctx, o, &d); err != nil {
		return retryStale(client.IgnoreNotFound(err)) // a run that was deleted meanwhile needs no status
	}
	return ctrl.Result{RequeueAfter: d.requeue}, nil
}

// actFailed sorts errors of doing: a namespace that is being deleted takes nothing new, and a name that somebody else
// has, or a Job that the API server finds impossible, ends the run; everything else is tried again.
func (r *Reconciler) actFailed(ctx context.Context, o *observed, err error) (ctrl.Result, error) {
	var conflict *conflictError
	var refused *refusedError
	switch {
	case apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return ctrl.Result{}, nil
	case errors.As(err, &conflict):
		return r.end(ctx, o, v1alpha1.ReasonNameConflict, conflict.Error())
	case errors.As(err, &refused):
		return r.end(ctx, o, v1alpha1.ReasonInvalidSpec, refused.Error())
	}
	return retryStale(err)
}

// end ends a run for a reason that no other visit will find changed.
func (r *Reconciler) end(ctx context.Context, o *observed, reason, message string) (ctrl.Result, error) {
	d := decision{next: *o.status.DeepCopy()}
	message = truncate(message, maxMessage)
	d.fail(&v1alpha1.Failure{Reason: reason, Message: message})
	now := metav1.NewTime(o.now)
	d.next.CompletionTime = &now
	if row := present(&d.next); row != nil {
		row.State, row.EndTime, row.Message = v1alpha1.StepFailed, &now, message
	}
	d.finish(o)
	setConditions(o.run, o.spec, &d.next, verdict{}, now)
	return retryStale(r.write(ctx, o, &d))
}

// staleRetry is how soon a visit is repeated that found its cache behind.
const staleRetry = 200 * time.Millisecond

// retryStale makes a quiet repetition of what is no error: somebody wrote in between.
func retryStale(err error) (ctrl.Result, error) {
	if errors.Is(err, errStale) || apierrors.IsConflict(err) {
		return ctrl.Result{RequeueAfter: staleRetry}, nil
	}
	return ctrl.Result{}, err
}

// write writes the status if it changed, and tells the events that led to it only once it is written.
func (r *Reconciler) write(ctx context.Context, o *observed, d *decision) error {
	if equality.Semantic.DeepEqual(*o.status, d.next) {
		return nil
	}
	*o.status = d.next
	if err := r.Client.Status().Update(ctx, o.run, fieldOwner); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	for _, e := range d.events {
		log.FromContext(ctx).Info(e.message, "reason", e.reason)
		r.Recorder.Eventf(o.run, nil, e.kind, e.reason, "Reconcile", "%s", e.message)
	}
	return nil
}
