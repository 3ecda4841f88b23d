package main

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/report"
)

// readYCSB reads the final report on standard output and the statuses on standard error. There may be no operations: on a
// busy machine YCSB needs seconds to connect, which are part of its run.
func readYCSB(stdout, stderr string) (sample, error) {
	t, err := ycsbReport(stdout)
	if err != nil {
		return sample{}, err
	}
	millis, _ := t.Find(report.YCSBOverall, report.YCSBRunTime)
	rate, _ := t.Find(report.YCSBOverall, report.YCSBThroughput)
	s := sample{rate: rate.Float(), operations: int(math.Round(rate.Float() * millis.Float() / 1000))}
	s.steady, err = secondHalf(stderr)
	return s, err
}

// ycsbReport reads the one report of a run without failed operations.
func ycsbReport(stdout string) (report.YCSBText, error) {
	reports, err := report.ParseYCSB(strings.NewReader(stdout))
	if err != nil {
		return nil, err
	}
	if len(reports) != 1 {
		return nil, fmt.Errorf("%d reports of YCSB, want 1", len(reports))
	}
	for _, l := range reports[0] {
		if err := ycsbError(l.Metric, l.Measurement, l.Value.Float()); err != nil {
			return nil, err
		}
	}
	return reports[0], nil
}

// ycsbError is what a run must not have: an operation that failed is fast, or slow, for other reasons than a tool's.
func ycsbError(metric, measurement string, value float64) error {
	status, isReturn := strings.CutPrefix(measurement, "Return=")
	if value > 0 && (isReturn && status != "OK" && status != "BATCHED_OK" || strings.HasSuffix(metric, "-FAILED")) {
		return fmt.Errorf("[%s], %s is %v: all operations must succeed in a comparison", metric, measurement, value)
	}
	return nil
}

// A status is one of YCSB's status lines.
type status struct {
	at         time.Time
	operations int
}

var statusLine = regexp.MustCompile(`(?m)^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d):(\d{3}) \d+ sec: (\d+) operations;`)

func statuses(stderr string) ([]status, error) {
	var out []status
	for _, m := range statusLine.FindAllStringSubmatch(stderr, -1) {
		at, err := time.Parse("2006-01-02 15:04:05.000", m[1]+"."+m[2])
		if err != nil {
			return nil, fmt.Errorf("read a status: %w", err)
		}
		n, err := strconv.Atoi(m[3])
		if err != nil {
			return nil, fmt.Errorf("read a status: %w", err)
		}
		out = append(out, status{at, n})
	}
	return out, nil
}

// secondHalf is the rate from the status in the middle of a run to the last regular one: what comes at the very end has the
// closing of connections in its time. It is 0 for runs of fewer than four statuses.
func secondHalf(stderr string) (float64, error) {
	all, err := statuses(stderr)
	if err != nil || len(all) < 4 {
		return 0, err
	}
	first, last := all[0], all[len(all)-2]
	middle := first.at.Add(all[len(all)-1].at.Sub(first.at) / 2)
	for _, s := range all[1:] {
		if s.at.Before(middle.Add(-500 * time.Millisecond)) {
			continue
		}
		if !last.at.After(s.at) {
			break
		}
		return float64(last.operations-s.operations) / last.at.Sub(s.at).Seconds(), nil
	}
	return 0, nil
}
