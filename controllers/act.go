package controllers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
)

// fieldOwner is the manager's name in the API server's bookkeeping; orderOwner is the one under which orders are
// written to pods, beside the kubelet.
const (
	fieldOwner = client.FieldOwner("hadoop-bench-operator")
	orderOwner = client.FieldOwner("hadoop-bench-operator-orders")
)

// patchers is how many orders are given at once.
const patchers = 16

// act does what was decided.
func (r *Reconciler) act(ctx context.Context, o *observed, d *decision) error {
	if d.create || d.persist != nil || len(d.remove) > 0 {
		if err := r.current(ctx, o); err != nil {
			return err
		}
	}
	if d.create {
		if err := r.createAttempt(ctx, o); err != nil {
			return err
		}
	}
	if err := r.give(ctx, o, slices.Concat(d.start, d.reminders, d.stop)); err != nil {
		return err
	}
	if d.persist != nil {
		if err := r.persist(ctx, o, d.persist); err != nil {
			return err
		}
	}
	for _, name := range d.remove {
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: o.run.GetNamespace(), Name: name}}
		if err := r.Client.Delete(ctx, job, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Job %s: %w", name, err)
		}
	}
	return nil
}

// current finds that the run is still as it was read. With a stale cache, what looks like an attempt to be made may be
// one that has long ended, in a run that is finished or being deleted; its reports seem lost when their pods are gone;
// and what looks like a leftover may be the attempt that is under way.
func (r *Reconciler) current(ctx context.Context, o *observed) error {
	fresh := r.Benchmark.New()
	switch err := r.Direct.Get(ctx, client.ObjectKeyFromObject(o.run), fresh); {
	case apierrors.IsNotFound(err):
		return errStale
	case err != nil:
		return fmt.Errorf("read the run before acting on it: %w", err)
	case fresh.GetUID() != o.run.GetUID() || fresh.GetResourceVersion() != o.run.GetResourceVersion() || fresh.GetDeletionTimestamp() != nil:
		return errStale
	}
	return nil
}

// createAttempt makes the present attempt's plan and Job.
func (r *Reconciler) createAttempt(ctx context.Context, o *observed) error {
	in := r.input(o)
	cm, err := jobs.PlanConfigMap(in)
	if err != nil {
		return err
	}
	if err := r.createOwned(ctx, o, cm); err != nil {
		return fmt.Errorf("make the plan: %w", err)
	}
	job := jobs.Job(in)
	err = r.createOwned(ctx, o, job)
	if apierrors.IsInvalid(err) {
		return &refusedError{err}
	}
	if err != nil {
		return fmt.Errorf("make the Job: %w", err)
	}
	return nil
}

// refusedError: the API server finds the Job impossible that was built from the spec, and always will.
type refusedError struct{ err error }

func (e *refusedError) Error() string {
	return fmt.Sprintf("spec.podTemplate: the Job made with it is invalid: %v; correct it in a new run", e.err)
}

func (e *refusedError) Unwrap() error { return e.err }

// errStale: the cache is behind; the visit is repeated when it has caught up.
var errStale = errors.New("the cache is behind the API server")

// createOwned creates an object of a fixed name, or finds that this was done before.
func (r *Reconciler) createOwned(ctx context.Context, o *observed, obj client.Object) error {
	err := r.Client.Create(ctx, obj, fieldOwner)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	if err := r.Direct.Get(ctx, client.ObjectKeyFromObject(obj), obj); err != nil {
		return err
	}
	if !metav1.IsControlledBy(obj, o.run) {
		return &conflictError{fmt.Sprintf("%T", obj), obj.GetName()}
	}
	return nil
}

// input is what the present attempt's objects are built from.
func (r *Reconciler) input(o *observed) jobs.Input {
	row := present(o.status)
	step := stepOf(o, row)
	t := o.spec.Target
	p := plan.Plan{
		Version: plan.Version, Identity: identity(o.run, o.status.Execution, *row),
		Run: o.run.GetNamespace() + "/" + o.run.GetName(), Shards: step.Shards, Gate: step.Gated,
		GateTimeoutMillis: gateTimeout.Milliseconds(), SeriesMicros: seriesMicros,
		Target: targetPlan(&t), Earlier: earlier(o.status, step),
	}
	switch step.Name {
	case plan.StepPreflight:
		p.TimeoutMillis = preflightTimeout.Milliseconds()
	case plan.StepCleanup, plan.OpClean: // every kind calls it clean
		p.TimeoutMillis = removalTimeout.Milliseconds()
	}
	r.Benchmark.Fill(o.run, &p)
	in := jobs.Input{
		Owner: r.owner(o.run), Namespace: o.run.GetNamespace(), Name: o.run.GetName(), Plan: p, Parallelism: step.Shards,
		Image: o.status.Effective.RunnerImage, PullSecrets: r.PullSecrets, Template: o.spec.PodTemplate,
	}
	if t.HadoopConfig != nil {
		in.ConfigMap = t.HadoopConfig.ConfigMapRef.Name
	}
	if k := t.Kerberos; k != nil {
		in.KeytabSecret, in.Krb5ConfigMap = k.KeytabSecretRef.Name, k.Krb5ConfigMapRef.Name
	}
	return in
}

// targetPlan is what shards are told of the target.
func targetPlan(t *v1alpha1.Target) plan.Target {
	out := plan.Target{FS: t.FS, User: t.User}
	if len(t.Properties) > 0 {
		out.Properties = map[string]string{}
	}
	for k, v := range t.Properties {
		out.Properties[k] = string(v)
	}
	if k := t.Kerberos; k != nil {
		out.Kerberos = &plan.Kerberos{Principal: k.Principal, Keytab: plan.KeytabFile, Krb5Conf: plan.Krb5File}
	}
	return out
}

// seriesMicros is the width of the finest bucket of rate series; it doubles as often as needed.
const seriesMicros = 100_000

func (r *Reconciler) owner(run Run) metav1.OwnerReference {
	return *metav1.NewControllerRef(run, v1alpha1.GroupVersion.WithKind(r.Benchmark.Kind()))
}

// give writes orders to pods through pods/status, several at a time. The pod's UID in the patch keeps an order from a
// pod of the same name; a pod that is gone needs none.
func (r *Reconciler) give(ctx context.Context, o *observed, orders []order) error {
	queue := make(chan order)
	errs := make(chan error, len(orders))
	var wg sync.WaitGroup
	for range min(patchers, len(orders)) {
		wg.Go(func() {
			for ord := range queue {
				errs <- r.giveOne(ctx, o, ord)
			}
		})
	}
	for _, ord := range orders {
		queue <- ord
	}
	close(queue)
	wg.Wait()
	close(errs)
	var all []error
	for err := range errs {
		if err != nil && len(all) < 8 {
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

func (r *Reconciler) giveOne(ctx context.Context, o *observed, ord order) error {
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": ord.uid, "annotations": map[string]string{ord.key: ord.value},
	}})
	if err != nil {
		return fmt.Errorf("encode order to pod %s: %w", ord.pod, err)
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: o.run.GetNamespace(), Name: ord.pod}}
	err = r.Client.Status().Patch(ctx, pod, client.RawPatch(types.MergePatchType, patch), orderOwner)
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("give pod %s its %s: %w", ord.pod, ord.key, err)
	}
	if err == nil && ord.key == plan.AnnotationStartAt {
		r.memory.gave(o.run.GetUID(), ord.uid, ord.value)
	}
	return nil
}
