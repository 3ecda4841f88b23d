package dfsio

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/reach"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// Bounds of a plan's figures.
const (
	maxFiles  = 1_000_000
	maxBuffer = 1 << 30 // bytes
)

const (
	dialTimeout = 20 * time.Second // as Hadoop's ipc.client.connect.timeout
	// stopGrace is how long a stopped shard may take to close its file.
	stopGrace = 5 * time.Second
	// defaultSeries is δ0 if the plan names none.
	defaultSeries = time.Second
)

// Env is what a step gets: what the shard gives to every benchmark, and how the target is reached.
type Env struct {
	steps.Env
	Network reach.Network                                       // how preflight looks at the target's addresses
	Connect func(ctx context.Context, c Connection) (FS, error) // nil: Connect
}

// step is one step under way.
type step struct {
	env    *Env
	dfsio  *plan.DFSIO
	layout layout
	target target
	body   *report.Body

	fs       FS
	defaults Defaults     // the NameNode's, once asked for
	marker   Marker       // once found to be ours
	done     atomic.Int64 // bytes so far
	total    atomic.Int64 // bytes planned, 0 if that is not known
}

// Run carries out the step the plan names and fills body with what was measured, also if it fails. The error is an
// *steps.Error, the context's cause, or one of the gate's.
func Run(ctx context.Context, env *Env, body *report.Body) error {
	s := &step{env: env, dfsio: env.Plan.DFSIO, body: body}
	if err := Validate(env.Plan, env.Index); err != nil {
		return steps.PlanError(err)
	}
	s.layout = layout{base: s.dfsio.BaseDir, uid: env.Plan.Identity.RunUID}
	var err error
	if s.target, err = resolveTarget(env.Plan, env.Conf, env.User); err != nil {
		return err
	}
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
	if s.env.Plan.Identity.Step == plan.StepPreflight {
		return s.preflight(ctx)
	}
	if err := s.connect(ctx, dialTimeout, stopGrace); err != nil {
		return s.refused("connect to "+s.target.fs.URI, err)
	}
	defer s.disconnect()
	stopProgress := s.progress(ctx)
	defer stopProgress()
	switch s.env.Plan.Identity.Step {
	case plan.TestWrite:
		return s.write(ctx)
	case plan.TestRead:
		return s.read(ctx)
	case plan.StepVerify:
		return s.verify(ctx)
	case plan.TestClean:
		return s.clean(ctx, true)
	default: // Validate lets no other through
		return s.clean(ctx, false)
	}
}

func (s *step) connect(ctx context.Context, dial, grace time.Duration) error {
	connect := s.env.Connect
	if connect == nil {
		connect = Connect
	}
	var err error
	s.fs, err = connect(ctx, Connection{
		Addresses: s.target.fs.Addresses, User: s.target.user, UseHostname: s.target.useHostname,
		DialTimeout: dial, IdleTimeout: s.target.timeout, Grace: grace, Clock: s.env.Clock,
	})
	return err
}

func (s *step) disconnect() {
	received, sent := s.fs.Traffic()
	if err := s.fs.Close(); err != nil {
		s.env.Log.Warn("Disconnecting failed", "error", err)
	}
	s.env.Log.Info("Disconnected", "received", received, "sent", sent)
}

// Validate checks a plan's figures and that this package can do what it says.
func Validate(p *plan.Plan, index int32) error {
	d := p.DFSIO
	if d == nil {
		return errors.New("plan: dfsio is missing; only DFSIO runs are supported yet")
	}
	for _, bad := range plan.BadBaseDirs([]string{d.BaseDir}) {
		return fmt.Errorf("plan: baseDir %q: %s", bad.Dir, bad.Remedy)
	}
	if p.Identity.RunUID == "" || strings.ContainsAny(p.Identity.RunUID, "/:\x00") {
		return fmt.Errorf("plan: uid %q: not the UID of an object", p.Identity.RunUID)
	}
	for _, bound := range []struct {
		field     string
		value     int64
		low, high int64
	}{
		{"nrFiles", int64(d.NrFiles), 1, maxFiles},
		{"size", d.Size, 1, math.MaxInt64},
		{"bufferSize", d.BufferSize, 1, maxBuffer},
		{"replication", int64(d.Replication), 0, math.MaxInt16},
		{"blockSize", d.BlockSize, 0, math.MaxInt64},
		{"shards", int64(p.Shards), 1, int64(d.NrFiles)},
		{"index", int64(index), 0, int64(p.Shards) - 1},
		{"seriesMicros", p.SeriesMicros, 0, math.MaxInt64 / 1000},
	} {
		if bound.value < bound.low || bound.value > bound.high {
			return fmt.Errorf("plan: %s %d: not between %d and %d", bound.field, bound.value, bound.low, bound.high)
		}
	}
	return validateWords(p)
}

// validateWords checks what is chosen from a set of words.
func validateWords(p *plan.Plan) error {
	d := p.DFSIO
	step := p.Identity.Step
	switch step {
	case plan.TestWrite, plan.TestRead:
		if p.Shards != d.NrFiles {
			return fmt.Errorf("plan: %d shards for %d files: step %s has one shard for each file", p.Shards, d.NrFiles, step)
		}
	case plan.StepPreflight, plan.TestClean, plan.StepCleanup:
		if p.Shards != 1 {
			return fmt.Errorf("plan: %d shards: step %s is done by one", p.Shards, step)
		}
	case plan.StepVerify:
	default:
		return fmt.Errorf("plan: step %q: not supported yet; known are preflight, write, read, verify, clean, cleanup", step)
	}
	for _, test := range d.Tests {
		if test != plan.TestWrite && test != plan.TestRead && test != plan.TestClean {
			return fmt.Errorf("plan: test %q: not supported yet; known are write, read, clean", test)
		}
	}
	if d.Pattern != patternRandom && d.Pattern != patternZero {
		return fmt.Errorf("plan: pattern %q: not supported; known are %s and %s", d.Pattern, patternRandom, patternZero)
	}
	if d.Client != clientColinmarc {
		return fmt.Errorf("plan: client %q: not supported yet; known is %s", d.Client, clientColinmarc)
	}
	return nil
}

// Words of a plan.
const (
	patternRandom   = "Random"
	patternZero     = "Zero"
	clientColinmarc = "Colinmarc"
)

// has tells whether a test is among the run's.
func (s *step) has(test string) bool {
	for _, t := range s.dfsio.Tests {
		if t == test {
			return true
		}
	}
	return false
}

// generator makes the content of a file.
func (s *step) generator(file int32) Generator {
	if s.dfsio.Pattern == patternZero {
		return ZeroGenerator()
	}
	return NewGenerator(s.dfsio.Seed, file)
}

// askDefaults fetches the NameNode's own settings.
func (s *step) askDefaults() error {
	var err error
	if s.defaults, err = s.fs.Defaults(); err != nil {
		return s.refused("ask "+s.target.fs.URI+" for its defaults", err)
	}
	return nil
}

func (s *step) replication() int {
	if s.target.replication > 0 {
		return int(s.target.replication)
	}
	return int(s.defaults.Replication)
}

func (s *step) blockSize() int64 {
	if s.target.blockSize > 0 {
		return s.target.blockSize
	}
	return s.defaults.BlockSize
}
