package admin

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"log/slog"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
	"github.com/hadoop-bench/operator/runner/measure"
)

// A Cluster is what an Admin needs of a client: see [Of].
type Cluster interface {
	// Master returns the address, host:port, of the active master.
	Master(ctx context.Context) (string, error)
	// Regions returns the regions of a table in order, as hbase:meta says now. A region that is on no server has none. A
	// table that has no region in hbase:meta is hbase.ErrTableNotFound, or has none here.
	Regions(ctx context.Context, table string) ([]hbase.LocatedRegion, error)
	// Do carries out one call, without repeating it.
	Do(ctx context.Context, call *rpc.Call) error
}

// Of is a client as a Cluster.
func Of(client *hbase.Client) Cluster { return clientCluster{client} }

type clientCluster struct{ *hbase.Client }

func (c clientCluster) Master(ctx context.Context) (string, error) {
	server, err := c.Registry().Master(ctx)
	return server.Address, err
}

func (c clientCluster) Do(ctx context.Context, call *rpc.Call) error { return c.RPC().Do(ctx, call) }

// Options of an Admin. What is not set has the default that is said beside it.
type Options struct {
	// Clock waits between polls. Default: the system's.
	Clock measure.Clock
	// Deadline bounds each method whose context has no deadline. Default: 10 min.
	Deadline time.Duration
	// CallTimeout bounds each request; a flush is one request for each region. Default: 60 s.
	CallTimeout time.Duration
	// Nonce returns random numbers, by which a master recognises a request that is sent again. Default: crypto/rand.
	Nonce func() uint64
	// Log tells of steps that take long. Default: none.
	Log *slog.Logger
}

// An Admin administers the tables of one cluster. It may be used concurrently.
type Admin struct {
	cluster Cluster
	options Options
	group   uint64 // of the nonces
}

// New returns an Admin.
func New(cluster Cluster, o Options) *Admin {
	if o.Clock == nil {
		o.Clock = measure.System()
	}
	o.Deadline = cmp.Or(o.Deadline, 10*time.Minute)
	o.CallTimeout = cmp.Or(o.CallTimeout, time.Minute)
	if o.Nonce == nil {
		o.Nonce = nonce
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Admin{cluster: cluster, options: o, group: o.Nonce()}
}

// nonce is never 0, which means none.
func nonce() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:]) | 1
}

// bounded gives a context a deadline if it has none.
func (a *Admin) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, a.options.Deadline)
}

// CreateTable creates a table and waits until all its regions are on servers that answer. A table of that name is
// ErrTableExists.
func (a *Admin) CreateTable(ctx context.Context, t Table) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	return fail("create table", t.Name, a.createTable(ctx, t))
}

func (a *Admin) createTable(ctx context.Context, t Table) error {
	if err := t.check(); err != nil {
		return err
	}
	request := wire.CreateTableRequest_builder{
		TableSchema: t.schema(), SplitKeys: t.SplitKeys, NonceGroup: &a.group, Nonce: proto.Uint64(a.options.Nonce()),
	}.Build()
	response := &wire.CreateTableResponse{}
	err := a.master(ctx, "CreateTable", request, response)
	if err == nil && response.HasProcId() {
		err = a.procedure(ctx, response.GetProcId())
	}
	if rpc.Is(err, "TableExistsException") {
		return fmt.Errorf("%w: %w", ErrTableExists, err)
	}
	if err != nil {
		return err
	}
	return a.online(ctx, t.Name, len(t.SplitKeys)+1)
}

// Delete disables a table if it is enabled, and deletes it. One that does not exist is hbase.ErrTableNotFound.
func (a *Admin) Delete(ctx context.Context, table string) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	return fail("delete table", table, a.delete(ctx, table))
}

func (a *Admin) delete(ctx context.Context, table string) error {
	if err := a.disable(ctx, table); err != nil {
		return err
	}
	name, err := tableName(table)
	if err != nil {
		return err
	}
	request := wire.DeleteTableRequest_builder{TableName: name, NonceGroup: &a.group, Nonce: proto.Uint64(a.options.Nonce())}.Build()
	response := &wire.DeleteTableResponse{}
	if err := a.master(ctx, "DeleteTable", request, response); err != nil {
		return notFound(err)
	}
	if response.HasProcId() {
		if err := a.procedure(ctx, response.GetProcId()); err != nil {
			return err
		}
	}
	return a.poll(ctx, func() (bool, string, error) {
		regions, err := a.regions(ctx, table)
		return len(regions) == 0, fmt.Sprintf("%d regions are left", len(regions)), err
	})
}

// Disable takes a table's regions off the servers. A table that is disabled stays so.
func (a *Admin) Disable(ctx context.Context, table string) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	return fail("disable table", table, a.disable(ctx, table))
}

func (a *Admin) disable(ctx context.Context, table string) error {
	name, err := tableName(table)
	if err != nil {
		return err
	}
	request := wire.DisableTableRequest_builder{TableName: name, NonceGroup: &a.group, Nonce: proto.Uint64(a.options.Nonce())}.Build()
	response := &wire.DisableTableResponse{}
	err = a.master(ctx, "DisableTable", request, response)
	if err == nil && response.HasProcId() {
		err = a.procedure(ctx, response.GetProcId())
	}
	if rpc.Is(err, "TableNotEnabledException") {
		return nil
	}
	return notFound(err)
}

// Enable puts a table's regions on servers, and waits until they answer. A table that is enabled stays so.
func (a *Admin) Enable(ctx context.Context, table string) error {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	return fail("enable table", table, a.enable(ctx, table))
}

func (a *Admin) enable(ctx context.Context, table string) error {
	name, err := tableName(table)
	if err != nil {
		return err
	}
	request := wire.EnableTableRequest_builder{TableName: name, NonceGroup: &a.group, Nonce: proto.Uint64(a.options.Nonce())}.Build()
	response := &wire.EnableTableResponse{}
	err = a.master(ctx, "EnableTable", request, response)
	if err == nil && response.HasProcId() {
		err = a.procedure(ctx, response.GetProcId())
	}
	if err != nil && !rpc.Is(err, "TableNotDisabledException") {
		return notFound(err)
	}
	return a.online(ctx, table, 0)
}

// notFound makes HBase's exception hbase.ErrTableNotFound too.
func notFound(err error) error {
	if rpc.Is(err, "TableNotFoundException") {
		return fmt.Errorf("%w: %w", hbase.ErrTableNotFound, err)
	}
	return err
}

// Exists says whether there is a table of that name.
func (a *Admin) Exists(ctx context.Context, table string) (bool, error) {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	_, found, err := a.describe(ctx, table)
	return found, fail("look for table", table, err)
}

// Descriptor describes a table, without its split keys. One that does not exist is hbase.ErrTableNotFound.
func (a *Admin) Descriptor(ctx context.Context, table string) (Table, error) {
	ctx, cancel := a.bounded(ctx)
	defer cancel()
	t, found, err := a.describe(ctx, table)
	if err == nil && !found {
		err = hbase.ErrTableNotFound
	}
	return t, fail("describe table", table, err)
}

func (a *Admin) describe(ctx context.Context, table string) (Table, bool, error) {
	name, err := tableName(table)
	if err != nil {
		return Table{}, false, err
	}
	request := wire.GetTableDescriptorsRequest_builder{TableNames: []*wire.TableName{name}}.Build()
	response := &wire.GetTableDescriptorsResponse{}
	err = a.master(ctx, "GetTableDescriptors", request, response)
	if rpc.Is(err, "TableNotFoundException") {
		return Table{}, false, nil
	}
	if err != nil || len(response.GetTableSchema()) == 0 {
		return Table{}, false, err
	}
	return describedBy(response.GetTableSchema()[0]), true, nil
}
