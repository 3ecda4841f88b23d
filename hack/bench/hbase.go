package main

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/registry"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

const (
	benchTable   = "bench"
	benchFamily  = "family"
	benchRegions = 6
)

// A table is that of all runs on HBase.
type table struct {
	o      options
	client *hbase.Client
	admin  *admin.Admin
	filled bool
}

func openTable(ctx context.Context, o options) (*table, error) {
	if o.zookeeper == "" || o.workloads == "" {
		return nil, fmt.Errorf("-zookeeper %q, -workloads %q: both must be given", o.zookeeper, o.workloads)
	}
	client, err := hbase.Open(ctx, hbase.Options{
		Registry: registry.Config{Quorum: []string{o.zookeeper}}, RPC: rpc.Options{User: "root"},
	})
	if err != nil {
		return nil, fmt.Errorf("connect to HBase: %w", err)
	}
	return &table{o: o, client: client, admin: admin.New(admin.Of(client), admin.Options{Deadline: 2 * time.Minute})}, nil
}

// close drops the table.
func (t *table) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = t.drop(ctx) // what is left is replaced the next time
	_ = t.client.Close()
}

// options tell a tool of the table and of HBase.
func (t *table) options() []string {
	host, port, err := net.SplitHostPort(t.o.zookeeper)
	if err != nil {
		host, port = t.o.zookeeper, "2181"
	}
	return []string{
		"-p", "table=" + benchTable, "-p", "columnfamily=" + benchFamily,
		"-p", "hbase.zookeeper.quorum=" + host, "-p", "hbase.zookeeper.property.clientPort=" + port,
	}
}

func (t *table) drop(ctx context.Context) error {
	exists, err := t.admin.Exists(ctx, benchTable)
	if err != nil || !exists {
		return err
	}
	return t.admin.Delete(ctx, benchTable)
}

// empty makes the table anew, in regions that share the keys.
func (t *table) empty(ctx context.Context) error {
	t.filled = false
	if err := t.drop(ctx); err != nil {
		return err
	}
	keys, err := admin.SplitKeys(benchRegions, admin.Keys{})
	if err != nil {
		return err
	}
	return t.admin.CreateTable(ctx, admin.Table{
		Name: benchTable, Families: []admin.Family{{Name: benchFamily}}, SplitKeys: keys,
	})
}

// fill has the table hold all records in one file of each region.
func (t *table) fill(ctx context.Context) error {
	if !t.filled {
		if err := t.load(ctx); err != nil {
			return err
		}
	}
	if err := t.admin.Flush(ctx, benchTable); err != nil {
		return err
	}
	if err := t.admin.MajorCompact(ctx, benchTable); err != nil {
		return err
	}
	return t.rest(ctx)
}

// load makes the table with all its records.
func (t *table) load(ctx context.Context) error {
	if err := t.empty(ctx); err != nil {
		return err
	}
	args := append([]string{"load", "hbase"}, pathOption(oursName, filepath.Join(t.o.workloads, "workloada"))...)
	args = append(args, "-threads", "16", "-p", "clientbuffering=true", "-p", "recordcount="+strconv.Itoa(ycsbRecords))
	s, err := t.o.ours.run(ctx, append(args, t.options()...), readYCSB)
	if err != nil {
		return err
	}
	if s.operations != ycsbRecords {
		return fmt.Errorf("%d of %d records were loaded", s.operations, ycsbRecords)
	}
	t.filled = true
	return nil
}

// settle writes what is in memory to files and waits for the compactions that follow.
func (t *table) settle(ctx context.Context) error {
	if err := t.admin.Flush(ctx, benchTable); err != nil {
		return err
	}
	return t.rest(ctx)
}

// rest waits until no compaction is under way. The servers of hack/hbase tell of their queues twice a second.
func (t *table) rest(ctx context.Context) error {
	settled, err := t.admin.WaitForCompaction(ctx, benchTable, admin.WaitOptions{
		Settle: 800 * time.Millisecond, Poll: 200 * time.Millisecond, Deadline: 2 * time.Minute,
	})
	if err != nil {
		return err
	}
	if settled.QueuesError != nil {
		return fmt.Errorf("read the servers' compaction queues: %w", settled.QueuesError)
	}
	return nil
}
