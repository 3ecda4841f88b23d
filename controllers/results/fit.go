package results

import (
	"encoding/json"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// MaxStatusBytes bounds a status as JSON, far below what etcd takes, so that many runs can be listed and watched.
const MaxStatusBytes = 64 << 10

// Fit shortens a status to MaxStatusBytes: rows of steps lose their details, the oldest first, and as a last resort the
// aggregates of all but the headline. What goes is in the report's ConfigMap; counts, rates and doubts stay.
func Fit(st *v1alpha1.RunStatus) {
	drops := []func(*v1alpha1.StepResult){
		func(r *v1alpha1.StepResult) { r.Outliers = nil },
		func(r *v1alpha1.StepResult) { r.ErrorClasses = nil },
		func(r *v1alpha1.StepResult) { r.Latency = nil },
		func(r *v1alpha1.StepResult) { r.Rates = headline(r) },
	}
	for _, drop := range drops {
		for i := range st.Steps {
			if size(st) <= MaxStatusBytes {
				return
			}
			if r := st.Steps[i].Result; r != nil {
				drop(r)
			}
		}
	}
}

func headline(r *v1alpha1.StepResult) []v1alpha1.Figure {
	for _, f := range r.Rates {
		if f.Name == r.Headline {
			return []v1alpha1.Figure{f}
		}
	}
	return nil
}

// size is that of the status as JSON. What cannot be encoded cannot be written either, and that error is reported there.
func size(st *v1alpha1.RunStatus) int {
	doc, err := json.Marshal(st)
	if err != nil {
		return 0
	}
	return len(doc)
}
