package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
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
	work     string // directory of the process
	uid      string

	target nnthroughput.Target // for what no measurement does; nil before it is connected
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
	err := s.connect(ctx, ops[0])
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
	if err := s.checkPlace(ctx, env.Plan); err != nil {
		return err
	}
	body := &report.Body{}
	err := nnthroughput.Run(ctx, env, body)
	s.tell(env.Log, body)
	if printErr := s.print(env, body, err); err == nil {
		err = printErr
	}
	if made(env.Plan, body, err) {
		if removeErr := s.removeAfter(ctx, env.Plan); err == nil {
			err = removeErr
		}
	}
	if err == nil && len(body.Errors) > 0 {
		return errOperations
	}
	return err
}

// made tells whether the operation may have made or used anything: what was refused before must not cost files that lay
// there, nor must files that an earlier create left and that turned out to be others than was thought.
func made(p *plan.Plan, body *report.Body, err error) bool {
	if own := new(steps.Error); errors.As(err, &own) && own.Exit == report.ExitPlan {
		return false
	}
	return body.Start > 0 || !p.NNThroughput.UseExisting
}

// removeAfter removes what an operation made, in a time of its own, since that is due after a signal, too.
func (s *session) removeAfter(ctx context.Context, p *plan.Plan) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	err := s.remove(ctx, p)
	if err != nil {
		s.log.Error("Removing what the operation made failed", "error", err)
	}
	return err
}

// checkPlace refuses to work where leftovers would make a wrong number: directories that exist already are not made, and
// files are not renamed to names that exist.
func (s *session) checkPlace(ctx context.Context, p *plan.Plan) error {
	if p.NNThroughput.UseExisting {
		return nil
	}
	for _, base := range p.NNThroughput.BaseDirs {
		dir := ownDir(base, p)
		_, found, err := s.nn().GetFileInfo(ctx, dir)
		if err != nil {
			return s.refused("look at "+dir, err)
		}
		if !found {
			continue
		}
		if op := p.Identity.Step; op == plan.OpMkdirs || op == plan.OpRename {
			return steps.Fail(report.ExitTarget, steps.ReasonLeftoversFound,
				"delete it, by -op clean with the same -baseDirName, or set another -baseDirName",
				"%s is there already, so %s would not do what it is to measure", dir, op)
		}
		s.log.Warn("The directory is there already: files in it are overwritten", "directory", dir)
	}
	return nil
}

// tell logs what upstream's report has no place for.
func (s *session) tell(log *slog.Logger, body *report.Body) {
	failures := int64(0)
	for _, e := range body.Errors {
		failures += e.Count
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
			facts = append(facts, h.name+"P50Nanos", h.of.Quantile(0.5), h.name+"P99Nanos", h.of.Quantile(0.99))
		}
	}
	log.Info("Figures", facts...)
	if attempted := body.Operations + failures; attempted < body.Due-body.Due/100 {
		log.Warn("The rate was not reached, so the figures are those of another load", "due", body.Due, "attempted", attempted)
	}
}

// print writes upstream's report of an operation that ended with err, if anything was measured. It is upstream's to the
// byte, with the empty line it puts before each.
func (s *session) print(env *nnthroughput.Env, body *report.Body, err error) error {
	if body.Start == 0 {
		return nil
	}
	if err := s.render(s.process.Stdout, env, body, err); err != nil {
		return fmt.Errorf("print the report: %w", err)
	}
	return nil
}

// remove deletes the operation's own directories, as upstream does, unless the results are to be kept. With -useExisting
// upstream moves the files of create to the operation before it; here they are worked on where they lie and moved at the
// end if they are kept, so that nothing is moved when they turn out to be others than was thought.
func (s *session) remove(ctx context.Context, p *plan.Plan) error {
	for _, base := range p.NNThroughput.BaseDirs {
		own := ownDir(base, p)
		if err := s.delete(ctx, own+warmUpSuffix); err != nil {
			return err
		}
		used := own
		if p.NNThroughput.UseExisting {
			_, found, err := s.nn().GetFileInfo(ctx, own)
			if err != nil {
				return s.refused("look at "+own, err)
			}
			if !found {
				used = createDir(base)
			}
		}
		var err error
		switch {
		case !s.command.Options.KeepResults:
			err = s.delete(ctx, used)
		case used != own:
			err = s.move(ctx, used, own)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// delete deletes a directory and what is in it. There being none is fine.
func (s *session) delete(ctx context.Context, dir string) error {
	if _, err := s.nn().Delete(ctx, dir, true); err != nil {
		return s.refused("delete "+dir, err)
	}
	return nil
}

func (s *session) move(ctx context.Context, from, to string) error {
	moved, err := s.nn().Rename(ctx, from, to)
	if err != nil {
		return s.refused("rename "+from+" to "+to, err)
	}
	if !moved {
		return steps.Fail(report.ExitBenchmark, steps.ReasonIOError, "look into the NameNode's log at that time",
			"rename %s to %s: the NameNode did not do it", from, to)
	}
	return nil
}

// removeEmptyBases deletes base directories in which nothing is left. It is a courtesy: its errors are only logged.
func (s *session) removeEmptyBases(ctx context.Context) {
	if s.target == nil || s.command.Options.KeepResults {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanTimeout)
	defer cancel()
	for _, base := range s.command.Options.BaseDirs {
		entries, found, err := s.nn().List(ctx, base)
		if err == nil && found && len(entries) == 0 {
			_, err = s.nn().Delete(ctx, base, false)
		}
		if err != nil {
			s.log.Warn("The base directory was not looked after", "directory", base, "error", err)
		}
	}
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
