package controlplane

import (
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// history remembers what a watch has shown: the Jobs and pods that were made, and every version of a run.
type history struct {
	mu   sync.Mutex
	made map[string]map[types.UID]made // by namespace
	runs map[types.NamespacedName][]*v1alpha1.DFSIORun
}

// made is a Job or pod that came to be.
type made struct {
	kind, name string
}

func newHistory() *history {
	return &history{made: map[string]map[types.UID]made{}, runs: map[types.NamespacedName][]*v1alpha1.DFSIORun{}}
}

// OnAdd, OnUpdate and OnDelete make it an informer's handler.
func (h *history) OnAdd(obj any, _ bool) { h.seen(obj) }
func (h *history) OnUpdate(_, obj any)   { h.seen(obj) }
func (h *history) OnDelete(any)          {}

func (h *history) seen(obj any) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch o := obj.(type) {
	case *v1alpha1.DFSIORun:
		key := client.ObjectKeyFromObject(o)
		h.runs[key] = append(h.runs[key], o.DeepCopy())
	case *batchv1.Job:
		h.note("Job", o)
	case *corev1.Pod:
		h.note("Pod", o)
	}
}

func (h *history) note(kind string, o client.Object) {
	if h.made[o.GetNamespace()] == nil {
		h.made[o.GetNamespace()] = map[types.UID]made{}
	}
	h.made[o.GetNamespace()][o.GetUID()] = made{kind, o.GetName()}
}

// names are those of all objects of a kind that were ever in a namespace; a name that was used twice is there twice.
func (h *history) names(namespace, kind string) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var out []string
	for _, m := range h.made[namespace] {
		if m.kind == kind {
			out = append(out, m.name)
		}
	}
	slices.Sort(out)
	return out
}

// versions are all versions of a run that were seen.
func (h *history) versions(key types.NamespacedName) []*v1alpha1.DFSIORun {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.runs[key])
}
