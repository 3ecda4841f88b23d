package report

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// DFSIOFile is what TestDFSIO's map task says about its file.
type DFSIOFile struct {
	Bytes  int64 // moved; for truncate those cut off
	Millis int64 // execution time: difference of two readings of a clock in whole milliseconds
}

// DFSIOText holds the figures of one block of TestDFSIO_results.log.
type DFSIOText struct {
	Test  string    // as in a plan, see DFSIOLabel
	Date  time.Time // its location is the zone that is printed
	Files []DFSIOFile
	// ExecMillis is "Test exec time". Upstream counts from before it submits the MapReduce job; here it is the time from
	// the start order to the last end, so that scheduling pods does not count.
	ExecMillis int64
}

// upstream are the sums TestDFSIO's reducer makes. Java's float is float32; sums are made in the order of the files,
// where upstream's order is that in which the map outputs arrive.
type upstream struct {
	tasks, size, millis int64
	rate, squares       float32
}

// add counts one file: the rate in MB/s, and its square, times 1000.
func (u *upstream) add(f DFSIOFile) {
	rate := float32(f.Bytes) * 1000 / float32(f.Millis*mebi)
	u.tasks++
	u.size += f.Bytes
	u.millis += f.Millis
	// The conversions keep a processor from fusing the product into the sum, which Java never does.
	u.rate += float32(rate * 1000)
	u.squares += float32(float32(rate*rate) * 1000)
}

func sumOf(files []DFSIOFile) upstream {
	var u upstream
	for _, f := range files {
		u.add(f)
	}
	return u
}

func upstreamOf(shards []shard) upstream {
	var u upstream
	for _, s := range shards {
		u.add(fileOf(s.Report))
	}
	return u
}

func megabytes(bytes int64) float32 { return float32(bytes) / float32(mebi) }

func seconds(millis int64) float32 { return float32(millis) / 1000 }

// throughput is "Throughput mb/sec".
func (u upstream) throughput() float64 { return float64(megabytes(u.size) / seconds(u.millis)) }

// average is "Average IO rate mb/sec".
func (u upstream) average() float64 { return float64(u.rate / 1000 / float32(u.tasks)) }

// stdDev is "IO rate std deviation": the root of the mean square less the squared mean.
func (u upstream) stdDev() float64 {
	mean := u.average()
	square := float64(mean * mean)
	return math.Sqrt(math.Abs(float64(u.squares/1000/float32(u.tasks)) - square))
}

// DFSIOLabel is the name TestDFSIO prints for a test as a plan names it; ok is false for a test without a report.
func DFSIOLabel(test string) (label string, ok bool) {
	switch test {
	case "write", "read", "append", "truncate":
		return test, true
	case "randomRead":
		return "random read", true
	case "backwardRead":
		return "backward read", true
	case "skipRead":
		return "skip read", true
	}
	return "", false
}

// DFSIOTextOf makes the block's figures from the merged result and the reports of one attempt, in any order. Shards that
// never started are not counted, as a map task that failed is not. startMicros is the time of the start order by the
// target's clock, or 0 to count from the first start.
func DFSIOTextOf(test string, date time.Time, in MergeInput, startMicros int64) (DFSIOText, error) {
	shards, err := inOrder(in)
	if err != nil {
		return DFSIOText{}, fmt.Errorf("making TestDFSIO's figures: %w", err)
	}
	t := DFSIOText{Test: test, Date: date}
	first, last := int64(math.MaxInt64), int64(0)
	for _, s := range shards {
		if !s.started() {
			continue
		}
		t.Files = append(t.Files, fileOf(s.Report))
		first, last = min(first, s.start), max(last, s.end)
	}
	if startMicros > 0 {
		first = startMicros
	}
	if len(t.Files) > 0 {
		t.ExecMillis = wholeMillis(first, last)
	}
	return t, nil
}

func fileOf(r *Report) DFSIOFile {
	return DFSIOFile{Bytes: r.Body.Bytes, Millis: wholeMillis(r.Body.Start, r.Body.End)}
}

// wholeMillis is the difference of what a clock of whole milliseconds shows at two times, which is how upstream measures.
// It can be 0 for a short time, and its rate infinite; on average it is neither longer nor shorter than the true one.
func wholeMillis(fromMicros, toMicros int64) int64 {
	return max(0, toMicros/1000-fromMicros/1000)
}

// RenderTestDFSIO writes a block of TestDFSIO_results.log exactly as TestDFSIO of Hadoop 3.5.0 does in an English locale:
// eight lines and an empty one.
func RenderTestDFSIO(w io.Writer, t DFSIOText) error {
	label, ok := DFSIOLabel(t.Test)
	if !ok {
		return fmt.Errorf("rendering TestDFSIO's report: it has none for test %q", t.Test)
	}
	u := sumOf(t.Files)
	lines := []string{
		"----- TestDFSIO ----- : " + label,
		"            Date & time: " + javaDate(t.Date),
		"        Number of files: " + strconv.FormatInt(u.tasks, 10),
		" Total MBytes processed: " + javaDecimal(float64(megabytes(u.size))),
		"      Throughput mb/sec: " + javaDecimal(u.throughput()),
		" Average IO rate mb/sec: " + javaDecimal(u.average()),
		"  IO rate std deviation: " + javaDecimal(u.stdDev()),
		"     Test exec time sec: " + javaDecimal(float64(seconds(t.ExecMillis))),
		"", "",
	}
	if _, err := io.WriteString(w, strings.Join(lines, "\n")); err != nil {
		return fmt.Errorf("writing TestDFSIO's report: %w", err)
	}
	return nil
}

// javaDate is Date.toString() in the time's own zone.
func javaDate(t time.Time) string { return t.Format("Mon Jan 02 15:04:05 MST 2006") }

// javaDecimal is new DecimalFormat("#.##").format(v) in an English locale: at most two decimals, the exact binary value
// rounded half to even, no trailing zeros, a sign even where only zeros are left, and always an integer part.
func javaDecimal(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "∞"
	case math.IsInf(v, -1):
		return "-∞"
	}
	decimals := 2
	if math.Abs(v) >= 1<<53 {
		decimals = -1 // Java pads the shortest digits with zeros where Go would go on with the binary value's
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}
