package dfsio

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/colinmarc/hdfs/v2"

	"github.com/hadoop-bench/operator/runner/report"
)

// Reasons of failures, fit for a condition. Those a user can meet are documented with the kind.
const (
	ReasonPlanInvalid         = "PlanInvalid"
	ReasonConfigInvalid       = "ConfigInvalid"
	ReasonNotSupported        = "NotSupported"
	ReasonUnknownHost         = "UnknownHost"
	ReasonNameNodeUnreachable = "NameNodeUnreachable"
	ReasonNoActiveNameNode    = "NoActiveNameNode"
	ReasonNoDataNodes         = "NoDataNodes"
	ReasonSafeMode            = "SafeMode"
	ReasonPermissionDenied    = "PermissionDenied"
	ReasonQuotaExceeded       = "QuotaExceeded"
	ReasonBlockSizeInvalid    = "BlockSizeInvalid"
	ReasonReplicationInvalid  = "ReplicationInvalid"
	ReasonNotEnoughSpace      = "NotEnoughSpace"
	ReasonLeftoversFound      = "LeftoversFound"
	ReasonBaseDirNotOurs      = "BaseDirNotOurs"
	ReasonNotOurs             = "NotOurs"
	ReasonDataMissing         = "DataMissing"
	ReasonIOError             = "IOError"
	ReasonFileTooShort        = "FileTooShort"
	ReasonDataMismatch        = "DataMismatch"
)

const remedyNoDataNodes = "start DataNodes, and see hdfs dfsadmin -report for those that are full, stale or leaving"

const remedyIOError = "look into the logs of the NameNode and the DataNodes at that time"

// An Error is a step's failure as it goes into the report.
type Error struct {
	Exit    int // one of the runner's exit codes
	Failure report.Failure
	Cause   error // may be nil
}

func (e *Error) Error() string { return e.Failure.Reason + ": " + e.Failure.Message }

func (e *Error) Unwrap() error { return e.Cause }

func fail(exit int, reason, remedy, format string, args ...any) *Error {
	return &Error{Exit: exit, Failure: report.Failure{Reason: reason, Message: fmt.Sprintf(format, args...), Remedy: remedy}}
}

// remote returns the exception a NameNode answered with; nil if err holds none.
func remote(err error) hdfs.Error {
	var exception hdfs.Error
	if errors.As(err, &exception) {
		return exception
	}
	return nil
}

// classRule gives the class of an error that wraps another or holds a text.
type classRule struct {
	is    error
	text  string
	class string
}

func classRules() []classRule {
	return []classRule{
		{is: fs.ErrNotExist, class: "FileNotFoundException"},
		{is: fs.ErrExist, class: "FileAlreadyExistsException"},
		{is: fs.ErrPermission, class: "AccessControlException"},
		{is: ErrNotEmpty, class: "PathIsNotEmptyDirectoryException"},
		{is: os.ErrDeadlineExceeded, class: "Timeout"},
		{is: context.DeadlineExceeded, class: "Timeout"},
		{is: syscall.ECONNREFUSED, class: "ConnectionRefused"},
		{is: syscall.ECONNRESET, class: "ConnectionLost"},
		{is: syscall.EPIPE, class: "ConnectionLost"},
		{is: io.ErrUnexpectedEOF, class: "ConnectionLost"},
		{is: net.ErrClosed, class: "ConnectionLost"},
		{is: io.EOF, class: "ConnectionLost"},
		{is: hdfs.ErrReplicating, class: "NotReplicatedYetException"},
		// The library hands these over as texts only.
		{text: "i/o timeout", class: "Timeout"},
		{text: "connection refused", class: "ConnectionRefused"},
		{text: "StandbyException", class: "StandbyException"},
		{text: "no available namenodes", class: "NoNameNode"},
		{text: "Ack error from datanode", class: "PipelineError"},
		{text: "write failed: ", class: "PipelineError"},
		{text: "read failed: ", class: "DataNodeRefusal"},
		{text: "checksum", class: "ChecksumException"},
	}
}

// Class sorts an error: the simple class name of a NameNode's exception, or a word for what broke.
func Class(err error) string {
	if exception := remote(err); exception != nil && exception.Exception() != "" {
		name := exception.Exception()
		return name[strings.LastIndexByte(name, '.')+1:]
	}
	text := err.Error()
	for _, rule := range classRules() {
		if rule.is != nil && errors.Is(err, rule.is) || rule.text != "" && strings.Contains(text, rule.text) {
			return rule.class
		}
	}
	return "IOError"
}

// Text is an error's text for people: with the first line of a NameNode's own message, and without its stack.
func Text(err error) string {
	exception := remote(err)
	if exception == nil {
		return err.Error()
	}
	line, _, _ := strings.Cut(exception.Message(), "\n")
	if line = strings.TrimSpace(line); line == "" {
		return err.Error()
	}
	return fmt.Sprintf("%s: %s", exception.Method(), line)
}

// refused turns an error of the target into a failure: what was tried, by whom, and what can be done.
func (s *step) refused(what string, err error) error {
	if own := new(Error); errors.As(err, &own) {
		return own
	}
	e := &Error{Exit: report.ExitTarget, Cause: err}
	e.Failure.Message = what + ": " + Text(err)
	class := Class(err)
	switch {
	case class == "AccessControlException":
		e.Failure.Reason = ReasonPermissionDenied
		e.Failure.Message = fmt.Sprintf("%s as user %q: permission denied: %s", what, s.target.user, Text(err))
		e.Failure.Remedy = fmt.Sprintf("let user %q write there, or set spec.target.user or spec.baseDir", s.target.user)
	case class == "SafeModeException" || inSafeMode(err):
		e.Failure.Reason = ReasonSafeMode
		e.Failure.Remedy = "wait until the NameNode has left safe mode, or let it leave: hdfs dfsadmin -safemode leave"
	case class == "StandbyException":
		e.Failure.Reason = ReasonNoActiveNameNode
		e.Failure.Message = fmt.Sprintf("%s: none of %s is active", what, strings.Join(s.target.fs.Addresses, ", "))
		e.Failure.Remedy = "make a NameNode active (hdfs haadmin), or give the addresses of all NameNodes of the name service"
	case strings.HasSuffix(class, "QuotaExceededException"):
		e.Failure.Reason = ReasonQuotaExceeded
		e.Failure.Remedy = "raise the quota (hdfs dfsadmin -setSpaceQuota), or set another spec.baseDir"
	case strings.Contains(e.Failure.Message, "could only be written to "):
		e.Failure.Reason = ReasonNoDataNodes
		e.Failure.Remedy = remedyNoDataNodes
	case class == "NoNameNode" || class == "ConnectionRefused":
		e.Failure.Reason = ReasonNameNodeUnreachable
		e.Failure.Remedy = "check spec.target, and that the NameNode runs and can be reached from this namespace"
	default:
		e.Exit, e.Failure.Reason, e.Failure.Remedy = report.ExitBenchmark, ReasonIOError, remedyIOError
	}
	return e
}

// inSafeMode looks into the message too: a NameNode with high availability wraps the exception.
func inSafeMode(err error) bool {
	exception := remote(err)
	return exception != nil && strings.Contains(exception.Message(), "SafeModeException")
}
