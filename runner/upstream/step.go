package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// Run carries out the step of a plan with engine Upstream in a pod and fills body with what was measured. The error is an
// *steps.Error, the context's cause, or one of the gate's.
func Run(ctx context.Context, env *steps.Env, body *report.Body) error {
	r := Runner{WorkDir: plan.WorkDir, ConfDir: plan.ConfDir}
	return r.Run(ctx, env, body)
}

// Runner is where steps find and leave things.
type Runner struct {
	WorkDir string // for everything the class and its NameNode write on this machine
	ConfDir string // the user's Hadoop configuration; it goes before the image's own
	// Connect connects to the target for what the class does not tell; nil: by Hadoop's own protocols.
	Connect func(ctx context.Context, env *nnthroughput.Env, threads int) (nnthroughput.Target, error)
}

// step is one step under way.
type step struct {
	env     *steps.Env
	body    *report.Body
	place   Place
	in      *Installation
	fs      string // as plan or configuration name it
	connect func(ctx context.Context, env *nnthroughput.Env, threads int) (nnthroughput.Target, error)
}

// Run is as the function Run.
func (r Runner) Run(ctx context.Context, env *steps.Env, body *report.Body) error {
	began := env.Clock.Now()
	if err := Validate(env.Plan, env.Index); err != nil {
		return steps.PlanError(err)
	}
	fs, err := fileSystem(env)
	if err != nil {
		return err
	}
	in, err := Find(ctx, env.LookupEnv, r.ConfDir)
	if err != nil {
		return err
	}
	s := &step{env: env, body: body, place: Place{Dir: filepath.Join(r.WorkDir, "nnthroughput")}, in: in, fs: fs, connect: r.Connect}
	if s.connect == nil {
		s.connect = nnthroughput.Connect
	}
	body.Facts = map[string]string{"hadoopVersion": in.Version, "javaVersion": in.JavaVersion}
	switch env.Plan.Identity.Step {
	case plan.StepPreflight:
		return s.preflight(ctx)
	case plan.StepCleanup:
		return s.cleanup(ctx)
	}
	return s.operation(ctx, began)
}

// Validate checks that the class can do what a plan says.
func Validate(p *plan.Plan, index int32) error {
	n := p.NNThroughput
	switch {
	case n == nil:
		return errors.New("plan: nnThroughput is missing")
	case n.Engine != plan.EngineUpstream:
		return fmt.Errorf("plan: engine %q: not %s", n.Engine, plan.EngineUpstream)
	case p.Shards != 1 || index != 0:
		return fmt.Errorf("plan: shard %d of %d: the class runs in one process", index, p.Shards)
	case len(n.BaseDirs) != 1:
		return fmt.Errorf("plan: %d baseDirs: the class works in one", len(n.BaseDirs))
	case n.RateMilli != 0 || n.DurationMillis != 0 || n.WarmupMillis != 0:
		return errors.New("plan: rate, duration and warmup are not known to the class; use engine Native")
	case n.Connections > 1:
		return fmt.Errorf("plan: connections %d: the class has one for each protocol; use engine Native", n.Connections)
	case p.Target.Kerberos != nil:
		return errors.New("plan: the class cannot log in by a keytab; use engine Native")
	}
	for _, op := range append([]string{p.Identity.Step}, n.Operations...) {
		if !isOperation(op) && op != plan.StepPreflight && op != plan.StepCleanup {
			return fmt.Errorf("plan: operation %q: the class has no such operation", op)
		}
	}
	return nil
}

// fileSystem is the plan's, else the configuration's.
func fileSystem(env *steps.Env) (string, error) {
	fs, err := env.Conf.String("fs.defaultFS", "")
	if err != nil {
		return "", steps.ConfigError(err)
	}
	fs = cmp.Or(env.Plan.Target.FS, fs)
	n := env.Plan.NNThroughput
	for _, op := range append([]string{env.Plan.Identity.Step}, n.Operations...) {
		switch {
		case Standalone(fs):
		case op == plan.OpReplication:
			return "", steps.PlanError(errors.New("operation replication measures a NameNode within its own process; leave target.fs unset"))
		case op == plan.OpBlockReport && !n.AllowFakeDataNodes:
			return "", steps.PlanError(errors.New("operation blockReport registers fake DataNodes with the target: allowFakeDataNodes must be set"))
		}
	}
	return fs, nil
}

// preflight looks whether all operations of the run can be asked of this version, and whether there is a place for them.
func (s *step) preflight(ctx context.Context) error {
	for _, op := range s.env.Plan.NNThroughput.Operations {
		ahead := *s.env.Plan
		ahead.Identity.Step = op
		if _, err := s.arguments(&ahead); err != nil {
			return err
		}
	}
	if err := s.makeDirs(); err != nil {
		return err
	}
	return s.checkLeftovers(ctx)
}

func (s *step) arguments(p *plan.Plan) ([]string, error) {
	args, err := Arguments(p, s.fs, s.localProperties(), s.in.Knows)
	if err != nil {
		return nil, steps.Fail(report.ExitPlan, steps.ReasonNotSupported, "leave the option out, use engine Native, or an image with another release",
			"Hadoop %s, operation %s: %v", s.in.Version, p.Identity.Step, err)
	}
	return args, nil
}

// localProperties keep what Hadoop writes on this machine in the work directory.
func (s *step) localProperties() map[string]string {
	if Standalone(s.fs) {
		return localProperties(s.place)
	}
	return map[string]string{"hadoop.tmp.dir": s.place.tmp()} // the class writes two files there
}

// makeDirs makes the work directory's parts anew.
func (s *step) makeDirs() error {
	if err := s.place.make(); err != nil {
		return steps.Fail(report.ExitPlan, steps.ReasonUpstreamFailed, "mount a volume that the pod's user may write to at "+s.place.Dir,
			"prepare the work directory: %v", err)
	}
	return nil
}

// make makes the place's parts anew, with the configuration of the log and the empty lists of hosts that the class's
// NameNode looks for before the class has written them.
func (p Place) make() error {
	if err := p.clear(); err != nil {
		return err
	}
	for _, dir := range append(p.dirs(), p.hosts()) {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for _, name := range []string{"include", "exclude"} {
		if err := os.WriteFile(filepath.Join(p.hosts(), name), nil, 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(p.log4j(), []byte(log4j), 0o644)
}

// clear removes what a place holds.
func (p Place) clear() error {
	for _, dir := range p.dirs() {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// operation prepares, waits for the start order, runs the class and reads its report.
func (s *step) operation(ctx context.Context, began time.Time) error {
	args, err := s.arguments(s.env.Plan)
	if err != nil {
		return err
	}
	if err := s.makeDirs(); err != nil {
		return err
	}
	if Standalone(s.fs) {
		if err := s.format(ctx); err != nil {
			return err
		}
	}
	prepared := s.env.Clock.Now()
	s.body.Prepared = prepared.UnixMicro()
	if err := s.env.Gate.Ready(); err != nil {
		return err
	}
	opened, err := s.env.Gate.Wait(ctx)
	if err != nil {
		return err
	}
	w := &watcher{op: s.env.Plan.Identity.Step}
	code, err := s.java(ctx, benchmarkClass, args, w)
	if !w.started.IsZero() {
		// The class sets up what it needs by itself, after the start order.
		s.body.SetUp = (prepared.Sub(began) + w.started.Sub(opened)).Microseconds()
	}
	if err != nil {
		return err
	}
	return s.read(code, w)
}

// format makes a new namespace for the NameNode within the process.
func (s *step) format(ctx context.Context) error {
	args := append(generic(standaloneFS, localProperties(s.place)), "-format", "-force", "-nonInteractive")
	w := &watcher{}
	code, err := s.java(ctx, nameNodeClass, args, w)
	if err == nil && code != 0 {
		err = failed("formatting the NameNode's directory ended with exit code %d: %s", code, w.words())
	}
	return err
}

// java runs a class to its end.
func (s *step) java(ctx context.Context, class string, args []string, w *watcher) (code int, err error) {
	p := &process{
		clock: s.env.Clock, line: append(s.in.java(s.place, class), args...), dir: s.place.Dir,
		see: func(l Line) verdict {
			s.env.Log.Info("Hadoop says", "line", l.Text)
			return w.see(l)
		},
	}
	if user := s.env.User; user != "" {
		p.env = []string{"HADOOP_USER_NAME=" + user}
	}
	s.env.Log.Info("Running Hadoop's own class", "class", class, "arguments", strings.Join(args, " "))
	code, err = p.run(ctx)
	if err != nil && context.Cause(ctx) == nil {
		err = failed("%v", err)
	}
	return code, err
}

func failed(format string, args ...any) error {
	return steps.Fail(report.ExitBenchmark, steps.ReasonUpstreamFailed, "see the pod's log for all that Hadoop printed", format, args...)
}

// read turns what the class printed into the body's figures. One report and exit code 0 are a result, and nothing else is.
func (s *step) read(code int, w *watcher) error {
	op := s.env.Plan.Identity.Step
	switch {
	case w.failed != "":
		return failed("a thread of operation %s failed, for which the class would have waited for ever, so it was killed: %s", op, w.failed)
	case code != 0:
		return failed("the class ended with exit code %d: %s", code, w.words())
	case w.started.IsZero():
		return failed("the class never started operation %s: %s", op, w.words())
	}
	result, err := onlyReport(w.reportText(), op)
	if err != nil {
		return failed("the class ended without a report of operation %s: %v; its last words: %s", op, err, w.words())
	}
	s.body.Start = w.started.UnixMicro()
	s.body.End = s.body.Start + result.ElapsedMillis*1000
	s.body.Operations, s.body.Planned = result.Operations, result.Operations
	maps.Copy(s.body.Facts, factsOf(result))
	return nil
}

// onlyReport reads the one report there is to be.
func onlyReport(text, op string) (report.NNThroughput, error) {
	reports, err := report.ParseNNThroughput(strings.NewReader(text))
	switch {
	case err != nil:
		return report.NNThroughput{}, err
	case len(reports) > 1:
		return report.NNThroughput{}, fmt.Errorf("there are %d reports", len(reports))
	case reports[0].Operation != op:
		return report.NNThroughput{}, fmt.Errorf("there is one of %s", reports[0].Operation)
	}
	return reports[0], nil
}

// factsOf are the figures that a body has no field for.
func factsOf(t report.NNThroughput) map[string]string {
	facts := map[string]string{report.FactAverageMillis: strconv.FormatInt(t.AverageMillis, 10)}
	if t.Operation == plan.OpReplication {
		facts[report.FactRequiredOperations] = strconv.FormatInt(t.Inputs.RequiredOperations, 10)
		facts[report.FactDecommissionedBlocks] = strconv.FormatInt(t.DecommissionedBlocks, 10)
		facts[report.FactPendingReplications] = strconv.FormatInt(t.PendingReplications, 10)
	}
	if len(t.Inputs.BlocksOfDataNodes) > 0 {
		facts[report.FactBlocksPerDataNode] = runLengths(t.Inputs.BlocksOfDataNodes)
	}
	return facts
}

// runLengths writes equal numbers in a row as one: "100*8,95".
func runLengths(numbers []int64) string {
	var parts []string
	for i := 0; i < len(numbers); {
		times := 1
		for i+times < len(numbers) && numbers[i+times] == numbers[i] {
			times++
		}
		part := strconv.FormatInt(numbers[i], 10)
		if times > 1 {
			part += "*" + strconv.Itoa(times)
		}
		parts = append(parts, part)
		i += times
	}
	return strings.Join(parts, ",")
}
