package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of what ParseNNThroughput reads.
const (
	maxNNThroughputBytes = 64 << 20
	maxNNThroughputLine  = 4 << 20 // 32766 DataNodes' blocks take a tenth of it
)

// ErrNoNNThroughput says that a text holds no report of NNThroughputBenchmark.
var ErrNoNNThroughput = errors.New("no report of NNThroughputBenchmark")

// ParseNNThroughput reads the reports that NNThroughputBenchmark of Hadoop 3.3 to 3.5 printed, in their order: with or
// without log4j's prefix, and among other lines. A report that lacks a figure, or whose figures contradict each other, is
// an error, as is a text without any report (ErrNoNNThroughput).
func ParseNNThroughput(r io.Reader) ([]NNThroughput, error) {
	lines := bufio.NewScanner(io.LimitReader(r, maxNNThroughputBytes))
	lines.Buffer(nil, maxNNThroughputLine)
	var reports []NNThroughput
	var open *nnParser
	for lines.Scan() {
		line := withoutPrefix(lines.Text())
		if operation, ok := between(line, "--- ", " inputs ---"); ok && isNNThroughput(operation) {
			if open != nil {
				return nil, open.incomplete()
			}
			open = newNNParser(operation)
			continue
		}
		if open == nil {
			continue
		}
		done, err := open.line(line)
		if err != nil {
			return nil, fmt.Errorf("reading the report of %s: line %q: %w", open.report.Operation, Shorten(line, 200), err)
		}
		if done {
			if err := open.check(); err != nil {
				return nil, fmt.Errorf("reading the report of %s: %w", open.report.Operation, err)
			}
			reports, open = append(reports, open.report), nil
		}
	}
	switch {
	case lines.Err() != nil:
		return nil, fmt.Errorf("reading NNThroughputBenchmark's output: %w", lines.Err())
	case open != nil:
		return nil, open.incomplete()
	case len(reports) == 0:
		return nil, ErrNoNNThroughput
	}
	return reports, nil
}

// logPrefix is what log4j puts before a message: a time, the level, maybe the thread, the logger.
var logPrefix = regexp.MustCompile(`^\d{2,4}[-/]\d{2}[-/]\d{2}[ T]\d{2}:\d{2}:\d{2}\S* [^:]*NNThroughputBenchmark: ?`)

// withoutPrefix takes log4j's prefix off. The space of an empty message goes with it, that of " Ops per sec" does not: the
// pattern takes one space at most.
func withoutPrefix(line string) string {
	return strings.TrimRight(line[len(logPrefix.FindString(line)):], " \r")
}

func between(line, before, after string) (string, bool) {
	rest, ok := strings.CutPrefix(line, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, after)
}

// nnField is one line of a report.
type nnField struct {
	prefix   string
	optional bool
	read     func(text string) error
}

// nnParser reads the lines of one report in their order.
type nnParser struct {
	report  NNThroughput
	fields  []nnField // those that are to come
	opsText float64   // as printed
	repText float64
}

func newNNParser(operation string) *nnParser {
	p := &nnParser{report: NNThroughput{Operation: operation}}
	p.fields = append(p.inputs(), nnField{prefix: "--- " + operation + " stats  ---", read: nothing})
	p.fields = append(p.fields,
		nnField{"# operations: ", false, wholeNumber(&p.report.Operations)},
		nnField{"Elapsed Time: ", false, wholeNumber(&p.report.ElapsedMillis)},
		nnField{" Ops per sec: ", false, decimalNumber(&p.opsText)},
		nnField{"Average Time: ", false, wholeNumber(&p.report.AverageMillis)},
	)
	if operation == opReplication {
		p.fields = append(p.fields,
			nnField{"decommissioned blocks = ", false, wholeNumber(&p.report.DecommissionedBlocks)},
			nnField{"pending replications = ", false, wholeNumber(&p.report.PendingReplications)},
			nnField{"replications per sec: ", false, decimalNumber(&p.repText)},
		)
	}
	return p
}

// inputs are the lines between the headings.
func (p *nnParser) inputs() []nnField {
	in := &p.report.Inputs
	baseDir := nnField{"baseDir = ", true, word(&in.BaseDir)}
	switch p.report.Operation {
	case opClean:
		return []nnField{{"Remove directory ", false, word(&in.BaseDir)}}
	case opBlockReport:
		return []nnField{
			baseDir,
			{"reports = ", false, wholeNumber(&in.Reports)},
			{"datanodes = ", false, p.dataNodes},
			{"blocksPerReport = ", false, wholeNumber(&in.BlocksPerReport)},
			{"blocksPerFile = ", false, wholeNumber(&in.BlocksPerFile)},
		}
	case opReplication:
		return []nnField{
			baseDir,
			{"numOpsRequired = ", false, wholeNumber(&in.RequiredOperations)},
			{"datanodes = ", false, p.dataNodes},
			{"decommissioned datanodes = ", false, wholeNumber(&in.Decommissioned)},
			{"datanode replication limit = ", false, wholeNumber(&in.NodeReplicationLimit)},
			{"total blocks = ", false, wholeNumber(&in.TotalBlocks)},
		}
	case opMkdirs:
		return []nnField{
			baseDir,
			{"nrDirs = ", false, wholeNumber(&in.Files)},
			{"nrThreads = ", false, wholeNumber(&in.Threads)},
			{"nrDirsPerDir = ", false, wholeNumber(&in.FilesPerDir)},
		}
	}
	return []nnField{
		baseDir,
		{"nrFiles = ", false, wholeNumber(&in.Files)},
		{"nrThreads = ", false, wholeNumber(&in.Threads)},
		{"nrFilesPerDir = ", false, wholeNumber(&in.FilesPerDir)},
	}
}

// line takes a line that may be the next field; done is true once all are there. Other lines, as of other loggers, are
// passed over.
func (p *nnParser) line(line string) (done bool, err error) {
	for skip := range p.fields {
		f := p.fields[skip]
		if text, ok := strings.CutPrefix(line, f.prefix); ok {
			if err := f.read(text); err != nil {
				return false, err
			}
			p.fields = p.fields[skip+1:]
			return len(p.fields) == 0, nil
		}
		if !f.optional {
			return false, nil
		}
	}
	return false, nil
}

func (p *nnParser) incomplete() error {
	missing := p.fields[0]
	for _, f := range p.fields {
		if !f.optional {
			missing = f
			break
		}
	}
	return fmt.Errorf("reading the report of %s: it ends before %q", p.report.Operation, strings.TrimSpace(missing.prefix))
}

// check compares the rates with the counts they are made of.
func (p *nnParser) check() error {
	t := &p.report
	if !near(p.opsText, t.OpsPerSec()) {
		return fmt.Errorf("%d operations in %d ms are not %v per second", t.Operations, t.ElapsedMillis, p.opsText)
	}
	if want := upstreamOpsPerSec(t.PendingReplications, t.ElapsedMillis); t.Operation == opReplication && !near(p.repText, want) {
		return fmt.Errorf("%d replications in %d ms are not %v per second", t.PendingReplications, t.ElapsedMillis, p.repText)
	}
	return nil
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

func nothing(text string) error {
	if text != "" {
		return errors.New("more text than a heading has")
	}
	return nil
}

func word(into *string) func(string) error {
	return func(text string) error {
		if text == "" {
			return errors.New("nothing there")
		}
		*into = text
		return nil
	}
}

func wholeNumber(into *int64) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < 0 {
			return errors.New("not a number from 0")
		}
		*into = n
		return nil
	}
}

func decimalNumber(into *float64) func(string) error {
	return func(text string) error {
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || v < 0 {
			return errors.New("not a decimal number from 0")
		}
		*into = v
		return nil
	}
}

// dataNodes reads "3 (100, 95, 100)".
func (p *nnParser) dataNodes(text string) error {
	in := &p.report.Inputs
	count, list, _ := strings.Cut(text, " (")
	if err := wholeNumber(&in.DataNodes)(count); err != nil {
		return err
	}
	list, ok := strings.CutSuffix(list, ")")
	if !ok {
		return errors.New("no list of blocks in parentheses")
	}
	if list == unknownBlocks {
		return nil
	}
	for blocks := range strings.SplitSeq(list, ", ") {
		var n int64
		if err := wholeNumber(&n)(blocks); err != nil {
			return fmt.Errorf("blocks %q: %w", blocks, err)
		}
		in.BlocksOfDataNodes = append(in.BlocksOfDataNodes, n)
	}
	if int64(len(in.BlocksOfDataNodes)) != in.DataNodes {
		return fmt.Errorf("blocks of %d DataNodes for %d", len(in.BlocksOfDataNodes), in.DataNodes)
	}
	return nil
}
