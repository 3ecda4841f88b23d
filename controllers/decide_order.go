package controllers

import (
	"slices"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// stepsOf are all steps of an execution with their repeats, from preflight to cleanup.
func stepsOf(b Benchmark, run Run) []Step {
	spec, _ := run.RunObject()
	steps := []Step{{Name: plan.StepPreflight, Repeat: 1, Shards: 1}}
	for own := b.Steps(run); len(own) > 0; {
		n := slices.IndexFunc(own, func(s Step) bool { return !s.Measured })
		if n < 0 {
			n = len(own)
		}
		steps = append(steps, repeated(own[:n], spec)...)
		if n < len(own) {
			steps = append(steps, own[n])
			n++
		}
		own = own[n:]
	}
	if b.Supports().KeepResults && !value(spec.KeepResults, false) {
		steps = append(steps, Step{Name: plan.StepCleanup, Repeat: 1, Shards: 1})
	}
	return steps
}

// repeated are measured steps that follow each other, with their repeats in the order that the run asks for.
func repeated(steps []Step, spec *v1alpha1.RunSpec) []Step {
	often := func(s Step) int32 {
		if s.Repeats > 0 {
			return s.Repeats
		}
		return value(spec.Repeats, 1)
	}
	var out []Step
	add := func(s Step, r int32) { s.Repeat = r; out = append(out, s) }
	if spec.RepeatOrder != v1alpha1.RepeatRoundRobin {
		for _, s := range steps {
			for r := int32(1); r <= often(s); r++ {
				add(s, r)
			}
		}
		return out
	}
	for r, more := int32(1), true; more; r++ {
		more = false
		for _, s := range steps {
			if r <= often(s) {
				add(s, r)
				more = true
			}
		}
	}
	return out
}

// following is the step after the rows so far. After a failure only cleanup is left, and that only if preflight passed:
// before, nothing was written.
func following(steps []Step, st *v1alpha1.RunStatus) (Step, bool) {
	done := len(st.Steps)
	if st.Failure == nil {
		if done < len(steps) {
			return steps[done], true
		}
		return Step{}, false
	}
	pre := rowOf(st, plan.StepPreflight)
	last := steps[len(steps)-1]
	if pre != nil && pre.State == v1alpha1.StepDone && last.Name == plan.StepCleanup && rowOf(st, plan.StepCleanup) == nil {
		return last, true
	}
	return Step{}, false
}

// stepOf is the step that a row is about.
func stepOf(o *observed, row *v1alpha1.StepStatus) Step {
	for _, s := range stepsOf(o.bench, o.run) {
		if s.Name == row.Name && s.Repeat == row.Repeat {
			return s
		}
	}
	return Step{Name: row.Name, Repeat: row.Repeat, Shards: row.Shards.Expected}
}

// restLeft is how long nothing is to be done yet before a step, counted from the end of the one before.
func restLeft(o *observed, step Step) time.Duration {
	n := len(o.status.Steps)
	if n == 0 || step.Rest <= 0 || o.status.Steps[n-1].EndTime == nil {
		return 0
	}
	return o.status.Steps[n-1].EndTime.Add(step.Rest).Sub(o.now)
}
