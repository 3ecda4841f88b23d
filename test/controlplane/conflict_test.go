package controlplane

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// TestNameConflict: something of somebody else has the name of what the run is to make. The run ends and says so; the
// other's thing is not touched, and nothing of it is taken for the run's.
func TestNameConflict(t *testing.T) {
	t.Parallel()
	attempt := func(run *v1alpha1.DFSIORun, step string) string {
		return jobs.AttemptName(run.Name, report.Identity{RunUID: string(run.UID), Execution: 1, Step: step, Repeat: 1, Attempt: 1})
	}
	configMap := func(name string) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"mine": "yes"}}
	}
	job := func(name string, labels map[string]string) client.Object {
		return &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: batchv1.JobSpec{
			Suspend: ptr(true),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers:    []corev1.Container{{Name: "other", Image: "registry.example/other"}},
			}},
		}}
	}
	for name, foreign := range map[string]func(run *v1alpha1.DFSIORun) client.Object{
		"plan":   func(run *v1alpha1.DFSIORun) client.Object { return configMap(attempt(run, plan.StepPreflight)) },
		"job":    func(run *v1alpha1.DFSIORun) client.Object { return job(attempt(run, plan.StepPreflight), nil) },
		"report": func(run *v1alpha1.DFSIORun) client.Object { return configMap(jobs.ReportName(run.Name, run.UID, 1)) },
		"job with the run's labels": func(run *v1alpha1.DFSIORun) client.Object {
			return job(attempt(run, plan.StepPreflight), map[string]string{jobs.LabelManaged: jobs.ManagedBy, jobs.LabelRunUID: string(run.UID)})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			s.manage(nil, nil)
			run := s.create(func(r *v1alpha1.DFSIORun) { r.Spec.Suspend = ptr(true) })
			s.suspended()
			other := foreign(run)
			other.SetNamespace(s.ns)
			if err := s.client.Create(s.ctx, other); err != nil {
				t.Fatal(err)
			}
			if _, ok := other.(*batchv1.Job); ok { // its controller looks at it once
				s.until(func() string {
					if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(other), other); err != nil {
						return err.Error()
					}
					if j, ok := other.(*batchv1.Job); ok && len(j.Status.Conditions) == 0 {
						return "the other's Job is not Suspended"
					}
					return ""
				})
			}
			s.suspend("bench", false)
			run = s.finished("bench")
			s.wantCondition(run, v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonNameConflict, other.GetName())
			s.wantCondition(run, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonNameConflict)
			before := other.DeepCopyObject()
			if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(other), other); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(before, other); d != "" {
				t.Errorf("the other's object was changed:\n%s", d)
			}
		})
	}
}
