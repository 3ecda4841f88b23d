package nnthroughput

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// classOf sorts an error: the simple class name of a NameNode's exception, or a word for what broke.
func classOf(err error) string {
	if answer := new(opError); errors.As(err, &answer) {
		return answer.class
	}
	if login := new(sasl.LoginError); errors.As(err, &login) {
		return classLogin
	}
	return namenode.Class(err)
}

// textOf is an error's text for people, in one line.
func textOf(err error) string { return namenode.Text(err) }

// unreachable tells that the name service did not answer within the client's own retries: going on is of no use.
func unreachable(err error) bool { return errors.Is(err, namenode.ErrUnreachable) }

// outlived tells that a NameNode took a call and did not answer it in the time that calls have: it may still be at it.
func outlived(err error) bool {
	gaveUp := new(namenode.UnreachableError)
	return errors.As(err, &gaveUp) && slices.ContainsFunc(gaveUp.Answers, func(a namenode.Answer) bool {
		lost := new(rpc.LostError)
		return errors.As(a.Err, &lost) && lost.Timeout
	})
}

// denied tells that the NameNode is there, but does not let us write.
func denied(err error) bool { return classOf(err) == classAccess || inSafeMode(err) }

// Classes of exceptions that decide something here.
const (
	classAccess        = "AccessControlException"
	classMissing       = "FileNotFoundException"
	classAuthorization = "AuthorizationException"
	classSafeMode      = "SafeModeException"
	classStandby       = "StandbyException"
	classNotReplicated = "NotReplicatedYetException"
	classUnregistered  = "UnregisteredNodeException"
	classDisallowed    = "DisallowedDatanodeException"
	classVersion       = "IncorrectVersionException"
	classLogin         = "LoginError" // Kerberos gave no ticket
)

// inSafeMode looks into the text too: a NameNode with high availability wraps the exception.
func inSafeMode(err error) bool {
	return classOf(err) == classSafeMode || strings.Contains(err.Error(), classSafeMode) || strings.Contains(err.Error(), "Name node is in safe mode")
}

const remedyUnreachable = "check spec.target, and that the NameNode runs and can be reached from this namespace"

// refusal is how one kind of error is told.
type refusal struct {
	is     func(class, text string) bool
	exit   int
	reason string
	remedy string
}

// contains returns a rule that looks for words of a server's message.
func contains(words ...string) func(class, text string) bool {
	return func(_, text string) bool {
		return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(text, word) })
	}
}

// classed returns a rule that looks at the exception's class.
func classed(classes ...string) func(class, text string) bool {
	return func(class, _ string) bool { return slices.Contains(classes, class) }
}

// refusals are the errors that a user can do something about, the more special ones first.
func refusals() []refusal {
	return []refusal{
		{
			contains("SIMPLE authentication is not enabled"), report.ExitTarget, steps.ReasonLoginFailed,
			"the NameNode wants Kerberos: set spec.target.kerberos, and hadoop.security.authentication in the Hadoop configuration",
		},
		{
			classed(classLogin), report.ExitTarget, steps.ReasonLoginFailed,
			"check principal, keytab and krb5.conf in spec.target.kerberos, and that the KDC can be reached from this namespace",
		},
		{
			contains("dfs.namenode.kerberos.principal says"), report.ExitTarget, steps.ReasonLoginFailed,
			"set dfs.namenode.kerberos.principal in the Hadoop configuration to the principal that the NameNode has, or correct spec.target",
		},
		{
			contains("hadoop.rpc.protection is "), report.ExitTarget, steps.ReasonLoginFailed,
			"set hadoop.rpc.protection in the Hadoop configuration to what the NameNode offers, or to a list with it",
		},
		{
			contains("ipc.client.fallback-to-simple-auth-allowed"), report.ExitTarget, steps.ReasonLoginFailed,
			"the NameNode knows no Kerberos: leave spec.target.kerberos unset, or correct spec.target",
		},
		{
			classed(classAuthorization), report.ExitTarget, steps.ReasonPermissionDenied,
			"let the user use the protocol: see hadoop-policy.xml on the NameNode",
		},
		{
			contains("Superuser privilege is required"), report.ExitTarget, steps.ReasonPermissionDenied,
			"act as a superuser of HDFS (spec.target), or leave spec.manageSafeMode unset",
		},
		{
			contains("configured minimum value", "fs-limits.min-block-size"), report.ExitPlan, steps.ReasonBlockSizeInvalid,
			"raise spec.blockSize to the NameNode's dfs.namenode.fs-limits.min-block-size at least, or lower that",
		},
		{
			contains("Requested replication factor", "Invalid replication"), report.ExitPlan, steps.ReasonReplicationInvalid,
			"set spec.replication, or dfs.replication, within the NameNode's dfs.namenode.replication.min and dfs.replication.max",
		},
		{
			contains("directory item limit"), report.ExitTarget, steps.ReasonQuotaExceeded,
			"lower spec.filesPerDir or spec.dirsPerDir, or raise the NameNode's dfs.namenode.fs-limits.max-directory-items",
		},
		{
			contains("could only be written to "), report.ExitTarget, steps.ReasonNoDataNodes,
			"see the NameNode's log at that time for why it chose no DataNode",
		},
		{
			contains(classStandby, "the NameNode is not active but"), report.ExitTarget, steps.ReasonNoActiveNameNode,
			"make a NameNode active (hdfs haadmin), or give the addresses of all NameNodes of the name service",
		},
	}
}

// refused turns an error of the target into a failure: what was tried, by whom, and what can be done.
func (s *step) refused(what string, err error) error {
	if own := new(steps.Error); errors.As(err, &own) {
		return own
	}
	e := &steps.Error{Exit: report.ExitTarget, Cause: err}
	class, text := classOf(err), textOf(err)
	failure := &e.Failure
	failure.Message = what + ": " + text
	for _, r := range refusals() {
		if r.is(class, text) {
			e.Exit, failure.Reason, failure.Remedy = r.exit, r.reason, r.remedy
			return e
		}
	}
	switch {
	case class == classAccess:
		failure.Reason = steps.ReasonPermissionDenied
		failure.Message = fmt.Sprintf("%s as user %q: permission denied: %s", what, s.user(), text)
		failure.Remedy = fmt.Sprintf("let user %q write there, or set spec.target.user or spec.baseDirName", s.user())
	case inSafeMode(err):
		failure.Reason = steps.ReasonSafeMode
		failure.Remedy = remedySafeMode
	case strings.HasSuffix(class, "QuotaExceededException"):
		failure.Reason = steps.ReasonQuotaExceeded
		failure.Remedy = "raise the quota (hdfs dfsadmin -setQuota), or set another spec.baseDirName"
	case unreachable(err) || errors.Is(err, context.DeadlineExceeded):
		failure.Reason, failure.Remedy = steps.ReasonNameNodeUnreachable, remedyUnreachable
	default:
		e.Exit, failure.Reason = report.ExitBenchmark, steps.ReasonIOError
		failure.Remedy = "look into the NameNode's log at that time"
	}
	return e
}

const remedySafeMode = "wait until the NameNode has left safe mode, let it leave (hdfs dfsadmin -safemode leave), or set spec.manageSafeMode"

// user is who the NameNode takes us for.
func (s *step) user() string {
	if k := s.env.Plan.Target.Kerberos; k != nil {
		return k.Principal
	}
	return s.env.User
}
