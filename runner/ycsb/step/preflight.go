package step

import (
	"context"
	"fmt"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// preflightTimeout bounds the whole of preflight.
const preflightTimeout = 2 * time.Minute

// inspection is preflight under way.
type inspection struct {
	*step
	exists bool
	table  admin.Table // empty where the user may not see it
}

// preflight finds out whether the run can work, and reports what the target is. In a table that exists it writes the row of
// the clock, and removes it, which shows that the user may write.
func (s *step) preflight(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, preflightTimeout)
	defer cancel()
	p := &inspection{step: s}
	for _, phase := range []func(context.Context) error{
		p.checkServers, p.describe, p.checkSplits, p.checkTable, p.checkUse, p.checkRecords, p.gatherTable,
	} {
		if err := phase(ctx); err != nil {
			if ctx.Err() != nil && parent.Err() == nil {
				return steps.Fail(report.ExitTarget, steps.ReasonHBaseUnreachable, remedyUnreachable,
					"HBase did not answer everything within %s: %v", preflightTimeout, err)
			}
			return err
		}
	}
	return nil
}

// checkServers finds out who serves, and what the master and the servers tell of themselves.
func (p *inspection) checkServers(parent context.Context) error {
	ctx, cancel := context.WithTimeout(parent, connectTimeout)
	defer cancel()
	status, err := p.target.Status(ctx)
	if err != nil {
		return p.refused("ask HBase's master for the cluster's status", err)
	}
	p.gatherCluster(ctx, status)
	if len(status.Servers) == 0 {
		return steps.Fail(report.ExitTarget, steps.ReasonNoRegionServers, "start RegionServers", "no RegionServer lives (%d are dead)", status.Dead)
	}
	addresses := make([]string, len(status.Servers))
	for i, server := range status.Servers {
		addresses[i] = server.Address()
	}
	// Whether the names by which they are known can be looked up here, and whether a network policy is in the way.
	if err := p.target.Reach(ctx, addresses); err != nil {
		return p.refused("reach all RegionServers", err)
	}
	return nil
}

// describe looks whether the table is there, and if not, whether its namespace is.
func (p *inspection) describe(ctx context.Context) error {
	t, err := p.target.Descriptor(ctx)
	switch {
	case err == nil:
		p.exists, p.table = true, t
	case missing(err):
		return p.checkNamespace(ctx)
	case rpc.Is(err, "AccessDeniedException"):
		// Only who may create or administer it sees its attributes. Whether it can be used is seen later.
		regions, err := p.target.Regions(ctx)
		if err != nil && !missing(err) {
			return p.refused("look for table "+p.y.Table, err)
		}
		p.exists = len(regions) > 0
	default:
		return p.refused("look for table "+p.y.Table, err)
	}
	return nil
}

func (p *inspection) checkNamespace(ctx context.Context) error {
	namespace := namespaceOf(p.y)
	if namespace == "" {
		return nil
	}
	found, err := p.target.NamespaceExists(ctx, namespace)
	switch {
	case rpc.Is(err, "AccessDeniedException"):
		p.log().Warn("Whether the namespace exists is not known", "namespace", namespace, "error", err)
		return nil
	case err != nil:
		return p.refused("look for namespace "+namespace, err)
	case !found:
		return steps.Fail(report.ExitTarget, steps.ReasonNamespaceNotFound,
			fmt.Sprintf("create it in the HBase shell: create_namespace '%s'; or correct spec.table.name", namespace), "there is no namespace %s", namespace)
	}
	return nil
}

// makes tells whether the run makes the table.
func (p *inspection) makes() bool {
	return !p.y.UseExisting && (p.y.CreatePolicy == plan.CreateTable || p.y.CreatePolicy == plan.CreateIfMissing && !p.exists)
}

// checkSplits wants as many split keys as the table is to have regions.
func (p *inspection) checkSplits(context.Context) error {
	if !p.makes() {
		return nil
	}
	_, err := p.splitKeys()
	return err
}

// checkTable decides by the table's being there, and by who made it.
func (p *inspection) checkTable(context.Context) error {
	switch {
	case !p.exists && !p.makes():
		return steps.Fail(report.ExitTarget, steps.ReasonTableNotFound, "create it, correct spec.table.name, or let the run load it (spec.useExisting, spec.table.createPolicy)",
			"there is no table %s", p.y.Table)
	case p.exists && p.makes():
		return checkNew(p.plan, p.table)
	case p.exists && p.y.UseExisting:
		return p.checkLoaded(p.table)
	}
	return nil
}

// checkUse finds out whether a table that is there can be used: that it is enabled, has the family, and can be written to.
func (p *inspection) checkUse(ctx context.Context) error {
	if !p.exists {
		return nil
	}
	db, err := p.target.Open(ctx)
	if err != nil {
		return p.refused("use table "+p.y.Table, err)
	}
	defer func() { _ = db.Close() }()
	if _, err := p.clock(ctx); err != nil {
		return p.refused(fmt.Sprintf("write row %s of table %s", p.clockRow(), p.y.Table), err)
	}
	return nil
}
