package controllers

import (
	"context"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
)

// newReconciler is one whose API server holds some objects, and fails as the funcs say.
func newReconciler(t *testing.T, funcs interceptor.Funcs, objs ...client.Object) *Reconciler {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{v1alpha1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	byRun := func(o client.Object) []string { return []string{o.GetLabels()[jobs.LabelRunUID]} }
	c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...).WithStatusSubresource(&v1alpha1.DFSIORun{}).
		WithIndex(&corev1.Pod{}, indexRunUID, byRun).WithIndex(&batchv1.Job{}, indexRunUID, byRun).WithInterceptorFuncs(funcs).Build()
	return &Reconciler{
		Client: c, Direct: c, Benchmark: DFSIO{}, RunnerImage: testImage, Recorder: events.NewFakeRecorder(100),
		Clock: clocktesting.NewFakePassiveClock(testNow), memory: newMemory(),
	}
}

func request() ctrl.Request {
	return ctrl.Request{NamespacedName: client.ObjectKeyFromObject(newRun())}
}

// visits reconciles several times and returns the run and the last outcome.
func visits(t *testing.T, r *Reconciler, n int) (*v1alpha1.DFSIORun, ctrl.Result, error) {
	t.Helper()
	var result ctrl.Result
	var err error
	for range n {
		result, err = r.Reconcile(t.Context(), request())
	}
	run := &v1alpha1.DFSIORun{}
	if getErr := r.Client.Get(t.Context(), request().NamespacedName, run); getErr != nil {
		t.Fatal(getErr)
	}
	return run, result, err
}

// failCreate makes the creation of a kind fail.
func failCreate(kind client.Object, err error) interceptor.Funcs {
	return interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, obj client.Object, opts ...client.CreateOption) error {
		switch obj.(type) {
		case *batchv1.Job:
			if _, ok := kind.(*batchv1.Job); ok {
				return err
			}
		case *corev1.ConfigMap:
			if _, ok := kind.(*corev1.ConfigMap); ok {
				return err
			}
		}
		return c.Create(ctx, obj, opts...)
	}}
}

// TestImpossibleJobEndsTheRun: what the API server will never accept is not tried for ever.
func TestImpossibleJobEndsTheRun(t *testing.T) {
	cause := apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "job", field.ErrorList{
		field.NotFound(field.NewPath("spec", "template", "spec", "containers").Index(0).Child("volumeMounts").Index(4).Child("name"), "typo"),
	})
	r := newReconciler(t, failCreate(&batchv1.Job{}, cause), newRun())
	run, _, err := visits(t, r, 3)
	if err != nil {
		t.Fatal(err)
	}
	f := run.Status.Failure
	if f == nil || f.Reason != v1alpha1.ReasonInvalidSpec || !strings.HasPrefix(f.Message, "spec.podTemplate: ") || !strings.Contains(f.Message, `volumeMounts[4].name: Not found: "typo"`) {
		t.Fatalf("failure %+v", f)
	}
	if run.Status.CompletionTime == nil || verdicts(&run.Status)["Stalled"] != "True InvalidSpec" || run.Status.Steps[0].State != v1alpha1.StepFailed {
		t.Errorf("status %+v", run.Status)
	}
}

// TestForeignObjectEndsTheRun: an object of a child's name that is somebody else's is left alone.
func TestForeignObjectEndsTheRun(t *testing.T) {
	name := jobs.AttemptName("nightly", identity(newRun(), 1, stepRow("preflight", v1alpha1.StepPreparing, nil)))
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "bench", Name: name}, Data: map[string]string{"mine": "yes"}}
	r := newReconciler(t, interceptor.Funcs{}, newRun(), foreign)
	run, _, err := visits(t, r, 3)
	if err != nil {
		t.Fatal(err)
	}
	if f := run.Status.Failure; f == nil || f.Reason != v1alpha1.ReasonNameConflict || run.Status.CompletionTime == nil {
		t.Fatalf("failure %+v", f)
	}
	kept := &corev1.ConfigMap{}
	if err := r.Client.Get(t.Context(), client.ObjectKeyFromObject(foreign), kept); err != nil || kept.Data["mine"] != "yes" {
		t.Errorf("the foreign object holds %v, error %v", kept.Data, err)
	}
}

// TestTerminatingNamespace: nothing is made, nothing is tried again, and the status does not change.
func TestTerminatingNamespace(t *testing.T) {
	cause := apierrors.NewForbidden(schema.GroupResource{Group: "batch", Resource: "jobs"}, "job", nil)
	cause.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for name, kind := range map[string]client.Object{"plan": &corev1.ConfigMap{}, "Job": &batchv1.Job{}} {
		t.Run(name, func(t *testing.T) {
			r := newReconciler(t, failCreate(kind, cause), newRun())
			run, result, err := visits(t, r, 4)
			if err != nil || result.RequeueAfter != 0 || run.Status.CompletionTime != nil || run.Status.Steps[0].State != v1alpha1.StepPreparing {
				t.Errorf("error %v, next visit in %s, status %+v", err, result.RequeueAfter, run.Status)
			}
		})
	}
}

// TestStaleCache: a run that was changed in between is neither acted upon nor an error.
func TestStaleCache(t *testing.T) {
	r := newReconciler(t, interceptor.Funcs{}, newRun())
	visits(t, r, 2) // an attempt is recorded
	changed := newReconciler(t, interceptor.Funcs{}, newRun(func(run *v1alpha1.DFSIORun) { run.ResourceVersion = "12345" }))
	r.Direct = changed.Direct
	_, result, err := visits(t, r, 1)
	if err != nil || result.RequeueAfter != staleRetry {
		t.Errorf("error %v, next visit in %s", err, result.RequeueAfter)
	}
	var list batchv1.JobList
	if err := r.Client.List(t.Context(), &list); err != nil || len(list.Items) != 0 {
		t.Errorf("%d Jobs are made, error %v", len(list.Items), err)
	}
}

// TestLostStatusWrite: an attempt that was made before its visit failed is found, not made again.
func TestLostStatusWrite(t *testing.T) {
	r := newReconciler(t, interceptor.Funcs{}, newRun())
	visits(t, r, 3)
	run, _, err := visits(t, r, 3)
	var list batchv1.JobList
	if listErr := r.Client.List(t.Context(), &list); listErr != nil || err != nil {
		t.Fatal(listErr, err)
	}
	if len(list.Items) != 1 || list.Items[0].Name != run.Status.Steps[0].Job || !metav1.IsControlledBy(&list.Items[0], run) {
		t.Errorf("Jobs %v of row %+v", list.Items, run.Status.Steps[0])
	}
}

// TestGoneRunIsForgotten: pods that vanish after their run do not stay in memory.
func TestGoneRunIsForgotten(t *testing.T) {
	r := newReconciler(t, interceptor.Funcs{})
	r.memory.podDeleted(vanished(testUID, "nightly", "a", "p1"))
	r.memory.gave(testUID, "p1", "T")
	result, err := r.Reconcile(t.Context(), request())
	if err != nil || result.RequeueAfter != 0 || len(r.memory.deleted)+len(r.memory.given) != 0 {
		t.Errorf("error %v, next visit in %s, %d runs remembered", err, result.RequeueAfter, len(r.memory.deleted)+len(r.memory.given))
	}
}

// TestRunBeingDeletedIsLeftAlone: its children go with it.
func TestRunBeingDeletedIsLeftAlone(t *testing.T) {
	r := newReconciler(t, interceptor.Funcs{}, newRun(func(run *v1alpha1.DFSIORun) {
		run.DeletionTimestamp, run.Finalizers = ptr(metav1.NewTime(testNow)), []string{"example.com/other"}
	}))
	run, result, err := visits(t, r, 5)
	if err != nil || result.RequeueAfter != 0 || run.Status.StartTime != nil {
		t.Errorf("error %v, next visit in %s, status %+v", err, result.RequeueAfter, run.Status)
	}
}

// TestQuietVisits: a visit that finds nothing new writes nothing.
func TestQuietVisits(t *testing.T) {
	r := newReconciler(t, interceptor.Funcs{}, newRun())
	before, _, _ := visits(t, r, 5)
	r.Clock = clocktesting.NewFakePassiveClock(testNow.Add(3 * time.Second))
	after, result, err := visits(t, r, 3)
	if err != nil || before.ResourceVersion != after.ResourceVersion || result.RequeueAfter <= 0 {
		t.Errorf("error %v, versions %s and %s, next visit in %s", err, before.ResourceVersion, after.ResourceVersion, result.RequeueAfter)
	}
}
