package dfsio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/dfsio"
	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// hdfsEnv names a real HDFS for these tests: hdfs://host:port, with simple authentication.
const hdfsEnv = "HADOOPBENCH_TEST_HDFS"

// cluster is a real HDFS, and a directory of this test in it.
type cluster struct {
	t    *testing.T
	uri  string
	base string
	fs   dfsio.FS // the test's own eyes, as superuser
}

func realHDFS(t *testing.T) *cluster {
	uri := os.Getenv(hdfsEnv)
	if uri == "" {
		t.Skipf("%s is not set", hdfsEnv)
	}
	c := &cluster{t: t, uri: uri, base: fmt.Sprintf("/benchmarks/%s-%d", path.Base(t.Name()), time.Now().UnixNano())}
	var err error
	c.fs, err = dfsio.Connect(t.Context(), dfsio.Connection{
		Addresses: []string{strings.TrimPrefix(uri, "hdfs://")}, User: c.superuser(), DialTimeout: 10 * time.Second,
		IdleTimeout: 30 * time.Second, Clock: measure.System(),
	})
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() {
		if err := c.fs.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}

// superuser is who started the NameNode; "root" unless the environment says otherwise.
func (c *cluster) superuser() string {
	if user := os.Getenv("HADOOP_USER_NAME"); user != "" {
		return user
	}
	return "root"
}

// env returns surroundings for a step of a run of two files of three and a half blocks.
func (c *cluster) env(step string, index int32, change ...func(*plan.Plan)) *dfsio.Env {
	p := newPlan(step, append([]func(*plan.Plan){func(p *plan.Plan) {
		p.Target.FS = c.uri
		p.DFSIO.BaseDir, p.DFSIO.BlockSize, p.DFSIO.Size, p.DFSIO.BufferSize, p.DFSIO.Replication = c.base, 1<<20, 7<<19, 1_000_000, 1
		p.SeriesMicros = 10_000
	}}, change...)...)
	configuration, err := conf.Load(nil, conf.Options{Overrides: p.Target.Properties})
	if err != nil {
		c.t.Fatal(err)
	}
	return &dfsio.Env{Env: steps.Env{
		Plan: p, Index: index, Conf: configuration, User: c.superuser(), Clock: measure.System(), Self: measure.Self{Root: os.DirFS("/")},
		Gate: &measure.Gate{Clock: measure.System(), ReadyFile: filepath.Join(c.t.TempDir(), "ready")},
		Log:  slog.New(slog.NewTextHandler(c.t.Output(), nil)),
	}}
}

func (c *cluster) run(env *dfsio.Env) (report.Body, error) {
	c.t.Helper()
	var body report.Body
	err := dfsio.Run(c.t.Context(), env, &body)
	return body, err
}

func (c *cluster) mustRun(env *dfsio.Env) report.Body {
	c.t.Helper()
	body, err := c.run(env)
	if err != nil {
		c.t.Fatalf("step %s: %v", env.Plan.Identity.Step, err)
	}
	return body
}

func (c *cluster) put(path string, text string) {
	c.t.Helper()
	w, err := c.fs.Create(path, 1, 1<<20)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := w.Write([]byte(text)); err != nil {
		c.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cluster) names(dir string) []string {
	c.t.Helper()
	entries, err := c.fs.List(dir)
	if err != nil {
		c.t.Fatalf("List: %v", err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name)
	}
	slices.Sort(names)
	return names
}

func (c *cluster) gone(path string) {
	c.t.Helper()
	if _, err := c.fs.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		c.t.Errorf("Stat(%s): %v, want not to exist", path, err)
	}
}

// TestHDFSRoundTrip is a whole run, with an independent look at what it left.
func TestHDFSRoundTrip(t *testing.T) {
	c := realHDFS(t)
	const size = 7 << 19
	preflight := c.mustRun(c.env(plan.StepPreflight, 0))
	if preflight.Facts["fs"] != c.uri || preflight.Facts["blockSize"] != "1048576" || preflight.Facts["capacityBytes"] == "0" {
		t.Errorf("facts %v", preflight.Facts)
	}
	for range 2 { // the second writes over the first
		for i := range int32(2) {
			body := c.mustRun(c.env(plan.TestWrite, i))
			checkTransfer(t, "write", body, size, 4)
			if body.Latency.Count() != 4 {
				t.Errorf("write: %d latencies, want 4", body.Latency.Count())
			}
		}
	}
	for i := range int32(2) {
		name := fmt.Sprintf("%s/io_data/test_io_%d", c.base, i)
		want := make([]byte, size)
		dfsio.NewGenerator(7, i).Fill(want, 0)
		if got := c.content(name); !bytes.Equal(got, want) {
			t.Errorf("%s holds %d bytes that are not those of the generator", name, len(got))
		}
	}
	for i := range int32(2) {
		body := c.mustRun(c.env(plan.TestRead, i))
		checkTransfer(t, "read", body, size, body.Operations)
		if body.Operations < 4 {
			t.Errorf("read: %d operations, want one for each block at least", body.Operations)
		}
		if body := c.mustRun(c.env(plan.StepVerify, i)); body.Bytes != size {
			t.Errorf("verify: %d bytes, want %d", body.Bytes, size)
		}
	}
	if diff := cmp.Diff([]string{"_hadoopbench-run.json", "io_data"}, c.names(c.base)); diff != "" {
		t.Errorf("base directory (-want +got):\n%s", diff)
	}
	c.mustRun(c.env(plan.StepCleanup, 0))
	c.gone(c.base)
	c.mustRun(c.env(plan.StepCleanup, 0)) // nothing left to do
}

func (c *cluster) content(name string) []byte {
	c.t.Helper()
	file, err := c.fs.Open(name)
	if err != nil {
		c.t.Fatalf("Open: %v", err)
	}
	defer file.Close()
	data, err := io.ReadAll(file)
	if err != nil {
		c.t.Fatalf("read %s: %v", name, err)
	}
	return data
}

func checkTransfer(t *testing.T, what string, body report.Body, bytes, operations int64) {
	t.Helper()
	if body.Bytes != bytes || body.Planned != bytes || body.Operations != operations || len(body.Errors) > 0 {
		t.Errorf("%s: %d of %d bytes in %d operations, errors %v, want %d in %d", what, body.Bytes, body.Planned, body.Operations, body.Errors, bytes, operations)
	}
	if body.Series.Total() != bytes {
		t.Errorf("%s: series of %d bytes, want %d", what, body.Series.Total(), bytes)
	}
	if body.Start == 0 || body.End <= body.Start || body.CloseMicros > body.End-body.Start || body.Prepared > body.Start {
		t.Errorf("%s: prepared %d, start %d, end %d, close %d", what, body.Prepared, body.Start, body.End, body.CloseMicros)
	}
	// Runner and NameNode share a machine here.
	if clock := body.Clock; clock == nil || clock.OffsetMicros > clock.UncertaintyMicros || -clock.OffsetMicros > clock.UncertaintyMicros {
		t.Errorf("%s: clock %+v, want an offset of zero within its uncertainty", what, clock)
	}
	if body.Client == nil || body.Client.AllowanceMilli <= 0 {
		t.Errorf("%s: client %+v", what, body.Client)
	}
}

// TestHDFSSizes writes files whose ends fall everywhere around packets, checksums and blocks.
func TestHDFSSizes(t *testing.T) {
	c := realHDFS(t)
	c.mustRun(c.env(plan.StepPreflight, 0))
	for _, tt := range []struct{ size, buffer int64 }{
		{1, 1_000_000}, {511, 512}, {65536, 65536}, {65537, 1000}, {1 << 20, 1_000_000}, {1<<20 + 1, 1 << 20}, {2 << 20, 4 << 20}, {2<<20 - 1, 333_333},
	} {
		t.Run(fmt.Sprintf("%d by %d", tt.size, tt.buffer), func(t *testing.T) {
			sized := func(p *plan.Plan) { p.DFSIO.Size, p.DFSIO.BufferSize = tt.size, tt.buffer }
			body := c.mustRun(c.env(plan.TestWrite, 0, sized))
			checkTransfer(t, "write", body, tt.size, (tt.size+tt.buffer-1)/tt.buffer)
			body = c.mustRun(c.env(plan.TestRead, 0, sized))
			checkTransfer(t, "read", body, tt.size, body.Operations)
			c.mustRun(c.env(plan.StepVerify, 0, sized))
		})
	}
	c.mustRun(c.env(plan.StepCleanup, 0))
	c.gone(c.base)
}

// TestHDFSZero writes zeros, and a check with the other pattern fails.
func TestHDFSZero(t *testing.T) {
	c := realHDFS(t)
	zero := func(p *plan.Plan) { p.DFSIO.Pattern = "Zero" }
	c.mustRun(c.env(plan.StepPreflight, 0))
	c.mustRun(c.env(plan.TestWrite, 0, zero))
	c.mustRun(c.env(plan.StepVerify, 0, zero))
	_, err := c.run(c.env(plan.StepVerify, 0))
	wantFailure(t, err, report.ExitBenchmark, steps.ReasonDataMismatch, "byte at offset 0 is 0x00")
	c.mustRun(c.env(plan.StepCleanup, 0))
}

// TestHDFSForeignFiles: a file of somebody else is never deleted.
func TestHDFSForeignFiles(t *testing.T) {
	c := realHDFS(t)
	c.mustRun(c.env(plan.StepPreflight, 0))
	c.mustRun(c.env(plan.TestWrite, 0))
	c.put(c.base+"/notes.txt", "mine")
	c.put(c.base+"/io_data/test_io_2", "mine too")
	body := c.mustRun(c.env(plan.TestClean, 0))
	if want := c.base + "/io_data/test_io_2 " + c.base + "/notes.txt"; body.Facts["left"] != want {
		t.Errorf("left %q, want %q", body.Facts["left"], want)
	}
	if diff := cmp.Diff([]string{"io_data", "notes.txt"}, c.names(c.base)); diff != "" {
		t.Errorf("base directory (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"test_io_2"}, c.names(c.base+"/io_data")); diff != "" {
		t.Errorf("data directory (-want +got):\n%s", diff)
	}
	// Now that the marker is gone, nothing there is ours.
	_, err := c.run(c.env(plan.StepPreflight, 0))
	wantFailure(t, err, report.ExitTarget, steps.ReasonBaseDirNotOurs, "holds 2 entries")
	_, err = c.run(c.env(plan.TestWrite, 0))
	wantFailure(t, err, report.ExitTarget, steps.ReasonNotOurs, "is missing")
	_, err = c.run(c.env(plan.TestClean, 0))
	wantFailure(t, err, report.ExitTarget, steps.ReasonNotOurs, "is missing")
	c.removeAll(c.base+"/io_data/test_io_2", c.base+"/io_data", c.base+"/notes.txt", c.base)
}

func (c *cluster) removeAll(paths ...string) {
	c.t.Helper()
	for _, p := range paths {
		if err := c.fs.Remove(p); err != nil {
			c.t.Errorf("Remove: %v", err)
		}
	}
}

// TestHDFSLeftovers: another run's data is named and not touched, but may be read.
func TestHDFSLeftovers(t *testing.T) {
	c := realHDFS(t)
	other := func(p *plan.Plan) { p.Identity.RunUID, p.Run = otherUID, "ns/other" }
	c.mustRun(c.env(plan.StepPreflight, 0, other))
	for i := range int32(2) {
		c.mustRun(c.env(plan.TestWrite, i, other))
	}
	_, err := c.run(c.env(plan.StepPreflight, 0))
	wantFailure(t, err, report.ExitTarget, steps.ReasonLeftoversFound, "run ns/other (UID "+otherUID+")")
	_, err = c.run(c.env(plan.TestWrite, 0))
	wantFailure(t, err, report.ExitTarget, steps.ReasonNotOurs, "belongs to run ns/other")
	c.mustRun(c.env(plan.StepCleanup, 0))
	c.mustRun(c.env(plan.StepPreflight, 0, readOnly))
	c.mustRun(c.env(plan.TestRead, 1, readOnly))
	_, err = c.run(c.env(plan.StepPreflight, 0, readOnly, func(p *plan.Plan) { p.DFSIO.Size++ }))
	wantFailure(t, err, report.ExitTarget, steps.ReasonDataMissing, "less than")
	c.mustRun(c.env(plan.StepCleanup, 0, other))
	c.gone(c.base)
}

// TestHDFSRefuses checks the answers of a real NameNode.
func TestHDFSRefuses(t *testing.T) {
	c := realHDFS(t)
	if err := c.fs.Mkdir("/benchmarks"); err != nil && !errors.Is(err, fs.ErrExist) {
		t.Fatal(err)
	}
	if err := c.fs.Mkdir(c.base); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		change func(*plan.Plan)
		user   string
		reason string
		text   string
	}{
		"no right to write":    {func(*plan.Plan) {}, "nobody-here", steps.ReasonPermissionDenied, `as user "nobody-here"`},
		"not enough space":     {func(p *plan.Plan) { p.DFSIO.Size = 1 << 50 }, "", steps.ReasonNotEnoughSpace, "2 files of 1125899906842624 bytes"},
		"blocks too small":     {func(p *plan.Plan) { p.DFSIO.BlockSize = 512 }, "", steps.ReasonBlockSizeInvalid, "block size 512"},
		"too many replicas":    {func(p *plan.Plan) { p.DFSIO.Replication = 513 }, "", steps.ReasonReplicationInvalid, "replication 513"},
		"nothing to read":      {readOnly, "", steps.ReasonDataMissing, "holds no data of a run"},
		"a port of no service": {func(p *plan.Plan) { p.Target.FS = "hdfs://127.0.0.1:1" }, "", steps.ReasonNameNodeUnreachable, "127.0.0.1:1: connect: "},
		"an unknown host":      {func(p *plan.Plan) { p.Target.FS = "hdfs://namenode.invalid" }, "", steps.ReasonUnknownHost, "namenode.invalid:8020: look up host"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			env := c.env(plan.StepPreflight, 0, tt.change)
			if tt.user != "" {
				env.User = tt.user
			}
			_, err := c.run(env)
			own := new(steps.Error)
			if !errors.As(err, &own) || own.Failure.Reason != tt.reason || !strings.Contains(own.Failure.Message, tt.text) || own.Failure.Remedy == "" {
				t.Errorf("Run: %v, want %s with %q and a remedy", err, tt.reason, tt.text)
			}
			if names := c.names(c.base); len(names) > 0 {
				t.Errorf("left behind: %v", names)
			}
		})
	}
	c.removeAll(c.base)
}

// TestHDFSStopInMidWrite: a stopped write reports exactly what is in the file, which is closed.
func TestHDFSStopInMidWrite(t *testing.T) {
	c := realHDFS(t)
	endless := func(p *plan.Plan) { p.DFSIO.Size = 1 << 40 }
	c.mustRun(c.env(plan.StepPreflight, 0))
	env := c.env(plan.TestWrite, 0, endless)
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := &measure.Stopped{Reason: "Suspended"}
	name := c.base + "/io_data/test_io_0"
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		for ctx.Err() == nil {
			// Once a block is complete, the writing is well under way.
			if info, err := c.fs.Stat(name); err == nil && info.Size > 0 {
				cancel(stopped)
			}
		}
	}()
	var body report.Body
	if err := dfsio.Run(ctx, env, &body); !errors.Is(err, stopped) {
		t.Fatalf("Run: %v, want the order to stop", err)
	}
	<-watched
	if body.Bytes == 0 || body.Bytes != body.Operations*1_000_000 || body.End <= body.Start || body.Planned != 1<<40 {
		t.Errorf("%d bytes in %d operations of %d", body.Bytes, body.Operations, body.Planned)
	}
	info, err := c.fs.Stat(name)
	if err != nil || info.Size != body.Bytes {
		t.Errorf("file of %d bytes, %v, want the %d reported", info.Size, err, body.Bytes)
	}
	c.mustRun(c.env(plan.StepVerify, 0, func(p *plan.Plan) { p.DFSIO.Size = body.Bytes }))
	c.mustRun(c.env(plan.StepCleanup, 0))
	c.gone(c.base)
}
