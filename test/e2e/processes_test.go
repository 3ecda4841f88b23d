package e2e

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The nodes are of this machine, so a container's processes are among its own.

// process finds the process of a pod that was started as args; 0 if there is none.
func process(pod types.UID, args ...string) int {
	groups, _ := filepath.Glob("/proc/[0-9]*/cgroup")
	for _, file := range groups {
		dir := filepath.Dir(file)
		text, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(text, []byte("pod"+string(pod))) {
			continue
		}
		line, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil || !bytes.HasPrefix(line, []byte(strings.Join(args, "\x00")+"\x00")) {
			continue
		}
		if pid, err := strconv.Atoi(filepath.Base(dir)); err == nil {
			return pid
		}
	}
	return 0
}

// runner is the process of a shard.
func (s *story) runner(pod *corev1.Pod) int {
	s.t.Helper()
	pid := process(pod.UID, "/runner", "shard")
	if pid == 0 {
		s.t.Fatalf("no runner in pod %s", pod.Name)
	}
	return pid
}

// kill is kill -9.
func (s *story) kill(pid int) {
	s.t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		s.t.Fatalf("kill process %d: %v", pid, err)
	}
}

// leader waits for a manager that holds the lease, and returns its pod and its process.
func (s *story) leader() (*corev1.Pod, int) {
	s.t.Helper()
	var leader *corev1.Pod
	pid := 0
	s.eventually(soon, "a manager leads", func() bool {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorName}}
		if s.client.Get(s.t.Context(), client.ObjectKeyFromObject(lease), lease) != nil || lease.Spec.HolderIdentity == nil {
			return false
		}
		for _, p := range s.managers() {
			if strings.HasPrefix(*lease.Spec.HolderIdentity, p.Name+"_") && p.DeletionTimestamp == nil {
				leader, pid = &p, process(p.UID, "/manager")
			}
		}
		return pid != 0
	})
	return leader, pid
}

func (s *story) managers() []corev1.Pod {
	s.t.Helper()
	var list corev1.PodList
	labels := client.MatchingLabels{"app.kubernetes.io/name": operatorName, "app.kubernetes.io/component": "manager"}
	if err := s.client.List(s.t.Context(), &list, client.InNamespace(operatorNamespace), labels); err != nil {
		s.t.Fatal("list managers:", err)
	}
	return list.Items
}

// crash kills a manager before it can do or write anything more, its lease included. Its pod goes too, since Kubernetes
// would start the container only after a pause, growing from crash to crash.
func (s *story) crash(pod *corev1.Pod, pid int) {
	s.t.Helper()
	s.kill(pid)
	if err := s.client.Delete(s.t.Context(), pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
		s.t.Fatal("delete the manager's pod:", err)
	}
}

// scale sets the number of managers, and sees to it that there is one again after the story.
func (s *story) scale(replicas int32) {
	s.t.Helper()
	set := func(ctx context.Context, n int32) {
		d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: operatorName}}
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"replicas":`+strconv.Itoa(int(n))+`}}`))
		if err := s.client.Patch(ctx, d, patch); err != nil {
			s.t.Errorf("scale the manager to %d: %v", n, err)
		}
	}
	if replicas == 0 {
		s.t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), tidyUp)
			defer cancel()
			set(ctx, 1)
		})
	}
	set(s.t.Context(), replicas)
}
