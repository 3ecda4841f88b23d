package step

import (
	"context"
	"errors"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/hbasedb"
)

// A Target is HBase with the plan's table, as steps see it. Its methods may be called concurrently.
type Target interface {
	Status(ctx context.Context) (admin.Status, error)
	// Descriptor describes the table; one that does not exist is hbase.ErrTableNotFound.
	Descriptor(ctx context.Context) (admin.Table, error)
	NamespaceExists(ctx context.Context, namespace string) (bool, error)
	CreateTable(ctx context.Context, table admin.Table) error
	// AwaitOnline waits until all regions of the table answer.
	AwaitOnline(ctx context.Context) error
	// SetValues sets attributes of the table.
	SetValues(ctx context.Context, values map[string]string) error
	Drop(ctx context.Context) error
	Flush(ctx context.Context) error
	MajorCompact(ctx context.Context) error
	// Look sees how far compactions are; queues are read at the web addresses given.
	Look(ctx context.Context, web []string) (admin.Look, error)
	// Regions are those of the table.
	Regions(ctx context.Context) ([]hbase.LocatedRegion, error)
	// Reach connects to RegionServers, host:port.
	Reach(ctx context.Context, servers []string) error
	// Rows is what one goroutine reads and writes rows with.
	Rows() Rows
	// Open finds out that table and column family can be used, and connects to all servers of the table.
	Open(ctx context.Context) (ycsb.DB, error)
	Counters() hbase.Counters
	Close() error
}

// Rows reads and writes rows, one after the other.
type Rows interface {
	Get(ctx context.Context, get *hbase.Get) (hbase.Row, error)
	Mutate(ctx context.Context, mutation *hbase.Mutation) error
}

// connectTimeout bounds the search for HBase, so that a wrong address is known in seconds.
const connectTimeout = 20 * time.Second

// Connect connects to the HBase that configuration and properties name, by its own protocols.
func Connect(ctx context.Context, env *Env, properties *ycsb.Properties) (Target, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	o := hbasedb.Options{
		Properties: properties, Conf: env.Conf, User: env.User, LookupEnv: lookupEnv(env), Clock: env.Clock, Log: env.Log,
		Seed: uint64(env.Plan.YCSB.Seed) + uint64(env.Index),
	}
	db, err := hbasedb.Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	return &connection{
		table: env.Plan.YCSB.Table, options: o, db: db,
		admin: admin.New(admin.Of(db.Client()), admin.Options{Clock: env.Clock, Log: env.Log}),
	}, nil
}

// lookupEnv is the environment, in which the plan's krb5.conf stands over that of the pod.
func lookupEnv(env *Env) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if k := env.Plan.Target.Kerberos; k != nil && k.Krb5Conf != "" && name == "KRB5_CONFIG" {
			return k.Krb5Conf, true
		}
		return env.LookupEnv(name)
	}
}

// checkBootstrap wants the configuration to say where HBase is: HBase's own default is this very pod.
func checkBootstrap(c *conf.Conf) error {
	names := []string{"hbase.zookeeper.quorum", "hbase.client.bootstrap.servers", "hbase.masters"}
	for _, name := range names {
		value, err := c.String(name, "")
		if err != nil {
			return steps.ConfigError(err)
		}
		if value != "" {
			return nil
		}
	}
	return &steps.Error{Exit: report.ExitPlan, Failure: report.Failure{
		Reason:  steps.ReasonConfigInvalid,
		Message: "the configuration does not say where HBase is: none of hbase.zookeeper.quorum, hbase.client.bootstrap.servers and hbase.masters is set",
		Remedy:  "put hbase-site.xml into the ConfigMap of spec.target.hadoopConfig, or set hbase.zookeeper.quorum in spec.target.properties",
	}}
}

// connection is a client as a target.
type connection struct {
	table   string
	options hbasedb.Options
	db      *hbasedb.DB
	admin   *admin.Admin
}

func (c *connection) Status(ctx context.Context) (admin.Status, error) { return c.admin.Status(ctx) }

func (c *connection) Descriptor(ctx context.Context) (admin.Table, error) {
	return c.admin.Descriptor(ctx, c.table)
}

func (c *connection) NamespaceExists(ctx context.Context, namespace string) (bool, error) {
	return c.admin.NamespaceExists(ctx, namespace)
}

func (c *connection) CreateTable(ctx context.Context, table admin.Table) error {
	return c.admin.CreateTable(ctx, table)
}

// AwaitOnline enables a table that is enabled already, which waits for its regions.
func (c *connection) AwaitOnline(ctx context.Context) error { return c.admin.Enable(ctx, c.table) }

func (c *connection) SetValues(ctx context.Context, values map[string]string) error {
	return c.admin.SetValues(ctx, c.table, values)
}

func (c *connection) Drop(ctx context.Context) error { return c.admin.Delete(ctx, c.table) }

func (c *connection) Flush(ctx context.Context) error { return c.admin.Flush(ctx, c.table) }

func (c *connection) MajorCompact(ctx context.Context) error {
	return c.admin.MajorCompact(ctx, c.table)
}

func (c *connection) Look(ctx context.Context, web []string) (admin.Look, error) {
	if web == nil {
		web = []string{}
	}
	return c.admin.Look(ctx, c.table, admin.WaitOptions{Web: web})
}

func (c *connection) Regions(ctx context.Context) ([]hbase.LocatedRegion, error) {
	return c.db.Client().Regions(ctx, c.table)
}

func (c *connection) Reach(ctx context.Context, servers []string) error {
	return c.db.Reach(ctx, servers)
}

func (c *connection) Rows() Rows { return c.db.Client().Session() }

func (c *connection) Open(ctx context.Context) (ycsb.DB, error) {
	if err := c.db.Prepare(ctx, c.options); err != nil {
		return nil, err
	}
	return openDB{c.db}, nil
}

// openDB is the database of a connection, which closes it.
type openDB struct{ *hbasedb.DB }

func (openDB) Close() error { return nil }

func (c *connection) Counters() hbase.Counters { return c.db.Counters() }

func (c *connection) Close() error { return c.db.Close() }

// missing tells that the table does not exist.
func missing(err error) bool { return errors.Is(err, hbase.ErrTableNotFound) }

// namespaceOf is the namespace that a table's name begins with; empty for the default one, which always exists.
func namespaceOf(y *plan.YCSB) string {
	for i := range len(y.Table) {
		if y.Table[i] == ':' {
			return y.Table[:i]
		}
	}
	return ""
}
