package upstream_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/upstream"
)

// knows are the options of a release: 3.4 has no -nonSuperUser, and 3.3 neither -baseDirName nor -appendNewBlk.
func knows(version string) func(string) bool {
	missing := map[string][]string{"3.3.6": {"-nonSuperUser", "-baseDirName", "-appendNewBlk"}, "3.4.2": {"-nonSuperUser"}}[version]
	return func(option string) bool { return !slices.Contains(missing, option) }
}

func TestArguments(t *testing.T) {
	tests := map[string]struct {
		step, fs, version string
		change            func(*plan.NNThroughput)
		want              string // or, with !, a part of the error
	}{
		"create, standalone":     {plan.OpCreate, "", "3.5.0", func(n *plan.NNThroughput) { n.Close = true }, "-fs file:/// -op create -threads 3 -files 10 -filesPerDir 4 -close -baseDirName /b -logLevel ERROR"},
		"no -close but create's": {plan.OpOpen, "file:///", "3.5.0", func(n *plan.NNThroughput) { n.Close = true }, "-fs file:/// -op open -threads 3 -files 10 -filesPerDir 4 -baseDirName /b -logLevel ERROR"},
		"mkdirs, remote": {
			plan.OpMkdirs, "hdfs://nn", "3.5.0",
			func(n *plan.NNThroughput) { n.UGCacheRefreshCount, n.LogLevel, n.BlockSize = 7, "", 4096 },
			"-fs hdfs://nn -op mkdirs -threads 3 -dirs 12 -dirsPerDir 2 -baseDirName /b -UGCacheRefreshCount 7 -nonSuperUser",
		},
		"append with everything, remote": {
			plan.OpAppend, "hdfs://nn", "3.5.0",
			func(n *plan.NNThroughput) {
				n.UseExisting, n.AppendNewBlk, n.KeepResults, n.ManageSafeMode, n.BlockSize, n.Replication = true, true, true, true, 4096, 2
			},
			"-fs hdfs://nn -D dfs.replication=2 -op append -threads 3 -files 10 -filesPerDir 4 -useExisting -appendNewBlk -blockSize 4096 -baseDirName /b -logLevel ERROR -keepResults",
		},
		"blockReport, standalone, has small blocks": {
			plan.OpBlockReport, "", "3.5.0", nil,
			"-fs file:/// -op blockReport -datanodes 5 -reports 30 -blocksPerReport 100 -blocksPerFile 10 -blockSize 16 -baseDirName /b -logLevel ERROR",
		},
		"blockReport, standalone, with a block size": {
			plan.OpBlockReport, "", "3.5.0", func(n *plan.NNThroughput) { n.BlockSize = 512 },
			"-fs file:/// -op blockReport -datanodes 5 -reports 30 -blocksPerReport 100 -blocksPerFile 10 -blockSize 512 -baseDirName /b -logLevel ERROR",
		},
		"blockReport, remote, has the target's": {
			plan.OpBlockReport, "hdfs://nn", "3.5.0", nil,
			"-fs hdfs://nn -op blockReport -datanodes 5 -reports 30 -blocksPerReport 100 -blocksPerFile 10 -baseDirName /b -logLevel ERROR -nonSuperUser",
		},
		"replication": {
			plan.OpReplication, "", "3.5.0", func(n *plan.NNThroughput) { n.Replication = 2 },
			"-fs file:/// -D dfs.replication=2 -op replication -datanodes 5 -nodesToDecommission 1 -nodeReplicationLimit 100 -totalBlocks 50 -replication 2 -blockSize 16 -baseDirName /b -logLevel ERROR",
		},
		"clean, standalone":                 {plan.OpClean, "", "3.5.0", nil, "-fs file:/// -op clean -logLevel ERROR"},
		"clean, remote, upstream's own":     {plan.OpClean, "hdfs://nn", "3.5.0", func(n *plan.NNThroughput) { n.BaseDirs = []string{upstream.DefaultBase} }, "-fs hdfs://nn -op clean -logLevel ERROR -nonSuperUser"},
		"clean, remote, another":            {plan.OpClean, "hdfs://nn", "3.5.0", nil, "!operation clean of engine Upstream always deletes /nnThroughputBenchmark, and the run's base directory is /b"},
		"clean, remote, safe mode":          {plan.OpClean, "hdfs://nn", "3.5.0", func(n *plan.NNThroughput) { n.ManageSafeMode = true }, "!makes the NameNode enter safe mode at its end"},
		"3.4, remote":                       {plan.OpOpen, "hdfs://nn", "3.4.2", nil, "!always makes the NameNode leave safe mode; allow it by manageSafeMode"},
		"3.4, remote, safe mode managed":    {plan.OpOpen, "hdfs://nn", "3.4.2", func(n *plan.NNThroughput) { n.ManageSafeMode = true }, "-fs hdfs://nn -op open -threads 3 -files 10 -filesPerDir 4 -baseDirName /b -logLevel ERROR"},
		"3.4, standalone":                   {plan.OpOpen, "", "3.4.2", nil, "-fs file:/// -op open -threads 3 -files 10 -filesPerDir 4 -baseDirName /b -logLevel ERROR"},
		"3.3, standalone, upstream's place": {plan.OpOpen, "", "3.3.6", nil, "-fs file:/// -op open -threads 3 -files 10 -filesPerDir 4 -logLevel ERROR"},
		"3.3, remote, another place":        {plan.OpOpen, "hdfs://nn", "3.3.6", func(n *plan.NNThroughput) { n.ManageSafeMode = true }, "!this version of the class always works in /nnThroughputBenchmark, not in /b"},
		"3.3, a later option":               {plan.OpAppend, "", "3.3.6", func(n *plan.NNThroughput) { n.AppendNewBlk = true }, "!this version of the class has no option -appendNewBlk"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlan(tt.step)
			if tt.change != nil {
				tt.change(p.NNThroughput)
			}
			args, err := upstream.Arguments(p, tt.fs, nil, knows(tt.version))
			if message, wanted := strings.CutPrefix(tt.want, "!"); wanted {
				if err == nil || !strings.Contains(err.Error(), message) {
					t.Errorf("error %v, want %q", err, message)
				}
				return
			}
			if got := strings.Join(args, " "); err != nil || got != tt.want {
				t.Errorf("arguments %s\nwant      %s\nerror %v", got, tt.want, err)
			}
		})
	}
}

// TestArgumentsProperties: the plan's properties are given by name, and those that keep Hadoop's files in their place
// stand over them.
func TestArgumentsProperties(t *testing.T) {
	p := newPlan(plan.OpClean)
	p.Target.Properties = map[string]string{"b": "2", "a": "1", "hadoop.tmp.dir": "/elsewhere"}
	args, err := upstream.Arguments(p, "", map[string]string{"hadoop.tmp.dir": "/work/tmp"}, knows("3.5.0"))
	want := "-fs file:/// -D a=1 -D b=2 -D hadoop.tmp.dir=/work/tmp -op clean -logLevel ERROR"
	if got := strings.Join(args, " "); err != nil || got != want {
		t.Errorf("arguments %s, want %s, error %v", got, want, err)
	}
	if len(p.Target.Properties) != 3 || p.Target.Properties["hadoop.tmp.dir"] != "/elsewhere" {
		t.Errorf("the plan was changed: %v", p.Target.Properties)
	}
}

func TestPlanRefused(t *testing.T) {
	tests := map[string]struct {
		change  func(*plan.Plan)
		message string
	}{
		"no part":             {func(p *plan.Plan) { p.NNThroughput = nil }, "nnThroughput is missing"},
		"another engine":      {func(p *plan.Plan) { p.NNThroughput.Engine = plan.EngineNative }, `engine "Native": not Upstream`},
		"two shards":          {func(p *plan.Plan) { p.Shards = 2 }, "shard 0 of 2: the class runs in one process"},
		"two base dirs":       {func(p *plan.Plan) { p.NNThroughput.BaseDirs = []string{"/a", "/b"} }, "2 baseDirs: the class works in one"},
		"a rate":              {func(p *plan.Plan) { p.NNThroughput.RateMilli = 1 }, "rate, duration and warmup are not known to the class"},
		"a duration":          {func(p *plan.Plan) { p.NNThroughput.DurationMillis = 1 }, "rate, duration and warmup"},
		"a warm-up":           {func(p *plan.Plan) { p.NNThroughput.WarmupMillis = 1 }, "rate, duration and warmup"},
		"connections":         {func(p *plan.Plan) { p.NNThroughput.Connections = 2 }, "connections 2: the class has one"},
		"kerberos":            {func(p *plan.Plan) { p.Target.Kerberos = &plan.Kerberos{} }, "cannot log in by a keytab"},
		"unknown step":        {func(p *plan.Plan) { p.Identity.Step = "write" }, `operation "write": the class has no such operation`},
		"replication, remote": {func(p *plan.Plan) { p.Target.FS, p.Identity.Step = "hdfs://nn", plan.OpReplication }, "measures a NameNode within its own process"},
		"replication, configured to be remote": {
			func(p *plan.Plan) {
				p.Target.Properties = map[string]string{"fs.defaultFS": "hdfs://nn"}
				p.NNThroughput.Operations = []string{plan.OpReplication}
			}, "measures a NameNode within its own process",
		},
		"fake DataNodes, not allowed": {func(p *plan.Plan) { p.Target.FS, p.Identity.Step = "hdfs://nn", plan.OpBlockReport }, "allowFakeDataNodes must be set"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			h := newHadoop(t, "3.5.0", knownOptions()...)
			p := newPlan(plan.OpOpen)
			tt.change(p)
			_, err := h.run(t.Context(), p)
			own := new(steps.Error)
			if !errors.As(err, &own) || own.Exit != report.ExitPlan || !strings.Contains(own.Failure.Message, tt.message) {
				t.Errorf("error %v, want exit 2 with %q", err, tt.message)
			}
		})
	}
}
