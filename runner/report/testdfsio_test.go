package report

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// javaLayout reads what Date.toString prints.
const javaLayout = "Mon Jan 02 15:04:05 MST 2006"

func readTestdata(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func mustParse(t *testing.T, date string) time.Time {
	t.Helper()
	d, err := time.Parse(javaLayout, date)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The files' own figures are not in the recorded log; these are one set that gives every printed figure.
func TestRenderTestDFSIORecordedRuns(t *testing.T) {
	blocks := []struct {
		test, date string
		exec       int64
		files      []DFSIOFile
	}{
		{"write", "Mon Nov 30 12:41:53 UTC 2026", 13600, []DFSIOFile{
			{134217728, 1184},
			{134217728, 1237},
			{134217728, 1876},
			{134217728, 2218},
		}},
		{"read", "Mon Nov 30 12:42:13 UTC 2026", 12410, []DFSIOFile{
			{134217728, 1056},
			{134217728, 828},
			{134217728, 1073},
			{134217728, 1038},
		}},
		{"randomRead", "Mon Nov 30 12:42:31 UTC 2026", 10060, []DFSIOFile{
			{134828525, 971},
			{134828523, 842},
			{134828523, 539},
			{134828523, 1006},
		}},
		{"backwardRead", "Mon Nov 30 12:42:51 UTC 2026", 8520, []DFSIOFile{
			{134998917, 380},
			{134998917, 472},
			{134998917, 832},
			{134998917, 1386},
		}},
		{"skipRead", "Mon Nov 30 12:43:04 UTC 2026", 7910, []DFSIOFile{
			{85938203, 337},
			{50380740, 782},
			{41044910, 264},
			{91508335, 520},
		}},
		{"append", "Mon Nov 30 12:43:37 UTC 2026", 13780, []DFSIOFile{
			{134217728, 1693},
			{134217728, 2224},
			{134217728, 1349},
			{134217728, 2722},
		}},
		{"truncate", "Mon Nov 30 12:43:58 UTC 2026", 15530, []DFSIOFile{
			{201326592, 2538},
			{201326592, 1861},
			{201326592, 3002},
			{201326592, 2518},
		}},
	}
	var got bytes.Buffer
	for _, b := range blocks {
		text := DFSIOText{Test: b.test, Date: mustParse(t, b.date), Files: b.files, ExecMillis: b.exec}
		if err := RenderTestDFSIO(&got, text); err != nil {
			t.Fatal(err)
		}
		got.WriteString("\n")
	}
	if diff := cmp.Diff(readTestdata(t, "testdfsio-reports.txt"), got.String()); diff != "" {
		t.Errorf("the recorded log differs (-want +got):\n%s", diff)
	}
}

// Every block was written by Hadoop's own classes from the files named in the line before it.
func TestRenderTestDFSIOAgainstHadoop(t *testing.T) {
	blocks := strings.Split(readTestdata(t, "testdfsio-analyze.txt"), "# ")[1:]
	if len(blocks) != 60 {
		t.Fatalf("%d blocks", len(blocks))
	}
	for _, block := range blocks {
		inputs, want, _ := strings.Cut(block, "\n")
		fields := strings.Fields(inputs)
		_, date, _ := strings.Cut(want, "Date & time: ")
		date, _, _ = strings.Cut(date, "\n")
		text := DFSIOText{Test: fields[0], Date: mustParse(t, date), ExecMillis: number(t, fields[1])}
		for _, f := range fields[2:] {
			size, millis, _ := strings.Cut(f, ":")
			text.Files = append(text.Files, DFSIOFile{number(t, size), number(t, millis)})
		}
		var got strings.Builder
		if err := RenderTestDFSIO(&got, text); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.String()); diff != "" {
			t.Errorf("%.60s differs (-Hadoop +got):\n%s", inputs, diff)
		}
	}
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestJavaDecimalAgainstJava(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(readTestdata(t, "decimalformat.txt")), "\n")
	if len(lines) < 500 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		bits, want, _ := strings.Cut(line, "\t")
		raw, err := hex.DecodeString(bits)
		if err != nil {
			t.Fatal(err)
		}
		v := uint64(0)
		for _, b := range raw {
			v = v<<8 | uint64(b)
		}
		if got := javaDecimal(math.Float64frombits(v)); got != want {
			t.Errorf("%v (%s): got %q, Java prints %q", math.Float64frombits(v), bits, got, want)
		}
	}
}

// The worked example of TestDFSIO's statistics: two files of 3 MiB in 117 and 88 ms.
func TestUpstreamSums(t *testing.T) {
	u := sumOf([]DFSIOFile{{3145728, 117}, {3145728, 88}})
	want := upstream{tasks: 2, size: 6291456, millis: 205, rate: 59731.93, squares: 1819652.4}
	if u != want {
		t.Errorf("got %+v, want %+v", u, want)
	}
}

// float32 sums depend on the order: large and small rates in two orders give different texts.
func TestUpstreamSumsAreInOrder(t *testing.T) {
	files := []DFSIOFile{{1 << 40, 1}}
	for range 64 {
		files = append(files, DFSIOFile{1 << 20, 60})
	}
	forward := sumOf(files)
	backward := upstream{}
	for i := len(files) - 1; i >= 0; i-- {
		backward.add(files[i])
	}
	if forward.rate == backward.rate {
		t.Errorf("both orders give %v: the test does not show anything", forward.rate)
	}
	if forward.rate != 1048576e6 {
		t.Errorf("in order: %v, want the small rates lost in the large one", forward.rate)
	}
}

func TestJavaDate(t *testing.T) {
	at := time.Date(2026, 3, 2, 1, 4, 5, 0, time.UTC)
	for name, tc := range map[string]struct {
		zone *time.Location
		want string
	}{
		"UTC":        {time.UTC, "Mon Mar 02 01:04:05 UTC 2026"},
		"east":       {time.FixedZone("CET", 3600), "Mon Mar 02 02:04:05 CET 2026"},
		"day before": {time.FixedZone("EST", -5*3600), "Sun Mar 01 20:04:05 EST 2026"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := javaDate(at.In(tc.zone)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestDFSIOLabel(t *testing.T) {
	for test, want := range map[string]string{
		"write": "write", "read": "read", "append": "append", "truncate": "truncate",
		"randomRead": "random read", "backwardRead": "backward read", "skipRead": "skip read",
		"clean": "", "random read": "", "": "",
	} {
		if got, ok := DFSIOLabel(test); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v", test, got, ok)
		}
	}
}

func TestRenderTestDFSIORefuses(t *testing.T) {
	if err := RenderTestDFSIO(new(bytes.Buffer), DFSIOText{Test: "clean"}); err == nil {
		t.Error("a report of clean was rendered")
	}
	if err := RenderTestDFSIO(brokenWriter{}, DFSIOText{Test: "write"}); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want the writer's error", err)
	}
}

var errBroken = errors.New("broken")

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestWholeMillis(t *testing.T) {
	for name, tc := range map[string]struct{ from, to, want int64 }{
		"within one millisecond":  {1000, 1999, 0},
		"across a border":         {1999, 2000, 1},
		"whole":                   {5000, 122000, 117},
		"never negative":          {2000, 1000, 0},
		"almost two, counted one": {1001, 2999, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := wholeMillis(tc.from, tc.to); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

func TestDFSIOTextOf(t *testing.T) {
	date := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	idle := simpleReport(2, 0, 0, 0, 0)
	idle.Envelope.Outcome, idle.Envelope.ExitCode = Failed, ExitNeverBegan
	idle.Envelope.Failure = &Failure{Reason: "NeverBegan", Message: "no start order"}
	idle.Body = Body{}
	ahead := simpleReport(0, 5_000, 122_000, 3145728, 4)
	ahead.Body.Clock = &Clock{OffsetMicros: -4_000}
	in := MergeInput{Expected: 3, Reports: []*Report{idle, simpleReport(1, 0, 88_000, 3145729, 4), ahead}}
	files := []DFSIOFile{{3145728, 117}, {3145729, 88}}

	for name, tc := range map[string]struct{ start, wantExec int64 }{
		"from the first start":    {0, 118},
		"from the start order":    {t0 - 7_000, 125},
		"an order after the ends": {t0 + second, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := DFSIOTextOf("write", date, in, tc.start)
			if err != nil {
				t.Fatal(err)
			}
			want := DFSIOText{Test: "write", Date: date, Files: files, ExecMillis: tc.wantExec}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}

	none, err := DFSIOTextOf("write", date, MergeInput{Expected: 3, Reports: []*Report{idle}}, t0)
	if err != nil || len(none.Files) != 0 || none.ExecMillis != 0 {
		t.Errorf("nothing started: %+v, %v", none, err)
	}
	if _, err := DFSIOTextOf("write", date, MergeInput{}, t0); err == nil {
		t.Error("figures without a report")
	}
}
