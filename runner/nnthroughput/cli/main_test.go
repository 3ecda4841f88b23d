package cli_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/nnthroughput/cli"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/shard"
)

// line is one call of the command line.
type line struct {
	t       *testing.T
	nn      *nameNode
	env     map[string]string
	signals chan os.Signal
	stdout  io.Writer // nil: out
	out     strings.Builder
	log     strings.Builder
}

func newLine(t *testing.T, nn *nameNode) *line {
	t.Helper()
	return &line{t: t, nn: nn, env: map[string]string{}, signals: make(chan os.Signal, 1)}
}

func (l *line) run(args string) (code int) {
	l.t.Helper()
	p := cli.Process{
		Args: strings.Fields(args), Stdout: &l.out, Stderr: &l.log, Signals: l.signals, Clock: measure.System(), Username: "login",
		Judge: shard.Judge, LookupEnv: func(name string) (string, bool) { value, ok := l.env[name]; return value, ok },
	}
	if l.stdout != nil {
		p.Stdout = l.stdout
	}
	if l.nn != nil {
		p.Connect = l.nn.connect
	}
	return p.Main(l.t.Context())
}

// figures stands for what differs from run to run.
var figures = regexp.MustCompile(`(?m)^(Elapsed Time:| Ops per sec:|Average Time:) [0-9.E]+$`)

// text is what was printed, with the figures blanked.
func (l *line) text() string { return figures.ReplaceAllString(l.out.String(), "$1 X") }

const stats = "Elapsed Time: X\n Ops per sec: X\nAverage Time: X\n"

func filesReport(op, dir, n string) string {
	return "\n--- " + op + " inputs ---\nbaseDir = " + dir + "\nnrFiles = " + n + "\nnrThreads = 3\nnrFilesPerDir = 4\n--- " + op + " stats  ---\n# operations: " + n + "\n" + stats
}

// TestOperations: each operation prints upstream's report and nothing else, and removes what it made.
func TestOperations(t *testing.T) {
	const remote = "-fs hdfs://nn "
	tests := map[string]struct {
		args  string
		want  string
		left  []string // besides the root
		calls map[string]int
	}{
		"create": {
			"-op create -files 7 -close", filesReport("create", "/nnThroughputBenchmark/create", "7"), nil,
			map[string]int{"create": 7, "complete": 7, "setSafeMode": 0},
		},
		"mkdirs": {
			"-op mkdirs -dirs 5 -threads 2 -baseDirName /b",
			"\n--- mkdirs inputs ---\nbaseDir = /b/mkdirs\nnrDirs = 5\nnrThreads = 2\nnrDirsPerDir = 2\n--- mkdirs stats  ---\n# operations: 5\n" + stats, nil,
			map[string]int{"mkdirs": 5},
		},
		"open": {"-op open -files 7", filesReport("open", "/nnThroughputBenchmark/open", "7"), nil, map[string]int{"create": 7, "complete": 7, "getBlockLocations": 7}},
		"delete, keeping results": {
			"-op delete -files 2 -baseDirName /b -keepResults", filesReport("delete", "/b/delete", "2"),
			[]string{"/b/", "/b/delete/", "/b/delete/ThroughputBenchDir0/"},
			map[string]int{"delete": 3}, // and of the warm-up's directory
		},
		"leaving safe mode": {"-op append -files 2 -leaveSafeMode", filesReport("append", "/nnThroughputBenchmark/append", "2"), nil, map[string]int{"setSafeMode": 1}},
		"refreshing groups": {"-op fileStatus -files 6 -UGCacheRefreshCount 2", filesReport("fileStatus", "/nnThroughputBenchmark/fileStatus", "6"), nil, map[string]int{"refresh": 3}},
		"clean":             {"-op clean", "\n--- clean inputs ---\nRemove directory /nnThroughputBenchmark\n--- clean stats  ---\n# operations: 1\n" + stats, nil, map[string]int{"delete": 1}},
		"several base directories": {
			"-op create -files 3 -baseDirName /a,/b -keepResults", filesReport("create", "/a/create,/b/create", "3"),
			[]string{
				"/a/", "/a/create/", "/a/create/ThroughputBenchDir0/", "/a/create/ThroughputBenchDir0/ThroughputBench0", "/a/create/ThroughputBenchDir0/ThroughputBench2",
				"/b/", "/b/create/", "/b/create/ThroughputBenchDir0/", "/b/create/ThroughputBenchDir0/ThroughputBench1",
			},
			map[string]int{"create": 3},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			nn := newNameNode()
			l := newLine(t, nn)
			if code := l.run(remote + tt.args); code != report.ExitDone {
				t.Fatalf("exit code %d, log\n%s", code, l.log.String())
			}
			if diff := cmp.Diff(tt.want, l.text()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(append([]string{"/"}, tt.left...), nn.paths()); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
			for call, want := range tt.calls {
				if got := nn.count(call); got != want {
					t.Errorf("%d calls of %s, want %d", got, call, want)
				}
			}
			if nn.closed != 2 { // ours and the step's, but for clean
				if !strings.Contains(tt.args, "clean") || nn.closed != 1 {
					t.Errorf("%d connections closed", nn.closed)
				}
			}
		})
	}
}

// TestAll: the options of all reach every operation that knows them, and each report is there before the next
// operation begins. blockReport is not allowed here, so it is left out.
func TestAll(t *testing.T) {
	nn := newNameNode()
	l := newLine(t, nn)
	nn.fail = func(call, p string) error {
		if call == "mkdirs" && !strings.Contains(l.out.String(), "--- create stats  ---") {
			return errors.New("the report of create is not there yet")
		}
		return nil
	}
	code := l.run("-fs hdfs://nn -op all -files 4 -threads 3 -dirs 3 -UGCacheRefreshCount 1 -allowFakeDataNodes false")
	if code != report.ExitDone || !strings.Contains(l.log.String(), "The blockReport operation is left out") {
		t.Errorf("exit code %d, log\n%s", code, l.log.String())
	}
	want := filesReport("create", "/nnThroughputBenchmark/create", "4") +
		"\n--- mkdirs inputs ---\nbaseDir = /nnThroughputBenchmark/mkdirs\nnrDirs = 3\nnrThreads = 3\nnrDirsPerDir = 2\n--- mkdirs stats  ---\n# operations: 3\n" + stats
	for _, op := range []string{"open", "delete", "append", "fileStatus", "rename"} {
		want += filesReport(op, "/nnThroughputBenchmark/"+op, "4")
	}
	want += "\n--- clean inputs ---\nRemove directory /nnThroughputBenchmark\n--- clean stats  ---\n# operations: 1\n" + stats
	if diff := cmp.Diff(want, l.text()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if got := nn.count("refresh"); got != 6*4+3 {
		t.Errorf("%d refreshes, want one before each of 27 operations", got)
	}
	if !strings.Contains(l.log.String(), "The replication test is ignored") {
		t.Errorf("no word of replication:\n%s", l.log.String())
	}
	if left := nn.paths(); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestUseExisting: the files of an earlier create are used, and end as upstream leaves them.
func TestUseExisting(t *testing.T) {
	files := []string{"/b/create/ThroughputBenchDir0/ThroughputBench0", "/b/create/ThroughputBenchDir0/ThroughputBench1", "/b/create/ThroughputBenchDir0/ThroughputBench2"}
	moved := func(to string) []string {
		var names []string
		for _, f := range files {
			names = append(names, strings.Replace(f, "/create/", to, 1))
		}
		return names
	}
	tests := map[string]struct {
		there []string
		args  string
		code  int
		left  []string // files
		log   string
	}{
		"kept":                       {files, "-op open -files 3 -keepResults", 0, moved("/open/"), ""},
		"not kept":                   {files, "-op open -files 3", 0, nil, ""},
		"of an earlier -keepResults": {moved("/open/"), "-op open -files 3 -keepResults", 0, moved("/open/"), ""},
		"nothing there":              {nil, "-op open -files 3", 3, nil, "neither /b/open nor /b/create is a directory"},
		"too few":                    {files, "-op open -files 4 -keepResults", 3, files, "/b/create/ThroughputBenchDir0/ThroughputBench3 is no file"},
		"too few, not kept":          {files, "-op open -files 4", 3, files, "is no file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			nn := newNameNode(tt.there...)
			l := newLine(t, nn)
			code := l.run("-fs hdfs://nn " + tt.args + " -useExisting -baseDirName /b")
			left := slices.DeleteFunc(nn.paths(), func(p string) bool { return strings.HasSuffix(p, "/") })
			if diff := cmp.Diff(strings.Join(tt.left, "\n"), strings.Join(left, "\n")); code != tt.code || diff != "" {
				t.Errorf("exit code %d, left (-want +got):\n%s\nlog\n%s", code, diff, l.log.String())
			}
			if !strings.Contains(l.log.String(), tt.log) {
				t.Errorf("log\n%s\nwithout %q", l.log.String(), tt.log)
			}
			if nn.count("create") > 0 {
				t.Error("files were created")
			}
		})
	}
}

// TestFailedOperations: they are counted, do not keep the others from being done and reported, and show in the exit code.
func TestFailedOperations(t *testing.T) {
	nn := newNameNode()
	nn.fail = func(call, p string) error {
		if call == "getBlockLocations" && strings.HasSuffix(p, "ThroughputBench3") {
			return errors.New("no such luck")
		}
		return nil
	}
	l := newLine(t, nn)
	if code := l.run("-fs hdfs://nn -op open -files 5"); code != report.ExitBenchmark {
		t.Errorf("exit code %d", code)
	}
	want := strings.Replace(filesReport("open", "/nnThroughputBenchmark/open", "5"), "# operations: 5", "# operations: 4", 1)
	if diff := cmp.Diff(want, l.text()); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
	if log := l.log.String(); !strings.Contains(log, "Operations failed") || !strings.Contains(log, "count=1") || !strings.Contains(log, "no such luck") {
		t.Errorf("log\n%s", log)
	}
	if left := nn.paths(); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestInterrupted: a signal ends the operation, its partial report goes to the log's stream and its files are removed.
func TestInterrupted(t *testing.T) {
	nn := newNameNode()
	l := newLine(t, nn)
	threads := map[int]bool{}
	nn.fail = func(call, p string) error {
		// By duration the threads take turns with the numbers, so these tell when each of the three has begun.
		number, err := strconv.Atoi(p[strings.LastIndexByte(p, 'h')+1:])
		if call != "create" || err != nil || len(threads) == 3 {
			return nil
		}
		if threads[number%3] = true; len(threads) == 3 {
			l.signals <- syscall.SIGINT
		}
		return nil
	}
	if code := l.run("-fs hdfs://nn -op create -duration 10m -baseDirName /b"); code != report.ExitInterrupted {
		t.Errorf("exit code %d, log\n%s", code, l.log.String())
	}
	log := l.log.String()
	for _, part := range []string{
		"Incomplete report of create, which was not done to its end: stopped by signal: interrupt\n\n--- create inputs ---",
		"--- create stats  ---\n# operations: ", "a second signal ends this at once and leaves it",
	} {
		if !strings.Contains(log, part) || l.out.Len() > 0 {
			t.Errorf("output\n%s\nlog\n%s\nwithout %q", l.out.String(), log, part)
		}
	}
	if left := nn.paths(); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// TestLeftovers: what lies where an operation works does not make a wrong number, and what is not this tool's is not
// deleted by all.
func TestLeftovers(t *testing.T) {
	tests := map[string]struct {
		there, args string
		code        int
		log         string
	}{
		"directories":            {"/b/mkdirs/x/", "-op mkdirs", report.ExitTarget, "/b/mkdirs is there already, so mkdirs would not do what it is to measure"},
		"renamed files":          {"/b/rename/x", "-op rename", report.ExitTarget, "/b/rename is there already"},
		"files, for create":      {"/b/create/x", "-op create", report.ExitDone, "files in it are overwritten"},
		"figures that cannot be": {"/b/create/x", "-op create -filesPerDir 1 -files 100", report.ExitPlan, "filesPerDir"},
		"strangers, by clean":    {"/b/data/x", "-op clean", report.ExitDone, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			nn := newNameNode(tt.there)
			l := newLine(t, nn)
			if code := l.run("-fs hdfs://nn " + tt.args + " -baseDirName /b"); code != tt.code || !strings.Contains(l.log.String(), tt.log) {
				t.Errorf("exit code %d, log\n%s", code, l.log.String())
			}
			if kept := len(nn.paths()) > 1; kept != (tt.code != 0) {
				t.Errorf("left: %v", nn.paths())
			}
		})
	}
}

// TestRefused: command lines that do not come as far as an operation.
func TestRefused(t *testing.T) {
	tests := map[string]struct {
		args string
		env  map[string]string
		code int
		log  string
	}{
		"bad command line":        {"-op frobnicate", nil, 2, "-op frobnicate: no such operation"},
		"usage":                   {"", nil, 2, "runner nnthroughput: -op is missing\nsee runner nnthroughput -h\n"},
		"no NameNode":             {"-op create", nil, 2, "give -fs hdfs://<namenode>:<port> before -op, or set HADOOP_HOME"},
		"local file system":       {"-fs file:/// -op create", nil, 2, "or set HADOOP_HOME"},
		"replication, remote":     {"-fs hdfs://nn -op replication", nil, 2, "The replication test is ignored as it does not support standalone namenode"},
		"another file system":     {"-fs s3a://bucket -op create", nil, 2, `scheme \"s3a\" is not supported`},
		"no configuration":        {"-conf /nowhere.xml -op create", nil, 2, "-conf /nowhere.xml: stat /nowhere.xml"},
		"rate, standalone":        {"-op create -rate 5", map[string]string{"HADOOP_HOME": "/nowhere"}, 2, "-rate: Hadoop's own class, which would be run without -fs, has no such option"},
		"no Hadoop":               {"-op create", map[string]string{"HADOOP_HOME": "/nowhere"}, 2, "Hadoop's own class cannot be run"},
		"keytab without kerberos": {"-fs hdfs://nn -op create -keytab k -principal p", nil, 2, "the property hadoop.security.authentication is"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, nil)
			l.env = tt.env
			if code := l.run(tt.args); code != tt.code || !strings.Contains(l.log.String(), tt.log) || l.out.Len() > 0 {
				t.Errorf("exit code %d, log\n%s\noutput\n%s", code, l.log.String(), l.out.String())
			}
		})
	}
}

func TestHelp(t *testing.T) {
	l := newLine(t, nil)
	if code := l.run("-help"); code != 0 || !strings.HasPrefix(l.out.String(), "Usage: runner nnthroughput") || l.log.Len() > 0 {
		t.Errorf("exit code %d, output\n%s", code, l.out.String())
	}
	for _, option := range strings.Fields("-threads -files -dirs -blockSize -close -useExisting -appendNewBlk -datanodes -reports -blocksPerReport " +
		"-blocksPerFile -nodesToDecommission -nodeReplicationLimit -totalBlocks -replication -filesPerDir -dirsPerDir -baseDirName " +
		"-keepResults -nonSuperUser -logLevel -UGCacheRefreshCount -connections -rate -duration -warmup -allowFakeDataNodes " +
		"-leaveSafeMode -user -keytab -principal -krb5conf -fs -D -conf") {
		if !strings.Contains(l.out.String(), option+" ") && !strings.Contains(l.out.String(), option+"]") {
			t.Errorf("%s is not in the help", option)
		}
	}
}

// TestConfiguration: files and options stand over one another as in Hadoop.
func TestConfiguration(t *testing.T) {
	dir := t.TempDir()
	write := func(name, properties string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("<configuration>"+properties+"</configuration>"), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	property := func(name, value string) string { return `<property name="` + name + `" value="` + value + `"/>` }
	write("conf/core-site.xml", property("fs.defaultFS", "hdfs://site")+property("a", "site")+property("b", "site")+property("c", "site"))
	write("home/etc/hadoop/core-site.xml", property("fs.defaultFS", "hdfs://home"))
	first := write("first.xml", property("b", "first")+property("c", "first"))
	second := write("second.xml", property("c", "second"))
	tests := map[string]struct {
		args    string
		env     map[string]string
		fs, abc string
		user    string
	}{
		"of HADOOP_CONF_DIR": {"", map[string]string{"HADOOP_CONF_DIR": dir + "/conf", "HADOOP_HOME": dir + "/home"}, "hdfs://site", "site site site", "login"},
		"of HADOOP_HOME":     {"", map[string]string{"HADOOP_HOME": dir + "/home", "HADOOP_USER_NAME": "other"}, "hdfs://home", "  ", "other"},
		"-conf over it":      {"-conf " + first + " -conf " + second + " ", map[string]string{"HADOOP_CONF_DIR": dir + "/conf"}, "hdfs://site", "site first second", "login"},
		"-D and -fs over all": {
			"-Dc=D -fs hdfs://fs -conf " + first + " ", map[string]string{"HADOOP_CONF_DIR": dir + "/conf"}, "hdfs://fs", "site first D", "login",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			nn := newNameNode()
			l := newLine(t, nn)
			l.env = tt.env
			if code := l.run(tt.args + "-op create"); code != 0 {
				t.Fatalf("exit code %d, log\n%s", code, l.log.String())
			}
			var values []string
			for _, name := range []string{"fs.defaultFS", "a", "b", "c"} {
				value, err := nn.asked.Conf.String(name, "")
				if err != nil {
					t.Fatal(err)
				}
				values = append(values, value)
			}
			if got := strings.Join(values, " "); got != tt.fs+" "+tt.abc || nn.asked.User != tt.user {
				t.Errorf("fs.defaultFS, a, b, c: %s, want %s %s; user %s, want %s", got, tt.fs, tt.abc, nn.asked.User, tt.user)
			}
		})
	}
}
