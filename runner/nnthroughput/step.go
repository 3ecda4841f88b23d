package nnthroughput

import (
	"context"
	"crypto/rand"
	"io"
	"sync/atomic"
	"time"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// takeDownTimeout bounds what a shard undoes after its measurement, also after a stop order or a failure.
const takeDownTimeout = 30 * time.Second

// Env is what a step gets: what the shard gives to every benchmark, and how the target is reached.
type Env struct {
	steps.Env
	// Random is where UUIDs, lease holders and phases of schedules come from; nil: the system's.
	Random io.Reader
	// Connect connects the given number of threads to the name service that plan and configuration name; nil: by Hadoop's
	// own protocols. Its errors are those of package namenode, or *steps.Error.
	Connect func(ctx context.Context, env *Env, threads int) (Target, error)
}

// step is one step under way.
type step struct {
	env      *Env
	nnt      *plan.NNThroughput
	settings settings
	work     work
	body     *report.Body

	target  Target
	dirs    []string     // where the attempt works, for each base directory
	done    atomic.Int64 // of set-up: what was made so far, and is to be made
	total   atomic.Int64
	running atomic.Pointer[loop] // the measurement, once it runs
}

// Run carries out the step the plan names and fills body with what was measured, also if it fails. The error is an
// *steps.Error, the context's cause, or one of the gate's.
func Run(ctx context.Context, env *Env, body *report.Body) error {
	if err := Validate(env.Plan, env.Index); err != nil {
		return steps.PlanError(err)
	}
	s := &step{env: env, nnt: env.Plan.NNThroughput, body: body}
	if env.Random == nil {
		withRandom := *env
		withRandom.Random = rand.Reader
		s.env = &withRandom
	}
	var err error
	if s.settings, err = resolveSettings(s.nnt, env.Conf); err != nil {
		return err
	}
	s.work = workOf(env.Plan, env.Index)
	err = s.run(ctx)
	// Whatever a call says after the order to stop, the order is the reason.
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

func (s *step) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	connect := s.env.Connect
	if connect == nil {
		connect = Connect
	}
	var err error
	if s.target, err = connect(ctx, s.env, max(1, s.work.own())); err != nil {
		return s.refused("connect to the NameNode", err)
	}
	defer func() {
		if err := s.target.Close(); err != nil {
			s.env.Log.Warn("Disconnecting failed", "error", err)
		}
	}()
	switch s.env.Plan.Identity.Step {
	case plan.StepPreflight:
		return s.preflight(ctx)
	case plan.StepCleanup:
		return s.cleanup(ctx)
	case plan.OpClean:
		return s.clean(ctx)
	}
	return s.measured(ctx, s.newOperation())
}

// thread is the NameNode for thread i of the shard, from 0.
func (s *step) thread(i int) NameNode { return s.target.Thread(i) }

// control is the NameNode for what no thread does.
func (s *step) control() NameNode { return s.target.Thread(0) }
