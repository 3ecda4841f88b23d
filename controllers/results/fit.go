package results

import (
	"encoding/json"
	"slices"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// MaxStatusBytes bounds a status as JSON, far below what etcd takes, so that many runs can be listed and watched.
const MaxStatusBytes = 64 << 10

// Bounds of texts in a status that has no room for longer ones.
const (
	shortMessage   = 128
	shortCondition = 256
	seeReport      = "see report.json"
)

// Fit shortens a status to MaxStatusBytes, and leaves one alone that fits. Rows of steps lose their details first, the
// oldest rows first, and what is told of single kinds of operations before what is told of all; then the texts of their
// doubts and all doubts but the gravest, and in runs of more than some 200 measurements at last operations, bytes and
// errors, pooled latencies and the ends of long facts. Counts of shards and the gravest doubt of each measurement stay, and
// so does all of the step that is under way. What goes is in the report's ConfigMap.
func Fit(st *v1alpha1.RunStatus) {
	over := size(st) - MaxStatusBytes
	rows := func(drop func(*v1alpha1.StepStatus)) {
		for i := 0; i < len(st.Steps) && over > 0; i++ {
			if row := &st.Steps[i]; ended(row) {
				before := size(row)
				drop(row)
				over -= before - size(row)
			}
		}
	}
	beside := func(drop func(*v1alpha1.RunStatus)) {
		if over > 0 {
			before := size(st)
			drop(st)
			over -= before - size(st)
		}
	}
	rows(func(row *v1alpha1.StepStatus) { row.Result.Outliers = nil })
	rows(func(row *v1alpha1.StepStatus) { row.Result.ErrorClasses = nil })
	rows(dropMetricLatencies)
	beside(dropParts)
	rows(func(row *v1alpha1.StepStatus) { row.Result.Latency, row.Result.IntendedLatency = nil, nil })
	rows(func(row *v1alpha1.StepStatus) { row.Result.Rates = headline(row.Result) })
	rows(func(row *v1alpha1.StepStatus) { row.Result.Metrics = nil })
	beside(dropFromAggregates)
	rows(dropBookkeeping)
	rows(dropDoubtTexts)
	rows(dropAllButCounts)
	beside(shortenConditions)
	rows(dropAllButDoubt)
	beside(dropBesideRows)
}

func shortenConditions(st *v1alpha1.RunStatus) {
	for i := range st.Conditions {
		st.Conditions[i].Message = report.Shorten(st.Conditions[i].Message, shortCondition)
	}
}

// ended says whether a row can be shortened: nothing is decided by it any more.
func ended(row *v1alpha1.StepStatus) bool {
	return row.Result != nil && (row.State == v1alpha1.StepDone || row.State == v1alpha1.StepFailed)
}

func headline(r *v1alpha1.StepResult) []v1alpha1.Figure {
	for _, f := range r.Rates {
		if f.Name == r.Headline {
			return []v1alpha1.Figure{f}
		}
	}
	return nil
}

// dropMetricLatencies keeps the counts of a step's kinds of operations. The array is not changed, which others may hold.
func dropMetricLatencies(row *v1alpha1.StepStatus) {
	metrics := slices.Clone(row.Result.Metrics)
	for i := range metrics {
		metrics[i].Latency, metrics[i].IntendedLatency = nil, nil
	}
	row.Result.Metrics = metrics
}

// dropParts drops what is told over the repeats of single kinds of operations.
func dropParts(st *v1alpha1.RunStatus) {
	st.Aggregates = slices.DeleteFunc(slices.Clone(st.Aggregates), func(a v1alpha1.Aggregate) bool { return ofPart(a.Figure) })
	st.PooledLatencies = slices.DeleteFunc(slices.Clone(st.PooledLatencies), func(p v1alpha1.PooledLatency) bool { return p.Metric != "" })
}

// dropFromAggregates keeps the headlines, which the summary is made of.
func dropFromAggregates(st *v1alpha1.RunStatus) {
	var kept []v1alpha1.Aggregate
	for _, a := range st.Aggregates {
		if _, ok := units[a.Figure]; ok {
			kept = append(kept, a)
		}
	}
	st.Aggregates = kept
	if st.Environment != nil {
		st.Environment.ShardsPerNode = nil
	}
}

// dropBookkeeping drops what was needed to carry a step out. The Job of a failed step is named, since it is kept.
func dropBookkeeping(row *v1alpha1.StepStatus) {
	row.BeginTime, row.ProgressTime, row.StartAt, row.Stop = nil, nil, nil, nil
	row.Shards.Progress, row.Shards.Ready = 0, 0
	row.Message = report.Shorten(row.Message, shortMessage)
	if row.State == v1alpha1.StepDone {
		row.Job = ""
	}
}

func dropDoubtTexts(row *v1alpha1.StepStatus) {
	for i := range row.Result.Invalid {
		row.Result.Invalid[i].Message = seeReport
	}
}

func dropAllButCounts(row *v1alpha1.StepStatus) {
	r := row.Result
	row.EndTime, row.Message = nil, ""
	kept := v1alpha1.StepResult{
		Operations: r.Operations, Bytes: r.Bytes, Errors: r.Errors, Tried: r.Tried, Unfinished: r.Unfinished, Invalid: r.Invalid,
	}
	kept.Invalid = kept.Invalid[:min(len(kept.Invalid), 1)]
	*r = kept
}

// dropAllButDoubt leaves the reason of the gravest doubt.
func dropAllButDoubt(row *v1alpha1.StepStatus) {
	var kept v1alpha1.StepResult
	if len(row.Result.Invalid) > 0 {
		kept.Invalid = []v1alpha1.Doubt{{Reason: row.Result.Invalid[0].Reason}}
	}
	*row.Result = kept
}

// dropBesideRows is for runs of some 270 measurements of which none is to be believed.
func dropBesideRows(st *v1alpha1.RunStatus) {
	st.PooledLatencies = nil
	if st.Environment == nil {
		return
	}
	facts := map[string]string{}
	for name, fact := range st.Environment.Facts {
		facts[name] = report.Shorten(fact, shortMessage)
	}
	st.Environment.Facts = facts
}

// size is that of a part of the status as JSON. What cannot be encoded cannot be written either, and that error is
// reported there.
func size(part any) int {
	doc, err := json.Marshal(part)
	if err != nil {
		return 0
	}
	return len(doc)
}
