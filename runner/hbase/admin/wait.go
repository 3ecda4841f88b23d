package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// errOffline passes: the master assigns the region.
var errOffline = errors.New("the region is on no server")

// Compaction looks at the compactions of a table's regions, in their order. A region whose server does not tell, such as
// while it moves, is Unknown, and no error.
func (a *Admin) Compaction(ctx context.Context, table string) ([]RegionCompaction, error) {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	status, err := a.status(ctx)
	if err != nil {
		return nil, fail("look at compactions of table", table, err)
	}
	compactions, err := a.compaction(ctx, table, status)
	return compactions, fail("look at compactions of table", table, err)
}

func (a *Admin) compaction(ctx context.Context, table string, status Status) ([]RegionCompaction, error) {
	regions, err := a.regions(ctx, table)
	if err != nil {
		return nil, err
	}
	if len(regions) == 0 {
		return nil, hbase.ErrTableNotFound
	}
	seen := map[string]RegionCompaction{}
	var mu sync.Mutex
	failures, err := a.each(ctx, regions, func(ctx context.Context, region hbase.LocatedRegion) error {
		one, err := a.regionCompaction(ctx, region)
		mu.Lock()
		defer mu.Unlock()
		seen[region.Encoded] = one
		return err
	})
	if err != nil {
		return nil, err
	}
	all := make([]RegionCompaction, len(regions))
	for i, region := range regions {
		all[i] = seen[region.Encoded]
		all[i].Region, all[i].Server, all[i].SizeMB = region.Encoded, region.Server, status.sizes[string(region.Name)]
		if err := failures[region.Encoded]; err != nil {
			all[i].Unknown = err.Error()
		}
	}
	return all, nil
}

// regionCompaction asks a region's server.
func (a *Admin) regionCompaction(ctx context.Context, region hbase.LocatedRegion) (RegionCompaction, error) {
	yes := true
	info := &wire.GetRegionInfoResponse{}
	ask := wire.GetRegionInfoRequest_builder{Region: specifier(region.Name), CompactionState: &yes}.Build()
	if err := a.server(ctx, region.Server, "GetRegionInfo", ask, info); err != nil {
		return RegionCompaction{}, err
	}
	files := &wire.GetStoreFileResponse{}
	list := wire.GetStoreFileRequest_builder{Region: specifier(region.Name)}.Build()
	if err := a.server(ctx, region.Server, "GetStoreFile", list, files); err != nil {
		return RegionCompaction{}, err
	}
	return RegionCompaction{State: CompactionState(info.GetCompactionState()), StoreFiles: int64(len(files.GetStoreFile()))}, nil
}

// Defaults of WaitOptions.
const (
	// DefaultSettle is longer than queue lengths may be late.
	DefaultSettle = QueuesDelay + 5*time.Second
	// DefaultWait is how long a wait for compactions may take.
	DefaultWait = 2 * time.Hour
	defaultPoll = 2 * time.Second
)

// WaitOptions say how to wait for compactions. What is not set has the default that is said beside it.
type WaitOptions struct {
	// Settle is for how long nothing may happen without a break. Default: DefaultSettle. Less than QueuesDelay can miss
	// compactions that a server has chosen and not begun.
	Settle time.Duration
	// Poll is the time between two looks. Default: 2 s.
	Poll time.Duration
	// Deadline bounds the wait. Default: DefaultWait.
	Deadline time.Duration
	// Web are the web addresses, host:port, of all RegionServers. Default: those that the master knows.
	Web []string
	// HTTP reads them. Default: a client that goes through no proxy.
	HTTP *http.Client
	// Progress is told of every look, for how long the table has been at rest, and why it is not. Default: nobody.
	Progress func(look Look, rest time.Duration, why string)
}

// A Settled table has no compactions to come, as far as could be seen.
type Settled struct {
	Took    time.Duration
	Regions []RegionCompaction
	// QueuesError says why the queues of all RegionServers could not be read at some time of the rest: compactions may wait
	// then that nothing shows. Nil: they were read, and empty, all the time.
	QueuesError error
}

// A NotSettledError says that a table was not at rest for long enough before the deadline.
type NotSettledError struct {
	Waited time.Duration
	Rest   time.Duration // for how long it was, at the end
	Why    string        // it was not, when looked at last; empty: it was
	Last   Look
}

// Error says how long it was waited and for what.
func (e *NotSettledError) Error() string {
	return fmt.Sprintf("not at rest after %v: %s", e.Waited.Round(time.Second), cmp.Or(e.Why, fmt.Sprintf("nothing happened for the last %v only", e.Rest)))
}

// WaitForCompaction waits until no compaction of a table runs or waits: all regions are in state NONE, their store files
// stay the same in number, no region is in transition, and the RegionServers' queues, where they can be read, are empty, all
// that for Settle without a break. The error wraps a [*NotSettledError] if that does not come about.
func (a *Admin) WaitForCompaction(ctx context.Context, table string, o WaitOptions) (Settled, error) {
	o.Settle, o.Poll = cmp.Or(o.Settle, DefaultSettle), cmp.Or(o.Poll, defaultPoll)
	o.Deadline = cmp.Or(o.Deadline, DefaultWait)
	settled, err := a.waitForCompaction(ctx, table, o)
	if notSettled := new(NotSettledError); errors.As(err, &notSettled) {
		return settled, &Error{
			Op: "wait for compactions of table", Object: table, Err: err,
			Remedy: "give more time, stop what else writes to the cluster, or look at the RegionServers' compaction queues",
		}
	}
	return settled, fail("wait for compactions of table", table, err)
}

func (a *Admin) waitForCompaction(ctx context.Context, table string, o WaitOptions) (Settled, error) {
	clock := a.options.Clock
	began := clock.Now()
	var settling Settling
	for {
		look, err := a.look(ctx, table, o)
		if err != nil {
			return Settled{}, err
		}
		now := clock.Now()
		rest, why := settling.Add(now, look)
		if o.Progress != nil {
			o.Progress(look, rest, why)
		}
		waited := now.Sub(began)
		if why == "" && rest >= o.Settle {
			return Settled{Took: waited, Regions: look.Regions, QueuesError: settling.Blind()}, nil
		}
		if waited >= o.Deadline {
			return Settled{}, &NotSettledError{Waited: waited, Rest: rest, Why: why, Last: look}
		}
		if err := clock.Wait(ctx, min(o.Poll, o.Deadline-waited)); err != nil {
			return Settled{}, err
		}
	}
}

// look sees what there is to see now.
func (a *Admin) look(ctx context.Context, table string, o WaitOptions) (Look, error) {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	status, err := a.status(ctx)
	if err != nil {
		return Look{}, err
	}
	var look Look
	if look.Regions, err = a.compaction(ctx, table, status); err != nil {
		return Look{}, err
	}
	for _, moving := range status.inTransition(table) {
		look.InTransition = append(look.InTransition, moving.Encoded)
	}
	addresses := o.Web
	if addresses == nil {
		if addresses, look.QueuesError = webAddresses(status.Servers); look.QueuesError != nil {
			return look, nil
		}
	}
	look.Queues, look.QueuesError = ReadQueues(ctx, a.options.Clock, o.HTTP, addresses)
	return look, nil
}

// webAddresses are those of all servers.
func webAddresses(servers []Server) ([]string, error) {
	var addresses []string
	for _, server := range servers {
		if server.Web == "" {
			return nil, fmt.Errorf("RegionServer %s has no web server", server.Address())
		}
		addresses = append(addresses, server.Web)
	}
	return addresses, nil
}
