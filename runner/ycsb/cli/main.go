package cli

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/hadoop-bench/operator/runner"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// Process is what the command gets from the process it runs in. All fields but the last ones must be set.
type Process struct {
	Args           []string // after the command's name
	LookupEnv      func(string) (string, bool)
	Stdout, Stderr io.Writer
	Signals        <-chan os.Signal
	Clock          measure.Clock
	Username       string // login name of who runs the process; empty if it has none
	// Judge turns the end of a step into an outcome, an exit code and a failure.
	Judge func(err error) (report.Outcome, int, *report.Failure)

	Random io.Reader                                                                       // nil: the system's
	Open   func(ctx context.Context, binding string, config *ycsb.Config) (ycsb.DB, error) // nil: the bindings there are
}

// Main runs the command and returns the exit code.
func (p *Process) Main(ctx context.Context) int {
	stderr := &lockedWriter{to: p.Stderr}
	fmt.Fprintln(stderr, strings.TrimSuffix("Command line: "+strings.Join(p.Args, " "), " "))
	c, err := Parse(p.Args)
	switch {
	case errors.Is(err, ErrHelp):
		fmt.Fprint(p.Stdout, usage)
		return report.ExitDone
	case err != nil:
		fmt.Fprintf(stderr, "runner ycsb: %v\nsee runner ycsb -h\n", err)
		return report.ExitPlan
	}
	log := slog.New(slog.NewTextHandler(stderr, nil))
	stop := measure.Stop{Clock: p.Clock, Signals: p.Signals}
	ctx, cancel := stop.Context(ctx)
	defer cancel()
	s := &session{process: p, command: c, log: log, stderr: stderr}
	return p.end(log, p.carryOut(ctx, s))
}

// carryOut runs the session to its end. A first signal stops it and lets it report; a second one ends it at once.
func (p *Process) carryOut(ctx context.Context, s *session) error {
	done := make(chan error, 1)
	go func() { done <- s.run(ctx) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	first := new(measure.Stopped)
	if !errors.As(context.Cause(ctx), &first) || !first.Signal {
		return <-done
	}
	s.log.Warn("Stopping; a second signal ends this at once", "signal", first.Reason)
	select {
	case err := <-done:
		return err
	case second := <-p.Signals:
		return &measure.Stopped{Reason: second.String(), Signal: true}
	}
}

// end tells why the command ended and returns the exit code.
func (p *Process) end(log *slog.Logger, err error) int {
	if err == nil {
		return report.ExitDone
	}
	_, code, failure := p.Judge(err)
	log.Error(failure.Message, "reason", failure.Reason, "remedy", failure.Remedy, "exit", code)
	return code
}

// lockedWriter lets the log and the status lines share a stream.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(text)
}

// session carries out one command line.
type session struct {
	process *Process
	command *Command
	log     *slog.Logger
	stderr  io.Writer // shared with the log

	config *ycsb.Config
	texts  *ycsb.TextOptions
	warmup ycsb.Warmup
	export exporter
}

// run is the whole of it: read the properties, connect, measure, report.
func (s *session) run(ctx context.Context) error {
	fmt.Fprintf(s.stderr, "YCSB Client (runner %s)\n\nLoading workload...\n", runner.Version())
	if err := s.configure(); err != nil {
		return err
	}
	defer s.export.close()
	workload, err := s.load(ctx)
	if err != nil {
		return steps.PlanError(err)
	}
	db, err := s.process.connect(ctx, s.log, s.command, s.config)
	if err != nil {
		return orStopped(ctx, refused(err))
	}
	defer s.disconnect(db)
	s.tellFacts(db)
	fmt.Fprintln(s.stderr, "Starting test.")
	before := collected()
	r := s.newRun(workload, db)
	result, err := r.Do(ctx)
	if result == nil {
		return orStopped(ctx, refused(err))
	}
	if printErr := s.print(result, before); printErr != nil {
		return printErr
	}
	s.tell(result, db)
	if err != nil {
		return err
	}
	return s.verdict(result)
}

// orStopped is an error, or the stop that came before it.
func orStopped(ctx context.Context, err error) error {
	stopped := new(measure.Stopped)
	if errors.As(context.Cause(ctx), &stopped) {
		return stopped
	}
	return err
}

// refused is why nothing was measured.
func refused(err error) error {
	if own := new(steps.Error); errors.As(err, &own) {
		return own
	}
	return &steps.Error{Exit: report.ExitTarget, Cause: err, Failure: report.Failure{
		Reason: reasonNotConnected, Message: err.Error(), Remedy: "look into the database's log at that time",
	}}
}

// disconnect ends the connections. It does not wait for ever: operations may still hang in them.
func (s *session) disconnect(db ycsb.DB) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		defer cancel()
		if err := db.Close(); err != nil && ctx.Err() == nil {
			s.log.Warn("Disconnecting failed", "error", err)
		}
	}()
	if s.process.Clock.Wait(ctx, disconnectTimeout) == nil {
		s.log.Warn("Disconnecting takes too long, and is not waited for", "timeout", disconnectTimeout)
	}
}

// load prepares the workload, which for some distributions of keys takes time in proportion to the records.
func (s *session) load(ctx context.Context) (*ycsb.Workload, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		if s.process.Clock.Wait(ctx, longLoad) == nil {
			fmt.Fprintln(s.stderr, " (might take a few minutes for large data sets)")
		}
	}()
	return ycsb.NewWorkload(s.config)
}

// seed draws the seed of all random numbers, unless a property gives it.
func (s *session) seed() error {
	if s.config.SeedGiven {
		return nil
	}
	random := s.process.Random
	if random == nil {
		random = rand.Reader
	}
	var bytes [8]byte
	if _, err := io.ReadFull(random, bytes[:]); err != nil {
		return fmt.Errorf("draw a seed: %w", err)
	}
	// Programs that hold numbers as doubles see it exactly.
	s.config.Seed = binary.LittleEndian.Uint64(bytes[:]) & (1<<53 - 1)
	s.log.Info("Random numbers follow from a seed; hadoopbench.seed repeats them", "seed", s.config.Seed)
	return nil
}

// newRun is the run that the properties ask for.
func (s *session) newRun(workload *ycsb.Workload, db ycsb.DB) *ycsb.Run {
	c := s.config
	r := &ycsb.Run{
		Workload: workload, DB: db, Clock: s.process.Clock, Log: s.log, Threads: c.ThreadCount, Operations: c.Operations(),
		MaxTime: c.MaxExecutionTime, Warmup: s.warmup, Texts: s.texts, StatusInterval: c.StatusInterval,
		Logs: s.export.logs,
		OnError: func(m ycsb.Metric, class, text string) {
			s.log.Error("An operation failed; further ones of this class are only counted", "op", m, "class", class, "first", text)
		},
	}
	if c.Target > 0 {
		r.Rate = &measure.Rate{Milli: min(int64(c.Target), math.MaxInt64/1000) * 1000, Part: 1, Whole: 1}
	}
	if c.Status {
		r.OnStatus = func(status report.YCSBStatus) {
			status.Label = c.Label
			line := status.String() + "\n"
			fmt.Fprint(s.stderr, line)
			if s.texts.Series {
				fmt.Fprint(s.process.Stdout, line)
			}
		}
	}
	if int64(c.ThreadCount) > c.Operations() && c.Operations() > 0 {
		fmt.Fprintln(s.process.Stdout, "Warning: the threadcount is bigger than recordcount, the threadcount will be recordcount!")
	}
	return r
}
