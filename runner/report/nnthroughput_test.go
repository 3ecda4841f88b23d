package report

import (
	"bufio"
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func renderAll(t *testing.T, reports []NNThroughput) string {
	t.Helper()
	var out bytes.Buffer
	for _, r := range reports {
		if err := RenderNNThroughput(&out, r); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}

func mustReadNN(t *testing.T, text string) []NNThroughput {
	t.Helper()
	reports, err := ParseNNThroughput(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return reports
}

// testdata/nnthroughput-*.txt is what the tool of Hadoop 3.5.0 printed, less the first empty line.
func TestNNThroughputToTheByte(t *testing.T) {
	for file, operations := range map[string]string{
		"nnthroughput-remote-all.txt":     "create mkdirs open delete append fileStatus rename blockReport clean",
		"nnthroughput-standalone-all.txt": "create mkdirs open delete append fileStatus rename blockReport replication clean",
	} {
		t.Run(file, func(t *testing.T) {
			text := readTestdata(t, file)
			reports := mustReadNN(t, text)
			if got := renderAll(t, reports); got != "\n"+text {
				t.Errorf("(-recorded +rendered):\n%s", cmp.Diff("\n"+text, got))
			}
			var names []string
			for _, r := range reports {
				names = append(names, r.Operation)
			}
			if got := strings.Join(names, " "); got != operations {
				t.Errorf("reports of %s", got)
			}
		})
	}
}

func TestParseNNThroughputFigures(t *testing.T) {
	reports := mustReadNN(t, readTestdata(t, "nnthroughput-standalone-all.txt"))
	got := map[string]NNThroughput{}
	for _, r := range reports {
		got[r.Operation] = r
	}
	dir := "/nnThroughputBenchmark/"
	for name, want := range map[string]NNThroughput{
		"open": {
			Operation: "open", Operations: 1000, ElapsedMillis: 167, AverageMillis: 0,
			Inputs: NNThroughputInputs{BaseDir: dir + "open", Files: 1000, Threads: 3, FilesPerDir: 4},
		},
		"mkdirs": {
			Operation: "mkdirs", Operations: 1000, ElapsedMillis: 1443, AverageMillis: 4,
			Inputs: NNThroughputInputs{BaseDir: dir + "mkdirs", Files: 1000, Threads: 3, FilesPerDir: 2},
		},
		"blockReport": {
			Operation: "blockReport", Operations: 10, ElapsedMillis: 47, AverageMillis: 10,
			Inputs: NNThroughputInputs{
				BaseDir: dir + "blockReport", Reports: 10, DataNodes: 3, BlocksOfDataNodes: []int64{100, 100, 100},
				BlocksPerReport: 100, BlocksPerFile: 10,
			},
		},
		"replication": {
			Operation: "replication", Operations: 1, ElapsedMillis: 8, DecommissionedBlocks: 100,
			Inputs: NNThroughputInputs{
				BaseDir: dir + "replication", RequiredOperations: 66, DataNodes: 3, BlocksOfDataNodes: []int64{100, 100, 100},
				Decommissioned: 1, NodeReplicationLimit: 100, TotalBlocks: 100,
			},
		},
		"clean": {
			Operation: "clean", Operations: 1, ElapsedMillis: 26, AverageMillis: 13,
			Inputs: NNThroughputInputs{BaseDir: "/nnThroughputBenchmark"},
		},
	} {
		if diff := cmp.Diff(want, got[name]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Versions and loggers differ around the same lines.
func TestParseNNThroughputVariants(t *testing.T) {
	recorded := readTestdata(t, "nnthroughput-standalone-all.txt")
	logged := "2026-12-01 09:59:58,001 INFO namenode.NNThroughputBenchmark: Starting benchmark: create, baseDir: /b/create\n"
	for line := range strings.Lines("\n" + recorded) {
		logged += "2026-12-01 10:00:00,123 INFO namenode.NNThroughputBenchmark: " + line
		logged += "2026-12-01 10:00:00,124 WARN util.NativeCodeLoader: Unable to load native-hadoop library\n"
	}
	var withoutDirs strings.Builder
	for line := range strings.Lines(recorded) {
		if !strings.HasPrefix(line, "baseDir") {
			withoutDirs.WriteString(line)
		}
	}
	old := mustReadNN(t, recorded)
	for i := range old {
		if old[i].Operation != "clean" {
			old[i].Inputs.BaseDir = ""
		}
	}
	for name, tc := range map[string]struct {
		text string
		want []NNThroughput
	}{
		"log4j":            {logged, mustReadNN(t, recorded)},
		"short years":      {strings.ReplaceAll(logged, "2026-12-01 10:00:00,123", "26/12/01 10:00:00"), mustReadNN(t, recorded)},
		"with the thread":  {strings.ReplaceAll(logged, "INFO namenode", "INFO  [main] namenode"), mustReadNN(t, recorded)},
		"carriage returns": {strings.ReplaceAll(recorded, "\n", "\r\n"), mustReadNN(t, recorded)},
		"no baseDir":       {withoutDirs.String(), old},
		"no last newline":  {strings.TrimSuffix(recorded, "\n"), mustReadNN(t, recorded)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, mustReadNN(t, tc.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What is not there is an error, never a zero.
func TestParseNNThroughputRefuses(t *testing.T) {
	const whole = "--- open inputs ---\nnrFiles = 10\nnrThreads = 3\nnrFilesPerDir = 4\n--- open stats  ---\n" +
		"# operations: 10\nElapsed Time: 50\n Ops per sec: 200.0\nAverage Time: 4\n"
	const nodes = "--- blockReport inputs ---\nreports = 1\ndatanodes = 2 (1, 2)\n"
	mustReadNN(t, whole)
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":              {"", "no report"},
		"other text":           {"Exception in thread main\n", "no report"},
		"unknown operation":    {strings.ReplaceAll(whole, "open", "truncate"), "no report"},
		"only the inputs":      {whole[:strings.Index(whole, "---  ")+20], `it ends before`},
		"no stats":             {"--- open inputs ---\nnrFiles = 10\nnrThreads = 3\nnrFilesPerDir = 4\n", `it ends before "--- open stats  ---"`},
		"no average":           {strings.Replace(whole, "Average Time: 4\n", "", 1), `it ends before "Average Time:"`},
		"no elapsed":           {strings.Replace(whole, "Elapsed Time: 50\n", "", 1), `it ends before "Elapsed Time:"`},
		"another begins":       {strings.Replace(whole, "Average Time: 4\n", "", 1) + whole, "it ends before"},
		"stats of another":     {strings.Replace(whole, "open stats", "create stats", 1), "it ends before"},
		"not a number":         {strings.Replace(whole, "operations: 10", "operations: ten", 1), `"# operations: ten": not a number from 0`},
		"a negative number":    {strings.Replace(whole, ": 50", ": -50", 1), "not a number from 0"},
		"not a rate":           {strings.Replace(whole, "200.0", "NaN", 1), "not a decimal number from 0"},
		"a wrong rate":         {strings.Replace(whole, "200.0", "200.1", 1), "10 operations in 50 ms are not 200.1 per second"},
		"fewer than the nodes": {strings.Replace(nodes, "2 (1", "3 (1", 1), "blocks of 2 DataNodes for 3"},
		"no list":              {strings.Replace(nodes, " (1, 2)", "", 1), "no list of blocks"},
		"no blocks":            {strings.Replace(nodes, "1, 2", "1, x", 1), `blocks "x"`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseNNThroughput(strings.NewReader(tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) || got != nil {
				t.Errorf("got %v, %v, want an error with %q", got, err, tc.want)
			}
		})
	}
	if _, err := ParseNNThroughput(strings.NewReader("x")); !errors.Is(err, ErrNoNNThroughput) {
		t.Errorf("got %v", err)
	}
}

// testdata/doubletostring.txt is what OpenJDK 25 prints.
func TestJavaDoubleAgainstJava(t *testing.T) {
	lines := bufio.NewScanner(strings.NewReader(readTestdata(t, "doubletostring.txt")))
	n := 0
	for lines.Scan() {
		bits, want, _ := strings.Cut(lines.Text(), "\t")
		v, err := strconv.ParseUint(bits, 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got := javaDouble(math.Float64frombits(v)); got != want {
			t.Errorf("bits %s: got %s, Java prints %s", bits, got, want)
		}
		n++
	}
	if n != 430 {
		t.Errorf("%d numbers", n)
	}
}

// The text of a merged measurement: elapsed from the first corrected start to the last end, the average from the exact
// sum of the times.
func TestNNThroughputOf(t *testing.T) {
	shard := func(index int32, start, end int64, nanos ...int64) *Report {
		r := simpleReport(index, start, end, 0, int64(len(nanos)))
		r.Body.Latency = NewHistogram(DefaultScale)
		for _, v := range nanos {
			r.Body.Latency.Record(v)
		}
		return r
	}
	late := shard(1, 100_000, 400_900, 2_000_000, 5_999_999)
	late.Body.Clock = &Clock{OffsetMicros: 10_000}
	late.Body.Facts = map[string]string{FactBlocksPerDataNode: "95*2"}
	first := shard(0, 400, 300_000, 1_000_000)
	first.Body.Facts = map[string]string{FactBlocksPerDataNode: "100"}
	in := MergeInput{Expected: 2, Reports: []*Report{late, first}}
	m := mustMerge(t, in)
	for name, tc := range map[string]struct {
		operation string
		inputs    NNThroughputInputs
		want      string
	}{
		"rename": {
			"rename",
			NNThroughputInputs{BaseDir: "/b/rename", Files: 4, Threads: 3, FilesPerDir: 4},
			"\n--- rename inputs ---\nbaseDir = /b/rename\nnrFiles = 4\nnrThreads = 3\nnrFilesPerDir = 4\n--- rename stats  ---\n" +
				"# operations: 3\nElapsed Time: 410\n Ops per sec: 7.317073170731708\nAverage Time: 2\n",
		},
		"blockReport": {
			"blockReport",
			NNThroughputInputs{BaseDir: "/b", Reports: 3, DataNodes: 3, BlocksPerReport: 100, BlocksPerFile: 10},
			"\n--- blockReport inputs ---\nbaseDir = /b\nreports = 3\ndatanodes = 3 (100, 95, 95)\nblocksPerReport = 100\nblocksPerFile = 10\n" +
				"--- blockReport stats  ---\n# operations: 3\nElapsed Time: 410\n Ops per sec: 7.317073170731708\nAverage Time: 2\n",
		},
		"blocks that are not known": {
			"blockReport",
			NNThroughputInputs{BaseDir: "/b", Reports: 3, DataNodes: 4, BlocksPerReport: 100, BlocksPerFile: 10},
			"\n--- blockReport inputs ---\nbaseDir = /b\nreports = 3\ndatanodes = 4 (unknown)\nblocksPerReport = 100\nblocksPerFile = 10\n" +
				"--- blockReport stats  ---\n# operations: 3\nElapsed Time: 410\n Ops per sec: 7.317073170731708\nAverage Time: 2\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			text, err := NNThroughputOf(tc.operation, tc.inputs, in, m)
			if err != nil {
				t.Fatal(err)
			}
			got := renderAll(t, []NNThroughput{text})
			if got != tc.want {
				t.Errorf("(-want +got):\n%s", cmp.Diff(tc.want, got))
			}
			if diff := cmp.Diff([]NNThroughput{text}, mustReadNN(t, got)); diff != "" {
				t.Errorf("read again (-want +got):\n%s", diff)
			}
			if *m.Rates.UpstreamOpsPerSec != text.OpsPerSec() {
				t.Errorf("the figure is %v, the text's %v", *m.Rates.UpstreamOpsPerSec, text.OpsPerSec())
			}
		})
	}
}

// What the original tool printed comes by facts, and is printed again.
func TestNNThroughputOfPrinted(t *testing.T) {
	r := simpleReport(0, second, 11*second, 0, 20)
	r.Body.Facts = map[string]string{
		FactBlocksPerDataNode: "30*2,31", FactAverageMillis: "3", FactRequiredOperations: "6", FactDecommissionedBlocks: "x", FactPendingReplications: "20",
	}
	in := MergeInput{Expected: 1, Reports: []*Report{r}}
	inputs := NNThroughputInputs{BaseDir: "/b", DataNodes: 3, Decommissioned: 1, NodeReplicationLimit: 100, TotalBlocks: 100}
	text, err := NNThroughputOf("replication", inputs, in, mustMerge(t, in))
	if err != nil {
		t.Fatal(err)
	}
	const want = "\n--- replication inputs ---\nbaseDir = /b\nnumOpsRequired = 6\ndatanodes = 3 (30, 30, 31)\ndecommissioned datanodes = 1\n" +
		"datanode replication limit = 100\ntotal blocks = 100\n--- replication stats  ---\n# operations: 20\nElapsed Time: 10000\n Ops per sec: 2.0\n" +
		"Average Time: 3\ndecommissioned blocks = 0\npending replications = 20\nreplications per sec: 2.0\n"
	if diff := cmp.Diff(want, renderAll(t, []NNThroughput{text})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A shard's own facts cannot make the list long.
func TestBlocksOfDataNodesAreBounded(t *testing.T) {
	for _, fact := range []string{"", "1*9223372036854775807", "-1*3", "1*0,2*3", "x", "1*2", "1*4", "1,,1", "1*3,"} {
		r := simpleReport(0, 0, second, 0, 1)
		r.Body.Facts = map[string]string{FactBlocksPerDataNode: fact}
		in := MergeInput{Expected: 1, Reports: []*Report{r}}
		text, err := NNThroughputOf("blockReport", NNThroughputInputs{DataNodes: 3}, in, mustMerge(t, in))
		if err != nil || text.Inputs.BlocksOfDataNodes != nil {
			t.Errorf("fact %q: %v, %v", fact, text.Inputs.BlocksOfDataNodes, err)
		}
	}
}

func TestRenderNNThroughputRefuses(t *testing.T) {
	for _, operation := range []string{"", "all", "write"} {
		if err := RenderNNThroughput(new(bytes.Buffer), NNThroughput{Operation: operation}); err == nil {
			t.Errorf("operation %q: no error", operation)
		}
	}
}

// Whatever is read can be written and is then read as the same.
func FuzzParseNNThroughput(f *testing.F) {
	f.Add("--- open inputs ---\nnrFiles = 10\nnrThreads = 3\nnrFilesPerDir = 4\n--- open stats  ---\n" +
		"# operations: 10\nElapsed Time: 50\n Ops per sec: 200.0\nAverage Time: 4\n")
	f.Add("2026-12-01 10:00:00,123 INFO namenode.NNThroughputBenchmark: --- clean inputs ---\nRemove directory /x\n--- clean stats  ---\n" +
		"# operations: 1\nElapsed Time: 0\n Ops per sec: 0.0\nAverage Time: 0\n")
	f.Add("--- blockReport inputs ---\nreports = 1\ndatanodes = 2 (1, 2)\nblocksPerReport = 2\nblocksPerFile = 1\n--- blockReport stats  ---\n" +
		"# operations: 1\nElapsed Time: 3\n Ops per sec: 333.3333333333333\nAverage Time: 0\n")
	f.Fuzz(func(t *testing.T, text string) {
		reports, err := ParseNNThroughput(strings.NewReader(text))
		if err != nil {
			return
		}
		rendered := renderAll(t, reports)
		again, err := ParseNNThroughput(strings.NewReader(rendered))
		if err != nil {
			t.Fatalf("%v\n%q", err, rendered)
		}
		if diff := cmp.Diff(reports, again); diff != "" {
			t.Errorf("(-read +read again):\n%s", diff)
		}
	})
}
