package step

import (
	"context"
	"errors"
	"maps"
	"strconv"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// splitKeys are those between the regions of a table that is created.
func (s *step) splitKeys() ([][]byte, error) {
	keys, err := admin.SplitKeys(int(s.y.Regions), admin.Keys{
		Ordered: s.config.OrderedInserts, ZeroPadding: s.config.ZeroPadding, Records: s.y.RecordCount,
	})
	if err != nil {
		return nil, &steps.Error{Exit: report.ExitPlan, Cause: err, Failure: report.Failure{
			Reason: steps.ReasonPlanInvalid, Message: err.Error(), Remedy: "correct spec.table.regions, spec.insertOrder or spec.zeroPadding",
		}}
	}
	return keys, nil
}

// create makes the table, where that is the run's business. One that this execution made before is gone on with.
func (s *step) create(ctx context.Context) error {
	t, err := s.target.Descriptor(ctx)
	switch {
	case missing(err) && s.y.CreatePolicy != plan.CreateNever && !s.y.UseExisting:
		return s.makeTable(ctx)
	case err != nil:
		return s.refused("look for table "+s.y.Table, err)
	case s.y.CreatePolicy == plan.CreateTable:
		if err := checkNew(s.plan, t); err != nil {
			return err
		}
	}
	s.log().Info("The table is there already", "table", s.y.Table)
	if err := s.target.AwaitOnline(ctx); err != nil {
		return s.refused("wait for the regions of table "+s.y.Table, err)
	}
	return s.tellRegions(ctx)
}

func (s *step) makeTable(ctx context.Context) error {
	splits, err := s.splitKeys()
	if err != nil {
		return err
	}
	values := maps.Clone(s.y.TableValues)
	if values == nil {
		values = map[string]string{}
	}
	maps.Copy(values, ownAttributes(s.plan, s.env.Clock.Now()))
	err = s.target.CreateTable(ctx, admin.Table{
		Name: s.y.Table, Families: []admin.Family{{Name: s.y.ColumnFamily, Compression: s.y.Compression}}, SplitKeys: splits, Values: values,
	})
	if errors.Is(err, admin.ErrTableExists) {
		// Somebody was faster: this execution, whose answer was lost, or another one.
		t, looked := s.target.Descriptor(ctx)
		if looked != nil {
			return s.refused("create table "+s.y.Table, err)
		}
		if err := checkNew(s.plan, t); err != nil {
			return err
		}
		err = s.target.AwaitOnline(ctx)
	}
	if err != nil {
		return s.refused("create table "+s.y.Table, err)
	}
	s.body.Operations = 1
	s.log().Info("The table is made", "table", s.y.Table, "regions", s.y.Regions)
	return s.tellRegions(ctx)
}

// tellRegions puts into the facts where the table's regions are.
func (s *step) tellRegions(ctx context.Context) error {
	regions, err := s.target.Regions(ctx)
	if err != nil {
		return s.refused("locate the regions of table "+s.y.Table, err)
	}
	s.fact("table.regions", strconv.Itoa(len(regions)))
	s.fact("table.regionServers", strconv.Itoa(countServers(regions)))
	return nil
}

// cleanup drops the table, if this run made it. Where there is none, there is nothing to do.
func (s *step) cleanup(ctx context.Context) error {
	t, err := s.target.Descriptor(ctx)
	if missing(err) {
		s.log().Info("There is no table to drop", "table", s.y.Table)
		return nil
	}
	if err != nil {
		return s.refused("look for table "+s.y.Table, err)
	}
	if o, owned := ownerOf(t.Values); !owned || o.uid != s.plan.Identity.RunUID {
		s.log().Warn("The table is left alone, since this run did not make it", "table", s.y.Table, "madeBy", t.Values[attributeRun])
		s.fact("left", "table "+s.y.Table+", which this run did not make")
		return nil
	}
	if err := s.target.Drop(ctx); err != nil && !missing(err) {
		return s.refused("drop table "+s.y.Table, err)
	}
	s.body.Operations = 1
	s.fact("dropped", "table "+s.y.Table)
	return nil
}
