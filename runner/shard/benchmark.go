package shard

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hadoop-bench/operator/runner/dfsio"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/upstream"
	"github.com/hadoop-bench/operator/runner/ycsb/step"
)

// runFunc carries out a step.
type runFunc func(ctx context.Context, env *steps.Env, body *report.Body) error

// runOf is the benchmark that a plan is for: the one whose part it has.
func runOf(p *plan.Plan) (runFunc, error) {
	var parts []string
	for _, part := range []struct {
		name  string
		there bool
	}{{"dfsio", p.DFSIO != nil}, {"nnThroughput", p.NNThroughput != nil}, {"ycsb", p.YCSB != nil}} {
		if part.there {
			parts = append(parts, part.name)
		}
	}
	switch {
	case len(parts) > 1:
		return nil, fmt.Errorf("plan: %s are there; a plan is for one benchmark", strings.Join(parts, " and "))
	case len(parts) == 0:
		return nil, errors.New("plan: none of dfsio, nnThroughput and ycsb is there; operator and runner must be of one release")
	case p.DFSIO != nil:
		return func(ctx context.Context, env *steps.Env, body *report.Body) error {
			return dfsio.Run(ctx, &dfsio.Env{Env: *env}, body)
		}, nil
	case p.YCSB != nil:
		return func(ctx context.Context, env *steps.Env, body *report.Body) error {
			return step.Run(ctx, &step.Env{Env: *env}, body)
		}, nil
	}
	switch p.NNThroughput.Engine {
	case plan.EngineNative:
		return func(ctx context.Context, env *steps.Env, body *report.Body) error {
			return nnthroughput.Run(ctx, &nnthroughput.Env{Env: *env}, body)
		}, nil
	case plan.EngineUpstream:
		return upstream.Run, nil
	}
	return nil, fmt.Errorf("plan: engine %q: not known; known are %s and %s", p.NNThroughput.Engine, plan.EngineNative, plan.EngineUpstream)
}

// filesOf are the names of the configuration files that the benchmark's client reads; nil: those of HDFS.
func filesOf(p *plan.Plan) []string {
	if p.YCSB != nil {
		return hbase.ConfFiles()
	}
	return nil
}
