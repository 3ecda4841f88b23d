package controlplane

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/runner/plan"
)

// TestCacheHoldsOnlyOurs: other people's pods and Jobs are not in the manager's cache, and of ours only what is needed.
func TestCacheHoldsOnlyOurs(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.player.hold(s.ns, "write")
	m := s.manage(nil, nil)
	other := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "other", Labels: map[string]string{"app": "other"}},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{RunAsNonRoot: ptr(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}},
			Containers: []corev1.Container{{Name: "other", Image: "registry.example/other", SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: ptr(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			}}},
		},
	}
	if err := s.client.Create(s.ctx, other); err != nil {
		t.Fatal(err)
	}
	run := s.create()
	s.measuring("write", 1, 3)
	var cached corev1.PodList
	if err := m.GetCache().List(s.ctx, &cached, client.InNamespace(s.ns), client.MatchingLabels{jobs.LabelStep: "write"}); err != nil {
		t.Fatal(err)
	}
	if len(cached.Items) != 3 {
		t.Errorf("%d pods of write are cached, want 3", len(cached.Items))
	}
	for _, p := range cached.Items {
		if p.Spec.NodeName == "" || len(p.Status.ContainerStatuses) != 1 || p.Labels[jobs.LabelRunUID] != string(run.UID) ||
			p.Annotations[plan.AnnotationStartAt] == "" || p.Annotations[batchv1.JobCompletionIndexAnnotation] == "" || p.Annotations[jobs.AnnotationRun] != "bench" {
			t.Errorf("pod %s lacks what is needed: %+v", p.Name, p)
		}
		if len(p.Spec.Containers) != 0 || len(p.Spec.Volumes) != 0 || len(p.ManagedFields) != 0 || p.Status.HostIP != "" {
			t.Errorf("pod %s is cached with what nobody reads: %+v", p.Name, p)
		}
	}
	var all corev1.PodList
	if err := m.GetCache().List(s.ctx, &all, client.InNamespace(s.ns)); err != nil {
		t.Fatal(err)
	}
	for _, p := range all.Items {
		if p.Labels[jobs.LabelManaged] != jobs.ManagedBy {
			t.Errorf("pod %s of somebody else is cached", p.Name)
		}
	}
	var list batchv1.JobList
	if err := m.GetCache().List(s.ctx, &list, client.InNamespace(s.ns)); err != nil {
		t.Fatal(err)
	}
	for _, j := range list.Items {
		if len(j.Spec.Template.Spec.Containers) != 0 || len(j.ManagedFields) != 0 {
			t.Errorf("Job %s is cached with its template", j.Name)
		}
	}
}
