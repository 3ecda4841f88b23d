package hbase

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// Errors that no repetition helps against.
var (
	ErrTableNotFound = errors.New("the table does not exist; create it first, and check the name and its namespace")
	ErrTableDisabled = errors.New("the table is disabled; enable it first")
)

// errUnassigned is wrapped by errors about regions that nobody serves just now.
var errUnassigned = errors.New("the region is not assigned")

// errRegistry is wrapped by errors about finding the server of hbase:meta.
var errRegistry = errors.New("hbase:meta cannot be located")

// A NoFamilyError says that a table has no such column family.
type NoFamilyError struct {
	Table, Family string
	Err           error // the server's
}

// Error names the family and what can be done.
func (e *NoFamilyError) Error() string {
	return fmt.Sprintf("table %s has no column family %q; name one that it has, or create the table with it", e.Table, e.Family)
}

// Unwrap returns the server's error.
func (e *NoFamilyError) Unwrap() error { return e.Err }

// ErrorClass is the server's.
func (e *NoFamilyError) ErrorClass() string { return "NoSuchColumnFamilyException" }

// A RowError says that a request cannot be sent because of what it asks for.
type RowError struct{ Reason string }

// Error is the reason.
func (e *RowError) Error() string { return e.Reason }

// ErrorClass is Java's for the same.
func (e *RowError) ErrorClass() string { return "IllegalArgumentException" }

// Failures is how often an operation met errors of one class.
type Failures struct {
	Class string
	Count int
}

// An OperationError says that an operation failed for good.
type OperationError struct {
	Operation string // get, put, delete, scan
	Table     string
	Row       []byte
	Server    string // the last one that was asked; empty if none was
	Attempts  int
	Took      time.Duration
	Met       []Failures // what made it try again, and the last failure
	Err       error      // the last failure
}

// maxShownRow is how many bytes of a row an error shows.
const maxShownRow = 64

// Error says what failed, how often it was tried and why it was tried again.
func (e *OperationError) Error() string {
	var b strings.Builder
	row := e.Row
	if len(row) > maxShownRow {
		row = row[:maxShownRow]
	}
	fmt.Fprintf(&b, "%s of row %q in table %s", e.Operation, row, e.Table)
	if e.Server != "" {
		fmt.Fprintf(&b, " at %s", e.Server)
	}
	if e.Attempts > 1 {
		fmt.Fprintf(&b, ", tried %d times in %v", e.Attempts, e.Took.Round(time.Millisecond))
		for i, m := range e.Met {
			b.WriteString([]string{" (", ", "}[min(i, 1)])
			fmt.Fprintf(&b, "%s %d", m.Class, m.Count)
		}
		b.WriteString(")")
	}
	fmt.Fprintf(&b, ": %v", e.Err)
	return b.String()
}

// Unwrap returns the last failure.
func (e *OperationError) Unwrap() error { return e.Err }

// ErrorClass is that of the last failure.
func (e *OperationError) ErrorClass() string { return classOf(e.Err) }

// classOf names an error for counting: the simple name of the server's exception, or a word for what happened here.
func classOf(err error) string {
	var classed interface{ ErrorClass() string }
	var remote *rpc.RemoteError
	var connect *rpc.ConnectError
	var lost *rpc.LostError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &classed):
		return classed.ErrorClass()
	case errors.Is(err, errRegistry):
		return "RegistryUnreachable"
	case errors.As(err, &remote):
		return remote.Class[strings.LastIndexAny(remote.Class, ".$")+1:]
	case errors.Is(err, ErrTableNotFound):
		return "TableNotFoundException"
	case errors.Is(err, ErrTableDisabled):
		return "TableNotEnabledException"
	case errors.Is(err, errUnassigned):
		return "NoServerForRegionException"
	case errors.As(err, &lost) && lost.Timeout, errors.Is(err, errNoTimeLeft), errors.Is(err, context.DeadlineExceeded):
		return "CallTimeout"
	case errors.As(err, &lost):
		return "ConnectionLost"
	case errors.As(err, &connect):
		return "ConnectFailed"
	case errors.As(err, new(*rpc.TooLargeError)):
		return "RequestTooBig"
	case errors.Is(err, context.Canceled):
		return "Cancelled"
	case errors.Is(err, errAnswer):
		return "UnusableAnswer"
	}
	return "Error"
}
