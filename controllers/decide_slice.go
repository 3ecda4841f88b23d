package controllers

import (
	"fmt"
	"strings"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// A step that waits for the target for hours cannot tell from its pod how far it is: nothing connects pods and manager
// but their reports. So it goes on in slices. Each is an attempt of the step with a pod of its own, whose report says
// what is still waited for; the next one gets the report's other facts in its plan. They are kept among the facts of
// status.environment, with the step's name before theirs.

// unfinished is what a slice that ended still has to wait for; empty if the step is over, or none that goes on in slices.
func unfinished(step Step, shards []shard) string {
	for _, s := range shards {
		if step.Sliced && s.complete() {
			return s.report.Body.Facts[plan.FactUnfinished]
		}
	}
	return ""
}

// nextSlice goes on with a step whose present slice is over. That is progress: what was lost before counts no more.
func (d *decision) nextSlice(o *observed, step Step, row *v1alpha1.StepStatus, left string) verdict {
	d.environment(o, step)
	row.Losses = 0
	d.again(o, row, left)
	row.Message = truncate(left, maxMessage)
	return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s: %s", step, row.Message))
}

// sliceFacts are the facts so far with those of a step's latest slice in the place of the one's before.
func sliceFacts(facts map[string]string, step Step, told map[string]string) map[string]string {
	out := map[string]string{}
	for name, fact := range facts {
		if !strings.HasPrefix(name, step.Name+".") {
			out[name] = fact
		}
	}
	for name, fact := range told {
		out[step.Name+"."+name] = truncate(fact, maxFact)
	}
	return out
}

// earlier are the facts that the latest slice of a step told, without what it waited for.
func earlier(st *v1alpha1.RunStatus, step Step) map[string]string {
	if !step.Sliced || st.Environment == nil {
		return nil
	}
	var out map[string]string
	for name, fact := range st.Environment.Facts {
		if own, ok := strings.CutPrefix(name, step.Name+"."); ok && own != plan.FactUnfinished {
			if out == nil {
				out = map[string]string{}
			}
			out[own] = fact
		}
	}
	return out
}

// progress is what the latest slice of a step still had to wait for.
func progress(st *v1alpha1.RunStatus, step Step) string {
	if !step.Sliced || st.Environment == nil {
		return ""
	}
	return st.Environment.Facts[step.Name+"."+plan.FactUnfinished]
}
