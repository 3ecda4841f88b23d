package cli_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/nnthroughput/cli"
)

// upstreamDefaults are those of the original tool's help and source.
func upstreamDefaults() cli.Options {
	return cli.Options{
		LogLevel: "ERROR", UGCacheRefreshCount: math.MaxInt32, Threads: 3, Files: 10, FilesPerDir: 4, Dirs: 10, DirsPerDir: 2,
		DataNodes: 10, Reports: 30, BlocksPerReport: 100, BlocksPerFile: 10, NodesToDecommission: 1, NodeReplicationLimit: 100,
		TotalBlocks: 100, BaseDirs: []string{"/nnThroughputBenchmark"}, Connections: 1,
	}
}

func TestParse(t *testing.T) {
	tests := map[string]struct {
		args    string
		generic cli.Generic
		op      string
		options func(*cli.Options)
	}{
		"defaults":                              {args: "-op create", op: "create"},
		"-op only has to begin so, as upstream": {args: "-operation open", op: "open"},
		"everything of create": {
			args: "-op create -threads 64 -files 1000000 -blockSize 1m -filesPerDir 100 -baseDirName /a/b/ -close", op: "create",
			options: func(o *cli.Options) {
				o.Threads, o.Files, o.BlockSize, o.FilesPerDir, o.BaseDirs, o.Close = 64, 1_000_000, 1<<20, 100, []string{"/a/b"}, true
			},
		},
		"common ones": {
			args: "-op mkdirs -keepResults -nonSuperUser -logLevel TRACE -UGCacheRefreshCount 5 -dirs 7 -dirsPerDir 3", op: "mkdirs",
			options: func(o *cli.Options) {
				o.KeepResults, o.NonSuperUser, o.LogLevel, o.UGCacheRefreshCount, o.Dirs, o.DirsPerDir = true, true, "TRACE", 5, 7, 3
			},
		},
		"append": {
			args: "-op append -useExisting -appendNewBlk -close", op: "append",
			options: func(o *cli.Options) { o.UseExisting, o.AppendNewBlk, o.Close = true, true, true },
		},
		"blockReport": {
			args: "-op blockReport -datanodes 4 -reports 8 -blocksPerReport 16 -blocksPerFile 2 -blockSize 16", op: "blockReport",
			options: func(o *cli.Options) {
				o.DataNodes, o.Reports, o.BlocksPerReport, o.BlocksPerFile, o.BlockSize = 4, 8, 16, 2, 16
			},
		},
		"replication": {
			args: "-op replication -datanodes 4 -nodesToDecommission 2 -nodeReplicationLimit 5 -totalBlocks 9 -replication 2", op: "replication",
			options: func(o *cli.Options) {
				o.DataNodes, o.NodesToDecommission, o.NodeReplicationLimit, o.TotalBlocks, o.Replication = 4, 2, 5, 9, 2
			},
		},
		"the last one counts": {
			args: "-op create -files 1 -files 2 -threads +4", op: "create",
			options: func(o *cli.Options) { o.Files, o.Threads = 2, 4 },
		},
		"a count below 1 is never, as upstream": {
			args: "-op open -UGCacheRefreshCount -3", op: "open",
			options: func(o *cli.Options) { o.UGCacheRefreshCount = -3 },
		},
		"all takes everything": {
			args: "-op all -files 1 -dirs 2 -datanodes 3 -totalBlocks 4 -useExisting -appendNewBlk", op: "all",
			options: func(o *cli.Options) {
				o.Files, o.Dirs, o.DataNodes, o.TotalBlocks, o.UseExisting, o.AppendNewBlk = 1, 2, 3, 4, true, true
			},
		},
		"several base directories": {
			args: "-op create -baseDirName /a,/b -baseDirName /c", op: "create",
			options: func(o *cli.Options) { o.BaseDirs = []string{"/a", "/b", "/c"} },
		},
		"clean of another directory": {
			args: "-op clean -baseDirName /a", op: "clean",
			options: func(o *cli.Options) { o.BaseDirs = []string{"/a"} },
		},
		"beyond upstream": {
			args: "-op open -connections 4 -rate 1234.5 -duration 1m30s -warmup 500ms -leaveSafeMode -user u -keytab k -principal p@R -krb5conf c", op: "open",
			options: func(o *cli.Options) {
				o.Connections, o.RateMilli, o.Duration, o.Warmup, o.LeaveSafeMode = 4, 1_234_500, 90*time.Second, 500*time.Millisecond, true
				o.User, o.Keytab, o.Principal, o.Krb5Conf = "u", "k", "p@R", "c"
			},
		},
		"fake DataNodes refused": {
			args: "-op blockReport -allowFakeDataNodes false", op: "blockReport",
			options: func(o *cli.Options) { o.RefuseFakeDataNodes = true },
		},
		"generic ones": {
			args: "-fs hdfs://nn:8020 -D a=b -Dc=d=e -conf x.xml --conf y.xml -op create", op: "create",
			generic: cli.Generic{
				FS: "hdfs://nn:8020", Conf: []string{"x.xml", "y.xml"}, Properties: map[string]string{"a": "b", "c": "d=e"},
				Args: []string{"-fs", "hdfs://nn:8020", "-D", "a=b", "-Dc=d=e", "-conf", "x.xml", "--conf", "y.xml"},
			},
		},
		"generic ones by equals signs": {
			args: "-fs=hdfs://nn --conf=x.xml -op create", op: "create",
			generic: cli.Generic{FS: "hdfs://nn", Conf: []string{"x.xml"}, Args: []string{"-fs=hdfs://nn", "--conf=x.xml"}},
		},
		"a file system by host and port": {
			args: "-fs nn:8020 -op create", op: "create",
			generic: cli.Generic{FS: "hdfs://nn:8020", Args: []string{"-fs", "nn:8020"}},
		},
		"a file system with a path": {
			args: "-fs hdfs://nn:8020/user/x -op create", op: "create",
			generic: cli.Generic{FS: "hdfs://nn:8020", Args: []string{"-fs", "hdfs://nn:8020/user/x"}},
		},
		"open by duration, of so many files": {
			args: "-op open -files 5 -duration 1s", op: "open",
			options: func(o *cli.Options) { o.Files, o.Duration = 5, time.Second },
		},
		"the local file system": {
			args: "-fs local -op create", op: "create",
			generic: cli.Generic{FS: "file:///", Args: []string{"-fs", "local"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := cli.Parse(strings.Fields(tt.args))
			if err != nil {
				t.Fatalf("Parse: %v", err)
			}
			want := upstreamDefaults()
			if tt.options != nil {
				tt.options(&want)
			}
			if diff := cmp.Diff(want, got.Options); diff != "" || got.Op != tt.op {
				t.Errorf("op %s, options (-want +got):\n%s", got.Op, diff)
			}
			if tt.generic.Properties == nil {
				tt.generic.Properties = map[string]string{}
			}
			if diff := cmp.Diff(tt.generic, got.Generic); diff != "" {
				t.Errorf("generic options (-want +got):\n%s", diff)
			}
			if i := strings.Index(tt.args, "-op"); strings.Join(got.FromOp, " ") != tt.args[i:] {
				t.Errorf("from -op on: %q", got.FromOp)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	tests := map[string]struct{ args, message string }{
		"nothing":                       {"", "-op is missing"},
		"only generic ones":             {"-fs hdfs://nn", "-op is missing"},
		"no operation":                  {"-op", "-op: the operation is missing"},
		"unknown operation":             {"-op OPEN", "-op OPEN: no such operation; known are create, mkdirs"},
		"something before -op":          {"-threads 3 -op create", "-threads: neither a generic option of Hadoop nor -op"},
		"-files before -op":             {"-files 20 -op create", "-files: before -op this is Hadoop's generic option for files to copy"},
		"-jt":                           {"-jt local -op create", "-jt: no job is submitted here"},
		"-libjars":                      {"-libjars a.jar -op create", "-libjars: no job is submitted here"},
		"-archives":                     {"-archives a.zip -op create", "-archives: no job is submitted here"},
		"-tokenCacheFile":               {"-tokenCacheFile f -op create", "-tokenCacheFile: delegation tokens are not supported"},
		"-D without a value":            {"-D a -op create", `-D: "a" is not name=value`},
		"-D without a name":             {"-D =a -op create", `-D: "=a" is not name=value`},
		"generic one without its value": {"-fs -D a=b -op create", "-fs: its value is missing"},
		"generic one at the end":        {"-conf", "-conf: its value is missing"},
		"option without its value":      {"-op create -files", "-files: its value is missing"},
		"unknown option":                {"-op create -Files 3", "-Files: no such option"},
		"unknown option of all":         {"-op all -frobnicate", "-frobnicate: no such option"},
		"generic option too late":       {"-op create -fs hdfs://nn", "-fs: no such option; generic options such as -fs and -D stand before -op"},
		"option of another operation":   {"-op mkdirs -files 3", "-files: operation mkdirs has no such option"},
		"block size of mkdirs":          {"-op mkdirs -blockSize 3", "-blockSize: operation mkdirs has no such option"},
		"duration of delete":            {"-op delete -duration 3s", "-duration: operation delete has no such option"},
		"option of clean":               {"-op clean -threads 3", "-threads: operation clean has no such option"},
		"not a number":                  {"-op create -files x", `-files: "x" is not a whole number`},
		"a number with a unit":          {"-op create -threads 3k", `-threads: "3k" is not a whole number`},
		"no threads":                    {"-op create -threads 0", "-threads: 0 is less than 1"},
		"too many threads":              {"-op create -threads 2147483648", "-threads: 2147483648 is more than 100000"},
		"threads beyond the bound":      {"-op create -threads 100001", "-threads: 100001 is more than 100000"},
		"too many DataNodes":            {"-op blockReport -datanodes 32767", "-datanodes: 32767 is more than 32766"},
		"too many blocks":               {"-op blockReport -blocksPerReport 10000001", "-blocksPerReport: 10000001 is more than 10000000"},
		"a number out of 64 bits":       {"-op create -files 9223372036854775808", "-files: 9223372036854775808 is beyond what 64 bits hold"},
		"-fs before -op":                {"-fs -op create", "-fs: its value is missing"},
		"duration and files":            {"-op create -duration 3s -files 5", "-files and -duration: one or the other says when create ends"},
		"duration and directories":      {"-op mkdirs -dirs 5 -duration 3s", "-dirs and -duration: one or the other says when mkdirs ends"},
		"duration and reports":          {"-op all -reports 5 -duration 3s", "-reports and -duration: one or the other says when blockReport ends"},
		"base directory with a colon":   {"-op create -baseDirName /a:c", `-baseDirName: "/a:c" holds a colon, which HDFS forbids`},
		"block size that cannot be":     {"-op create -blockSize 1e", "-blockSize: 1e is 1152921504606846976 bytes: more than 18014398509481983"},
		"log level in lower case":       {"-op create -logLevel info", "-logLevel: No enum constant org.slf4j.event.Level.info"},
		"block size suffix":             {"-op create -blockSize 3x", "-blockSize: Invalid size prefix 'x' in '3x'. Allowed prefixes are k, m, g, t, p, e(case insensitive)"},
		"block size too large":          {"-op create -blockSize 8e", "-blockSize: 8e does not fit in a Long"},
		"no block size":                 {"-op create -blockSize 0", "-blockSize: 0 bytes: a block has at least one"},
		"replication too large":         {"-op replication -replication 32768", `-replication: "32768" is not a number between 1 and 32767`},
		"rate of nothing":               {"-op create -rate 0", `-rate: "0" is not a number of operations per second`},
		"rate that is none":             {"-op create -rate NaN", `-rate: "NaN" is not`},
		"duration without a unit":       {"-op create -duration 30", `-duration: "30" is not a time`},
		"fake DataNodes, perhaps":       {"-op blockReport -allowFakeDataNodes maybe", `"maybe" is neither true nor false`},
		"relative base directory":       {"-op create -baseDirName a", `-baseDirName: "a" is not an absolute path in HDFS`},
		"root as base directory":        {"-op clean -baseDirName //", "-baseDirName: the root belongs to everybody"},
		"base directory with dots":      {"-op clean -baseDirName /a/../b", `-baseDirName: "/a/../b" holds ".."`},
		"the same base directory":       {"-op create -baseDirName /a,/a/", "-baseDirName: the same directory twice"},
		"safe mode by no superuser":     {"-op create -nonSuperUser -leaveSafeMode", "-leaveSafeMode: only a superuser may"},
		"keytab without principal":      {"-op create -keytab k", "-keytab and -principal: one without the other"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := cli.Parse(strings.Fields(tt.args))
			if err == nil || !strings.Contains(err.Error(), tt.message) {
				t.Errorf("error %v, want one with %q", err, tt.message)
			}
		})
	}
}

func TestParseHelp(t *testing.T) {
	for _, arg := range []string{"-h", "-help", "--help"} {
		if _, err := cli.Parse([]string{arg}); !errors.Is(err, cli.ErrHelp) {
			t.Errorf("%s: error %v", arg, err)
		}
	}
}

func TestParseBlockSize(t *testing.T) {
	tests := map[string]struct {
		text string
		want int64
		err  string
	}{
		"plain":           {"134217728", 134217728, ""},
		"with space":      {" 16 ", 16, ""},
		"k":               {"1k", 1 << 10, ""},
		"M":               {"64M", 64 << 20, ""},
		"g":               {"2g", 2 << 30, ""},
		"t":               {"1t", 1 << 40, ""},
		"P":               {"1P", 1 << 50, ""},
		"e":               {"7e", 7 << 60, ""},
		"negative":        {"-8e", math.MinInt64, ""},
		"empty":           {" ", 0, "the value is empty"},
		"beyond":          {"9223372036854775808", 0, "9223372036854775808 does not fit in a Long"},
		"beyond by shift": {"8E", 0, "8E does not fit in a Long"},
		"below by shift":  {"-9e", 0, "-9e does not fit in a Long"},
		"only a suffix":   {"k", 0, `For input string: ""`},
		"two suffixes":    {"1kb", 0, "Invalid size prefix 'b' in '1kb'"},
		"another letter":  {"1ä", 0, "Invalid size prefix 'ä' in '1ä'"},
		"a dot":           {"1.5m", 0, `For input string: "1.5"`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := cli.ParseBlockSize(tt.text)
			if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("ParseBlockSize(%q) = %d, %v, want %d, %q", tt.text, got, err, tt.want, tt.err)
			}
		})
	}
}

// FuzzParse: whatever the arguments are, Parse neither panics nor takes figures that cannot be worked with.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"-op create", "-op all -files 3 -blockSize 1m", "-fs hdfs://a -Dx=y --conf=z -op open -useExisting -rate 1.5",
		"-op blockReport -datanodes 3 -baseDirName /a,/b", "-D", "- -- -op", "-op clean -baseDirName /", "-=", "-fs=",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		c, err := cli.Parse(args)
		if err != nil {
			return
		}
		o := c.Options
		if o.Threads < 1 || o.Files < 1 || o.Dirs < 1 || o.FilesPerDir < 1 || o.DirsPerDir < 1 || o.DataNodes < 1 || o.BlockSize < 0 || o.RateMilli < 0 || o.Duration < 0 {
			t.Errorf("options %+v", o)
		}
		for _, base := range o.BaseDirs {
			if !strings.HasPrefix(base, "/") || base == "/" || strings.Contains(base, "/../") {
				t.Errorf("base directory %q", base)
			}
		}
		if len(c.Generic.Args)+len(c.FromOp) != len(args) {
			t.Errorf("%d generic arguments and %d others of %d", len(c.Generic.Args), len(c.FromOp), len(args))
		}
	})
}
