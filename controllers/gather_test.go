package controllers

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestRunnerEnded: a pod that is kept for inspection does not hold up the next step, whatever its sidecars do.
func TestRunnerEnded(t *testing.T) {
	stillRuns := sidecar(corev1.ContainerState{Running: &corev1.ContainerStateRunning{}})
	hasEnded := sidecar(corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}})
	phase := func(phase corev1.PodPhase) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.Phase = phase }
	}
	tests := map[string]struct {
		pod  []func(*corev1.Pod)
		want bool
	}{
		"pending":                   {nil, false},
		"running":                   {[]func(*corev1.Pod){running()}, false},
		"running, sidecar ended":    {[]func(*corev1.Pod){running(), hasEnded}, false},
		"ended, sidecar runs":       {[]func(*corev1.Pod){terminated(1, "Error", ""), stillRuns, phase(corev1.PodRunning)}, true},
		"succeeded":                 {[]func(*corev1.Pod){phase(corev1.PodSucceeded)}, true},
		"failed before it ever ran": {[]func(*corev1.Pod){phase(corev1.PodFailed)}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := podOf(0, tc.pod...)
			if got := runnerEnded(&p); got != tc.want {
				t.Errorf("runnerEnded() = %t", got)
			}
		})
	}
}
