package hbasedb_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/hbasedb"
)

// Environment variables that name the configuration directories of real servers: of a cluster, and of other versions,
// version=directory with commas between.
const (
	clusterEnv  = "HADOOPBENCH_TEST_HBASE"
	versionsEnv = "HADOOPBENCH_TEST_HBASE_VERSIONS"
	// A Kerberos realm's directory, with krb5.conf and keytabs, and the configuration directory of a cluster in it.
	realmEnv    = "HADOOPBENCH_TEST_HBASE_KERBEROS"
	kerberosEnv = "HADOOPBENCH_TEST_HBASE_KERBEROS_CONF"
)

func TestReal(t *testing.T) {
	dirs := map[string]string{"cluster": os.Getenv(clusterEnv)}
	for entry := range strings.SplitSeq(os.Getenv(versionsEnv), ",") {
		if version, dir, ok := strings.Cut(entry, "="); ok {
			dirs[version] = dir
		}
	}
	for name, dir := range dirs {
		t.Run(name, func(t *testing.T) {
			if dir == "" {
				t.Skipf("%s does not name a cluster", clusterEnv)
			}
			testReal(t, dir, func(string) (string, bool) { return "", false })
		})
	}
}

func TestRealKerberos(t *testing.T) {
	dir, realm := os.Getenv(kerberosEnv), os.Getenv(realmEnv)
	if dir == "" || realm == "" {
		t.Skipf("%s and %s do not name a cluster with Kerberos", kerberosEnv, realmEnv)
	}
	lookupEnv := func(name string) (string, bool) {
		return filepath.Join(realm, "krb5.conf"), name == "KRB5_CONFIG"
	}
	keytab := filepath.Join(realm, "keytabs", "alice.keytab")
	for _, protection := range []string{"authentication", "privacy"} {
		t.Run(protection, func(t *testing.T) {
			testReal(t, dir, lookupEnv, "principal=alice@HB.TEST", "keytab="+keytab, "hbase.rpc.protection="+protection)
		})
	}
	t.Run("with another's keytab", func(t *testing.T) {
		o := realOptions(t, loadReal(t, dir), "t", lookupEnv, "principal=bob@HB.TEST", "keytab="+keytab)
		_, err := hbasedb.Open(t.Context(), o)
		var failure *steps.Error
		if !errors.As(err, &failure) || !strings.Contains(err.Error(), "bob@HB.TEST") {
			t.Errorf("error %v, want a *steps.Error that names the principal", err)
		}
	})
}

func loadReal(t *testing.T, dir string) *conf.Conf {
	t.Helper()
	loaded, err := conf.LoadDir(dir, conf.Options{Files: hbase.ConfFiles()})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

type lookup = func(string) (string, bool)

func realOptions(t *testing.T, loaded *conf.Conf, table string, lookupEnv lookup, set ...string) hbasedb.Options {
	t.Helper()
	return hbasedb.Options{
		Properties: properties(t, append([]string{"columnfamily=f", "table=" + table}, set...)...), Conf: loaded,
		User: "hadoop-bench", Clock: measure.System(), Log: slog.New(slog.DiscardHandler), LookupEnv: lookupEnv,
	}
}

// testReal needs the properties that log in, if any.
func testReal(t *testing.T, dir string, lookupEnv lookup, login ...string) {
	loaded := loadReal(t, dir)
	table := createReal(t, loaded, lookupEnv, login)
	with := func(set ...string) hbasedb.Options {
		return realOptions(t, loaded, table, lookupEnv, append(set, login...)...)
	}
	db, session := open(t, with("durability=SYNC_WAL"))
	roundTrip(t, session)
	for _, durability := range []string{"SKIP_WAL", "ASYNC_WAL", "FSYNC_WAL"} {
		_, session := open(t, with("durability="+durability, "hbase.usepagefilter=false"))
		status, err := session.Insert(t.Context(), []byte("user1"), fields("field0", durability))
		expect(t, durability, status, err, ycsb.OK)
		rows := 0
		status, err = session.Scan(t.Context(), []byte("user1"), 3, nil, func(record ycsb.Record) {
			if rows++; rows == 1 && string(record[0].Value) != durability {
				t.Errorf("the first row has %q, want %q", text(record), durability)
			}
		})
		expect(t, "scan without a page filter", status, err, ycsb.OK)
		if rows != 3 {
			t.Errorf("scan without a page filter: %d rows, want 3", rows)
		}
	}
	buffered(t, with("clientbuffering=true", "writebuffersize=20000"))
	facts := db.Facts()
	t.Logf("facts: %v", facts)
	if facts["table.regions"] != "3" || facts["hbase.version"] == "" || strings.HasPrefix(facts["hbase.version"], "unknown") {
		t.Errorf("facts %v, want 3 regions and a version", facts)
	}
	refuses(t, with("table="+table+"_nix"), "TableNotFound")
	refuses(t, with("columnfamily=nix"), "ColumnFamilyNotFound")
}

// createReal creates a table in three regions, which is deleted at the end.
func createReal(t *testing.T, c *conf.Conf, lookupEnv lookup, login []string) string {
	t.Helper()
	id := hbase.Identity{User: "hadoop-bench"}
	for _, text := range login {
		name, value, _ := strings.Cut(text, "=")
		if strings.HasPrefix(name, "hbase.") {
			c = c.With(name, value)
		}
	}
	if len(login) > 0 {
		krb5Conf, _ := lookupEnv("KRB5_CONFIG")
		var err error
		_, principal, _ := strings.Cut(login[0], "=")
		_, keytab, _ := strings.Cut(login[1], "=")
		if id.Kerberos, err = sasl.FromKeytab(principal, keytab, krb5Conf); err != nil {
			t.Fatal(err)
		}
	}
	o, err := hbase.FromConf(c, id)
	if err != nil {
		t.Fatal(err)
	}
	client, err := hbase.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	a := admin.New(admin.Of(client), admin.Options{Deadline: time.Minute})
	table := fmt.Sprintf("a_binding_%d", time.Now().UnixNano())
	err = a.CreateTable(t.Context(), admin.Table{
		Name: table, Families: []admin.Family{{Name: "f"}}, SplitKeys: [][]byte{[]byte("user3"), []byte("user6")},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Delete(context.WithoutCancel(t.Context()), table) })
	return table
}

// buffered writes through a buffer that is filled some times, and counts what is there.
func buffered(t *testing.T, o hbasedb.Options) {
	t.Helper()
	_, session := open(t, o)
	const records = 500
	for i := range records {
		status, err := session.Insert(t.Context(), fmt.Appendf(nil, "user4buffered%03d", i), fields("field0", strings.Repeat("x", 100)))
		expect(t, "insert", status, err, ycsb.BatchedOK)
	}
	status, err := session.Close(t.Context())
	expect(t, "close", status, err, ycsb.OK)
	rows := 0
	status, err = session.Scan(t.Context(), []byte("user4buffered"), records, nil, func(ycsb.Record) { rows++ })
	expect(t, "scan", status, err, ycsb.OK)
	if rows != records {
		t.Errorf("%d rows, want %d", rows, records)
	}
}

func refuses(t *testing.T, o hbasedb.Options, reason string) {
	t.Helper()
	began := time.Now()
	db, err := hbasedb.Open(t.Context(), o)
	if err == nil {
		_ = db.Close()
		t.Fatalf("%s: no error", reason)
	}
	var failure *steps.Error
	if !errors.As(err, &failure) || failure.Exit != report.ExitTarget || failure.Failure.Reason != reason {
		t.Errorf("error %v, want exit %d and reason %s", err, report.ExitTarget, reason)
		return
	}
	t.Logf("after %v: %s; %s", time.Since(began).Round(time.Millisecond), failure.Failure.Message, failure.Failure.Remedy)
}
