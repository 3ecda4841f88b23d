// Package steps is what the shard and the benchmarks have in common: what a step gets from the shard it runs in, and how
// a step says why it failed.
package steps

import (
	"cmp"
	"fmt"
	"log/slog"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// Env is what a step gets from the shard it runs in. All fields must be set.
type Env struct {
	Plan      *plan.Plan
	Index     int32 // of the shard
	Conf      *conf.Conf
	User      string // who acts in HDFS under simple authentication
	Gate      *measure.Gate
	Clock     measure.Clock
	Self      measure.Self
	Log       *slog.Logger
	LookupEnv func(name string) (string, bool)
	// Version of the runner, for the facts.
	Version, GoVersion string
}

// DefaultUser acts in HDFS when neither plan nor environment name somebody.
const DefaultUser = "hadoop-bench"

// User is who acts in HDFS: the plan's user, else HADOOP_USER_NAME, else DefaultUser. The process's own user does not
// matter: which one a pod has is the platform's choice, and often it has no name.
func User(p *plan.Plan, lookupEnv func(string) (string, bool)) string {
	fromEnv, _ := lookupEnv("HADOOP_USER_NAME")
	return cmp.Or(p.Target.User, fromEnv, DefaultUser)
}

// An Error is a step's failure as it goes into the report.
type Error struct {
	Exit    int // one of the runner's exit codes
	Failure report.Failure
	Cause   error // may be nil
}

func (e *Error) Error() string { return e.Failure.Reason + ": " + e.Failure.Message }

func (e *Error) Unwrap() error { return e.Cause }

// Fail returns an error without a cause; format and args make its message.
func Fail(exit int, reason, remedy, format string, args ...any) *Error {
	return &Error{Exit: exit, Failure: report.Failure{Reason: reason, Message: fmt.Sprintf(format, args...), Remedy: remedy}}
}

// PlanError says that a plan cannot be carried out.
func PlanError(err error) *Error {
	return &Error{Exit: report.ExitPlan, Cause: err, Failure: report.Failure{Reason: ReasonPlanInvalid, Message: err.Error()}}
}

// ConfigError says that the Hadoop configuration cannot be used.
func ConfigError(err error) *Error {
	return &Error{Exit: report.ExitPlan, Cause: err, Failure: report.Failure{
		Reason: ReasonConfigInvalid, Message: err.Error(),
		Remedy: "correct the Hadoop configuration the run refers to, or spec.target",
	}}
}

// Reasons of failures, fit for a condition. Those a user can meet are documented with the kinds.
const (
	ReasonPlanInvalid         = "PlanInvalid"
	ReasonConfigInvalid       = "ConfigInvalid"
	ReasonNotSupported        = "NotSupported"
	ReasonUnknownHost         = "UnknownHost"
	ReasonNameNodeUnreachable = "NameNodeUnreachable"
	ReasonNoActiveNameNode    = "NoActiveNameNode"
	ReasonLoginFailed         = "LoginFailed" // Kerberos: no ticket, or one that is refused
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
	ReasonDataNodeRefused     = "FakeDataNodeRefused" // the NameNode does not accept a fake DataNode
	ReasonEveryOperation      = "EveryOperationFailed"
	ReasonUpstreamFailed      = "UpstreamFailed" // the Java tool failed, or printed no report

	ReasonHBaseUnreachable     = "HBaseUnreachable"
	ReasonHBaseRefused         = "HBaseRefused"
	ReasonNoRegionServers      = "NoRegionServers"
	ReasonNamespaceNotFound    = "NamespaceNotFound"
	ReasonTableExists          = "TableExists"
	ReasonTableNotFound        = "TableNotFound"
	ReasonTableDisabled        = "TableDisabled"
	ReasonColumnFamilyNotFound = "ColumnFamilyNotFound"
	ReasonLoadIncomplete       = "LoadIncomplete"     // useExisting on a table that was not loaded to its end
	ReasonRecordsLost          = "RecordsLost"        // a load did not insert all its records
	ReasonCompactionDeadline   = "CompactionDeadline" // compactions are not over in the time for them
)
