// Package shard is the life of one pod: it reads its plan, configuration and index, lets the benchmark's package carry
// out the step, stops when it is told to, and leaves one report and an exit code, whatever happens.
package shard

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/runner"
	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// Reasons of failures that belong to no benchmark.
const (
	ReasonStopped          = "Stopped"
	ReasonDeadlineExceeded = "DeadlineExceeded"
	ReasonNotStarted       = "NotStarted"
	ReasonGateMissed       = "GateMissed"
	ReasonInternal         = "InternalError"
)

// Shard is one shard's surroundings. Paths are those of package plan in a pod.
type Shard struct {
	PlanFile, ConfDir, StartFile, StopFile, ReadyFile, ReportFile string

	Index     string // of the shard, as Kubernetes gives it
	LookupEnv func(string) (string, bool)

	Clock   measure.Clock
	Signals <-chan os.Signal
	Root    fs.FS // of the file system, for the control groups
	Log     *slog.Logger

	// Run carries out the step. Nil means the benchmark's that the plan is for.
	Run func(ctx context.Context, env *steps.Env, body *report.Body) error
}

// Main lives the shard's life and returns the exit code.
func (s *Shard) Main(ctx context.Context) int {
	p, err := ReadPlan(s.PlanFile)
	if err != nil {
		failure := steps.PlanError(err)
		failure.Failure.Remedy = "operator and runner must be of one release"
		return s.finish(&report.Report{}, failure)
	}
	return s.Carry(ctx, p)
}

// Carry carries out a plan that was read or made already, and returns the exit code.
func (s *Shard) Carry(ctx context.Context, p *plan.Plan) int {
	r := &report.Report{Envelope: report.Envelope{Identity: p.Identity}}
	s.Log = s.Log.With("step", p.Identity.Step, "repeat", p.Identity.Repeat)
	err := s.carry(ctx, p, r)
	return s.finish(r, err)
}

func (s *Shard) carry(ctx context.Context, p *plan.Plan, r *report.Report) error {
	index, err := strconv.ParseInt(s.Index, 10, 32)
	if err != nil || index < 0 {
		return steps.PlanError(fmt.Errorf("index %q: not a number from 0; Kubernetes sets %s in Indexed Jobs", s.Index, plan.IndexEnv))
	}
	r.Envelope.Index = int32(index)
	s.Log = s.Log.With("index", index)
	s.Log.Info("Shard begins", "run", p.Run, "runner", runner.Version(), "execution", p.Identity.Execution, "attempt", p.Identity.Attempt)
	files, err := conf.ReadDir(s.ConfDir)
	if err != nil {
		return steps.ConfigError(err)
	}
	r.Body.ConfHash = plan.ConfHash(files)
	c, err := conf.Load(files, conf.Options{Files: filesOf(p), Overrides: p.Target.Properties, LookupEnv: s.LookupEnv})
	if err != nil {
		return steps.ConfigError(err)
	}
	stop := measure.Stop{
		Clock: s.Clock, File: s.StopFile, Signals: s.Signals,
		Timeout: time.Duration(p.TimeoutMillis) * time.Millisecond,
	}
	ctx, cancel := stop.Context(ctx)
	defer cancel()
	run := s.Run
	if run == nil {
		if run, err = runOf(p); err != nil {
			return steps.PlanError(err)
		}
	}
	return run(ctx, &steps.Env{
		Plan: p, Index: r.Envelope.Index, Conf: c, User: steps.User(p, s.LookupEnv),
		Gate: &measure.Gate{
			Clock: s.Clock, Closed: p.Gate, ReadyFile: s.ReadyFile, StartFile: s.StartFile,
			Timeout: time.Duration(p.GateTimeoutMillis) * time.Millisecond,
		},
		Clock: s.Clock, Self: measure.Self{Root: s.Root}, Log: s.Log, LookupEnv: s.LookupEnv,
		Version: runner.Version(), GoVersion: runner.GoVersion(),
	}, &r.Body)
}

// finish completes the envelope, writes the report and returns the exit code.
func (s *Shard) finish(r *report.Report, err error) int {
	r.Envelope.Version = report.Version
	r.Envelope.Outcome, r.Envelope.ExitCode, r.Envelope.Failure = Judge(err)
	if f := r.Envelope.Failure; f != nil {
		s.Log.Error("Shard ends", "outcome", r.Envelope.Outcome, "exit", r.Envelope.ExitCode, "reason", f.Reason, "message", f.Message, "remedy", f.Remedy)
	} else {
		s.Log.Info("Shard ends", "outcome", r.Envelope.Outcome, "operations", r.Body.Operations, "bytes", r.Body.Bytes, "micros", r.Body.End-r.Body.Start)
	}
	if err := s.write(r); err != nil {
		s.Log.Error("Writing the report failed", "error", err)
		// Without a report nothing is complete.
		if r.Envelope.ExitCode == report.ExitDone {
			return report.ExitBenchmark
		}
	}
	return r.Envelope.ExitCode
}

// write puts the report down in one call. The file is there already in a pod and must be kept, since the kubelet reads
// that very file.
func (s *Shard) write(r *report.Report) error {
	text, err := report.Encode(r)
	if err != nil {
		s.Log.Error("Encoding the report failed, only its head is written", "error", err)
		head := *r
		head.Body = report.Body{}
		if head.Envelope.Outcome == report.Complete {
			head.Envelope.Outcome, head.Envelope.ExitCode = report.Failed, report.ExitBenchmark
			head.Envelope.Failure = &report.Failure{Reason: ReasonInternal, Message: fmt.Sprintf("encode the report: %v", err)}
			r.Envelope = head.Envelope
		}
		if text, err = json.Marshal(&head); err != nil {
			return fmt.Errorf("encode the report's head: %w", err)
		}
	}
	if err := os.WriteFile(s.ReportFile, text, 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// Judge turns the end of a step into an outcome, an exit code and a failure.
func Judge(err error) (report.Outcome, int, *report.Failure) {
	own, stopped, missed := new(steps.Error), new(measure.Stopped), new(measure.GateMissed)
	switch {
	case err == nil:
		return report.Complete, report.ExitDone, nil
	case errors.As(err, &stopped):
		return report.Partial, report.ExitInterrupted, &report.Failure{Reason: ReasonStopped, Message: stopped.Error()}
	case errors.Is(err, measure.ErrDeadline):
		return report.Partial, report.ExitDeadline, &report.Failure{
			Reason: ReasonDeadlineExceeded, Message: err.Error(), Remedy: "raise the run's deadline, or ask for less work",
		}
	case errors.As(err, &own):
		return report.Failed, own.Exit, &own.Failure
	case errors.As(err, &missed):
		return report.Failed, report.ExitNeverBegan, &report.Failure{
			Reason: ReasonGateMissed, Message: err.Error(), Remedy: "set the clocks of operator and nodes by NTP",
		}
	case errors.Is(err, measure.ErrGateTimeout):
		return report.Failed, report.ExitNeverBegan, &report.Failure{Reason: ReasonNotStarted, Message: err.Error()}
	}
	return report.Failed, report.ExitBenchmark, &report.Failure{Reason: ReasonInternal, Message: err.Error()}
}
