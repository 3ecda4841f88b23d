package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/controllers/results"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// bigPod is a pod as a real cluster shows it, with much that nobody looks at.
func bigPod() *corev1.Pod {
	p := podOf(1, scheduled("node-a"), condition(corev1.PodInitialized, corev1.ConditionTrue, "", ""), ready(), reported(completeReport(testID(), 1, testNow)), deleted(testNow))
	p.Labels = map[string]string{jobs.LabelRunUID: testUID, jobs.LabelAttempt: "a"}
	p.Annotations[plan.AnnotationStartAt], p.Annotations[plan.AnnotationStop], p.Annotations[jobs.AnnotationRun] = "T", "Suspended", "nightly"
	p.Annotations["cni.example.com/status"] = "much"
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet"}}
	p.OwnerReferences, p.Finalizers = []metav1.OwnerReference{{Name: "job"}}, []string{"batch.kubernetes.io/job-tracking"}
	p.Spec.Containers, p.Spec.Volumes = []corev1.Container{{Name: plan.Container}}, []corev1.Volume{{Name: "plan"}}
	p.Status.ContainerStatuses = append(p.Status.ContainerStatuses, corev1.ContainerStatus{Name: "sidecar"})
	p.Status.InitContainerStatuses = []corev1.ContainerStatus{
		{Name: "mesh"}, {Name: jobs.InstallContainer, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull"}}},
	}
	p.Status.PodIP = "198.18.0.7"
	return &p
}

// TestTrimmedPodTellsTheSame: what the cache keeps of a pod is all that is read of it.
func TestTrimmedPodTellsTheSame(t *testing.T) {
	big := bigPod()
	before := big.DeepCopy()
	got, err := trimPod(big)
	if err != nil {
		t.Fatal(err)
	}
	trimmed, ok := got.(*corev1.Pod)
	if !ok {
		t.Fatalf("a pod is trimmed to a %T", got)
	}
	want, have := shardOf(testID(), 1, *before, testNow), shardOf(testID(), 1, *trimmed, testNow)
	if diff := cmp.Diff(see(want), see(have)); diff != "" || want.startAt != have.startAt || want.stop != have.stop || want.uid != have.uid || want.imageID != have.imageID {
		t.Errorf("shard (-whole +trimmed):\n%s", diff)
	}
	switch {
	case len(trimmed.Spec.Containers)+len(trimmed.Spec.Volumes)+len(trimmed.ManagedFields)+len(trimmed.OwnerReferences)+len(trimmed.Finalizers) != 0:
		t.Error("the trimmed pod holds what nobody reads")
	case len(trimmed.Status.ContainerStatuses) != 1 || len(trimmed.Status.InitContainerStatuses) != 1 || len(trimmed.Status.Conditions) != 1 || len(trimmed.Annotations) != 4 || trimmed.Status.PodIP != "":
		t.Errorf("status %+v, annotations %v", trimmed.Status, trimmed.Annotations)
	}
	if diff := cmp.Diff(before, big); diff != "" {
		t.Errorf("the pod itself was changed:\n%s", diff)
	}
	again, err := trimPod(trimmed)
	if diff := cmp.Diff(got, again); diff != "" || err != nil {
		t.Errorf("trimming twice (-once +twice), error %v:\n%s", err, diff)
	}
}

func TestTrimJob(t *testing.T) {
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job", OwnerReferences: []metav1.OwnerReference{{Name: "nightly"}}, ManagedFields: []metav1.ManagedFieldsEntry{{}}},
		Spec:       batchv1.JobSpec{Suspend: ptr(true), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{NodeName: "x"}}},
		Status:     batchv1.JobStatus{FailedIndexes: ptr("1")},
	}
	want := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "job", OwnerReferences: []metav1.OwnerReference{{Name: "nightly"}}},
		Spec:       batchv1.JobSpec{Suspend: ptr(true)}, Status: batchv1.JobStatus{FailedIndexes: ptr("1")},
	}
	got, err := trimJob(job)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("trimmed Job (-want +got), error %v:\n%s", err, diff)
	}
}

// TestTrimLeavesOthersAlone: a tombstone of the cache is no pod.
func TestTrimLeavesOthersAlone(t *testing.T) {
	for name, trim := range map[string]func(any) (any, error){"pod": trimPod, "Job": trimJob} {
		if got, err := trim("tombstone"); got != "tombstone" || err != nil {
			t.Errorf("trimming a %s: %v, error %v", name, got, err)
		}
	}
}

func TestPodChanged(t *testing.T) {
	tests := map[string]struct {
		edit func(*corev1.Pod)
		want bool
	}{
		"resource version": {func(p *corev1.Pod) { p.ResourceVersion = "2" }, false},
		"labels":           {func(p *corev1.Pod) { p.Labels = map[string]string{"a": "b"} }, false},
		"node":             {scheduled("node-a"), true},
		"ready":            {ready(), true},
		"report":           {reported(completeReport(testID(), 0, testNow)), true},
		"deleted":          {deleted(testNow), true},
		"start time":       {func(p *corev1.Pod) { p.Annotations[plan.AnnotationStartAt] = "T" }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			before, after := podOf(0), podOf(0, tc.edit)
			if got := podChanged(&before, &after); got != tc.want {
				t.Errorf("podChanged() = %t", got)
			}
		})
	}
	same := podOf(0, deleted(testNow))
	same.DeletionTimestamp = ptr(metav1.NewTime(testNow.In(time.FixedZone("elsewhere", 3600))))
	before := podOf(0, deleted(testNow))
	if podChanged(&before, &same) || !podChanged(&corev1.Node{}, &same) {
		t.Error("the same time in another zone is a change, or another kind is none")
	}
}

// TestPodHandlerSortsByKind: each kind's reconciler hears of the pods of its own runs only.
func TestPodHandlerSortsByKind(t *testing.T) {
	for _, b := range Benchmarks() {
		for _, of := range Benchmarks() {
			r := &Reconciler{Benchmark: b, memory: newMemory()}
			queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
			pod := podOf(0, func(p *corev1.Pod) {
				p.Labels = map[string]string{jobs.LabelKind: strings.ToLower(of.Kind()), jobs.LabelRunUID: testUID, jobs.LabelAttempt: "a"}
				p.Annotations[jobs.AnnotationRun] = "nightly"
			})
			h := r.podHandler()
			h.Create(t.Context(), event.CreateEvent{Object: &pod}, queue)
			h.Delete(t.Context(), event.DeleteEvent{Object: &pod}, queue)
			want := 0
			if b == of {
				want = 1
			}
			if queue.Len() != want || len(r.memory.deletedPods(testUID, "a")) != want {
				t.Errorf("%s: %d visits for a pod of %s, %d remembered", b.Kind(), queue.Len(), of.Kind(), len(r.memory.deletedPods(testUID, "a")))
			}
			queue.ShutDown()
		}
	}
}

func TestCacheOptions(t *testing.T) {
	all := CacheOptions("")
	if len(all.ByObject) != 2 || all.DefaultNamespaces != nil {
		t.Errorf("cache of %d kinds in %v", len(all.ByObject), all.DefaultNamespaces)
	}
	for obj, by := range all.ByObject {
		if by.Label == nil || by.Label.String() != "app.kubernetes.io/managed-by=hadoop-bench-operator" || by.Transform == nil {
			t.Errorf("the cache of %T holds %v", obj, by.Label)
		}
	}
	if one := CacheOptions("bench"); len(one.DefaultNamespaces) != 1 {
		t.Errorf("namespaces %v", one.DefaultNamespaces)
	}
}

// TestTells: events are read for what the pods' own status does not show.
func TestTells(t *testing.T) {
	for reason, want := range map[string]bool{"FailedCreate": true, "FailedMount": true, "FailedAttachVolume": true, "FailedCreatePodSandBox": true, "FailedScheduling": false, "BackOff": false, "": false} {
		if got := tells(reason); got != want {
			t.Errorf("tells(%q) = %t", reason, got)
		}
	}
}

// TestRoomNeeded: rows are left out before an execution's ConfigMaps take more than 4 MiB.
func TestRoomNeeded(t *testing.T) {
	d := &results.Document{}
	for range 8 {
		d.Sections = append(d.Sections, results.Section{Merged: &report.Merged{Shards: report.ShardCounts{Expected: 10000}}}, results.Section{})
	}
	if got := roomNeeded(d); got != 8*10000*rowsPerShard || got > maxRowsTotal {
		t.Errorf("8 measurements of 10,000 shards need %d bytes", got)
	}
}

// TestInputOfKerberos: the plan names the files, and the Job mounts them.
func TestInputOfKerberos(t *testing.T) {
	run := nntRun(func(s *v1alpha1.NNThroughputRunSpec) {
		s.Target.Kerberos = &v1alpha1.Kerberos{Principal: "bench@EXAMPLE.COM"}
		s.Target.Kerberos.KeytabSecretRef.Name, s.Target.Kerberos.Krb5ConfigMapRef.Name = "bench-keytab", "realm"
	})
	in := (&Reconciler{Benchmark: NNThroughput{}}).input(moment(t, run, stepRow("create", v1alpha1.StepPreparing, nil)))
	want := &plan.Kerberos{Principal: "bench@EXAMPLE.COM", Keytab: plan.KeytabFile, Krb5Conf: plan.Krb5File}
	if diff := cmp.Diff(want, in.Plan.Target.Kerberos); diff != "" || in.KeytabSecret != "bench-keytab" || in.Krb5ConfigMap != "realm" {
		t.Errorf("Secret %q, ConfigMap %q, plan (-want +got):\n%s", in.KeytabSecret, in.Krb5ConfigMap, diff)
	}
	if in.Plan.DFSIO != nil || in.Plan.NNThroughput == nil || in.Owner.Kind != "NNThroughputRun" {
		t.Errorf("plan %+v of %s", in.Plan, in.Owner.Kind)
	}
}

// TestInput holds what the plans of all steps have in common.
func TestInput(t *testing.T) {
	run := newRun(func(r *v1alpha1.DFSIORun) {
		r.Spec.Target.User, r.Spec.Target.Properties = "hdfs", map[string]v1alpha1.PropertyValue{"a": "b"}
		r.Spec.Target.HadoopConfig = &v1alpha1.HadoopConfig{ConfigMapRef: v1alpha1.LocalObjectReference{Name: "hdfs"}}
	})
	timeouts := map[string]int64{"preflight": 120_000, "write": 0, "read": 0, "cleanup": 1_800_000}
	for _, s := range stepsOf(DFSIO{}, run) {
		in := (&Reconciler{Benchmark: DFSIO{}, RunnerImage: "unused"}).input(moment(t, run, stepRow(s.Name, v1alpha1.StepPreparing, nil)))
		want := plan.Plan{
			Version: 1, Identity: report.Identity{RunUID: testUID, Execution: 1, Step: s.Name, Repeat: 1, Attempt: 1}, Run: "bench/nightly",
			Shards: s.Shards, Gate: s.Gated, GateTimeoutMillis: 3_600_000, TimeoutMillis: timeouts[s.Name], SeriesMicros: 100_000,
			Target: plan.Target{FS: "hdfs://namenode:8020", User: "hdfs", Properties: map[string]string{"a": "b"}}, DFSIO: dfsioPlan(run),
		}
		if diff := cmp.Diff(want, in.Plan); diff != "" {
			t.Errorf("plan of %s (-want +got):\n%s", s.Name, diff)
		}
		if in.Image != testImage || in.ConfigMap != "hdfs" || in.Owner.UID != testUID || in.Owner.Kind != "DFSIORun" || !*in.Owner.Controller {
			t.Errorf("input %+v", in)
		}
	}
}
