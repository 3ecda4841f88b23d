package shard

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/nnthroughput/cli"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	ycsbcli "github.com/hadoop-bench/operator/runner/ycsb/cli"
)

const usage = `Usage: runner <command> [options]

Commands:
  shard         carry out a plan; this is what a pod runs
  nnthroughput  NNThroughputBenchmark by hand, with its own command line and report
  ycsb          YCSB by hand, against HBase or no database, with its own command line and report
  preflight     look whether a DFSIO run could work, by hand or in a pod
  probe         exit with 0 if the shard beside it is prepared
  install       copy the runner into a directory, for a container with another image
  version       print the version

runner <command> -h lists the options of a command.
`

// Process is what a command gets from the process it runs in.
type Process struct {
	Args           []string // without the program's name
	LookupEnv      func(string) (string, bool)
	Stdout, Stderr io.Writer
	Signals        <-chan os.Signal
	Clock          measure.Clock
	Root           fs.FS
}

// Command runs the runner's command line and returns the exit code.
func Command(ctx context.Context, p Process) int {
	if len(p.Args) == 0 {
		fmt.Fprint(p.Stderr, usage)
		return report.ExitPlan
	}
	name, args := p.Args[0], p.Args[1:]
	switch name {
	case "shard":
		return p.shard(ctx, args)
	case "preflight":
		return p.preflight(ctx, args)
	case "probe":
		return p.probe(args)
	case "nnthroughput":
		return p.nnthroughput(ctx, args)
	case "ycsb":
		return p.ycsb(ctx, args)
	case "install":
		return p.install(args)
	case "version":
		fmt.Fprintf(p.Stdout, "runner %s %s\n", runner.Version(), runner.GoVersion())
		return report.ExitDone
	case "help", "-h", "-help", "--help":
		fmt.Fprint(p.Stdout, usage)
		return report.ExitDone
	case "dfsio":
		fmt.Fprintf(p.Stderr, "runner %s: not supported yet; a run is carried out by the operator\n", name)
		return report.ExitPlan
	}
	fmt.Fprintf(p.Stderr, "runner: unknown command %q\n\n%s", name, usage)
	return report.ExitPlan
}

// parse reads options. done is true if the command ends here, with the code.
func (p Process) parse(set *flag.FlagSet, args []string) (code int, done bool) {
	set.SetOutput(p.Stderr)
	err := set.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		return report.ExitDone, true
	}
	if err != nil {
		return report.ExitPlan, true
	}
	if set.NArg() > 0 {
		fmt.Fprintf(p.Stderr, "%s: unexpected argument %q; options begin with a dash\n", set.Name(), set.Arg(0))
		return report.ExitPlan, true
	}
	return 0, false
}

// newShard returns a shard with the paths that options can change.
func (p Process) newShard(set *flag.FlagSet) (s *Shard, complete func()) {
	s = &Shard{
		LookupEnv: p.LookupEnv, Clock: p.Clock, Signals: p.Signals, Root: p.Root,
		Log: slog.New(slog.NewJSONHandler(p.Stdout, nil)),
	}
	index, _ := p.LookupEnv(plan.IndexEnv)
	set.StringVar(&s.PlanFile, "plan", plan.File, "`file` with the plan")
	set.StringVar(&s.ConfDir, "conf", plan.ConfDir, "`directory` with core-site.xml and hdfs-site.xml")
	set.StringVar(&s.ReportFile, "report", plan.ReportFile, "`file` for the report")
	set.StringVar(&s.Index, "index", index, "`number` of the shard, from 0")
	podInfo := set.String("podinfo", plan.PodInfoDir, "`directory` with the operator's orders")
	runDir := set.String("run-dir", plan.RunDir, "`directory` for the ready file")
	return s, func() {
		s.StartFile = filepath.Join(*podInfo, filepath.Base(plan.StartFile))
		s.StopFile = filepath.Join(*podInfo, filepath.Base(plan.StopFile))
		s.ReadyFile = filepath.Join(*runDir, filepath.Base(plan.ReadyFile))
	}
}

func (p Process) shard(ctx context.Context, args []string) int {
	set := flag.NewFlagSet("runner shard", flag.ContinueOnError)
	s, complete := p.newShard(set)
	if code, done := p.parse(set, args); done {
		return code
	}
	complete()
	return s.Main(ctx)
}

func (p Process) nnthroughput(ctx context.Context, args []string) int {
	command := cli.Process{
		Args: args, LookupEnv: p.LookupEnv, Stdout: p.Stdout, Stderr: p.Stderr, Signals: p.Signals, Clock: p.Clock,
		Root: p.Root, Username: username(), Judge: Judge,
	}
	return command.Main(ctx)
}

func (p Process) ycsb(ctx context.Context, args []string) int {
	command := ycsbcli.Process{
		Args: args, LookupEnv: p.LookupEnv, Stdout: p.Stdout, Stderr: p.Stderr, Signals: p.Signals, Clock: p.Clock,
		Username: username(), Judge: Judge,
	}
	return command.Main(ctx)
}

// username is who runs the process. A user that the system has no name for has none here either.
func username() string {
	self, err := user.Current()
	if err != nil {
		return ""
	}
	return self.Username
}

func (p Process) probe(args []string) int {
	set := flag.NewFlagSet("runner probe", flag.ContinueOnError)
	runDir := set.String("run-dir", plan.RunDir, "`directory` with the ready file")
	if code, done := p.parse(set, args); done {
		return code
	}
	if _, err := os.Stat(filepath.Join(*runDir, filepath.Base(plan.ReadyFile))); err != nil {
		fmt.Fprintln(p.Stderr, "not prepared yet")
		return 1
	}
	return 0
}

// properties collects -D options.
type properties map[string]string

func (d properties) String() string { return "" }

func (d properties) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok || name == "" {
		return fmt.Errorf("%q is not name=value", text)
	}
	d[name] = value
	return nil
}

// preflight looks at a target by hand and prints what it found for people. It writes nothing to HDFS unless -write asks
// it to claim the base directory.
func (p Process) preflight(ctx context.Context, args []string) int {
	confDir, planned, code, done := p.preflightPlan(args)
	if done {
		return code
	}
	work, err := os.MkdirTemp("", "runner-preflight-")
	if err != nil {
		fmt.Fprintf(p.Stderr, "runner preflight: %v\n", err)
		return report.ExitBenchmark
	}
	defer os.RemoveAll(work)
	if confDir == "" {
		confDir = filepath.Join(work, "no-configuration")
	}
	s := &Shard{
		ConfDir: confDir, ReadyFile: filepath.Join(work, "ready"), ReportFile: filepath.Join(work, "report"), Index: "0",
		StopFile: filepath.Join(work, "stop"), LookupEnv: p.LookupEnv, Clock: p.Clock, Signals: p.Signals, Root: p.Root,
		Log: slog.New(slog.DiscardHandler), // the report says all
	}
	code = s.Carry(ctx, planned)
	p.printReport(s.ReportFile)
	return code
}

// preflightPlan makes a plan of options. done is true if the command ends here, with the code.
func (p Process) preflightPlan(args []string) (confDir string, planned *plan.Plan, code int, done bool) {
	set := flag.NewFlagSet("runner preflight", flag.ContinueOnError)
	d := &plan.DFSIO{BufferSize: 1_000_000, Pattern: "Random", Client: "Colinmarc"}
	planned = &plan.Plan{
		Version: plan.Version, Run: "by-hand/preflight", Shards: 1, DFSIO: d, Target: plan.Target{Properties: properties{}},
		Identity: report.Identity{Execution: 1, Step: plan.StepPreflight, Repeat: 1, Attempt: 1},
	}
	set.StringVar(&confDir, "conf", "", "`directory` with core-site.xml and hdfs-site.xml")
	set.StringVar(&planned.Target.FS, "fs", "", "`URI` of the file system, over fs.defaultFS")
	set.StringVar(&planned.Target.User, "user", "", "`name` of the user in HDFS")
	set.Var(properties(planned.Target.Properties), "D", "`name=value` of a property, over the configuration")
	set.StringVar(&d.BaseDir, "baseDir", "/benchmarks/TestDFSIO", "base `directory` in HDFS")
	set.Int64Var(&d.Size, "size", 1<<20, "`bytes` per file")
	files := set.Int("nrFiles", 1, "`number` of files")
	write := set.Bool("write", false, "prepare for writing: claim the base directory")
	set.StringVar(&planned.Identity.RunUID, "uid", "by-hand", "`UID` of the run that claims the base directory")
	if code, done = p.parse(set, args); done {
		return "", nil, code, true
	}
	if *files < 1 || *files > 1_000_000 {
		fmt.Fprintf(p.Stderr, "runner preflight: nrFiles %d: not between 1 and 1000000\n", *files)
		return "", nil, report.ExitPlan, true
	}
	d.NrFiles = int32(*files)
	if *write {
		d.Tests = []string{plan.TestWrite}
	}
	return confDir, planned, 0, false
}

// printReport prints a preflight's report for people.
func (p Process) printReport(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		fmt.Fprintf(p.Stderr, "runner preflight: %v\n", err)
		return
	}
	r, err := report.Decode(text)
	if err != nil {
		fmt.Fprintf(p.Stderr, "runner preflight: %v\n", err)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(r.Body.Facts)) {
		fmt.Fprintf(p.Stdout, "%-16s %s\n", name, r.Body.Facts[name])
	}
	if f := r.Envelope.Failure; f != nil {
		fmt.Fprintf(p.Stdout, "%-16s %s\n%-16s %s\n", f.Reason, f.Message, "remedy", f.Remedy)
		return
	}
	fmt.Fprintln(p.Stdout, "ready")
}
