package e2e

import (
	"context"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// slot is a resource that nodes have only as long as a story says so. Its pods are held back by the lack of it.
const slot = "e2e.hadoopbench.test/slot"

// TestManagerCrashBeforeTheGate: the manager is killed while one run's shards still get ready, and another's have their
// start time only in part. The first goes on as if nothing had happened; the second cannot have started together and is
// measured in a new attempt. Both have one result.
func TestManagerCrashBeforeTheGate(t *testing.T) {
	s := begin(t, "held")
	s.slots("node1", 1)
	s.slots("node2", 0)
	run := s.start("waiting", files(2, "64MB"), oneSlotEach)
	s.await(run, soon, "one of two shards Ready", func() bool {
		r := row(run, "write")
		return r != nil && r.Shards.Ready == 1
	})
	broken, partly := crashBetweenOrders(t)
	s.get(run)
	if r := row(run, "write"); r.State != v1alpha1.StepPreparing || r.Shards.Ready != 1 {
		t.Fatalf("the held run went on: %+v", r)
	}
	s.slots("node2", 1)

	s.awaitEnd(run, endOfRun)
	s.expectOneMeasurement(run, 64<<20)
	broken.awaitEnd(partly, endOfRun)
	broken.expectOneMeasurement(partly, 64<<20)
	if r := row(partly, "write"); r.Attempt < 2 || broken.brokenGates(partly, "write") == 0 {
		t.Errorf("the gate was broken, but there is no event of it, or no new attempt: %+v", r)
	}
}

// crashTries is how often the manager is killed, at most, until it was in time. It gives a gate up half a second after
// the first order, which on a busy machine may be sooner than the test sees that order.
const crashTries = 3

// crashBetweenOrders starts a run and kills the manager when one of two shards has its start time and the other has not.
func crashBetweenOrders(t *testing.T) (*story, *v1alpha1.DFSIORun) {
	t.Helper()
	for range crashTries {
		s := begin(t, "broken")
		manager, pid := s.leader()
		lift := s.denyStart("1")
		run := s.start("partly", files(2, "64MB"))
		s.awaitOrder("0")
		s.crash(manager, pid)
		s.get(run)
		lift()
		if r := row(run, "write"); r != nil && r.State == v1alpha1.StepRunning && r.StartAt != nil {
			return s, run
		}
		t.Log("the manager gave the gate up before it was killed; once more")
	}
	t.Fatalf("the manager gave the gate up before it was killed, %d times", crashTries)
	return nil, nil
}

// TestManagerCrashWhileMeasuring: the manager is killed in mid-measurement, and none comes in its place for a while. The
// pods finish without it, and the next manager finds their reports.
func TestManagerCrashWhileMeasuring(t *testing.T) {
	s := begin(t, "crash")
	manager, pid := s.leader()
	run := s.start("run", files(2, "512MB"))
	s.await(run, soon, "measuring", func() bool { return started(run, "write") })
	attempt := row(run, "write").Attempt
	s.scale(0)
	s.crash(manager, pid)

	s.eventually(endOfRun, "the pods finish without a manager", func() bool {
		done := 0
		for _, p := range s.pods(run, "write") {
			if p.Status.Phase == corev1.PodSucceeded {
				done++
			}
		}
		return done == 2
	})
	if m := s.managers(); len(m) > 0 {
		t.Errorf("there is a manager: %s", m[0].Name)
	}
	s.get(run)
	if r := row(run, "write"); r.State != v1alpha1.StepRunning || r.Result != nil {
		t.Fatalf("the manager was killed too late, the step was over: %+v", r)
	}
	s.scale(1)
	s.awaitEnd(run, endOfRun)
	s.expectOneMeasurement(run, 512<<20)
	if r := row(run, "write"); r.Attempt != attempt {
		t.Errorf("the result is that of attempt %d, the manager was killed in attempt %d", r.Attempt, attempt)
	}
}

// expectOneMeasurement: the run of two files succeeded with one result of write.
func (s *story) expectOneMeasurement(run *v1alpha1.DFSIORun, size int64) {
	s.t.Helper()
	s.expectSuccess(run)
	s.expectJobs(run, map[string]int{"preflight": 1, "write": 1, "cleanup": 1})
	s.expectFigures(run, 2, size)
	s.expectNothingAt(dirOf(run))
}

// slots sets how many slots a node has. Only the kubelet's other resources are its own to set.
func (s *story) slots(node string, n int64) {
	s.t.Helper()
	s.t.Cleanup(func() {
		doc := `{"status":{"capacity":{"` + slot + `":null},"allocatable":{"` + slot + `":null}}}`
		if err := s.patchNode(node, doc); err != nil {
			s.t.Error(err)
		}
	})
	count := resource.NewQuantity(n, resource.DecimalSI).String()
	if err := s.patchNode(node, `{"status":{"capacity":{"`+slot+`":"`+count+`"},"allocatable":{"`+slot+`":"`+count+`"}}}`); err != nil {
		s.t.Fatal(err)
	}
}

func oneSlotEach(spec *v1alpha1.DFSIORunSpec) {
	one := corev1.ResourceList{slot: resource.MustParse("1")}
	spec.PodTemplate = &v1alpha1.PodTemplate{Resources: &corev1.ResourceRequirements{Requests: one, Limits: one}}
}

// denyStart keeps shard index of the namespace from getting a start time, until lift is called or the story is over.
func (s *story) denyStart(index string) (lift func()) {
	s.t.Helper()
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	policy.Spec.MatchConstraints = &admissionv1.MatchResources{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.namespace}},
		ResourceRules: []admissionv1.NamedRuleWithOperations{{RuleWithOperations: admissionv1.RuleWithOperations{
			Operations: []admissionv1.OperationType{admissionv1.Update},
			Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods/status"}},
		}}},
	}
	policy.Spec.Validations = []admissionv1.Validation{{
		Expression: "!('" + plan.AnnotationStartAt + "' in object.metadata.annotations) || " +
			"object.metadata.annotations['batch.kubernetes.io/job-completion-index'] != '" + index + "'",
		Message: "this shard may not start",
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	binding.Spec.PolicyName = policy.Name
	binding.Spec.ValidationActions = []admissionv1.ValidationAction{admissionv1.Deny}
	lift = func() {
		for _, obj := range []client.Object{binding, policy} {
			if err := s.client.Delete(context.Background(), obj); client.IgnoreNotFound(err) != nil {
				s.t.Error("lift the policy:", err)
			}
		}
	}
	s.t.Cleanup(lift)
	s.create(policy)
	s.create(binding)
	return lift
}

// awaitOrder watches pods until shard index has its start time, and returns at once.
func (s *story) awaitOrder(index string) {
	s.t.Helper()
	w, err := s.client.Watch(s.t.Context(), &corev1.PodList{}, client.InNamespace(s.namespace))
	if err != nil {
		s.t.Fatal("watch pods:", err)
	}
	defer w.Stop()
	limit := time.After(soon)
	for {
		select {
		case e, open := <-w.ResultChan():
			pod, ok := e.Object.(*corev1.Pod)
			if !open {
				s.t.Fatal("the watch ended before a shard had its start time")
			}
			if ok && pod.Annotations[plan.AnnotationStartAt] != "" && shardOf(pod) == index {
				return
			}
		case <-limit:
			s.t.Fatal("no shard got its start time within", soon)
		}
	}
}

func (s *story) patchNode(name, doc string) error {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return s.client.Status().Patch(context.Background(), node, client.RawPatch(types.MergePatchType, []byte(doc)))
}
