package report

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Bounds of what ParseYCSB reads.
const (
	maxYCSBBytes = 64 << 20
	maxYCSBLine  = 64 << 10
)

// ErrNoYCSB says that a text holds no report of YCSB.
var ErrNoYCSB = errors.New("no report of YCSB")

// ParseYCSB reads the text reports that YCSB clients printed, in their order, among other lines. A report begins with its
// RunTime(ms); what has the form of a figure but no number is an error, as is a report without a throughput and a text
// without any report (ErrNoYCSB). Two doubles are told apart as well as two whole numbers, so RenderYCSB of a report gives
// its bytes again if the Java that printed it was of version 19 or later or needed no more digits than those print.
func ParseYCSB(r io.Reader) ([]YCSBText, error) {
	lines := bufio.NewScanner(io.LimitReader(r, maxYCSBBytes))
	lines.Buffer(nil, maxYCSBLine)
	var reports []YCSBText
	for lines.Scan() {
		text := strings.TrimSuffix(lines.Text(), "\r")
		metric, measurement, number, ok := ycsbFields(text)
		if !ok {
			continue
		}
		if metric == YCSBOverall && measurement == YCSBRunTime {
			reports = append(reports, nil)
		}
		if len(reports) == 0 {
			continue // what is printed before a report may look like one
		}
		value, err := parseYCSBValue(number)
		if err != nil {
			return nil, fmt.Errorf("reading YCSB's report: line %q: %w", Shorten(text, 200), err)
		}
		reports[len(reports)-1].Add(metric, measurement, value)
	}
	switch {
	case lines.Err() != nil:
		return nil, fmt.Errorf("reading YCSB's output: %w", lines.Err())
	case len(reports) == 0:
		return nil, ErrNoYCSB
	}
	for _, t := range reports {
		if _, ok := t.Find(YCSBOverall, YCSBThroughput); !ok {
			return nil, errors.New("reading YCSB's report: it ends before its throughput")
		}
	}
	return reports, nil
}

// ycsbFields takes a line apart; ok is false if it is none of a report.
func ycsbFields(line string) (metric, measurement, number string, ok bool) {
	rest, ok := strings.CutPrefix(line, "[")
	if !ok {
		return "", "", "", false
	}
	if metric, rest, ok = strings.Cut(rest, "], "); !ok {
		return "", "", "", false
	}
	k := strings.LastIndex(rest, ", ")
	if k < 0 {
		return "", "", "", false
	}
	return metric, rest[:k], rest[k+2:], true
}

var (
	ycsbWhole  = regexp.MustCompile(`^-?[0-9]+$`)
	ycsbDouble = regexp.MustCompile(`^(-?[0-9]+\.[0-9]+(E-?[0-9]+)?|NaN|-?Infinity)$`)
)

func parseYCSBValue(text string) (YCSBValue, error) {
	switch {
	case ycsbWhole.MatchString(text):
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return YCSBValue{}, errors.New("a number beyond 64 bits")
		}
		return YCSBWhole(n), nil
	case ycsbDouble.MatchString(text):
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return YCSBValue{}, errors.New("a number beyond a double's range")
		}
		return YCSBDouble(v), nil
	}
	return YCSBValue{}, errors.New("not a number as Java prints it")
}
