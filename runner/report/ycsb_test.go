package report_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/report"
)

var (
	ycsbReports = []string{"ycsb-load-a.txt", "ycsb-run-a.txt", "ycsb-run-d.txt", "ycsb-run-e.txt", "ycsb-run-f.txt"}
	equalValues = cmp.Comparer(func(a, b report.YCSBValue) bool { return a == b })
)

func ycsbFixture(t testing.TB, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Reports that YCSB 0.17.0 printed come out to the byte, alone and one after the other among other lines.
func TestYCSBReportsToTheByte(t *testing.T) {
	var all, want strings.Builder
	all.WriteString("[WARN], not a report, yet\nWarning: the threadcount is bigger than recordcount, the threadcount will be recordcount!\n")
	for _, name := range ycsbReports {
		all.WriteString(ycsbFixture(t, name) + "another line\n")
		want.WriteString(ycsbFixture(t, name))
	}
	reports, err := report.ParseYCSB(strings.NewReader(all.String()))
	if err != nil || len(reports) != len(ycsbReports) {
		t.Fatalf("%d reports, %v", len(reports), err)
	}
	var got strings.Builder
	for _, r := range reports {
		if err := report.RenderYCSB(&got, r); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want.String(), got.String()); diff != "" {
		t.Errorf("parsed and rendered (-want +got):\n%s", diff)
	}
}

// The same report comes out of its figures.
func TestYCSBReportFromFigures(t *testing.T) {
	var text report.YCSBText
	text.AddOverall(24654, 20000, report.YCSBCollector{Name: "G1 Young Generation", Count: 16, Millis: 201}, report.YCSBCollector{Name: "G1 Old Generation"})
	latency := func(name string, n int64, average float64, low, high, p95, p99 int64, returns ...report.YCSBReturn) {
		text.AddLatency(report.YCSBLatency{
			Name: name, Operations: n, Average: average, Min: low, Max: high,
			Percentiles: []report.YCSBPercentile{{Percent: 95, Micros: p95}, {Percent: 99, Micros: p99}}, Returns: returns,
		})
	}
	latency("CLEANUP", 4, 4188, 27, 15839, 15839, 15839)
	latency("INSERT", 20000, 4271.1446, 355, 2795519, 10255, 18959, report.YCSBReturn{Status: "OK", Count: 20000})
	var got strings.Builder
	if err := report.RenderYCSB(&got, text); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(ycsbFixture(t, "ycsb-load-a.txt"), got.String()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestYCSBReportOfNothing(t *testing.T) {
	var text report.YCSBText
	text.AddOverall(0, 0)
	text.AddOverall(0, 3)
	var got strings.Builder
	if err := report.RenderYCSB(&got, text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Throughput(ops/sec), NaN\n", "Throughput(ops/sec), Infinity\n", "[TOTAL_GC_TIME_%], Time(%), NaN\n"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("no %q in\n%s", want, got.String())
		}
	}
}

func TestYCSBOrdinals(t *testing.T) {
	for percent, want := range map[float64]string{
		1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 50: "50th", 95: "95th",
		99: "99th", 100: "100th", 99.9: "99.9", 99.99: "99.99", 0.0001: "1.0E-4",
	} {
		if got := report.YCSBOrdinal(percent); got != want {
			t.Errorf("%v: %s, want %s", percent, got, want)
		}
	}
}

func TestYCSBJSON(t *testing.T) {
	text := report.YCSBText{
		{Metric: "OVERALL", Measurement: "RunTime(ms)", Value: report.YCSBWhole(4094)},
		{Metric: "a\"b\\", Measurement: "Throughput\t(ops/sec)", Value: report.YCSBDouble(1e7)},
		{Metric: "x", Measurement: "y", Value: report.YCSBDouble(math.NaN())},
	}
	objects := []string{
		"{\n  \"metric\" : \"OVERALL\",\n  \"measurement\" : \"RunTime(ms)\",\n  \"value\" : 4094\n}",
		"{\n  \"metric\" : \"a\\\"b\\\\\",\n  \"measurement\" : \"Throughput\\t(ops/sec)\",\n  \"value\" : 1.0E7\n}",
		"{\n  \"metric\" : \"x\",\n  \"measurement\" : \"y\",\n  \"value\" : \"NaN\"\n}",
	}
	for name, tc := range map[string]struct {
		render func(io.Writer, report.YCSBText) error
		text   report.YCSBText
		want   string
	}{
		"objects":        {report.RenderYCSBJSON, text, strings.Join(objects, " ")},
		"array":          {report.RenderYCSBJSONArray, text, "[ " + strings.Join(objects, ", ") + " ]"},
		"an empty array": {report.RenderYCSBJSONArray, nil, "[ ]"},
	} {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := tc.render(&got, tc.text); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.String()); diff != "" {
				t.Errorf("JSON (-want +got):\n%s", diff)
			}
			for decoder := json.NewDecoder(&got); ; {
				var any any
				if err := decoder.Decode(&any); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("no JSON: %v", err)
				}
			}
		})
	}
}

func TestParseYCSBErrors(t *testing.T) {
	const begin = "[OVERALL], RunTime(ms), 1\n"
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":                {"", "no report of YCSB"},
		"no run time":            {"[READ], Operations, 1\n", "no report of YCSB"},
		"cut off":                {begin, "it ends before its throughput"},
		"cut within a line":      {begin + "[OVERALL], Throughput(ops/sec), \n", `line "[OVERALL], Throughput(ops/sec), ": not a number`},
		"a number of elsewhere":  {begin + "[OVERALL], Throughput(ops/sec), 1,5\n", `not a number as Java prints it`},
		"more than 64 bits hold": {begin + "[READ], Operations, 9223372036854775808\n", "a number beyond 64 bits"},
		"more than a double has": {begin + "[READ], AverageLatency(us), 1.0E999\n", "a number beyond a double's range"},
		"a long line":            {begin + strings.Repeat("x", 1<<17), "token too long"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := report.ParseYCSB(strings.NewReader(tc.text)); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}

func TestYCSBFind(t *testing.T) {
	reports, err := report.ParseYCSB(strings.NewReader(ycsbFixture(t, "ycsb-run-a.txt")))
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := reports[0].Find("READ", "99thPercentileLatency(us)"); !ok || v != report.YCSBWhole(22415) || v.Float() != 22415 {
		t.Errorf("99th percentile %v, %v", v, ok)
	}
	if v, ok := reports[0].Find("OVERALL", "Throughput(ops/sec)"); !ok || v.Float() != 739.9459839431721 {
		t.Errorf("throughput %v, %v", v, ok)
	}
	if _, ok := reports[0].Find("SCAN", "Operations"); ok {
		t.Error("a scan found")
	}
}

// What is parsed and rendered is parsed to the same again.
func FuzzParseYCSB(f *testing.F) {
	for _, name := range ycsbReports {
		f.Add([]byte(ycsbFixture(f, name)))
	}
	f.Add([]byte("[OVERALL], RunTime(ms), 1\n[OVERALL], Throughput(ops/sec), -Infinity\n[], , 1.0E-5\r\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		reports, err := report.ParseYCSB(bytes.NewReader(text))
		if err != nil {
			return
		}
		var rendered bytes.Buffer
		for _, r := range reports {
			if err := report.RenderYCSB(&rendered, r); err != nil {
				t.Fatal(err)
			}
		}
		first := rendered.String()
		again, err := report.ParseYCSB(&rendered)
		if err != nil || len(again) != len(reports) {
			t.Fatalf("%d of %d reports again, %v", len(again), len(reports), err)
		}
		var second strings.Builder
		for _, r := range again {
			if err := report.RenderYCSB(&second, r); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(first, second.String(), equalValues); diff != "" {
			t.Errorf("rendered again (-want +got):\n%s", diff)
		}
	})
}

// The lines are those of YCSB 0.17.0, whose older HdrHistogram and lack of a median show; the fourth is of YCSB's present code.
func TestYCSBStatusToTheByte(t *testing.T) {
	at := func(clock string) time.Time {
		when, err := time.Parse("2006-01-02 15:04:05.000", "2026-11-30 "+clock)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	percentiles := func(values ...int64) (all []report.YCSBPercentile) {
		for k, percent := range []float64{50, 90, 99, 99.9, 99.99}[5-len(values):] {
			all = append(all, report.YCSBPercentile{Percent: percent, Micros: values[k]})
		}
		return all
	}
	insert := func(n, high, low int64, average float64, values ...int64) []string {
		l := report.YCSBLatency{Name: "INSERT", Operations: n, Max: high, Min: low, Average: average, Percentiles: percentiles(values...)}
		return []string{l.Summary()}
	}
	lines := strings.Split(ycsbFixture(t, "ycsb-status-lines.txt"), "\n")
	read := report.YCSBLatency{Name: "READ", Operations: 39, Max: 3, Average: 2, Percentiles: percentiles(2, 3, 3, 3, 3)}
	for want, status := range map[string]report.YCSBStatus{
		lines[0]: {Time: at("12:49:19.968"), Todo: 20000},
		lines[1]: {
			Time: at("12:49:29.947"), Elapsed: 10001 * time.Millisecond, Interval: 10001 * time.Millisecond, Operations: 1969, Todo: 18031,
			Summaries: insert(1969, 2795519, 1378, 14072.64, 15415, 35423, 2791423, 2795519),
		},
		lines[2]: {
			Time: at("12:49:39.947"), Elapsed: 20 * time.Second, Interval: 9999 * time.Millisecond, Operations: 12831, Previous: 1969, Todo: 7169,
			Summaries: insert(10864, 206847, 584, 3664.91, 7435, 14295, 95231, 202111),
		},
		"run12026-11-30 12:47:46:279 1 sec: 94 operations; 76 current ops/sec; est completion in 4 second [READ: Count=39, Max=3, Min=0, Avg=2, 50=2, 90=3, 99=3, 99.9=3, 99.99=3]  ": {
			Label: "run1", Time: at("12:47:46.279"), Elapsed: 1009 * time.Millisecond, Interval: time.Second, Operations: 94, Previous: 18, Todo: 306,
			Summaries: []string{read.Summary(), ""},
		},
	} {
		if diff := cmp.Diff(want, status.String()); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
	}
}

func TestYCSBStatusTimes(t *testing.T) {
	const day = 24 * time.Hour
	at := time.Date(2026, 12, 1, 1, 2, 3, 4e6, time.UTC)
	for want, s := range map[string]report.YCSBStatus{
		"0 sec: 0 operations; ":                                                              {},
		"0 sec: 5 operations; ∞ current ops/sec; ":                                           {Operations: 5},
		"1 sec: 1 operations; 1 current ops/sec; ":                                           {Operations: 1, Elapsed: time.Second, Interval: time.Second},
		"9 sec: 0 operations; est completion in 106751991167300 days 15 hours ":              {Elapsed: 9 * time.Second, Todo: 1},
		"1 sec: 1 operations; 1 current ops/sec; est completion in 1 second ":                {Operations: 1, Elapsed: time.Second, Interval: time.Second, Todo: 1},
		"1 sec: 1 operations; 1 current ops/sec; est completion in 59 seconds ":              {Operations: 1, Elapsed: time.Second, Interval: time.Second, Todo: 59},
		"1 sec: 1 operations; 1 current ops/sec; est completion in 1 hour 2 minutes ":        {Operations: 1, Elapsed: time.Second, Interval: time.Second, Todo: 3725},
		"86400 sec: 86400 operations; 0.5 current ops/sec; est completion in 1 day 3 hours ": {Operations: 86400, Previous: 86395, Elapsed: day, Interval: 10 * time.Second, Todo: 86400 + 3*3600 + 59*60},
		"1 sec: 1 operations; 1 current ops/sec; est completion in 1 minute [READ AverageLatency(us)=2.5] ": {
			Operations: 1, Elapsed: time.Second, Interval: time.Second, Todo: 61, Summaries: []string{report.YCSBAverageSummary("READ", 2, 5)},
		},
	} {
		s.Time = at
		if got := s.String(); got != "2026-12-01 01:02:03:004 "+want {
			t.Errorf("status %q, want %q", got, want)
		}
	}
	if got := report.YCSBAverageSummary("READ", 0, 0); got != "" {
		t.Errorf("summary %q of nothing", got)
	}
}
