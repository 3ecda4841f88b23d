package controllers

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/hadoop-bench/operator/controllers/jobs"
)

// memory is what the manager knows beyond its cache: pods that were deleted, as they last were, and start times that
// were given but that the cache does not show yet. It only sharpens what is seen. When it is lost with the manager, a
// vanished pod is still a lost shard, but nobody can say on which node; a gate is judged by the cache alone.
type memory struct {
	mu      sync.Mutex
	deleted map[string]map[types.UID]*corev1.Pod // by the label of the run's UID
	given   map[string]map[types.UID]string      // start times by run and pod
}

func newMemory() *memory {
	return &memory{deleted: map[string]map[types.UID]*corev1.Pod{}, given: map[string]map[types.UID]string{}}
}

// podDeleted keeps the last state of a pod that vanished; the pod may carry its shard's report.
func (m *memory) podDeleted(p *corev1.Pod) {
	m.mu.Lock()
	defer m.mu.Unlock()
	put(m.deleted, p.Labels[jobs.LabelRunUID], p.UID, p)
}

// gave remembers that a pod has its start time.
func (m *memory) gave(run, pod types.UID, at string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	put(m.given, string(run), pod, at)
}

// startOf is the start time that a pod was given.
func (m *memory) startOf(run, pod types.UID) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.given[string(run)][pod]
}

// deletedPods are the vanished pods of one attempt.
func (m *memory) deletedPods(run types.UID, attempt string) []corev1.Pod {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []corev1.Pod
	for _, p := range m.deleted[string(run)] {
		if p.Labels[jobs.LabelAttempt] == attempt {
			out = append(out, *p.DeepCopy())
		}
	}
	return out
}

// forget drops what is known of all attempts of a run but one; with an empty attempt, of the whole run.
func (m *memory) forget(run types.UID, attempt string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uid, p := range m.deleted[string(run)] {
		if p.Labels[jobs.LabelAttempt] != attempt {
			delete(m.deleted[string(run)], uid)
		}
	}
	if attempt == "" || len(m.deleted[string(run)]) == 0 {
		delete(m.deleted, string(run))
	}
	if attempt == "" {
		delete(m.given, string(run))
	}
}

// forgetNamesakes drops what is known of runs of a name but for the one of the given UID. The pods of a run that was
// deleted vanish after it, when only its name is left to ask by.
func (m *memory) forgetNamesakes(name types.NamespacedName, keep types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for run, pods := range m.deleted {
		for _, p := range pods {
			if run != string(keep) && p.Namespace == name.Namespace && p.Annotations[jobs.AnnotationRun] == name.Name {
				delete(m.deleted, run)
				delete(m.given, run)
			}
			break // all pods are of the same run
		}
	}
}

func put[V any](m map[string]map[types.UID]V, run string, pod types.UID, v V) {
	if m[run] == nil {
		m[run] = map[types.UID]V{}
	}
	m[run][pod] = v
}
