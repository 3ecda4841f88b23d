package ycsb

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Metric is what a latency is recorded under. Names as in YCSB's reports.
type Metric uint8

// The metrics, in the order of reports.
const (
	MetricRead Metric = iota
	MetricUpdate
	MetricInsert
	MetricScan
	MetricDelete
	MetricReadModifyWrite
	MetricVerify
	MetricScanPerRecord // SCAN-LATENCY-PER-RECORD
	MetricCleanup
	metrics
)

// String is the metric's name in reports.
func (m Metric) String() string {
	names := [metrics]string{
		"READ", "UPDATE", "INSERT", "SCAN", "DELETE", "READ-MODIFY-WRITE", "VERIFY", "SCAN-LATENCY-PER-RECORD", "CLEANUP",
	}
	if m >= metrics {
		return fmt.Sprintf("METRIC-%d", m)
	}
	return names[m]
}

// Returns tells whether YCSB's report has the metric's statuses.
func (m Metric) Returns() bool { return m.returns() }

// returns tells whether YCSB counts the metric's statuses: those that a database answers, and the verdict of a verification.
func (m Metric) returns() bool { return m <= MetricDelete || m == MetricVerify }

// hasIntended tells whether the metric has a latency that counts from when the operation was to begin.
func (m Metric) hasIntended() bool { return m != MetricVerify && m != MetricScanPerRecord }

// String is the status in YCSB's words.
func (s Status) String() string {
	names := [statuses]string{
		"OK", "BATCHED_OK", "ERROR", "NOT_FOUND", "NOT_IMPLEMENTED", "UNEXPECTED_STATE", "BAD_REQUEST", "FORBIDDEN",
		"SERVICE_UNAVAILABLE",
	}
	if s >= statuses {
		return fmt.Sprintf("STATUS_%d", s)
	}
	return names[s]
}

// Success tells whether the status counts as success.
func (s Status) Success() bool { return s <= BatchedOK }

// ErrorClass is the name under which a failed operation's error is counted: the error's own (see Classed), or what became of
// the call's time, or "Error". An operation that failed without an error is counted under its status.
func ErrorClass(status Status, err error) string {
	var classed Classed
	switch {
	case errors.As(err, &classed):
		return classed.ErrorClass()
	case errors.Is(err, context.DeadlineExceeded):
		return "DeadlineExceeded"
	case errors.Is(err, context.Canceled):
		return "Canceled"
	case err != nil:
		return "Error"
	}
	return status.String()
}

// A Recorder takes what one thread measured; see measurements.go for what it keeps. Record neither allocates nor locks.
// intended is when the operation was to begin; the zero time means that it was to begin when it did.
type Recorder interface {
	Record(m Metric, status Status, intended, began, ended time.Time, err error)
}
