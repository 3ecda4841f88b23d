package e2e

import (
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// assignedUID is of the sort that platforms assign to a namespace.
const assignedUID = 1000680000

// TestPodsHaveNoRights: a run works as any user, and its pods hold nothing to talk to the API server with.
func TestPodsHaveNoRights(t *testing.T) {
	t.Parallel()
	s := begin(t, "rights")
	run := s.start("run", files(2, "128MB"), func(spec *v1alpha1.DFSIORunSpec) {
		spec.PodTemplate = &v1alpha1.PodTemplate{SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr(int64(assignedUID))}}
	}, gently)
	s.await(run, endOfRun, "measuring", func() bool { return started(run, "write") })
	pods := s.pods(run, "write")
	if len(pods) != 2 {
		t.Fatalf("%d pods, want 2", len(pods))
	}
	for _, p := range pods {
		s.expectNoToken(&p)
		s.expectProcess(s.runner(&p))
	}
	s.awaitEnd(run, endOfRun)
	s.expectSuccess(run)
	s.expectFigures(run, 2, 128<<20)
	if user := run.Status.Environment.Facts["user"]; user != "hadoop-bench" {
		t.Errorf("HDFS saw the user %q, want the one that all runs have by default", user)
	}
}

func (s *story) expectNoToken(p *corev1.Pod) {
	s.t.Helper()
	if auto := p.Spec.AutomountServiceAccountToken; auto == nil || *auto {
		s.t.Errorf("pod %s: automountServiceAccountToken is not false", p.Name)
	}
	for _, v := range p.Spec.Volumes {
		if v.Secret != nil {
			s.t.Errorf("pod %s has the secret %s", p.Name, v.Secret.SecretName)
		}
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			if source.ServiceAccountToken != nil {
				s.t.Errorf("pod %s has a token in volume %s", p.Name, v.Name)
			}
		}
	}
}

// expectProcess looks at the live container itself.
func (s *story) expectProcess(pid int) {
	s.t.Helper()
	proc := fmt.Sprintf("/proc/%d/", pid)
	mounts, err := os.ReadFile(proc + "mountinfo")
	if err != nil {
		s.t.Fatal(err)
	}
	if !strings.Contains(string(mounts), "/etc/hadoopbench/plan") || strings.Contains(string(mounts), "serviceaccount") {
		s.t.Errorf("mounts of the runner:\n%s", mounts)
	}
	status, err := os.ReadFile(proc + "status")
	if err != nil {
		s.t.Fatal(err)
	}
	s.mentions(string(status), fmt.Sprintf("\nUid:\t%d\t%[1]d\t%[1]d\t%[1]d\n", assignedUID), "\nNoNewPrivs:\t1\n", "\nCapEff:\t0000000000000000\n", "\nSeccomp:\t2\n")
}
