package step

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

const remedyUnreachable = "check hbase-site.xml, that HBase runs, and that network policies let this namespace reach ZooKeeper, the masters and all RegionServers"

// A refusal is what is told of an error of HBase.
type refusal struct {
	is     func(error) bool
	exit   int
	reason string
	remedy string
}

// refusals are tried in turn.
func refusals() []refusal {
	return []refusal{
		{
			func(err error) bool { login := new(sasl.LoginError); return errors.As(err, &login) }, report.ExitTarget, steps.ReasonLoginFailed,
			"check principal, keytab and krb5.conf in spec.target.kerberos, the principals of HBase's servers in hbase-site.xml, and that the KDC can be reached from this namespace",
		},
		{
			classed("AccessDeniedException"), report.ExitTarget, steps.ReasonPermissionDenied,
			"grant the user what it needs (create in the namespace; read, write and admin on the table), or set spec.target.user or spec.target.kerberos",
		},
		{
			classed("NamespaceNotFoundException"), report.ExitTarget, steps.ReasonNamespaceNotFound,
			"create the namespace (create_namespace in the HBase shell), or correct spec.table.name",
		},
		{
			func(err error) bool { return errors.Is(err, admin.ErrTableExists) }, report.ExitTarget, steps.ReasonTableExists,
			"drop the table, set another spec.table.name, or spec.table.createPolicy IfMissing",
		},
		{missing, report.ExitTarget, steps.ReasonTableNotFound, "create the table, or correct spec.table.name"},
		{
			func(err error) bool { return errors.Is(err, hbase.ErrTableDisabled) }, report.ExitTarget, steps.ReasonTableDisabled,
			"enable the table in the HBase shell, or set another spec.table.name",
		},
		{
			func(err error) bool { family := new(hbase.NoFamilyError); return errors.As(err, &family) }, report.ExitTarget, steps.ReasonColumnFamilyNotFound,
			"set spec.table.columnFamily to one that the table has",
		},
		{classed("QuotaExceededException"), report.ExitTarget, steps.ReasonQuotaExceeded, "raise the namespace's quota, or lower spec.table.regions"},
		{
			func(err error) bool { unknown := new(net.DNSError); return errors.As(err, &unknown) }, report.ExitTarget, steps.ReasonUnknownHost,
			"correct the host names in hbase-site.xml; the names under which HBase's servers know themselves must be known in this namespace, too",
		},
		{unreachable, report.ExitTarget, steps.ReasonHBaseUnreachable, remedyUnreachable},
	}
}

func classed(class string) func(error) bool {
	return func(err error) bool { return rpc.Is(err, class) }
}

// unreachable tells that HBase did not answer in the time that it has.
func unreachable(err error) bool {
	connect, lost := new(rpc.ConnectError), new(rpc.LostError)
	return errors.As(err, &connect) || errors.As(err, &lost) || errors.Is(err, context.DeadlineExceeded)
}

// refused turns an error of the target into a failure: what was tried, by whom, and what can be done.
func (s *step) refused(what string, err error) error {
	own := new(steps.Error)
	if errors.As(err, &own) && (own.Failure.Reason != steps.ReasonHBaseUnreachable || own.Cause == nil) {
		return s.inSpec(own)
	}
	failure := report.Failure{Reason: steps.ReasonHBaseRefused, Message: fmt.Sprintf("%s as user %q: %v", what, s.user(), err), Remedy: "look into the logs of HBase's servers at that time"}
	if typed := new(admin.Error); errors.As(err, &typed) && typed.Remedy != "" {
		failure.Remedy = typed.Remedy
	}
	for _, r := range refusals() {
		if !r.is(err) {
			continue
		}
		if own.Failure.Reason == r.reason {
			return s.inSpec(own) // it names the addresses
		}
		failure.Reason, failure.Remedy = r.reason, r.remedy
		return &steps.Error{Exit: r.exit, Failure: failure, Cause: err}
	}
	if own.Failure.Reason != "" {
		return s.inSpec(own)
	}
	return &steps.Error{Exit: report.ExitTarget, Failure: failure, Cause: err}
}

// inSpec tells what can be done in words of the spec, where the binding tells it in words of its properties.
func (s *step) inSpec(err *steps.Error) *steps.Error {
	told := *err
	switch err.Failure.Reason {
	case steps.ReasonHBaseUnreachable:
		told.Failure.Remedy += ", and that network policies let this namespace reach them"
	case steps.ReasonColumnFamilyNotFound:
		told.Failure.Remedy = fmt.Sprintf("set spec.table.columnFamily to one that the table has, or add it in the HBase shell: alter '%s', '%s'", s.y.Table, s.y.ColumnFamily)
	case steps.ReasonLoginFailed:
		told.Failure.Remedy = "set principal, keytab and krb5.conf in spec.target.kerberos"
		if s.plan.Target.Kerberos == nil {
			told.Failure.Remedy += ": HBase's configuration asks for Kerberos"
		}
	}
	return &told
}
