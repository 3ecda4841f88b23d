package shard_test

import (
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// TestBenchmarkOfThePlan: the part that a plan has decides who carries it out; the refusals tell who was asked.
func TestBenchmarkOfThePlan(t *testing.T) {
	nnthroughput := func(engine string) *plan.NNThroughput { return &plan.NNThroughput{Engine: engine} }
	tests := map[string]struct {
		change func(*plan.Plan)
		reason string
		want   string // part of the message
	}{
		"DFSIO":                {func(p *plan.Plan) { p.DFSIO.NrFiles = 0 }, steps.ReasonPlanInvalid, "nrFiles 0: not between"},
		"NNThroughput":         {func(p *plan.Plan) { p.DFSIO, p.NNThroughput = nil, nnthroughput(plan.EngineNative) }, steps.ReasonPlanInvalid, "0 base directories"},
		"NNThroughput, Java":   {func(p *plan.Plan) { p.DFSIO, p.NNThroughput = nil, nnthroughput(plan.EngineUpstream) }, steps.ReasonPlanInvalid, "shard 5 of 8: the class runs in one process"},
		"NNThroughput, engine": {func(p *plan.Plan) { p.DFSIO, p.NNThroughput = nil, nnthroughput("Steam") }, steps.ReasonPlanInvalid, `engine "Steam": not known; known are Native and Upstream`},
		"both":                 {func(p *plan.Plan) { p.NNThroughput = nnthroughput(plan.EngineNative) }, steps.ReasonPlanInvalid, "both dfsio and nnThroughput are there"},
		"none":                 {func(p *plan.Plan) { p.DFSIO = nil }, steps.ReasonPlanInvalid, "neither dfsio nor nnThroughput is there"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			planned := newPlan()
			tt.change(planned)
			p := newPod(t, planned)
			if code := p.shard.Main(t.Context()); code != report.ExitPlan {
				t.Errorf("exit code %d", code)
			}
			if f := p.report().Envelope.Failure; f.Reason != tt.reason || !strings.Contains(f.Message, tt.want) {
				t.Errorf("failure %+v, want %s with %q", f, tt.reason, tt.want)
			}
		})
	}
}
