package hbasedb

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// openTimeout bounds Open: what is wrong with an address is known in seconds.
const openTimeout = 2 * time.Minute

// Options are what the binding is opened with. All fields but Seed must be set.
type Options struct {
	Properties *ycsb.Properties
	// Conf is Hadoop's and HBase's configuration: see [hbase.ConfFiles]. Properties stand over it.
	Conf *conf.Conf
	// User acts where nothing is proved.
	User      string
	LookupEnv func(name string) (string, bool)
	Clock     measure.Clock
	Log       *slog.Logger
	Seed      uint64 // of the random part of waits
}

// A DB is a table of HBase. It is a ycsb.DB.
type DB struct {
	client   *hbase.Client
	login    sasl.Login // nil without Kerberos
	settings Settings
	log      *slog.Logger
	facts    map[string]string
}

// Open connects to HBase and prepares the table. Its errors are [*steps.Error].
func Open(ctx context.Context, o Options) (*DB, error) {
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	db, err := Connect(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := db.Prepare(ctx, o); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Connect connects to HBase and does not look at the table yet. Its errors are [*steps.Error].
func Connect(ctx context.Context, o Options) (*DB, error) {
	settings, err := ReadSettings(o.Properties)
	if err != nil {
		return nil, steps.PlanError(err)
	}
	db := &DB{settings: settings, log: o.Log}
	if err := db.connect(ctx, o); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// Prepare looks whether table and column family exist, before anything is written; then it locates all regions and connects
// to their servers. It must be called before sessions are made. Its errors are [*steps.Error].
func (db *DB) Prepare(ctx context.Context, o Options) error {
	a := admin.New(admin.Of(db.client), admin.Options{Clock: o.Clock, Log: o.Log})
	regions, table, err := db.check(ctx, a, o.Properties)
	if err != nil {
		return err
	}
	if regions, err = db.warm(ctx, o.Clock, regions); err != nil {
		return err
	}
	db.facts = gather(ctx, a, db.settings, regions, table)
	return nil
}

// Client is what the table is reached by.
func (db *DB) Client() *hbase.Client { return db.client }

// connect logs in and makes the client.
func (db *DB) connect(ctx context.Context, o Options) error {
	c := o.Conf
	for _, name := range slices.Sorted(maps.Keys(db.settings.Configuration)) {
		if !effective(name) {
			o.Log.Warn("A property has no effect on this client", "property", name)
		}
		c = c.With(name, db.settings.Configuration[name])
	}
	var err error
	if db.login, err = logIn(c, db.settings, o.LookupEnv); err != nil {
		return err
	}
	options, err := hbase.FromConf(c, hbase.Identity{User: o.User, Kerberos: db.login})
	if err != nil {
		return steps.ConfigError(err)
	}
	options.Clock, options.Seed = o.Clock, o.Seed
	if db.client, err = hbase.Open(ctx, options); err != nil {
		return unreachable(err, options)
	}
	return nil
}

// logIn is who acts under Kerberos: principal and keytab of the properties, or else the ticket cache if HBase's
// configuration asks for Kerberos. It is nil under simple authentication. No ticket is asked for yet.
func logIn(c *conf.Conf, s Settings, lookupEnv func(string) (string, bool)) (sasl.Login, error) {
	method, err := c.String("hbase.security.authentication", "simple")
	if err != nil {
		return nil, steps.ConfigError(err)
	}
	if s.Principal == "" && method != "kerberos" {
		return nil, nil
	}
	fromEnv, _ := lookupEnv("KRB5_CONFIG")
	krb5Conf := cmp.Or(fromEnv, "/etc/krb5.conf")
	if s.Principal != "" {
		login, err := sasl.FromKeytab(s.Principal, s.Keytab, krb5Conf)
		return login, loginError(err, "correct the properties principal and keytab, and the environment variable KRB5_CONFIG")
	}
	cache, _ := lookupEnv("KRB5CCNAME")
	login, err := sasl.FromCache(cmp.Or(cache, fmt.Sprintf("/tmp/krb5cc_%d", os.Getuid())), krb5Conf)
	return login, loginError(err, "run kinit, or set the properties principal and keytab")
}

// Session makes what one thread uses. Regions and connections are there already.
func (db *DB) Session(ctx context.Context) (ycsb.Session, error) {
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return newSession(db), nil
}

// Facts tell of the cluster and the table as they were when the table was opened.
func (db *DB) Facts() map[string]string { return maps.Clone(db.facts) }

// Counters is what the client met so far.
func (db *DB) Counters() hbase.Counters { return db.client.Counters() }

// Close ends the connections.
func (db *DB) Close() error {
	var failures []error
	if db.client != nil {
		failures = append(failures, db.client.Close())
	}
	if db.login != nil {
		failures = append(failures, db.login.Close())
	}
	return errors.Join(failures...)
}
