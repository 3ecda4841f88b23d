package report

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A YCSBValue is a number of YCSB's report: a whole one or, as Java prints it, a double. The zero value is the whole number 0.
type YCSBValue struct {
	double bool
	whole  int64
	real   float64
}

// YCSBWhole is a whole number, such as a count or a latency in microseconds.
func YCSBWhole(n int64) YCSBValue { return YCSBValue{whole: n} }

// YCSBDouble is a double, such as an average or a rate.
func YCSBDouble(v float64) YCSBValue { return YCSBValue{double: true, real: v} }

// Whole is the number and true if it is a whole one.
func (v YCSBValue) Whole() (int64, bool) { return v.whole, !v.double }

// Float is the number, be it whole or not.
func (v YCSBValue) Float() float64 {
	if v.double {
		return v.real
	}
	return float64(v.whole)
}

// String is the number as Java prints it.
func (v YCSBValue) String() string {
	if v.double {
		return javaDouble(v.real)
	}
	return strconv.FormatInt(v.whole, 10)
}

// json is the number as Jackson writes it: a double that JSON has no number for is a string.
func (v YCSBValue) json() string {
	if v.double && (math.IsNaN(v.real) || math.IsInf(v.real, 0)) {
		return `"` + v.String() + `"`
	}
	return v.String()
}

// A YCSBLine is one figure of a report: "[Metric], Measurement, Value".
type YCSBLine struct {
	Metric, Measurement string
	Value               YCSBValue
}

// YCSBText is the final report of a YCSB client, line by line. The metric OVERALL comes first. The order of the others is
// that of a hash table in YCSB, and nobody may rely on it.
type YCSBText []YCSBLine

// The names that begin every report.
const (
	YCSBOverall    = "OVERALL"
	YCSBRunTime    = "RunTime(ms)"
	YCSBThroughput = "Throughput(ops/sec)"
	YCSBOperations = "Operations"
)

// Find is the first value of a measurement, and whether there is one.
func (t YCSBText) Find(metric, measurement string) (YCSBValue, bool) {
	k := slices.IndexFunc(t, func(l YCSBLine) bool { return l.Metric == metric && l.Measurement == measurement })
	if k < 0 {
		return YCSBValue{}, false
	}
	return t[k].Value, true
}

// Add appends a line.
func (t *YCSBText) Add(metric, measurement string, value YCSBValue) {
	*t = append(*t, YCSBLine{metric, measurement, value})
}

// A YCSBCollector is a garbage collector's use during a run.
type YCSBCollector struct {
	Name          string
	Count, Millis int64
}

// AddOverall appends the lines that every report begins with. Operations that failed count into the throughput, and a run
// of no milliseconds has an infinite one: this is YCSB's formula.
func (t *YCSBText) AddOverall(runMillis, operations int64, collectors ...YCSBCollector) {
	t.Add(YCSBOverall, YCSBRunTime, YCSBWhole(runMillis))
	t.Add(YCSBOverall, YCSBThroughput, YCSBDouble(1000*float64(operations)/float64(runMillis)))
	var total YCSBCollector
	percent := func(millis int64) YCSBValue { return YCSBDouble(float64(millis) / float64(runMillis) * 100) }
	for _, c := range collectors {
		name := strings.ReplaceAll(c.Name, " ", "_")
		t.Add("TOTAL_GCS_"+name, "Count", YCSBWhole(c.Count))
		t.Add("TOTAL_GC_TIME_"+name, "Time(ms)", YCSBWhole(c.Millis))
		t.Add("TOTAL_GC_TIME_%_"+name, "Time(%)", percent(c.Millis))
		total.Count, total.Millis = total.Count+c.Count, total.Millis+c.Millis
	}
	t.Add("TOTAL_GCs", "Count", YCSBWhole(total.Count))
	t.Add("TOTAL_GC_TIME", "Time(ms)", YCSBWhole(total.Millis))
	t.Add("TOTAL_GC_TIME_%", "Time(%)", percent(total.Millis))
}

// A YCSBPercentile is the latency in microseconds below which a percentage of the operations took.
type YCSBPercentile struct {
	Percent float64
	Micros  int64
}

// A YCSBReturn is how often operations of a metric returned a status.
type YCSBReturn struct {
	Status string
	Count  int64
}

// A YCSBLatency is a metric's distribution, in microseconds, as an HDR histogram gives it.
type YCSBLatency struct {
	Name        string // of the metric
	Operations  int64
	Average     float64
	Min, Max    int64
	Percentiles []YCSBPercentile
	Returns     []YCSBReturn
}

// AddLatency appends a metric's lines.
func (t *YCSBText) AddLatency(l YCSBLatency) {
	t.Add(l.Name, YCSBOperations, YCSBWhole(l.Operations))
	t.Add(l.Name, "AverageLatency(us)", YCSBDouble(l.Average))
	t.Add(l.Name, "MinLatency(us)", YCSBWhole(l.Min))
	t.Add(l.Name, "MaxLatency(us)", YCSBWhole(l.Max))
	for _, p := range l.Percentiles {
		t.Add(l.Name, YCSBOrdinal(p.Percent)+"PercentileLatency(us)", YCSBWhole(p.Micros))
	}
	t.AddReturns(l.Name, l.Returns)
}

// AddReturns appends the counts of a metric's statuses.
func (t *YCSBText) AddReturns(metric string, returns []YCSBReturn) {
	for _, r := range returns {
		t.Add(metric, "Return="+r.Status, YCSBWhole(r.Count))
	}
}

// YCSBOrdinal is how YCSB names a percentile: 50th, 1st, 99.9.
func YCSBOrdinal(percent float64) string {
	if percent != math.Trunc(percent) {
		return javaDouble(percent)
	}
	n := int64(percent)
	suffix := "th"
	if tens := n % 100; tens < 11 || tens > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.FormatInt(n, 10) + suffix
}

// RenderYCSB writes a report as YCSB's TextMeasurementsExporter does.
func RenderYCSB(w io.Writer, t YCSBText) error {
	var text strings.Builder
	for _, l := range t {
		text.WriteString("[" + l.Metric + "], " + l.Measurement + ", " + l.Value.String() + "\n")
	}
	return writeYCSB(w, text.String())
}

// RenderYCSBJSON writes a report as YCSB's JSONMeasurementsExporter does: objects one after the other, which together are
// no JSON document.
func RenderYCSBJSON(w io.Writer, t YCSBText) error {
	return writeYCSB(w, strings.Join(jsonObjects(t), " "))
}

// RenderYCSBJSONArray writes a report as YCSB's JSONArrayMeasurementsExporter does.
func RenderYCSBJSONArray(w io.Writer, t YCSBText) error {
	if len(t) == 0 {
		return writeYCSB(w, "[ ]")
	}
	return writeYCSB(w, "[ "+strings.Join(jsonObjects(t), ", ")+" ]")
}

func writeYCSB(w io.Writer, text string) error {
	if _, err := io.WriteString(w, text); err != nil {
		return fmt.Errorf("writing YCSB's report: %w", err)
	}
	return nil
}

func jsonObjects(t YCSBText) []string {
	objects := make([]string, len(t))
	for k, l := range t {
		objects[k] = "{\n  \"metric\" : " + jsonString(l.Metric) + ",\n  \"measurement\" : " + jsonString(l.Measurement) +
			",\n  \"value\" : " + l.Value.json() + "\n}"
	}
	return objects
}

// jsonString quotes a text as Jackson does: beyond quotes, backslashes and control characters it escapes nothing.
func jsonString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ':
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
