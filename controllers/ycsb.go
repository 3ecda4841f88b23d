package controllers

import (
	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// YCSB is the Benchmark of YCSBRun.
type YCSB struct{}

var _ Benchmark = YCSB{}

// Kind implements Benchmark.
func (YCSB) Kind() string { return "YCSBRun" }

// New implements Benchmark.
func (YCSB) New() Run { return &v1alpha1.YCSBRun{} }

// Supports implements Benchmark.
func (YCSB) Supports() Support {
	return Support{
		Engines: []v1alpha1.Engine{v1alpha1.EngineNative}, Clients: []v1alpha1.ClientKind{v1alpha1.ClientNative},
		Warmup: true, Kerberos: true, HTTP: true, HBase: true,
	}
}

func ycsbSpec(run Run) *v1alpha1.YCSBRunSpec {
	if r, ok := run.(*v1alpha1.YCSBRun); ok {
		return &r.Spec
	}
	return &v1alpha1.YCSBRunSpec{}
}

// ycsbLoad are the settings of the load; empty ones without any.
func ycsbLoad(s *v1alpha1.YCSBRunSpec) v1alpha1.YCSBLoad {
	if s.Load == nil {
		return v1alpha1.YCSBLoad{}
	}
	return *s.Load
}

// loads says whether the run loads the records itself.
func loads(s *v1alpha1.YCSBRunSpec) bool { return !value(s.UseExisting, false) }

// mayCreate says whether the table is the run's to make.
func mayCreate(s *v1alpha1.YCSBRunSpec) bool {
	return loads(s) && s.Table.CreatePolicy != v1alpha1.YCSBCreateNever
}

// compacts says whether the run waits for the end of all compactions after the load.
func compacts(s *v1alpha1.YCSBRunSpec) bool {
	return loads(s) && value(ycsbLoad(s).WaitForCompaction, true)
}

// Steps implements Benchmark. The load is measured once: the records are there after it.
func (YCSB) Steps(run Run) []Step {
	s := ycsbSpec(run)
	shards := value(s.Shards, 1)
	var steps []Step
	if mayCreate(s) {
		steps = append(steps, Step{Name: plan.StepCreate, Repeat: 1, Shards: 1})
	}
	if loads(s) {
		steps = append(steps, Step{
			Name: plan.StepLoad, Repeat: 1, Shards: value(ycsbLoad(s).Shards, shards), Gated: true, Measured: true, Repeats: 1,
		})
	}
	if compacts(s) {
		steps = append(steps, Step{Name: plan.StepCompact, Repeat: 1, Shards: 1, Sliced: true})
	}
	for _, w := range ycsbWorkloads(s) {
		steps = append(steps, Step{
			Name: w.name, Repeat: 1, Shards: shards, Gated: true, Measured: true, Repeats: value(w.Repeats, 0), Rest: durationOr(s.Rest, 0),
		})
	}
	if value(s.Table.DropAfter, false) && mayCreate(s) {
		steps = append(steps, Step{Name: plan.StepCleanup, Repeat: 1, Shards: 1})
	}
	return steps
}

// Fill implements Benchmark.
func (YCSB) Fill(run Run, p *plan.Plan) {
	p.YCSB = ycsbPlan(run, p.Identity)
	switch p.Identity.Step {
	case plan.StepCreate:
		p.TimeoutMillis = removalTimeout.Milliseconds()
	case plan.StepCompact:
		p.TimeoutMillis = p.YCSB.SliceMillis + sliceOverhead.Milliseconds()
	}
}

// Headlines implements Benchmark: operations over the wall time say what a number of operations took; of a duration, the
// time in which every shard was at work says more.
func (YCSB) Headlines(run Run, step string) []string {
	for _, w := range ycsbWorkloads(ycsbSpec(run)) {
		if w.name == step && w.Duration != nil {
			return []string{report.FigureWindowOps, report.FigureOps}
		}
	}
	return []string{report.FigureOps}
}

// TextFile implements Benchmark. The tool itself only prints the text.
func (YCSB) TextFile() string { return "ycsb.txt" }
