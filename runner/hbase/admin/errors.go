package admin

import (
	"context"
	"errors"
	"fmt"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// ErrTableExists is wrapped by the error of creating a table whose name is taken. A table that does not exist is
// hbase.ErrTableNotFound.
var ErrTableExists = errors.New("the table exists")

// An Error says what could not be done.
type Error struct {
	Op     string // such as "create table"
	Object string // what it was to be done with: a table, a region, a server; may be empty
	Remedy string // what helps, in the words of an administrator; may be empty
	Err    error
}

// Error names operation, object and cause. The remedy is for whoever shows the error.
func (e *Error) Error() string {
	if e.Object == "" {
		return fmt.Sprintf("%s: %v", e.Op, e.Err)
	}
	return fmt.Sprintf("%s %s: %v", e.Op, e.Object, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail wraps what went wrong; nil stays nil.
func fail(op, object string, err error) error {
	if err == nil {
		return nil
	}
	if inner := new(Error); errors.As(err, &inner) && inner.Op == op && inner.Object == object {
		return err
	}
	return &Error{Op: op, Object: object, Remedy: remedy(err), Err: err}
}

// remedies are by the simple class of the exception that the server answered with.
func remedies() map[string]string {
	return map[string]string{
		"TableExistsException":            "choose another table name, or drop the table first",
		"TableNotFoundException":          "create the table, or correct its name",
		"NamespaceNotFoundException":      "create the namespace, such as with create_namespace in the HBase shell, or correct its name",
		"AccessDeniedException":           "grant the user the right to create and administer the table",
		"NoSuchColumnFamilyException":     "add the column family to the table, or correct its name",
		"PleaseHoldException":             "wait until the master has started",
		"ServerNotRunningYetException":    "wait until the server has started",
		"ConstraintException":             "change what the message names",
		"DoNotRetryIOException":           "change what the message names",
		"InvalidFamilyOperationException": "correct the column families",
		"UnknownRegionException":          "look the region up anew: it was split, merged or moved",
		"NotServingRegionException":       "wait until the table's regions are assigned",
		"TableNotEnabledException":        "enable the table",
		"QuotaExceededException":          "raise the namespace's quota",
		"IllegalArgumentIOException":      "change what the message names",
	}
}

// remedy is what helps against an error, empty where nobody can tell.
func remedy(err error) string {
	if remote := new(rpc.RemoteError); errors.As(err, &remote) {
		return remedies()[remote.Simple()]
	}
	switch {
	case errors.Is(err, ErrTableExists):
		return "choose another table name, or drop the table first"
	case errors.Is(err, hbase.ErrTableNotFound):
		return "create the table, or correct its name"
	case errors.Is(err, context.DeadlineExceeded):
		return "look at the procedures in the master's web pages, and give more time if they go on"
	}
	return ""
}
