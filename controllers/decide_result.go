package controllers

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/controllers/results"
	"github.com/hadoop-bench/operator/runner/report"
)

// over ends the present row with what its shards reported: done if every report is complete, else failed.
func (d *decision) over(o *observed, step Step, row *v1alpha1.StepStatus) verdict {
	now := metav1.NewTime(o.now)
	row.EndTime, row.State, row.Message = &now, v1alpha1.StepDone, ""
	if row.Shards.Reported < row.Shards.Expected || unfinished(step, o.shards) != "" {
		row.State = v1alpha1.StepFailed
		if d.next.Failure != nil {
			row.Message = d.next.Failure.Message
		}
		if !allOver(o.shards) {
			row.Job = "" // its pods do not end by themselves: the Job is not kept for inspection
		}
	}
	d.environment(o, step)
	if !step.Measured {
		return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s ended", step))
	}
	d.keepResult(o, step, row)
	return yes(v1alpha1.ReasonRunning, fmt.Sprintf("step %s ended", step))
}

// keepResult merges the reports into the row, the aggregates and the document that is kept.
func (d *decision) keepResult(o *observed, step Step, row *v1alpha1.StepStatus) {
	in := results.Input{
		Identity: identity(o.run, d.next.Execution, *row), Step: step.Name, Repeat: step.Repeat, Expected: row.Shards.Expected,
		Limits: results.Limits{
			MinDuration: durationOr(o.spec.MinDuration, defaultMinDuration), MaxStartSpread: durationOr(o.spec.MaxStartSpread, 0),
			ConfigHash: d.next.Effective.ConfigHash,
		},
		Headlines: o.bench.Headlines(o.run, step.Name),
		Text:      func(mi report.MergeInput, m *report.Merged) (string, error) { return o.bench.Text(o.run, step, mi, m) },
	}
	for _, s := range o.shards {
		in.Shards = append(in.Shards, results.Shard{Index: s.index, Pod: s.pod, Node: s.node, Report: s.report})
	}
	p, err := results.Measure(in, o.document)
	if err != nil {
		d.fail(&v1alpha1.Failure{Reason: v1alpha1.ReasonReportsUnusable, Step: step.Name, Message: truncate(fmt.Sprintf("the shards' reports cannot be merged: %v; this is a defect of the operator, please report it", err), maxMessage)})
		row.State, row.Message = v1alpha1.StepFailed, d.next.Failure.Message
		return
	}
	row.Result, d.persist = p.Result, p
	d.next.Aggregates, d.next.PooledLatencies = p.Document.Aggregates(), p.Document.PooledLatencies()
	d.next.ReportRef = &v1alpha1.LocalObjectReference{Name: jobs.ReportName(o.run.GetName(), o.run.GetUID(), d.next.Execution)}
	if row.State == v1alpha1.StepDone {
		d.note(corev1.EventTypeNormal, "Measured", fmt.Sprintf("step %s: %s", step, p.Line))
	}
}

// environment keeps the image that ran, how shards were spread, and the facts that they told.
func (d *decision) environment(o *observed, step Step) {
	if d.next.Environment == nil {
		d.next.Environment = &v1alpha1.Environment{}
	}
	env := d.next.Environment
	env.Facts = factsWith(env.Facts, step, o.shards)
	nodes := map[string]int32{}
	for _, s := range o.shards {
		if s.imageID != "" && d.next.Effective.RunnerImageID == "" {
			d.next.Effective.RunnerImageID = s.imageID
		}
		if s.node != "" {
			nodes[s.node]++
		}
	}
	if !step.Measured {
		return
	}
	env.Nodes, env.ShardsPerNode = int32(len(nodes)), map[string]int32{}
	for _, n := range slices.Sorted(maps.Keys(nodes)) {
		if len(env.ShardsPerNode) < maxNodesShown {
			env.ShardsPerNode[n] = nodes[n]
		}
	}
}

// maxNodesShown bounds status.environment.shardsPerNode.
const maxNodesShown = 32
