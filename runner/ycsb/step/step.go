package step

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// Env is what a step gets: what the shard gives to every benchmark, and how the target is reached.
type Env struct {
	steps.Env
	// Connect connects to the HBase that plan and configuration name; nil: by HBase's own protocols. Its errors are
	// *steps.Error, or those of packages hbase and admin.
	Connect func(ctx context.Context, env *Env, properties *ycsb.Properties) (Target, error)
}

// step is one step under way.
type step struct {
	env    *Env
	plan   *plan.Plan
	y      *plan.YCSB
	share  share
	config *ycsb.Config // of the records; of a measured step, also of what it does
	body   *report.Body
	target Target
}

// Run carries out the step the plan names and fills body with what was found and measured, also if it fails. The error is
// an *steps.Error, the context's cause, or one of the gate's.
func Run(ctx context.Context, env *Env, body *report.Body) error {
	if err := Validate(env.Plan, env.Index); err != nil {
		return steps.PlanError(err)
	}
	s := &step{env: env, plan: env.Plan, y: env.Plan.YCSB, share: shareOf(env.Plan, env.Index), body: body}
	properties := propertiesOf(env.Plan, env.Index)
	var err error
	if s.config, err = ycsb.ParseConfig(properties, otherProperties()...); err != nil {
		return steps.PlanError(fmt.Errorf("plan: %w", err))
	}
	for _, warning := range s.config.Warnings {
		env.Log.Warn("About the properties", "warning", warning)
	}
	err = s.run(ctx, properties)
	// Whatever a call says after the order to stop, the order is the reason.
	if cause := context.Cause(ctx); err != nil && cause != nil {
		return cause
	}
	return err
}

func (s *step) run(ctx context.Context, properties *ycsb.Properties) error {
	if err := checkBootstrap(s.env.Conf); err != nil {
		return err
	}
	connect := s.env.Connect
	if connect == nil {
		connect = Connect
	}
	var err error
	if s.target, err = connect(ctx, s.env, properties); err != nil {
		return s.refused("connect to HBase", err)
	}
	defer func() {
		if err := s.target.Close(); err != nil {
			s.log().Warn("Disconnecting failed", "error", err)
		}
	}()
	switch s.plan.Identity.Step {
	case plan.StepPreflight:
		return s.unmeasured(ctx, s.preflight)
	case plan.StepCreate:
		return s.unmeasured(ctx, s.create)
	case plan.StepCompact:
		return s.unmeasured(ctx, s.compact)
	case plan.StepCleanup:
		return s.unmeasured(ctx, s.cleanup)
	}
	return s.measured(ctx)
}

// unmeasured carries out a step that nobody waits for at a gate.
func (s *step) unmeasured(ctx context.Context, act func(context.Context) error) error {
	if err := s.env.Gate.Ready(); err != nil {
		return err
	}
	s.body.Start = s.env.Clock.Now().UnixMicro()
	defer func() { s.body.End = max(s.body.Start, s.env.Clock.Now().UnixMicro()) }()
	return act(ctx)
}

func (s *step) log() *slog.Logger { return s.env.Log }

// fact notes something about the target.
func (s *step) fact(name, value string) {
	if s.body.Facts == nil {
		s.body.Facts = map[string]string{}
	}
	s.body.Facts[name] = value
}

// user is who HBase takes us for.
func (s *step) user() string {
	if k := s.plan.Target.Kerberos; k != nil {
		return k.Principal
	}
	return s.env.User
}
