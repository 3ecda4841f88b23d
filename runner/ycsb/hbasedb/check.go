package hbasedb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/registry"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// Reasons of failures.
const (
	ReasonUnreachable   = steps.ReasonHBaseUnreachable
	ReasonTableNotFound = steps.ReasonTableNotFound
	ReasonTableDisabled = steps.ReasonTableDisabled
	ReasonNoFamily      = steps.ReasonColumnFamilyNotFound
	ReasonRefused       = steps.ReasonHBaseRefused
)

// unreachable says that there is no HBase where the configuration says, or that it lets nobody in.
func unreachable(err error, o hbase.Options) error {
	if login := new(sasl.LoginError); errors.As(err, &login) {
		return &steps.Error{Exit: report.ExitTarget, Cause: err, Failure: report.Failure{
			Reason: steps.ReasonLoginFailed, Message: err.Error(),
			Remedy: "correct principal and keytab, or run kinit, and look whether the KDC knows the servers' principals",
		}}
	}
	return &steps.Error{Exit: report.ExitTarget, Cause: err, Failure: report.Failure{
		Reason: ReasonUnreachable, Message: err.Error(),
		Remedy: "check that HBase runs and that this host reaches its servers, and " + registryRemedy(o),
	}}
}

func registryRemedy(o hbase.Options) string {
	if o.Registry.Kind == registry.RPC {
		return "that hbase.client.bootstrap.servers names them: " + strings.Join(o.Registry.Servers, ",")
	}
	return fmt.Sprintf("that hbase.zookeeper.quorum is its ZooKeeper (now %s) and zookeeper.znode.parent its path (now %s)",
		strings.Join(o.Registry.Quorum, ","), cmp.Or(o.Registry.Parent, registry.DefaultParent))
}

func loginError(err error, remedy string) error {
	if err == nil {
		return nil
	}
	return &steps.Error{Exit: report.ExitPlan, Cause: err, Failure: report.Failure{
		Reason: steps.ReasonLoginFailed, Message: fmt.Sprintf("log in: %v", err), Remedy: remedy,
	}}
}

// descriptorTimeout bounds asking the master, without which a run can do.
const descriptorTimeout = 10 * time.Second

// check finds the table's regions and its family. The descriptor is empty where the master does not tell it, such as to a
// user who may only read and write: then a read tells whether the family exists.
func (db *DB) check(ctx context.Context, a *admin.Admin, p *ycsb.Properties) ([]hbase.LocatedRegion, admin.Table, error) {
	regions, err := db.client.Regions(ctx, db.settings.Table)
	if err != nil {
		return nil, admin.Table{}, db.refusal(ctx, a, p, err)
	}
	if _, err := db.client.Locate(ctx, db.settings.Table, regionKey(regions[0])); err != nil { // a disabled table has regions too
		return nil, admin.Table{}, db.refusal(ctx, a, p, err)
	}
	short, cancel := context.WithTimeout(ctx, descriptorTimeout)
	defer cancel()
	table, err := a.Descriptor(short, db.settings.Table)
	switch {
	case err != nil:
		db.log.Info("The master does not describe the table; a read tells whether the column family exists", "error", err)
		err = db.probe(ctx, regions[0])
	case !hasFamily(table, db.settings.Family):
		err = &hbase.NoFamilyError{Table: db.settings.Table, Family: db.settings.Family}
	}
	if err != nil {
		return nil, table, db.refusal(ctx, a, p, err, table.Families...)
	}
	return regions, table, nil
}

func hasFamily(t admin.Table, family string) bool {
	return slices.ContainsFunc(t.Families, func(f admin.Family) bool { return f.Name == family })
}

// regionKey is a key in a region.
func regionKey(r hbase.LocatedRegion) []byte {
	if len(r.Start) > 0 {
		return r.Start
	}
	return []byte{0}
}

// probe reads a row of the family.
func (db *DB) probe(ctx context.Context, region hbase.LocatedRegion) error {
	_, err := db.client.Session().Get(ctx, &hbase.Get{Table: db.settings.Table, Row: regionKey(region), Family: []byte(db.settings.Family)})
	return err
}

// refusal says why the table cannot be used, and what helps.
func (db *DB) refusal(ctx context.Context, a *admin.Admin, p *ycsb.Properties, err error, families ...admin.Family) error {
	table := db.settings.Table
	failure := report.Failure{Reason: ReasonRefused, Message: err.Error(), Remedy: "look into the logs of HBase's servers"}
	noFamily, typed := new(hbase.NoFamilyError), new(admin.Error)
	switch {
	case errors.Is(err, hbase.ErrTableNotFound):
		failure.Reason, failure.Message = ReasonTableNotFound, fmt.Sprintf("Table %s does not exists", table) // YCSB's message
		failure.Remedy = "create it in the HBase shell: " + createCommand(ctx, a, db.settings, p)
	case errors.Is(err, hbase.ErrTableDisabled):
		failure.Reason, failure.Remedy = ReasonTableDisabled, fmt.Sprintf("enable it in the HBase shell: enable '%s'", table)
	case errors.As(err, &noFamily):
		failure.Reason = ReasonNoFamily
		failure.Message = fmt.Sprintf("table %s has no column family %q", table, db.settings.Family)
		failure.Remedy = familyRemedy(db.settings, families)
	case rpc.Is(err, "AccessDeniedException"):
		failure.Remedy = "grant the user the rights to read and to write the table: grant '<user>', 'RW', '" + table + "' in the HBase shell"
	case errors.As(err, &typed) && typed.Remedy != "":
		failure.Remedy = typed.Remedy
	}
	return &steps.Error{Exit: report.ExitTarget, Failure: failure, Cause: err}
}

func familyRemedy(s Settings, families []admin.Family) string {
	add := fmt.Sprintf("add it in the HBase shell: alter '%s', '%s'", s.Table, s.Family)
	if len(families) == 0 {
		return add
	}
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.Name
	}
	return fmt.Sprintf("set columnfamily to one that the table has (%s), or %s", strings.Join(names, ", "), add)
}

// regionsPerServer is how many the command creates on each RegionServer.
const regionsPerServer = 4

// createCommand creates the table in the HBase shell, in a few regions that share YCSB's keys.
func createCommand(ctx context.Context, a *admin.Admin, s Settings, p *ycsb.Properties) string {
	n := regionsPerServer
	ctx, cancel := context.WithTimeout(ctx, descriptorTimeout)
	defer cancel()
	if servers, err := a.Servers(ctx); err == nil {
		n *= min(max(1, len(servers)), 4)
	}
	command := fmt.Sprintf("create '%s', '%s'", s.Table, s.Family)
	if namespace, _, ok := strings.Cut(s.Table, ":"); ok {
		if exists, err := a.NamespaceExists(ctx, namespace); err == nil && !exists {
			command = fmt.Sprintf("create_namespace '%s'; %s", namespace, command)
		}
	}
	keys, err := admin.SplitKeys(n, keysOf(p))
	if err != nil {
		return command
	}
	quoted := make([]string, len(keys))
	for i, key := range keys {
		quoted[i] = "'" + string(key) + "'"
	}
	return fmt.Sprintf("%s, SPLITS => [%s]", command, strings.Join(quoted, ", "))
}

// keysOf reads what the order of keys depends on. Whether it is right is the workload's to say.
func keysOf(p *ycsb.Properties) admin.Keys {
	number := func(name string) int64 {
		text, _ := p.Get(name)
		n, _ := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
		return n
	}
	order, set := p.Get("insertorder")
	return admin.Keys{Ordered: set && order != "hashed", ZeroPadding: int(number("zeropadding")), Records: number("recordcount")}
}

// warmTime is how long the servers of a table may take to be reached. A server that died a moment ago still has its regions
// in hbase:meta, until the master has given them to others.
const (
	warmTime  = time.Minute
	warmPause = time.Second
)

// warm opens the connections to all servers of the table, so that no operation waits for one, and returns where its regions
// are then.
func (db *DB) warm(ctx context.Context, clock measure.Clock, regions []hbase.LocatedRegion) ([]hbase.LocatedRegion, error) {
	deadline := clock.Now().Add(min(warmTime, db.client.Options().Calls.Operation))
	for {
		servers := map[string]bool{}
		for _, region := range regions {
			if region.Server != "" {
				servers[region.Server] = true
			}
		}
		err := db.Reach(ctx, slices.Sorted(maps.Keys(servers)))
		if err == nil || !clock.Now().Before(deadline) {
			return regions, err
		}
		db.log.Warn("A RegionServer of the table cannot be reached; its regions are looked up anew", "error", err)
		if waited := clock.Wait(ctx, warmPause); waited != nil {
			return regions, errors.Join(err, waited)
		}
		if found, located := db.client.Regions(ctx, db.settings.Table); located == nil {
			regions = found
		}
	}
}

// Reach connects to RegionServers, host:port, and has each answer. Its error is an [*steps.Error].
func (db *DB) Reach(ctx context.Context, servers []string) error {
	var wait sync.WaitGroup
	var mu sync.Mutex
	var failures []error
	for _, address := range servers {
		for i := range max(1, db.client.Options().RPC.Connections) {
			wait.Go(func() {
				// A request for nothing, which no server counts as an operation on rows.
				call := rpc.Call{Address: address, Service: rpc.ClientService, Method: "Multi", Connection: i}
				if err := db.client.RPC().Do(ctx, &call); err != nil {
					mu.Lock()
					failures = append(failures, err)
					mu.Unlock()
				}
			})
		}
	}
	wait.Wait()
	if len(failures) == 0 {
		return nil
	}
	return unreachable(fmt.Errorf("connect to RegionServers: %w", errors.Join(failures...)), db.client.Options())
}
