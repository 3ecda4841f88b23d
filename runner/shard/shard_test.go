package shard_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/shard"
	"github.com/hadoop-bench/operator/runner/steps"
)

func identity() report.Identity {
	return report.Identity{RunUID: "uid-1", Execution: 2, Step: plan.TestWrite, Repeat: 3, Attempt: 1}
}

func newPlan() *plan.Plan {
	return &plan.Plan{
		Version: plan.Version, Identity: identity(), Run: "ns/run", Shards: 8, GateTimeoutMillis: 60_000, TimeoutMillis: 3_600_000,
		Target: plan.Target{FS: "hdfs://nn", User: "planned", Properties: map[string]string{"a": "1"}},
		DFSIO:  &plan.DFSIO{Tests: []string{plan.TestWrite}, BaseDir: "/b", NrFiles: 8, Size: 1, BufferSize: 1, Pattern: "Zero", Client: "Colinmarc"},
	}
}

// pod is a shard's surroundings in a test, laid out as in a pod.
type pod struct {
	t       *testing.T
	dir     string
	shard   *shard.Shard
	signals chan os.Signal
}

func newPod(t *testing.T, p *plan.Plan) *pod {
	t.Helper()
	dir := t.TempDir()
	signals := make(chan os.Signal, 1)
	pod := &pod{t: t, dir: dir, signals: signals, shard: &shard.Shard{
		PlanFile: filepath.Join(dir, "plan.json"), ConfDir: filepath.Join(dir, "conf"), StartFile: filepath.Join(dir, "start-at"),
		StopFile: filepath.Join(dir, "stop"), ReadyFile: filepath.Join(dir, "ready"), ReportFile: filepath.Join(dir, "report"),
		Index: "5", LookupEnv: func(string) (string, bool) { return "", false }, Clock: measure.System(), Signals: signals,
		Log: slog.New(slog.NewJSONHandler(io.Discard, nil)),
	}}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	pod.write("plan.json", string(text))
	return pod
}

func (p *pod) write(name, text string) {
	p.t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pod) report() *report.Report {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "report"))
	if err != nil {
		p.t.Fatalf("no report: %v", err)
	}
	if len(text) > report.MaxBytes {
		p.t.Errorf("report of %d bytes, more than %d", len(text), report.MaxBytes)
	}
	r, err := report.Decode(text)
	if err != nil {
		p.t.Fatalf("report %s: %v", text, err)
	}
	return r
}

func TestMainCarriesOutThePlan(t *testing.T) {
	p := newPod(t, newPlan())
	p.write("conf/core-site.xml", "<configuration><property><name>b</name><value>${env.B:-2}</value></property></configuration>")
	p.shard.Run = func(_ context.Context, env *steps.Env, body *report.Body) error {
		if diff := cmp.Diff(newPlan(), env.Plan); diff != "" {
			t.Errorf("plan (-want +got):\n%s", diff)
		}
		a, _ := env.Conf.String("a", "")
		b, _ := env.Conf.String("b", "")
		if env.Index != 5 || env.User != "planned" || a != "1" || b != "2" || env.Gate.Closed || env.Gate.Timeout != time.Minute {
			t.Errorf("index %d, user %s, a %s, b %s, gate %+v", env.Index, env.User, a, b, env.Gate)
		}
		body.Start, body.End, body.Operations, body.Bytes = 10, 20, 1, 7
		return nil
	}
	if code := p.shard.Main(t.Context()); code != report.ExitDone {
		t.Errorf("exit code %d, want 0", code)
	}
	want := &report.Report{
		Envelope: report.Envelope{Version: report.Version, Identity: identity(), Index: 5, Outcome: report.Complete},
		Body: report.Body{
			Start: 10, End: 20, Operations: 1, Bytes: 7,
			ConfHash: plan.ConfHash(map[string][]byte{"core-site.xml": []byte("<configuration><property><name>b</name><value>${env.B:-2}</value></property></configuration>")}),
		},
	}
	if diff := cmp.Diff(want, p.report()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestMainFailures(t *testing.T) {
	tests := map[string]struct {
		change  func(*pod)
		code    int
		reason  string
		message string
	}{
		"no plan":           {func(p *pod) { os.Remove(p.shard.PlanFile) }, report.ExitPlan, steps.ReasonPlanInvalid, "read plan: open"},
		"a plan of a later": {func(p *pod) { p.write("plan.json", `{"version":2,"later":1}`) }, report.ExitPlan, steps.ReasonPlanInvalid, "version 2 is not supported, only 1 is"},
		"no index":          {func(p *pod) { p.shard.Index = "" }, report.ExitPlan, steps.ReasonPlanInvalid, `index "": not a number`},
		"negative index":    {func(p *pod) { p.shard.Index = "-1" }, report.ExitPlan, steps.ReasonPlanInvalid, `index "-1"`},
		"conf is a file":    {func(p *pod) { p.write("conf", "") }, report.ExitPlan, steps.ReasonConfigInvalid, "list Hadoop configuration"},
		"conf is broken":    {func(p *pod) { p.write("conf/core-site.xml", "<configuration>") }, report.ExitPlan, steps.ReasonConfigInvalid, "core-site.xml line 1"},
		"the step's own":    {func(p *pod) { p.shard.Index = "8" }, report.ExitPlan, steps.ReasonPlanInvalid, "index 8: not between 0 and 7"},
		"configured for ssl": {func(p *pod) {
			p.write("conf/core-site.xml", `<configuration><property name="hadoop.security.authentication" value="kerberos"/></configuration>`)
		}, report.ExitPlan, steps.ReasonNotSupported, "kerberos"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, newPlan())
			tt.change(p)
			if code := p.shard.Main(t.Context()); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			e := p.report().Envelope
			if e.Outcome != report.Failed || e.ExitCode != tt.code || e.Failure.Reason != tt.reason || !strings.Contains(e.Failure.Message, tt.message) {
				t.Errorf("outcome %s %d %+v, want Failed %d %s with %q", e.Outcome, e.ExitCode, e.Failure, tt.code, tt.reason, tt.message)
			}
			if name != "no plan" && name != "a plan of a later" && e.Identity != identity() {
				t.Errorf("identity %+v, want the plan's", e.Identity)
			}
		})
	}
}

// TestStops: a shard that is told to stop, or whose time is over, leaves a partial report of what it has.
func TestStops(t *testing.T) {
	tests := map[string]struct {
		act     func(*pod)
		timeout int64
		code    int
		reason  string
		message string
	}{
		"by order":  {func(p *pod) { p.write("stop", "Suspended") }, 0, report.ExitInterrupted, shard.ReasonStopped, "stopped by order: Suspended"},
		"by signal": {func(p *pod) { p.signals <- syscall.SIGTERM }, 0, report.ExitInterrupted, shard.ReasonStopped, "stopped by signal: terminated"},
		"by time":   {func(*pod) {}, 1, report.ExitDeadline, shard.ReasonDeadlineExceeded, "time for the shard is over: 1ms"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			planned := newPlan()
			planned.TimeoutMillis = tt.timeout
			p := newPod(t, planned)
			p.shard.Run = func(ctx context.Context, _ *steps.Env, body *report.Body) error {
				body.Start, body.End, body.Operations, body.Bytes = 10, 20, 1, 7
				tt.act(p)
				<-ctx.Done()
				return context.Cause(ctx)
			}
			if code := p.shard.Main(t.Context()); code != tt.code {
				t.Errorf("exit code %d, want %d", code, tt.code)
			}
			r := p.report()
			if r.Envelope.Outcome != report.Partial || r.Envelope.Failure.Reason != tt.reason || r.Envelope.Failure.Message != tt.message {
				t.Errorf("envelope %+v %+v", r.Envelope, r.Envelope.Failure)
			}
			if r.Body.Bytes != 7 {
				t.Errorf("%d bytes, want what was done", r.Body.Bytes)
			}
		})
	}
}

func TestJudge(t *testing.T) {
	own := &steps.Error{Exit: report.ExitTarget, Failure: report.Failure{Reason: "SafeMode", Message: "m", Remedy: "r"}}
	tests := map[string]struct {
		err     error
		outcome report.Outcome
		code    int
		reason  string
	}{
		"nothing":        {nil, report.Complete, report.ExitDone, ""},
		"stopped":        {&measure.Stopped{Reason: "X"}, report.Partial, report.ExitInterrupted, shard.ReasonStopped},
		"deadline":       {fmt.Errorf("%w: 1s", measure.ErrDeadline), report.Partial, report.ExitDeadline, shard.ReasonDeadlineExceeded},
		"the step's":     {fmt.Errorf("x: %w", own), report.Failed, report.ExitTarget, "SafeMode"},
		"gate missed":    {fmt.Errorf("x: %w", &measure.GateMissed{}), report.Failed, report.ExitNeverBegan, shard.ReasonGateMissed},
		"never started":  {fmt.Errorf("x: %w", measure.ErrGateTimeout), report.Failed, report.ExitNeverBegan, shard.ReasonNotStarted},
		"anything else":  {errors.New("odd"), report.Failed, report.ExitBenchmark, shard.ReasonInternal},
		"parent stopped": {context.Canceled, report.Failed, report.ExitBenchmark, shard.ReasonInternal},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			outcome, code, failure := shard.Judge(tt.err)
			reason := ""
			if failure != nil {
				reason = failure.Reason
			}
			if outcome != tt.outcome || code != tt.code || reason != tt.reason {
				t.Errorf("Judge = %s, %d, %s, want %s, %d, %s", outcome, code, reason, tt.outcome, tt.code, tt.reason)
			}
		})
	}
}

// TestReportIsShort: a report with the longest texts still fits, and keeps its reason.
func TestReportIsShort(t *testing.T) {
	p := newPod(t, newPlan())
	p.shard.Run = func(_ context.Context, _ *steps.Env, body *report.Body) error {
		body.Facts = map[string]string{"x": strings.Repeat("y", 3000)}
		return &steps.Error{Exit: 1, Failure: report.Failure{Reason: "Long", Message: strings.Repeat("m", 5000), Remedy: strings.Repeat("r", 5000)}}
	}
	if code := p.shard.Main(t.Context()); code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
	if e := p.report().Envelope; e.Failure.Reason != "Long" {
		t.Errorf("failure %+v", e.Failure)
	}
}

// TestReportTooLong: figures that do not fit at all are given up, but never the outcome.
func TestReportTooLong(t *testing.T) {
	for name, result := range map[string]error{
		"complete": nil,
		"failed":   &steps.Error{Exit: 3, Failure: report.Failure{Reason: "SafeMode", Message: "m"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPod(t, newPlan())
			p.shard.Run = func(_ context.Context, _ *steps.Env, body *report.Body) error {
				body.Facts = map[string]string{}
				for i := range 5000 {
					body.Facts[fmt.Sprint(i)] = "x"
				}
				return result
			}
			code := p.shard.Main(t.Context())
			e := p.report().Envelope
			if code != e.ExitCode || e.Outcome != report.Failed || code == 0 {
				t.Errorf("exit code %d, envelope %+v", code, e)
			}
			if result != nil && e.Failure.Reason != "SafeMode" || result == nil && e.Failure.Reason != shard.ReasonInternal {
				t.Errorf("failure %+v", e.Failure)
			}
		})
	}
}

// TestNoReport: without a report there is no success.
func TestNoReport(t *testing.T) {
	p := newPod(t, newPlan())
	p.shard.ReportFile = filepath.Join(p.dir, "absent", "report")
	p.shard.Run = func(context.Context, *steps.Env, *report.Body) error { return nil }
	if code := p.shard.Main(t.Context()); code != report.ExitBenchmark {
		t.Errorf("exit code %d, want %d", code, report.ExitBenchmark)
	}
	p.shard.Run = func(context.Context, *steps.Env, *report.Body) error { return &measure.Stopped{} }
	if code := p.shard.Main(t.Context()); code != report.ExitInterrupted {
		t.Errorf("exit code %d, want %d", code, report.ExitInterrupted)
	}
}

// TestReportReplacesAnOlderOne: what lay in the file before must not stay behind a shorter report.
func TestReportReplacesAnOlderOne(t *testing.T) {
	p := newPod(t, newPlan())
	p.write("report", strings.Repeat("x", 10_000))
	p.shard.Run = func(context.Context, *steps.Env, *report.Body) error { return nil }
	if code := p.shard.Main(t.Context()); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if e := p.report().Envelope; e.Outcome != report.Complete {
		t.Errorf("envelope %+v", e)
	}
}
