package hbasedb_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/hbasedb"
)

// cluster has table usertable with family f in three regions on two servers, and a disabled table.
func cluster(t *testing.T, o hbasetest.Options) *hbasetest.Cluster {
	o.Servers = 2
	o.Tables = append(o.Tables,
		hbasetest.Table{Name: "usertable", Families: []string{"f"}, Splits: []string{"user3", "user6"}},
		hbasetest.Table{Name: "off", Families: []string{"f"}, Disabled: true})
	return hbasetest.Start(t, o)
}

func options(t *testing.T, c *hbasetest.Cluster, set ...string) hbasedb.Options {
	t.Helper()
	set = append([]string{
		"columnfamily=f", "hbase.client.registry.impl=RpcConnectionRegistry",
		"hbase.client.bootstrap.servers=" + strings.Join(c.Registry().Servers, ","),
	}, set...)
	loaded, err := conf.Load(nil, conf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return hbasedb.Options{
		Properties: properties(t, set...), Conf: loaded, User: "tester", Clock: measure.System(),
		LookupEnv: func(string) (string, bool) { return "", false }, Log: slog.New(slog.DiscardHandler),
	}
}

// open opens the table and one session of it.
func open(t *testing.T, o hbasedb.Options) (*hbasedb.DB, ycsb.Session) {
	t.Helper()
	db, err := hbasedb.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	session, err := db.Session(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return db, session
}

func fields(pairs ...string) []ycsb.Field {
	var list []ycsb.Field
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, ycsb.Field{Name: []byte(pairs[i]), Value: []byte(pairs[i+1])})
	}
	return list
}

// text shows a record.
func text(record ycsb.Record) string {
	var b strings.Builder
	for _, f := range record {
		fmt.Fprintf(&b, "%s=%s ", f.Name, f.Value)
	}
	return strings.TrimSpace(b.String())
}

func expect(t *testing.T, what string, got ycsb.Status, err error, want ycsb.Status) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: status %v, error %v, want %v", what, got, err, want)
	}
	if good := got == ycsb.OK || got == ycsb.BatchedOK; good != (err == nil) {
		t.Errorf("%s: status %v with error %v", what, got, err)
	}
}

func TestRoundTrip(t *testing.T) {
	_, session := open(t, options(t, cluster(t, hbasetest.Options{})))
	roundTrip(t, session)
}

// roundTrip needs an empty table.
func roundTrip(t *testing.T, session ycsb.Session) {
	t.Helper()
	ctx := t.Context()
	for i := range 10 {
		status, err := session.Insert(ctx, fmt.Appendf(nil, "user%d", i), fields("field0", fmt.Sprint(i), "field1", "b"))
		expect(t, "insert", status, err, ycsb.OK)
	}
	status, err := session.Update(ctx, []byte("user5"), fields("field1", "new"))
	expect(t, "update", status, err, ycsb.OK)

	var record ycsb.Record
	status, err = session.Read(ctx, []byte("user5"), nil, &record)
	expect(t, "read", status, err, ycsb.OK)
	if got, want := text(record), "field0=5 field1=new"; got != want {
		t.Errorf("read %q, want %q", got, want)
	}
	status, err = session.Read(ctx, []byte("user5"), [][]byte{[]byte("field1")}, &record)
	expect(t, "read one field", status, err, ycsb.OK)
	if got, want := text(record), "field1=new"; got != want {
		t.Errorf("read %q, want %q", got, want)
	}

	var rows []string
	visit := func(record ycsb.Record) { rows = append(rows, text(record)) }
	status, err = session.Scan(ctx, []byte("user2"), 5, [][]byte{[]byte("field0")}, visit)
	expect(t, "scan over regions", status, err, ycsb.OK)
	if diff := cmp.Diff([]string{"field0=2", "field0=3", "field0=4", "field0=5", "field0=6"}, rows); diff != "" {
		t.Errorf("scan (-want +got):\n%s", diff)
	}
	rows = nil
	status, err = session.Scan(ctx, []byte("user8"), 100, nil, visit)
	expect(t, "scan beyond the end", status, err, ycsb.OK)
	if diff := cmp.Diff([]string{"field0=8 field1=b", "field0=9 field1=b"}, rows); diff != "" {
		t.Errorf("scan (-want +got):\n%s", diff)
	}
	status, err = session.Scan(ctx, []byte("vser"), 100, nil, func(ycsb.Record) { t.Error("a row behind the last one") })
	expect(t, "scan nothing", status, err, ycsb.OK)

	status, err = session.Delete(ctx, []byte("user5"))
	expect(t, "delete", status, err, ycsb.OK)
	status, err = session.Read(ctx, []byte("user5"), nil, &record)
	expect(t, "read what was deleted", status, err, ycsb.NotFound)
	if len(record) != 0 {
		t.Errorf("a record that was not found has fields: %q", text(record))
	}
	var classed ycsb.Classed
	if !errors.As(err, &classed) || classed.ErrorClass() != "NotFound" {
		t.Errorf("error %v, want one of class NotFound", err)
	}
	status, err = session.Close(ctx)
	expect(t, "close", status, err, ycsb.OK)
}

func TestOpenRefuses(t *testing.T) {
	c := cluster(t, hbasetest.Options{})
	tests := []struct {
		name, set        string
		exit             int
		reason           string
		message, remedy  string
		connectsToNobody bool
	}{
		{
			name: "no such table", set: "table=nix", exit: report.ExitTarget, reason: "TableNotFound",
			message: "Table nix does not exists",
			remedy:  "create it in the HBase shell: create 'nix', 'f', SPLITS => ['user30752', 'user51505', 'user72257']",
		},
		{
			name: "no such family", set: "columnfamily=g", exit: report.ExitTarget, reason: "ColumnFamilyNotFound",
			message: `table usertable has no column family "g"`, remedy: "add it in the HBase shell: alter 'usertable', 'g'",
		},
		{
			name: "a disabled table", set: "table=off", exit: report.ExitTarget, reason: "TableDisabled",
			message: "table is disabled", remedy: "enable it in the HBase shell: enable 'off'",
		},
		{
			name: "a property that cannot be", set: "durability=maybe", exit: report.ExitPlan, reason: steps.ReasonPlanInvalid,
			message: "property durability=maybe",
		},
		{
			name: "a setting that cannot be", set: "hbase.rpc.timeout=soon", exit: report.ExitPlan, reason: steps.ReasonConfigInvalid,
			message: "hbase.rpc.timeout", remedy: "correct",
		},
		{
			name: "no keytab", set: "principal=alice@A", exit: report.ExitPlan, reason: steps.ReasonPlanInvalid, message: "keytab",
		},
		{
			name: "nobody there", set: "hbase.client.bootstrap.servers=127.0.0.1:1", exit: report.ExitTarget, reason: "HBaseUnreachable",
			message: "127.0.0.1:1", remedy: "hbase.client.bootstrap.servers names them: 127.0.0.1:1",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			db, err := hbasedb.Open(t.Context(), options(t, c, test.set))
			if err == nil {
				_ = db.Close()
				t.Fatal("no error")
			}
			var failure *steps.Error
			if !errors.As(err, &failure) {
				t.Fatalf("error %v, want a *steps.Error", err)
			}
			if failure.Exit != test.exit || failure.Failure.Reason != test.reason {
				t.Errorf("exit %d, reason %s, want %d, %s", failure.Exit, failure.Failure.Reason, test.exit, test.reason)
			}
			if !strings.Contains(failure.Failure.Message, test.message) || !strings.Contains(failure.Failure.Remedy, test.remedy) {
				t.Errorf("message %q\nremedy %q\nwant %q\nand %q", failure.Failure.Message, failure.Failure.Remedy, test.message, test.remedy)
			}
			if got := c.Calls("Mutate") + c.Calls("Multi"); got != 0 {
				t.Errorf("%d calls that write", got)
			}
		})
	}
}

// TestOpenPrepares: no operation waits for a connection or for hbase:meta.
func TestOpenPrepares(t *testing.T) {
	c := cluster(t, hbasetest.Options{})
	db, session := open(t, options(t, c, "hbase.client.ipc.pool.size=2"))
	located := c.Calls("meta.Scan")
	for i := range 10 {
		status, err := session.Insert(t.Context(), fmt.Appendf(nil, "user%d", i), fields("field0", "a"))
		expect(t, "insert", status, err, ycsb.OK)
	}
	if got := c.Calls("meta.Scan"); got != located {
		t.Errorf("hbase:meta was asked %d times by operations, want never", got-located)
	}
	want := map[string]string{"table": "usertable", "table.columnFamily": "f", "table.regions": "3", "hbase.walProvider": "unknown"}
	facts := db.Facts()
	for name, value := range want {
		if facts[name] != value {
			t.Errorf("fact %s is %q, want %q", name, facts[name], value)
		}
	}
	if !strings.HasPrefix(facts["hbase.version"], "unknown: ") {
		t.Errorf("fact hbase.version is %q; the master here does not tell it", facts["hbase.version"])
	}
}

func TestBuffered(t *testing.T) {
	c := cluster(t, hbasetest.Options{})
	_, session := open(t, options(t, c, "clientbuffering=true", "writebuffersize=1000000"))
	ctx, sent := t.Context(), c.Calls("Multi")
	for i := range 10 {
		status, err := session.Insert(ctx, fmt.Appendf(nil, "user%d", i), fields("field0", "a"))
		expect(t, "insert", status, err, ycsb.BatchedOK)
	}
	status, err := session.Delete(ctx, []byte("user3"))
	expect(t, "delete", status, err, ycsb.BatchedOK)
	if got := c.Rows("usertable"); got != 0 || c.Calls("Multi") != sent {
		t.Errorf("before close: %d rows, %d requests; want all buffered", got, c.Calls("Multi")-sent)
	}
	status, err = session.Close(ctx)
	expect(t, "close", status, err, ycsb.OK)
	if got := c.Rows("usertable"); got != 9 {
		t.Errorf("after close: %d rows, want 9", got)
	}
}

func TestBufferedFailures(t *testing.T) {
	var refuse atomic.Bool
	c := cluster(t, hbasetest.Options{Fault: func(r hbasetest.Request) hbasetest.Fault {
		if !refuse.Load() {
			return hbasetest.Fault{}
		}
		return hbasetest.Fault{Exception: &hbasetest.Exception{Class: "org.apache.hadoop.hbase.DoNotRetryIOException", Message: "no", DoNotRetry: true}}
	}})
	_, session := open(t, options(t, c, "clientbuffering=true", "writebuffersize=250"))
	refuse.Store(true)
	ctx := t.Context()
	statuses := map[ycsb.Status]int{}
	var failure error
	for i := range 20 { // several buffers full
		status, err := session.Insert(ctx, fmt.Appendf(nil, "user%d", i), fields("field0", "a"))
		statuses[status]++
		if err != nil {
			failure = err
		}
	}
	if statuses[ycsb.ErrorStatus] == 0 || statuses[ycsb.BatchedOK] == 0 || len(statuses) != 2 {
		t.Errorf("statuses %v, want those that learn of a failed flush to fail, and others to be buffered", statuses)
	}
	var classed ycsb.Classed
	if !errors.As(failure, &classed) || classed.ErrorClass() != "DoNotRetryIOException" {
		t.Errorf("error %v, want one of class DoNotRetryIOException", failure)
	}
	refuse.Store(false)
	status, err := session.Close(ctx)
	expect(t, "close", status, err, ycsb.ErrorStatus)
	var lost *hbasedb.LostError
	if !errors.As(err, &lost) || lost.Buffered != 20 || lost.Lost+int64(c.Rows("usertable")) != 20 || lost.Lost < int64(statuses[ycsb.ErrorStatus]) {
		t.Errorf("error %v with %d rows in the table, want all of 20 mutations in one of the two", err, c.Rows("usertable"))
	}
	if lost != nil && lost.ErrorClass() != "DoNotRetryIOException" {
		t.Errorf("class %s, want DoNotRetryIOException", lost.ErrorClass())
	}
}

func TestErrorsTellTheirClass(t *testing.T) {
	var exception atomic.Pointer[hbasetest.Exception]
	c := cluster(t, hbasetest.Options{Fault: func(hbasetest.Request) hbasetest.Fault {
		return hbasetest.Fault{Exception: exception.Load()}
	}})
	_, session := open(t, options(t, c, "hbase.client.retries.number=2", "hbase.client.pause=1"))
	for _, class := range []string{"RegionTooBusyException", "NotServingRegionException", "security.AccessDeniedException"} {
		exception.Store(&hbasetest.Exception{Class: "org.apache.hadoop.hbase." + class, Message: "no"})
		want := class[strings.LastIndexByte(class, '.')+1:]
		var record ycsb.Record
		for operation, act := range map[string]func() (ycsb.Status, error){
			"read":   func() (ycsb.Status, error) { return session.Read(t.Context(), []byte("user1"), nil, &record) },
			"update": func() (ycsb.Status, error) { return session.Update(t.Context(), []byte("user1"), fields("a", "b")) },
			"delete": func() (ycsb.Status, error) { return session.Delete(t.Context(), []byte("user1")) },
			"scan": func() (ycsb.Status, error) {
				return session.Scan(t.Context(), []byte("user1"), 1, nil, func(ycsb.Record) {})
			},
		} {
			status, err := act()
			expect(t, operation, status, err, ycsb.ErrorStatus)
			var classed ycsb.Classed
			if !errors.As(err, &classed) || classed.ErrorClass() != want {
				t.Errorf("%s: error %v, want class %s", operation, err, want)
			}
		}
	}
}

// TestNoAllocation: in the steady state reads and updates need no new memory. The servers of the test need none either.
func TestNoAllocation(t *testing.T) {
	c := cluster(t, hbasetest.Options{Null: true, NullColumns: 10, NullValue: 100})
	_, session := open(t, options(t, c))
	ctx, key, values := t.Context(), []byte("user4"), fields("field0", strings.Repeat("a", 100))
	var record ycsb.Record
	operations := map[string]func(){
		"read": func() {
			if status, err := session.Read(ctx, key, nil, &record); status != ycsb.OK || len(record) != 10 {
				t.Errorf("read: %v, %v, %d fields", status, err, len(record))
			}
		},
		"update": func() {
			if status, err := session.Update(ctx, key, values); status != ycsb.OK {
				t.Errorf("update: %v, %v", status, err)
			}
		},
	}
	for name, act := range operations {
		if allocations := testing.AllocsPerRun(2000, act); allocations != 0 {
			t.Errorf("%s: %v allocations", name, allocations)
		}
	}
}
