package dfsio_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/dfsio"
	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/reach"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

const (
	testUID  = "11111111-2222-3333-4444-555555555555"
	otherUID = "99999999-2222-3333-4444-555555555555"
	base     = "/benchmarks/x"
)

// newPlan returns a plan for a step of a run of two files of 2500 bytes, written and read in calls of 1024.
func newPlan(step string, change ...func(*plan.Plan)) *plan.Plan {
	p := &plan.Plan{
		Version: plan.Version, Run: "ns/run", Shards: 1,
		Identity:     report.Identity{RunUID: testUID, Execution: 1, Step: step, Repeat: 1, Attempt: 1},
		SeriesMicros: 1000,
		Target:       plan.Target{FS: "hdfs://nn"},
		DFSIO: &plan.DFSIO{
			Tests: []string{plan.TestWrite, plan.TestRead}, BaseDir: base, NrFiles: 2, Size: 2500, BufferSize: 1024,
			Pattern: "Random", Seed: 7, Client: "Colinmarc",
		},
	}
	if step == plan.TestWrite || step == plan.TestRead || step == plan.StepVerify {
		p.Shards = 2
	}
	for _, c := range change {
		c(p)
	}
	return p
}

// bench is a step's surroundings in a test.
type bench struct {
	fs    *memFS
	clock *stepClock
	env   *dfsio.Env
	body  report.Body
	log   strings.Builder
}

func newBench(t *testing.T, p *plan.Plan, paths ...string) *bench {
	t.Helper()
	b := &bench{clock: newStepClock()}
	b.fs = newMemFS(b.clock, paths...)
	c, err := conf.Load(nil, conf.Options{Overrides: p.Target.Properties})
	if err != nil {
		t.Fatal(err)
	}
	b.env = &dfsio.Env{
		Env: steps.Env{
			Plan: p, Conf: c, User: "tester", Clock: b.clock, Version: "v1", GoVersion: "go1",
			Log:  slog.New(slog.NewTextHandler(&b.log, nil)),
			Gate: &measure.Gate{Clock: b.clock, ReadyFile: filepath.Join(t.TempDir(), "ready")},
			Self: measure.Self{Cores: 3},
		},
		Network: reach.Network{
			LookupHost:  func(context.Context, string) ([]string, error) { return []string{"198.51.100.1"}, nil },
			DialContext: func(context.Context, string, string) (net.Conn, error) { c, _ := net.Pipe(); return c, nil },
		},
		Connect: func(context.Context, dfsio.Connection) (dfsio.FS, error) { return b.fs, nil },
	}
	return b
}

func (b *bench) run(t *testing.T) error {
	t.Helper()
	return dfsio.Run(t.Context(), b.env, &b.body)
}

// claim puts the run's own base directory there.
func (b *bench) claim() *bench {
	b.fs.put(base+"/io_data/", nil)
	b.fs.put(base+"/_hadoopbench-run.json", []byte(`{"version":1,"runUID":"`+testUID+`","run":"ns/run","created":["/benchmarks/x","/benchmarks/x/io_data"]}`))
	return b
}

// content is what file i of the test run holds.
func content(i int32) []byte {
	data := make([]byte, 2500)
	dfsio.NewGenerator(7, i).Fill(data, 0)
	return data
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

func TestRunRefusesPlans(t *testing.T) {
	tests := map[string]struct {
		step   string
		change func(*plan.Plan)
		index  int32
		want   string
	}{
		"no dfsio":            {plan.TestWrite, func(p *plan.Plan) { p.DFSIO = nil }, 0, "dfsio is missing"},
		"relative base":       {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.BaseDir = "x" }, 0, `baseDir "x": write an absolute path`},
		"root as base":        {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.BaseDir = "/" }, 0, "the root belongs to everybody"},
		"base with dots":      {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.BaseDir = "/a/../b" }, 0, "shortest form, /b"},
		"base with slash":     {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.BaseDir = "/a/" }, 0, "shortest form, /a"},
		"base with colon":     {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.BaseDir = "/a:b" }, 0, "neither colons"},
		"long base":           {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.BaseDir = "/" + strings.Repeat("a", 5000) }, 0, "at most 4000 bytes"},
		"no uid":              {plan.TestWrite, func(p *plan.Plan) { p.Identity.RunUID = "" }, 0, `uid ""`},
		"uid with slash":      {plan.TestWrite, func(p *plan.Plan) { p.Identity.RunUID = "../x" }, 0, `uid "../x"`},
		"no files":            {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.NrFiles = 0 }, 0, "nrFiles 0: not between 1 and 1000000"},
		"no size":             {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.Size = 0 }, 0, "size 0"},
		"no buffer":           {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.BufferSize = 0 }, 0, "bufferSize 0"},
		"large buffer":        {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.BufferSize = 2 << 30 }, 0, "bufferSize 2147483648: not between 1 and 1073741824"},
		"negative block size": {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.BlockSize = -1 }, 0, "blockSize -1"},
		"negative replicas":   {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.Replication = -1 }, 0, "replication -1"},
		"negative series":     {plan.TestWrite, func(p *plan.Plan) { p.SeriesMicros = -1 }, 0, "seriesMicros -1"},
		"index beyond":        {plan.TestWrite, func(*plan.Plan) {}, 2, "index 2: not between 0 and 1"},
		"negative index":      {plan.TestWrite, func(*plan.Plan) {}, -1, "index -1"},
		"too many shards":     {plan.StepVerify, func(p *plan.Plan) { p.Shards = 3 }, 0, "shards 3: not between 1 and 2"},
		"too few shards":      {plan.TestRead, func(p *plan.Plan) { p.Shards = 1 }, 0, "1 shards for 2 files"},
		"cleanup by two":      {plan.StepCleanup, func(p *plan.Plan) { p.Shards = 2 }, 0, "2 shards: step cleanup is done by one"},
		"unknown step":        {"append", func(*plan.Plan) {}, 0, `step "append": not supported yet`},
		"unknown test":        {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.Tests = []string{"truncate"} }, 0, `test "truncate": not supported yet`},
		"unknown pattern":     {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.Pattern = "One" }, 0, `pattern "One"`},
		"unknown client":      {plan.TestWrite, func(p *plan.Plan) { p.DFSIO.Client = "Native" }, 0, `client "Native": not supported yet`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(tt.step, tt.change))
			b.env.Index = tt.index
			err := b.run(t)
			wantFailure(t, err, report.ExitPlan, steps.ReasonPlanInvalid, tt.want)
			if len(b.fs.calls) > 0 {
				t.Errorf("calls %v, want none", b.fs.calls)
			}
		})
	}
}

func TestRunRefusesConfigurations(t *testing.T) {
	tests := map[string]struct {
		properties map[string]string
		fs         string
		reason     string
		want       string
	}{
		"kerberos":            {map[string]string{"hadoop.security.authentication": "kerberos"}, "", steps.ReasonNotSupported, `property hadoop.security.authentication is "kerberos": not supported yet`},
		"rpc privacy":         {map[string]string{"hadoop.rpc.protection": "privacy"}, "", steps.ReasonNotSupported, "hadoop.rpc.protection"},
		"transfer integrity":  {map[string]string{"dfs.data.transfer.protection": "integrity"}, "", steps.ReasonNotSupported, "dfs.data.transfer.protection"},
		"transfer encryption": {map[string]string{"dfs.encrypt.data.transfer": "TRUE"}, "", steps.ReasonNotSupported, "dfs.encrypt.data.transfer"},
		"endless value":       {map[string]string{"hadoop.rpc.protection": "${hadoop.rpc.protection}"}, "", steps.ReasonConfigInvalid, "refers to itself"},
		"local files":         {nil, "file:///", steps.ReasonConfigInvalid, `scheme "file" is not supported`},
		"bad replication":     {map[string]string{"dfs.replication": "three"}, "", steps.ReasonConfigInvalid, "property dfs.replication"},
		"bad block size":      {map[string]string{"dfs.blocksize": "1x"}, "", steps.ReasonConfigInvalid, "property dfs.blocksize"},
		"bad timeout":         {map[string]string{"dfs.client.socket-timeout": "x"}, "", steps.ReasonConfigInvalid, "dfs.client.socket-timeout"},
		"bad host name flag":  {map[string]string{"dfs.client.use.datanode.hostname": "1"}, "", steps.ReasonConfigInvalid, "dfs.client.use.datanode.hostname"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.TestWrite, func(p *plan.Plan) {
				p.Target.Properties = tt.properties
				if tt.fs != "" {
					p.Target.FS = tt.fs
				}
			}))
			wantFailure(t, b.run(t), report.ExitPlan, tt.reason, tt.want)
			if len(b.fs.calls) > 0 {
				t.Errorf("calls %v, want none", b.fs.calls)
			}
		})
	}
}

// TestConnection checks what the configuration says about how to connect.
func TestConnection(t *testing.T) {
	b := newBench(t, newPlan(plan.StepCleanup, func(p *plan.Plan) {
		p.Target.FS = ""
		p.Target.Properties = map[string]string{
			"fs.defaultFS": "hdfs://ns", "dfs.ha.namenodes.ns": "a,b",
			"dfs.namenode.rpc-address.ns.a": "one:1", "dfs.namenode.rpc-address.ns.b": "two",
			"dfs.client.use.datanode.hostname": "true", "dfs.client.socket-timeout": "7s",
		}
	}))
	var got dfsio.Connection
	refusal := errors.New("no available namenodes: dial tcp: connect: connection refused")
	b.env.Connect = func(_ context.Context, c dfsio.Connection) (dfsio.FS, error) {
		got = c
		return nil, refusal
	}
	err := b.run(t)
	wantFailure(t, err, report.ExitTarget, steps.ReasonNameNodeUnreachable, "connect to hdfs://ns")
	if !errors.Is(err, refusal) {
		t.Errorf("error %v does not wrap the cause", err)
	}
	want := dfsio.Connection{
		Addresses: []string{"one:1", "two:8020"}, User: "tester", UseHostname: true,
		DialTimeout: 20e9, IdleTimeout: 7e9, Grace: 5e9, Clock: b.clock,
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b measure.Clock) bool { return a == b })); diff != "" {
		t.Errorf("connection (-want +got):\n%s", diff)
	}
}

func TestUser(t *testing.T) {
	env := func(pairs ...string) func(string) (string, bool) {
		return func(name string) (string, bool) {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1], true
				}
			}
			return "", false
		}
	}
	tests := map[string]struct {
		plan string
		env  func(string) (string, bool)
		want string
	}{
		"of the plan":        {"planned", env("HADOOP_USER_NAME", "named"), "planned"},
		"of the environment": {"", env("HADOOP_USER_NAME", "named"), "named"},
		"nobody named":       {"", env(), steps.DefaultUser},
		"an empty name":      {"", env("HADOOP_USER_NAME", ""), steps.DefaultUser},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := steps.User(&plan.Plan{Target: plan.Target{User: tt.plan}}, tt.env); got != tt.want {
				t.Errorf("User = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestEveryStepIsReadyAndDisconnects checks what all steps have in common.
func TestEveryStepIsReadyAndDisconnects(t *testing.T) {
	for _, step := range []string{plan.StepPreflight, plan.TestWrite, plan.TestRead, plan.StepVerify, plan.TestClean, plan.StepCleanup} {
		t.Run(step, func(t *testing.T) {
			b := newBench(t, newPlan(step)).claim()
			b.fs.put(base+"/io_data/test_io_0", content(0))
			if err := b.run(t); err != nil {
				t.Fatalf("Run: %v", err)
			}
			if _, err := os.Stat(b.env.Gate.ReadyFile); err != nil {
				t.Errorf("no ready file: %v", err)
			}
			if b.fs.closed != 1 {
				t.Errorf("disconnected %d times", b.fs.closed)
			}
			if !strings.Contains(b.log.String(), "Disconnected") {
				t.Errorf("log %q", b.log.String())
			}
		})
	}
}

// TestNoReadyFile: a shard that cannot say it is prepared fails instead of being waited for.
func TestNoReadyFile(t *testing.T) {
	for _, step := range []string{plan.StepPreflight, plan.TestWrite, plan.TestRead, plan.StepVerify, plan.TestClean, plan.StepCleanup} {
		t.Run(step, func(t *testing.T) {
			b := newBench(t, newPlan(step)).claim()
			b.fs.put(base+"/io_data/test_io_0", content(0))
			b.env.Gate.ReadyFile = filepath.Join(t.TempDir(), "absent", "ready")
			if err := b.run(t); err == nil || !strings.Contains(err.Error(), "make the ready file") {
				t.Errorf("Run: %v, want an error about the ready file", err)
			}
			if b.body.Operations > 0 {
				t.Errorf("%d operations without being ready", b.body.Operations)
			}
		})
	}
}

// TestStopWins: once a shard was told to stop, that is why it ended, whatever calls say afterwards.
func TestStopWins(t *testing.T) {
	b := newBench(t, newPlan(plan.StepVerify)).claim()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := &measure.Stopped{Reason: "Suspended"}
	b.fs.fail = func(string) error {
		cancel(stopped)
		return io.ErrUnexpectedEOF
	}
	if err := dfsio.Run(ctx, b.env, &b.body); !errors.Is(err, stopped) {
		t.Errorf("Run: %v, want the order to stop", err)
	}
}
