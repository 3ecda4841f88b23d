package controllers

import (
	"context"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
)

// indexRunUID finds pods and Jobs of a run.
const indexRunUID = "runUID"

// maxConcurrent runs are visited at once; one run by one visit at a time.
const maxConcurrent = 4

// CacheOptions limit the manager's cache to what the operator made, and pods to what it looks at: thousands of pods
// would else be held whole. An empty namespace means all of them.
func CacheOptions(namespace string) cache.Options {
	mine := labels.SelectorFromSet(labels.Set{jobs.LabelManaged: jobs.ManagedBy})
	o := cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:  {Label: mine, Transform: trimPod},
			&batchv1.Job{}: {Label: mine, Transform: trimJob},
		},
	}
	if namespace != "" {
		o.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return o
}

// trimPod keeps of a pod what shardOf reads.
func trimPod(obj any) (any, error) {
	p, ok := obj.(*corev1.Pod)
	if !ok {
		return obj, nil
	}
	t := &corev1.Pod{TypeMeta: p.TypeMeta}
	t.Namespace, t.Name, t.UID, t.ResourceVersion = p.Namespace, p.Name, p.UID, p.ResourceVersion
	t.CreationTimestamp, t.DeletionTimestamp, t.Labels = p.CreationTimestamp, p.DeletionTimestamp, p.Labels
	t.Annotations = map[string]string{}
	for _, k := range []string{batchv1.JobCompletionIndexAnnotation, jobs.AnnotationRun, plan.AnnotationStartAt, plan.AnnotationReminder, plan.AnnotationStop} {
		if v, ok := p.Annotations[k]; ok {
			t.Annotations[k] = v
		}
	}
	t.Spec.NodeName = p.Spec.NodeName
	t.Status = corev1.PodStatus{Phase: p.Status.Phase, Reason: p.Status.Reason, Message: p.Status.Message}
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled || c.Type == corev1.PodReady || c.Type == corev1.DisruptionTarget {
			t.Status.Conditions = append(t.Status.Conditions, corev1.PodCondition{Type: c.Type, Status: c.Status, Reason: c.Reason, Message: c.Message})
		}
	}
	for _, c := range p.Status.ContainerStatuses {
		if c.Name == plan.Container {
			t.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: c.Name, State: c.State, ImageID: c.ImageID}}
		}
	}
	for _, c := range p.Status.InitContainerStatuses {
		if c.Name == jobs.InstallContainer {
			t.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: c.Name, State: c.State}}
		}
	}
	return t, nil
}

// trimJob keeps of a Job who it is and what its status says.
func trimJob(obj any) (any, error) {
	if j, ok := obj.(*batchv1.Job); ok {
		j.ManagedFields = nil
		j.Spec = batchv1.JobSpec{Suspend: j.Spec.Suspend}
	}
	return obj, nil
}

// SetupWithManager registers the reconcilers, one for each kind. The manager's cache must have been made with
// CacheOptions.
func SetupWithManager(ctx context.Context, mgr ctrl.Manager, reconcilers ...*Reconciler) error {
	byRun := func(o client.Object) []string { return []string{o.GetLabels()[jobs.LabelRunUID]} }
	for _, obj := range []client.Object{&corev1.Pod{}, &batchv1.Job{}} {
		if err := mgr.GetFieldIndexer().IndexField(ctx, obj, indexRunUID, byRun); err != nil {
			return fmt.Errorf("index %T: %w", obj, err)
		}
	}
	for _, r := range reconcilers {
		if err := r.setUp(mgr); err != nil {
			return err
		}
	}
	return nil
}

// setUp registers one reconciler.
func (r *Reconciler) setUp(mgr ctrl.Manager) error {
	r.memory = newMemory()
	err := ctrl.NewControllerManagedBy(mgr).
		Named(strings.ToLower(r.Benchmark.Kind())).
		For(r.Benchmark.New()).
		Owns(&batchv1.Job{}).
		Watches(&corev1.Pod{}, r.podHandler()).
		WithOptions(controller.Options{MaxConcurrentReconciles: maxConcurrent}).
		Complete(r)
	if err != nil {
		return fmt.Errorf("set up controller of %s: %w", r.Benchmark.Kind(), err)
	}
	return nil
}

// podHandler asks for a visit when a pod changed in what matters, and keeps the last state of a deleted one.
func (r *Reconciler) podHandler() handler.EventHandler {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	enqueue := func(o client.Object, q queue) {
		if o.GetLabels()[jobs.LabelKind] == strings.ToLower(r.Benchmark.Kind()) {
			q.Add(reconcile.Request{NamespacedName: types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetAnnotations()[jobs.AnnotationRun]}})
		}
	}
	return handler.Funcs{
		CreateFunc: func(_ context.Context, e event.CreateEvent, q queue) { enqueue(e.Object, q) },
		UpdateFunc: func(_ context.Context, e event.UpdateEvent, q queue) {
			if podChanged(e.ObjectOld, e.ObjectNew) {
				enqueue(e.ObjectNew, q)
			}
		},
		DeleteFunc: func(_ context.Context, e event.DeleteEvent, q queue) {
			if p, ok := e.Object.(*corev1.Pod); ok && p.Labels[jobs.LabelKind] == strings.ToLower(r.Benchmark.Kind()) {
				r.memory.podDeleted(p)
			}
			enqueue(e.Object, q)
		},
	}
}

// podChanged compares what is kept of a pod; its resource version changes with everything else, too.
func podChanged(before, after client.Object) bool {
	a, okA := before.(*corev1.Pod)
	b, okB := after.(*corev1.Pod)
	if !okA || !okB {
		return true
	}
	same := func(t1, t2 *metav1.Time) bool { return t1.Equal(t2) }
	return a.Spec.NodeName != b.Spec.NodeName || !same(a.DeletionTimestamp, b.DeletionTimestamp) ||
		!equality.Semantic.DeepEqual(a.Status, b.Status) || !equality.Semantic.DeepEqual(a.Annotations, b.Annotations)
}
