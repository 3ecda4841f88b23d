package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path"
	"strings"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// session carries out the operations of one command line against a NameNode.
type session struct {
	process  *Process
	log      *slog.Logger
	command  *Command
	conf     *conf.Conf
	kerberos *plan.Kerberos
	random   io.Reader
	work     string    // directory of the process
	stderr   io.Writer // shared with the log
	uid      string

	target nnthroughput.Target // for what no measurement does; nil before it is connected
	lost   bool                // no NameNode answers any more
}

func (s *session) close() {
	if s.target != nil {
		if err := s.target.Close(); err != nil {
			s.log.Warn("Disconnecting failed", "error", err)
		}
	}
	os.RemoveAll(s.work)
}

// run carries out operations one after the other. Operations that failed by the number are told and gone on from, as
// errOperations in the end; every other error ends the command.
func (s *session) run(ctx context.Context, ops []string) error {
	if err := s.validate(ops); err != nil {
		return err
	}
	err := s.connect(ctx, ops[0])
	if err == nil {
		err = s.checkBases(ctx)
	}
	if err == nil && s.command.Options.LeaveSafeMode {
		err = s.leaveSafeMode(ctx)
	}
	failed := false
	for _, op := range ops {
		if err != nil {
			break
		}
		s.log.Info("Starting benchmark", "op", op, "baseDir", strings.Join(s.command.Options.BaseDirs, ","))
		if op == plan.OpClean {
			err = s.clean(ctx)
		} else {
			err = s.operation(ctx, op)
		}
		if errors.Is(err, errOperations) {
			failed, err = true, nil
		}
	}
	s.lost = s.lost || lost(err)
	// Whatever a call says after the order to stop, the order is the reason.
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	s.removeEmptyBases(ctx)
	if err == nil && failed {
		return errOperations
	}
	return err
}

func (s *session) connect(ctx context.Context, op string) error {
	connect := s.process.Connect
	if connect == nil {
		connect = nnthroughput.Connect
	}
	var err error
	if s.target, err = connect(ctx, s.env(op), 1); err != nil {
		return s.refused("connect to the NameNode", err)
	}
	return nil
}

func (s *session) nn() nnthroughput.NameNode { return s.target.Thread(0) }

func (s *session) leaveSafeMode(ctx context.Context) error {
	if _, err := s.nn().SetSafeMode(ctx, namenode.SafeModeLeave, false); err != nil {
		return s.refused("leave safe mode", err)
	}
	return nil
}

// operation measures one operation, prints its report and removes what it made.
func (s *session) operation(ctx context.Context, op string) error {
	env := s.env(op)
	there, err := s.checkPlace(ctx, env.Plan)
	if err != nil {
		return err
	}
	body := &report.Body{}
	err = nnthroughput.Run(ctx, env, body)
	s.tell(env.Log, body)
	if printErr := s.print(env, body, err); err == nil {
		err = printErr
	}
	missed := err == nil && s.missedRate(env, body)
	failures := len(body.Errors) > 0
	removeErr := s.removeAfter(ctx, ended{plan: env.Plan, there: there, err: err, failures: failures})
	if err == nil {
		err = removeErr
	}
	if err == nil && (failures || missed) {
		return errOperations
	}
	return err
}

// checkPlace refuses to work where leftovers would make a wrong number: directories that exist already are not made, and
// files are not renamed to names that exist. there are the directories that the operation works in all the same.
func (s *session) checkPlace(ctx context.Context, p *plan.Plan) (there []string, err error) {
	if p.NNThroughput.UseExisting {
		return nil, nil
	}
	for _, base := range p.NNThroughput.BaseDirs {
		dir := ownDir(base, p)
		found, err := s.exists(ctx, dir)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		if op := p.Identity.Step; op == plan.OpMkdirs || op == plan.OpRename {
			return nil, steps.Fail(report.ExitTarget, steps.ReasonLeftoversFound,
				"delete it, by -op clean with the same -baseDirName, or set another -baseDirName",
				"%s is there already, so %s would not do what it is to measure", dir, op)
		}
		s.log.Warn("The directory is there already: files in it are overwritten", "directory", dir)
		there = append(there, dir)
	}
	return there, nil
}

// tell logs what upstream's report has no place for.
func (s *session) tell(log *slog.Logger, body *report.Body) {
	for _, e := range body.Errors {
		log.Error("Operations failed", "class", e.Class, "count", e.Count, "first", e.First)
	}
	if body.Operations == 0 {
		return
	}
	facts := []any{"operations", body.Operations, "micros", body.End - body.Start, "setUpMicros", body.SetUp}
	for _, h := range []struct {
		name string
		of   *report.Histogram
	}{{"service", body.Latency}, {"intended", body.Intended}} {
		if h.of != nil && h.of.Count() > 0 {
			facts = append(facts, h.name+"P50Nanos", h.of.Quantile(0.5), h.name+"P90Nanos", h.of.Quantile(0.9),
				h.name+"P99Nanos", h.of.Quantile(0.99), h.name+"P999Nanos", h.of.Quantile(0.999),
				h.name+"MaxNanos", h.of.Max(), h.name+"MeanNanos", int64(h.of.Mean()))
		}
	}
	log.Info("Figures", facts...)
}

// missedRate tells, and says in the log, whether more than 1 % of the operations that were due were not begun.
func (s *session) missedRate(env *nnthroughput.Env, body *report.Body) bool {
	attempted := body.Operations
	for _, e := range body.Errors {
		attempted += e.Count
	}
	if float64(body.Due-attempted)*100 <= float64(body.Due) {
		return false
	}
	reached := float64(attempted) * 1e6 / float64(max(1, body.End-body.Start))
	env.Log.Error("The rate was not reached, so the figures are those of another load", "reason", "RateNotReached",
		"offeredPerSec", float64(env.Plan.NNThroughput.RateMilli)/1000, "reachedPerSec", math.Round(reached*1000)/1000,
		"due", body.Due, "attempted", attempted, "remedy", "lower -rate, or raise -threads")
	return true
}

// print writes upstream's report of an operation that ended with err, if anything was measured. It is upstream's to the
// byte, with the empty line it puts before each. One that is not complete goes to the log's stream and says so.
func (s *session) print(env *nnthroughput.Env, body *report.Body, err error) error {
	if body.Start == 0 {
		return nil
	}
	var text bytes.Buffer
	out := s.process.Stdout
	if err != nil {
		out = s.stderr
		fmt.Fprintf(&text, "Incomplete report of %s, which was not done to its end: %v\n", env.Plan.Identity.Step, err)
	}
	if err := s.render(&text, env, body, err); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	if _, err := out.Write(text.Bytes()); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}

// clean is operation clean: it deletes the base directories. By itself it deletes what it is told to; as a part of all only
// what this tool makes, since nobody who asks for all means to delete other things that lie there.
func (s *session) clean(ctx context.Context) error {
	env := s.env(plan.OpClean)
	if s.command.Op == plan.OpAll {
		if err := s.checkOwn(ctx); err != nil {
			return err
		}
	}
	body := &report.Body{Latency: report.NewHistogram(report.DefaultScale)}
	clock := s.process.Clock
	for _, base := range s.command.Options.BaseDirs {
		began := clock.Now()
		_, err := s.nn().Delete(ctx, base, true)
		ended := clock.Now()
		if err != nil {
			return s.refused("delete "+base, err)
		}
		if body.Start == 0 {
			body.Start = began.UnixMicro()
		}
		body.End = ended.UnixMicro()
		body.Operations++
		body.Latency.Record(ended.Sub(began).Nanoseconds())
	}
	return s.print(env, body, nil)
}

// checkOwn refuses base directories that hold anything but what the operations make.
func (s *session) checkOwn(ctx context.Context) error {
	for _, base := range s.command.Options.BaseDirs {
		entries, _, err := s.nn().List(ctx, base)
		if err != nil {
			return s.refused("list "+base, err)
		}
		for _, e := range entries {
			if !isOperation(e.Path) {
				return steps.Fail(report.ExitTarget, steps.ReasonNotOurs, "-op clean by itself deletes all of it",
					"%s is none of this tool's directories, so operation clean does not delete %s", path.Join(base, e.Path), base)
			}
		}
	}
	return nil
}

func isOperation(name string) bool {
	for _, op := range operations() {
		if name == op {
			return true
		}
	}
	return false
}

// refused turns an error of the NameNode into a failure.
func (s *session) refused(what string, err error) error {
	if own := new(steps.Error); errors.As(err, &own) {
		return own
	}
	e := &steps.Error{Exit: report.ExitTarget, Cause: err, Failure: report.Failure{
		Reason: steps.ReasonIOError, Message: what + ": " + namenode.Text(err), Remedy: "look into the NameNode's log at that time",
	}}
	switch class := namenode.Class(err); {
	case errors.Is(err, namenode.ErrUnreachable):
		e.Failure.Reason, e.Failure.Remedy = steps.ReasonNameNodeUnreachable, "check -fs, and that the NameNode runs and can be reached from here"
	case class == "AccessControlException":
		e.Failure.Reason, e.Failure.Remedy = steps.ReasonPermissionDenied, "act as another user (-user, or a Kerberos login), or set another -baseDirName"
	case class == "SafeModeException":
		e.Failure.Reason, e.Failure.Remedy = steps.ReasonSafeMode, "wait until the NameNode has left safe mode, or let it leave by -leaveSafeMode"
	}
	return e
}
