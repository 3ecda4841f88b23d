package admin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// procedure waits until a master's procedure has ended. Its failure is an [*rpc.RemoteError], as if the master had answered
// with it. A procedure that the master does not know, since it has forgotten it or is another master, has ended as far as
// can be told here: callers look at what it was to bring about.
func (a *Admin) procedure(ctx context.Context, id uint64) error {
	request := wire.GetProcedureResultRequest_builder{ProcId: &id}.Build()
	response := &wire.GetProcedureResultResponse{}
	err := a.poll(ctx, func() (bool, string, error) {
		// The name begins with a small letter, unlike all others.
		err := a.master(ctx, "getProcedureResult", request, response)
		done := response.GetState() != wire.GetProcedureResultResponse_RUNNING
		return err == nil && done, fmt.Sprintf("procedure %d runs in the master", id), err
	})
	if err != nil || !response.HasException() {
		return err
	}
	cause := response.GetException().GetGenericException()
	return &rpc.RemoteError{Class: cause.GetClassName(), Message: cause.GetMessage()}
}

// online waits until all regions of a table, n of them, are on servers that answer. With n = 0 any number will do.
func (a *Admin) online(ctx context.Context, table string, n int) error {
	return a.poll(ctx, func() (bool, string, error) {
		regions, err := a.regions(ctx, table)
		if err != nil {
			return false, "", err
		}
		if len(regions) == 0 || n > 0 && len(regions) != n {
			return false, fmt.Sprintf("hbase:meta has %d regions", len(regions)), nil
		}
		failures, err := a.each(ctx, regions, func(ctx context.Context, region hbase.LocatedRegion) error {
			request := wire.GetRegionInfoRequest_builder{Region: specifier(region.Name)}.Build()
			return a.server(ctx, region.Server, "GetRegionInfo", request, &wire.GetRegionInfoResponse{})
		})
		return len(failures) == 0, waitingFor(failures, len(regions)), err
	})
}

// waitingFor tells of the regions that failed.
func waitingFor(failures map[string]error, regions int) string {
	for _, encoded := range slices.Sorted(maps.Keys(failures)) {
		return fmt.Sprintf("%d of %d regions do not answer, the first %s: %v", len(failures), regions, encoded, failures[encoded])
	}
	return ""
}

// each calls act for all regions: those of one server one after the other, servers beside one another. It returns failures
// that may pass, by encoded name, and ends at one that does not.
func (a *Admin) each(ctx context.Context, regions []hbase.LocatedRegion, act func(context.Context, hbase.LocatedRegion) error) (map[string]error, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	servers := map[string][]hbase.LocatedRegion{}
	for _, region := range regions {
		servers[region.Server] = append(servers[region.Server], region)
	}
	var mu sync.Mutex
	failures := map[string]error{}
	var wait sync.WaitGroup
	for server, regions := range servers {
		wait.Go(func() {
			for _, region := range regions {
				err := errOffline
				if server != "" {
					err = act(ctx, region)
				}
				if err != nil && !passes(err) {
					cancel(fmt.Errorf("region %s: %w", region.Encoded, err))
					return
				}
				if err != nil {
					mu.Lock()
					failures[region.Encoded] = err
					mu.Unlock()
				}
			}
		})
	}
	wait.Wait()
	return failures, context.Cause(ctx)
}

// eachOnce calls act once for each region of a table, however often that takes where regions move or their servers cannot
// be reached.
func (a *Admin) eachOnce(ctx context.Context, table string, act func(context.Context, hbase.LocatedRegion) error) error {
	done := map[string]bool{}
	return a.poll(ctx, func() (bool, string, error) {
		regions, err := a.regions(ctx, table)
		if err != nil {
			return false, "", err
		}
		if len(regions) == 0 {
			return false, "", hbase.ErrTableNotFound
		}
		todo := slices.DeleteFunc(slices.Clone(regions), func(r hbase.LocatedRegion) bool { return done[r.Encoded] })
		failures, err := a.each(ctx, todo, act)
		for _, region := range todo {
			done[region.Encoded] = err == nil && failures[region.Encoded] == nil
		}
		return len(failures) == 0, waitingFor(failures, len(regions)), err
	})
}

// Flush writes what a table's regions hold in memory to files, one region of each server after the other.
func (a *Admin) Flush(ctx context.Context, table string) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	return fail("flush table", table, a.eachOnce(ctx, table, func(ctx context.Context, region hbase.LocatedRegion) error {
		request := wire.FlushRegionRequest_builder{Region: specifier(region.Name)}.Build()
		return a.server(ctx, region.Server, "FlushRegion", request, &wire.FlushRegionResponse{})
	}))
}

// MajorCompact asks for a major compaction of each region of a table. It does not wait until they are over: see
// [Admin.WaitForCompaction].
func (a *Admin) MajorCompact(ctx context.Context, table string) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	return fail("compact table", table, a.eachOnce(ctx, table, func(ctx context.Context, region hbase.LocatedRegion) error {
		request := wire.CompactRegionRequest_builder{Region: specifier(region.Name), Major: proto.Bool(true)}.Build()
		return a.server(ctx, region.Server, "CompactRegion", request, &wire.CompactRegionResponse{})
	}))
}
