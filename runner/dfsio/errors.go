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
	"github.com/hadoop-bench/operator/runner/steps"
)

const remedyNoDataNodes = "start DataNodes, and see hdfs dfsadmin -report for those that are full, stale or leaving"

const remedyIOError = "look into the logs of the NameNode and the DataNodes at that time"

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
	if own := new(steps.Error); errors.As(err, &own) {
		return own
	}
	e := &steps.Error{Exit: report.ExitTarget, Cause: err}
	e.Failure.Message = what + ": " + Text(err)
	class := Class(err)
	switch {
	case class == "AccessControlException":
		e.Failure.Reason = steps.ReasonPermissionDenied
		e.Failure.Message = fmt.Sprintf("%s as user %q: permission denied: %s", what, s.target.user, Text(err))
		e.Failure.Remedy = fmt.Sprintf("let user %q write there, or set spec.target.user or spec.baseDir", s.target.user)
	case class == "SafeModeException" || inSafeMode(err):
		e.Failure.Reason = steps.ReasonSafeMode
		e.Failure.Remedy = "wait until the NameNode has left safe mode, or let it leave: hdfs dfsadmin -safemode leave"
	case class == "StandbyException":
		e.Failure.Reason = steps.ReasonNoActiveNameNode
		e.Failure.Message = fmt.Sprintf("%s: none of %s is active", what, strings.Join(s.target.fs.Addresses, ", "))
		e.Failure.Remedy = "make a NameNode active (hdfs haadmin), or give the addresses of all NameNodes of the name service"
	case strings.HasSuffix(class, "QuotaExceededException"):
		e.Failure.Reason = steps.ReasonQuotaExceeded
		e.Failure.Remedy = "raise the quota (hdfs dfsadmin -setSpaceQuota), or set another spec.baseDir"
	case strings.Contains(e.Failure.Message, "could only be written to "):
		e.Failure.Reason = steps.ReasonNoDataNodes
		e.Failure.Remedy = remedyNoDataNodes
	case class == "NoNameNode" || class == "ConnectionRefused":
		e.Failure.Reason = steps.ReasonNameNodeUnreachable
		e.Failure.Remedy = "check spec.target, and that the NameNode runs and can be reached from this namespace"
	default:
		e.Exit, e.Failure.Reason, e.Failure.Remedy = report.ExitBenchmark, steps.ReasonIOError, remedyIOError
	}
	return e
}

// inSafeMode looks into the message too: a NameNode with high availability wraps the exception.
func inSafeMode(err error) bool {
	exception := remote(err)
	return exception != nil && strings.Contains(exception.Message(), "SafeModeException")
}
