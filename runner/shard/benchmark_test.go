package shard_test

import (
	"context"
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
		"YCSB":                 {func(p *plan.Plan) { p.DFSIO, p.YCSB = nil, &plan.YCSB{} }, steps.ReasonPlanInvalid, "regions 0: not between"},
		"both":                 {func(p *plan.Plan) { p.NNThroughput = nnthroughput(plan.EngineNative) }, steps.ReasonPlanInvalid, "dfsio and nnThroughput are there; a plan is for one benchmark"},
		"none":                 {func(p *plan.Plan) { p.DFSIO = nil }, steps.ReasonPlanInvalid, "none of dfsio, nnThroughput and ycsb is there"},
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

// TestConfigurationOfThePlan: YCSB's client reads HBase's configuration and the others HDFS's.
func TestConfigurationOfThePlan(t *testing.T) {
	for name, want := range map[string]string{"DFSIO": "hdfs", "YCSB": "hbase"} {
		t.Run(name, func(t *testing.T) {
			planned := newPlan()
			if name == "YCSB" {
				planned.DFSIO, planned.YCSB = nil, &plan.YCSB{}
			}
			p := newPod(t, planned)
			for _, file := range []string{"hdfs", "hbase"} {
				p.write("conf/"+file+"-site.xml", "<configuration><property><name>"+file+"</name><value>x</value></property></configuration>")
			}
			p.shard.Run = func(_ context.Context, env *steps.Env, _ *report.Body) error {
				for _, file := range []string{"hdfs", "hbase"} {
					if value, err := env.Conf.String(file, ""); err != nil || (value == "x") != (file == want) {
						t.Errorf("property of %s-site.xml is %q, error %v", file, value, err)
					}
				}
				return nil
			}
			if code := p.shard.Main(t.Context()); code != report.ExitDone {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
