package shard

import (
	"context"
	"errors"
	"fmt"

	"github.com/hadoop-bench/operator/runner/dfsio"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/upstream"
)

// runFunc carries out a step.
type runFunc func(ctx context.Context, env *steps.Env, body *report.Body) error

// runOf is the benchmark that a plan is for: the one whose part it has.
func runOf(p *plan.Plan) (runFunc, error) {
	switch {
	case p.DFSIO != nil && p.NNThroughput != nil:
		return nil, errors.New("plan: both dfsio and nnThroughput are there; a plan is for one benchmark")
	case p.DFSIO != nil:
		return func(ctx context.Context, env *steps.Env, body *report.Body) error {
			return dfsio.Run(ctx, &dfsio.Env{Env: *env}, body)
		}, nil
	case p.NNThroughput == nil:
		return nil, errors.New("plan: neither dfsio nor nnThroughput is there; operator and runner must be of one release")
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
