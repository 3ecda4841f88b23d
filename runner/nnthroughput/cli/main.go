package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/hadoop-bench/operator/runner"
	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// Process is what the command gets from the process it runs in. All fields but the last ones must be set.
type Process struct {
	Args           []string // after the command's name
	LookupEnv      func(string) (string, bool)
	Stdout, Stderr io.Writer
	Signals        <-chan os.Signal
	Clock          measure.Clock
	Root           fs.FS  // of the file system, for the control groups
	Username       string // login name of who runs the process; empty if it has none
	// Judge turns the end of a step into an outcome, an exit code and a failure.
	Judge func(err error) (report.Outcome, int, *report.Failure)

	Random  io.Reader                                                                                  // nil: the system's
	Connect func(ctx context.Context, env *nnthroughput.Env, threads int) (nnthroughput.Target, error) // nil: by Hadoop's protocols
}

// Main runs the command and returns the exit code.
func (p *Process) Main(ctx context.Context) int {
	c, err := Parse(p.Args)
	switch {
	case errors.Is(err, ErrHelp):
		fmt.Fprint(p.Stdout, usage)
		return report.ExitDone
	case err != nil:
		fmt.Fprintf(p.Stderr, "runner nnthroughput: %v\nsee runner nnthroughput -h\n", err)
		return report.ExitPlan
	}
	stderr := &lockedWriter{to: p.Stderr}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	stop := measure.Stop{Clock: p.Clock, Signals: p.Signals}
	ctx, cancel := stop.Context(ctx)
	defer cancel()
	return p.end(log, p.run(ctx, log, stderr, &c))
}

// errOperations says that operations failed and were counted, or that a rate was not reached, which the log has told already.
var errOperations = errors.New("operations failed, or a rate was not reached")

// end tells why the command ended and returns the exit code.
func (p *Process) end(log *slog.Logger, err error) int {
	if err == nil {
		return report.ExitDone
	}
	if errors.Is(err, errOperations) {
		return report.ExitBenchmark
	}
	_, code, failure := p.Judge(err)
	log.Error(failure.Message, "reason", failure.Reason, "remedy", inOptions(failure.Remedy), "exit", code)
	return code
}

// run decides whether the work is ours or that of Hadoop's own class, and does it.
func (p *Process) run(ctx context.Context, log *slog.Logger, stderr io.Writer, c *Command) error {
	loaded, err := p.configuration(c)
	if err != nil {
		return err
	}
	alone, err := standalone(loaded)
	if err != nil {
		return err
	}
	if alone {
		return p.runUpstream(ctx, log, c, loaded)
	}
	ops, err := remoteOperations(log, c)
	if err != nil {
		return err
	}
	s, err := p.newSession(log, c, loaded)
	if err != nil {
		return err
	}
	s.stderr = stderr
	return s.carryOut(ctx, ops)
}

// remoteOperations are the operations to carry out against a NameNode.
func remoteOperations(log *slog.Logger, c *Command) ([]string, error) {
	const warning = "The replication test is ignored as it does not support standalone namenode in another process or on another host."
	switch c.Op {
	case plan.OpAll:
		log.Warn(warning)
		if c.Options.KeepResults {
			log.Warn("The clean operation is left out, since -keepResults is given")
		}
		if c.Options.RefuseFakeDataNodes {
			log.Warn("The blockReport operation is left out, since -allowFakeDataNodes false is given")
		}
		return slices.DeleteFunc(operations(), func(op string) bool {
			return op == plan.OpReplication || op == plan.OpClean && c.Options.KeepResults ||
				op == plan.OpBlockReport && c.Options.RefuseFakeDataNodes
		}), nil
	case plan.OpReplication:
		return nil, steps.Fail(report.ExitPlan, steps.ReasonNotSupported,
			"leave -fs out and set HADOOP_HOME: then Hadoop's own class measures a NameNode in its own process", warning)
	}
	return []string{c.Op}, nil
}

// newSession gathers what all operations of the command share.
func (p *Process) newSession(log *slog.Logger, c *Command, loaded *conf.Conf) (*session, error) {
	kerberos, err := p.kerberos(c, loaded)
	if err != nil {
		return nil, err
	}
	var id [8]byte
	random := p.Random
	if random == nil {
		random = rand.Reader
	}
	if _, err := io.ReadFull(random, id[:]); err != nil {
		return nil, fmt.Errorf("make an identity: %w", err)
	}
	work, err := os.MkdirTemp("", "runner-nnthroughput-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the process: %w", err)
	}
	return &session{
		process: p, log: log, command: c, conf: loaded, kerberos: kerberos, random: random, work: work,
		uid: "by-hand-" + hex.EncodeToString(id[:]),
	}, nil
}

// env is what a step of the session gets.
func (s *session) env(op string) *nnthroughput.Env {
	p := s.process
	planned := s.command.planOf(op, s.uid, s.kerberos)
	if planned.Target.User == "" {
		planned.Target.User = cmp.Or(p.env("HADOOP_USER_NAME"), p.Username)
	}
	return &nnthroughput.Env{
		Random: s.random, Connect: p.Connect,
		Env: steps.Env{
			Plan: planned, Conf: s.conf, User: steps.User(planned, p.LookupEnv),
			Gate:  &measure.Gate{Clock: p.Clock, ReadyFile: s.work + "/ready"},
			Clock: p.Clock, Self: measure.Self{Root: p.Root}, Log: s.log.With("op", op), LookupEnv: p.LookupEnv,
			Version: runner.Version(), GoVersion: runner.GoVersion(),
		},
	}
}

// cleanTimeout bounds what is removed after an operation, also after a signal.
const cleanTimeout = time.Minute
