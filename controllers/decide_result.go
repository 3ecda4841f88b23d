package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
	"github.com/hadoop-bench/operator/controllers/results"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// over ends the present row with what its shards reported: done if every report is complete, else failed.
func (d *decision) over(o *observed, step Step, row *v1alpha1.StepStatus) verdict {
	now := metav1.NewTime(o.now)
	row.EndTime, row.State, row.Message = &now, v1alpha1.StepDone, ""
	if row.Shards.Reported < row.Shards.Expected {
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
		Headlines: o.bench.Headlines(o.run),
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

// maxFact bounds a fact that grows with the number of shards.
const maxFact = 512

// factsWith are the facts so far and those of a step: all that preflight found, what cleanup found beside it, and of
// measured steps how many real blocks the fake DataNodes had, which their shards tell one after the other, and how often
// shards had to turn to another NameNode.
func factsWith(facts map[string]string, step Step, shards []shard) map[string]string {
	var blocks, failovers []string
	for _, s := range shards {
		if s.report == nil {
			continue
		}
		told := s.report.Body.Facts
		switch {
		case step.Name == plan.StepPreflight:
			facts = maps.Clone(told)
		case step.Name == plan.StepCleanup && len(told) > 0:
			both := maps.Clone(told)
			maps.Copy(both, facts)
			facts = both
		case step.Measured:
			if b := told[report.FactBlocksPerDataNode]; b != "" {
				blocks = append(blocks, b)
			}
			if f := told[report.FactFailovers]; f != "" {
				failovers = append(failovers, fmt.Sprintf("%s, shard %d: %s", step, s.index, f))
			}
		}
	}
	facts = factWith(facts, report.FactBlocksPerDataNode, strings.Join(blocks, ","))
	if before := facts[report.FactFailovers]; before != "" && len(failovers) > 0 {
		failovers = slices.Insert(failovers, 0, before)
	}
	return factWith(facts, report.FactFailovers, strings.Join(failovers, "; "))
}

// factWith is a copy of facts with one more, in at most maxFact bytes; facts itself if that one is empty.
func factWith(facts map[string]string, name, fact string) map[string]string {
	if fact == "" {
		return facts
	}
	with := map[string]string{}
	maps.Copy(with, facts)
	with[name] = truncate(fact, maxFact)
	return with
}

// maxNodesShown bounds status.environment.shardsPerNode.
const maxNodesShown = 32
