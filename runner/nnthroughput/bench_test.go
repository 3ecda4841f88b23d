package nnthroughput_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

const (
	testUID = "11111111-2222-3333-4444-555555555555"
	base    = "/nnThroughputBenchmark/ns/run"
	marker  = base + "/_hadoopbench-run." + testUID + ".ns.run"
	// madeNote says that all three directories of base are the run's.
	madeNote = base + "/_hadoopbench-made.3"
)

// epoch is when stepClock starts.
var epoch = time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC)

// stepClock moves on by a millisecond each time it is read, so that every figure of a single thread is known exactly.
// Waiting moves it by what is waited for; whoever waits for five seconds or more waits for the end of the context.
type stepClock struct {
	mu  sync.Mutex
	now time.Time
}

func newStepClock() *stepClock { return &stepClock{now: epoch} }

func (c *stepClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

// peek is the time without moving it.
func (c *stepClock) peek() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// advance moves the clock, as a slow call does.
func (c *stepClock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func (c *stepClock) Wait(ctx context.Context, d time.Duration) error {
	if d >= 5*time.Second {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	c.advance(max(d, 0))
	return context.Cause(ctx)
}

// newPlan returns a plan for a step of a run of ten files and three threads on one shard, as upstream's defaults are.
func newPlan(step string, change ...func(*plan.NNThroughput)) *plan.Plan {
	p := &plan.Plan{
		Version: plan.Version, Run: "ns/run", Shards: 1,
		Identity:     report.Identity{RunUID: testUID, Execution: 1, Step: step, Repeat: 1, Attempt: 1},
		SeriesMicros: 1000,
		Target:       plan.Target{FS: "hdfs://nn"},
		NNThroughput: &plan.NNThroughput{
			Engine: plan.EngineNative, Operations: []string{plan.OpCreate}, BaseDirs: []string{base},
			Threads: 3, Connections: 1, Files: 10, FilesPerDir: 4, Dirs: 10, DirsPerDir: 2,
			DataNodes: 3, Reports: 10, BlocksPerReport: 100, BlocksPerFile: 10, AllowFakeDataNodes: true,
		},
	}
	for _, c := range change {
		c(p.NNThroughput)
	}
	return p
}

// bench is a step's surroundings in a test.
type bench struct {
	nn    *fakeNameNode
	clock *stepClock
	env   *nnthroughput.Env
	body  report.Body
	log   safeText
}

// safeText is a log that threads write to.
type safeText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *safeText) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *safeText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// newBench returns surroundings in which the run's marker lies in the base directory, beside the given paths.
func newBench(t *testing.T, p *plan.Plan, paths ...string) *bench {
	t.Helper()
	b := &bench{clock: newStepClock()}
	b.nn = newFakeNameNode(b.clock, append([]string{marker}, paths...)...)
	c, err := conf.Load(nil, conf.Options{Overrides: p.Target.Properties})
	if err != nil {
		t.Fatal(err)
	}
	b.env = &nnthroughput.Env{
		Env: steps.Env{
			Plan: p, Conf: c, User: "tester", Clock: b.clock, Version: "v1", GoVersion: "go1",
			LookupEnv: func(string) (string, bool) { return "", false },
			Log:       slog.New(slog.NewTextHandler(&b.log, nil)),
			Gate:      &measure.Gate{Clock: b.clock, ReadyFile: filepath.Join(t.TempDir(), "ready")},
			Self:      measure.Self{Cores: 3},
		},
		Random:  zeros{},
		Connect: func(context.Context, *nnthroughput.Env, int) (nnthroughput.Target, error) { return b.nn, nil },
	}
	return b
}

// zeros is the randomness of a test: every phase is 0.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func (b *bench) run(t *testing.T) error {
	t.Helper()
	return nnthroughput.Run(t.Context(), b.env, &b.body)
}

// mustRun runs a step that must succeed.
func (b *bench) mustRun(t *testing.T) {
	t.Helper()
	if err := b.run(t); err != nil {
		t.Fatalf("Run: %v\n%s", err, b.log.String())
	}
}

// wantFailure checks an error's kind and that its message holds a text.
func wantFailure(t *testing.T, err error, exit int, reason, text string) {
	t.Helper()
	own := new(steps.Error)
	if !errors.As(err, &own) {
		t.Fatalf("error %v, want a failure %s", err, reason)
	}
	if own.Exit != exit || own.Failure.Reason != reason || !strings.Contains(own.Failure.Message, text) {
		t.Errorf("failure %d %s %q, want %d %s with %q", own.Exit, own.Failure.Reason, own.Failure.Message, exit, reason, text)
	}
	if own.Failure.Remedy == "" && reason != steps.ReasonPlanInvalid {
		t.Errorf("failure %s without a remedy", reason)
	}
}
