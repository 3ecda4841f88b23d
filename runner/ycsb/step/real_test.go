package step_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// Environment variables that name real servers: the configuration directory of a cluster with two RegionServers;
// configuration directories of other versions, version=directory and commas; and a Kerberos realm, a directory with krb5.conf
// and keytabs/alice.keytab, with the configuration directory of its HBase.
const (
	clusterEnv      = "HADOOPBENCH_TEST_HBASE"
	versionsEnv     = "HADOOPBENCH_TEST_HBASE_VERSIONS"
	kerberosEnv     = "HADOOPBENCH_TEST_HBASE_KERBEROS"
	kerberosConfEnv = "HADOOPBENCH_TEST_HBASE_KERBEROS_CONF"
)

// realCluster is the cluster and the test's own client of it.
type realCluster struct {
	pods
	client *hbase.Client
	admin  *admin.Admin
	web    []string // of the RegionServers
}

func openCluster(t *testing.T) *realCluster {
	t.Helper()
	dir := os.Getenv(clusterEnv)
	if dir == "" {
		t.Skipf("%s is not set", clusterEnv)
	}
	c := &realCluster{pods: pods{t: t, conf: loadConf(t, dir)}}
	options, err := hbase.FromConf(c.conf, hbase.Identity{User: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if c.client, err = hbase.Open(t.Context(), options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.client.Close() })
	c.admin = admin.New(admin.Of(c.client), admin.Options{})
	// A region that moves loses its counts of requests.
	balanced, err := c.admin.Balancer(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := c.admin.Balancer(ctx, balanced); err != nil {
			t.Error(err)
		}
	})
	servers, err := c.admin.Servers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range servers {
		c.web = append(c.web, s.Web)
	}
	return c
}

// table is a name of the test's own, whose table is dropped in the end if it is still there.
func (c *realCluster) table(name string) string {
	table := fmt.Sprintf("k2_%s_%d", name, time.Now().UnixNano())
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = c.admin.Delete(ctx, table)
	})
	return table
}

// requests is how many reads and writes the RegionServers counted for a table.
func (c *realCluster) requests(table string) (reads, writes int64) {
	c.t.Helper()
	time.Sleep(3 * time.Second) // their metrics are up to 1.5 s old
	for _, web := range c.web {
		response, err := http.Get("http://" + web + "/jmx?qry=Hadoop:service=HBase,name=RegionServer,sub=Tables")
		if err != nil {
			c.t.Fatal(err)
		}
		var answer struct {
			Beans []map[string]any `json:"beans"`
		}
		err = json.NewDecoder(response.Body).Decode(&answer)
		_ = response.Body.Close()
		if err != nil || len(answer.Beans) != 1 {
			c.t.Fatalf("%s: %d beans, error %v", web, len(answer.Beans), err)
		}
		count := func(metric string) int64 {
			n, _ := answer.Beans[0]["Namespace_default_table_"+table+"_metric_"+metric].(float64)
			return int64(n)
		}
		reads, writes = reads+count("readRequestCount"), writes+count("writeRequestCount")
	}
	return reads, writes
}

// rows is how many rows a table has.
func (c *realCluster) rows(table string) (n int64) {
	c.t.Helper()
	err := c.client.Session().Scan(c.t.Context(), &hbase.Scan{Table: table, Family: []byte("family"), Columns: [][]byte{[]byte("field0")}, Caching: 1000},
		func(hbase.Row) error { n++; return nil })
	if err != nil {
		c.t.Fatal(err)
	}
	return n
}

// compact carries out slices of the wait for compactions until it is over.
func (c *realCluster) compact(p *plan.Plan) (facts map[string]string, slices int) {
	c.t.Helper()
	for slices = 1; slices < 60; slices++ {
		facts = c.complete(p)[0].Body.Facts
		if facts[plan.FactUnfinished] == "" {
			return facts, slices
		}
		c.t.Logf("slice %d: %s", slices, facts[plan.FactUnfinished])
		p.Earlier = facts
		p.Identity.Attempt++
	}
	c.t.Fatal("the wait for compactions does not end")
	return nil, 0
}

// Writes and reads of one shard's clock.
const clockWrites, clockReads = 10, 9

func TestRealRun(t *testing.T) {
	c := openCluster(t)
	table := c.table("run")
	with := func(name string, shards int32) *plan.Plan {
		p := newPlan("uid-run", table, name, shards)
		p.YCSB.HTTP, p.Gate = c.web, shards > 1
		return p
	}
	facts := c.complete(with(plan.StepPreflight, 1))[0].Body.Facts
	t.Logf("facts of preflight: %v", facts)
	for _, name := range []string{"hbase.version", "hbase.clusterId", "hbase.regions", "hbase.jvm", "hbase.heapMiB", "hbase.blockCacheMiB", "hbase.walProvider"} {
		if facts[name] == "" || strings.HasPrefix(facts[name], "unknown") {
			t.Errorf("fact %s is %q", name, facts[name])
		}
	}
	if facts["hbase.regionServers"] != "2" || facts["table.exists"] != "false" || facts["hbase.webErrors"] != "" {
		t.Errorf("%s RegionServers, the table exists: %s, web errors %q", facts["hbase.regionServers"], facts["table.exists"], facts["hbase.webErrors"])
	}
	c.complete(with(plan.StepCreate, 1))
	if created := c.complete(with(plan.StepCreate, 1))[0].Body; created.Operations != 0 || created.Facts["table.regions"] != "6" {
		t.Errorf("a second attempt made %d tables, facts %v", created.Operations, created.Facts)
	}

	loaded := c.complete(with(plan.StepLoad, 4))
	reads, writes := c.requests(table)
	if n := sum(loaded, func(b *report.Body) int64 { return b.Operations }); n != testRecords || writes != testRecords+4*clockWrites || reads != 4*clockReads || c.rows(table) != testRecords {
		t.Errorf("loaded %d records; the servers count %d writes and %d reads, and there are %d rows", n, writes, reads, c.rows(table))
	}
	if state := c.state(table); state != "loading" {
		t.Errorf("state after the load: %q", state)
	}

	wait := with(plan.StepCompact, 1)
	wait.YCSB.MajorCompact, wait.YCSB.SettleMillis, wait.YCSB.SliceMillis = true, 5000, 3000
	facts, slices := c.compact(wait)
	if facts["storeFiles"] != "6" || facts["regions"] != "6" || facts["queues"] != "empty" || slices < 2 {
		t.Errorf("settled after %d slices: %v", slices, facts)
	}
	if state := c.state(table); state != "loaded 4000 3x20" {
		t.Errorf("state after the wait: %q", state)
	}
	c.workloads(table, with)
	if left := c.complete(newPlan("uid-other", table, plan.StepCleanup, 1))[0].Body.Facts["left"]; !strings.Contains(left, table) {
		t.Errorf("cleanup of another run: left %q", left)
	}
	c.complete(with(plan.StepCleanup, 1))
	if exists, err := c.admin.Exists(t.Context(), table); err != nil || exists {
		t.Errorf("after cleanup the table exists: %v, %v", exists, err)
	}
}

// workloads measures A, D and E, and compares what is reported with what the servers counted and with what is there.
func (c *realCluster) workloads(table string, with func(string, int32) *plan.Plan) {
	t := c.t
	readsBefore, writesBefore := c.requests(table)
	inserted := int64(0)
	for _, name := range []string{"workload-a", "workload-d", "workload-e"} {
		reports := c.complete(with(name, 4))
		reads, writes := c.requests(table)
		if ops := sum(reports, func(b *report.Body) int64 { return b.Operations }); ops != 2000 {
			t.Errorf("%s: %d operations", name, ops)
		}
		inserted += part(reports, "INSERT")
		wantWrites := part(reports, "INSERT") + part(reports, "UPDATE") + 4*clockWrites
		wantReads := part(reports, "READ") + 4*clockReads
		if writes-writesBefore != wantWrites || name != "workload-e" && reads-readsBefore != wantReads {
			t.Errorf("%s: the servers count %d writes and %d reads, want %d and %d", name, writes-writesBefore, reads-readsBefore, wantWrites, wantReads)
		}
		readsBefore, writesBefore = reads, writes
		for _, r := range reports {
			if r.Body.Clock == nil || r.Body.Clock.UncertaintyMicros > 100_000 || r.Body.Series.Total() != r.Body.Operations || r.Body.Latency.Count() != r.Body.Operations {
				t.Errorf("%s: clock %+v, %d in the series", name, r.Body.Clock, r.Body.Series.Total())
			}
		}
		if facts := reports[0].Body.Facts; facts[plan.FactsAfter+"table.regions"] != "6" {
			t.Errorf("%s: facts %v", name, facts)
		}
	}
	// The scan that counts rows comes last: servers count its reads.
	if rows := c.rows(table); inserted == 0 || rows != testRecords+inserted {
		t.Errorf("%d rows after %d inserts into %d records", rows, inserted, testRecords)
	}
	existing := newPlan("uid-next", table, plan.StepPreflight, 1)
	existing.YCSB.UseExisting, existing.YCSB.CreatePolicy = true, plan.CreateNever
	if facts := c.complete(existing)[0].Body.Facts; facts["table.sample"] != "1002 records" || !strings.Contains(facts["table.madeBy"], "uid-run") {
		t.Errorf("facts of useExisting: %v", facts)
	}
}

func (c *realCluster) state(table string) string {
	c.t.Helper()
	d, err := c.admin.Descriptor(c.t.Context(), table)
	if err != nil {
		c.t.Fatal(err)
	}
	return d.Values["hadoopbench.state"]
}

// A load that is stopped leaves a partial report and a table that tells whose it is; a new attempt loads it to its end.
func TestRealHalfLoaded(t *testing.T) {
	c := openCluster(t)
	table := c.table("half")
	c.complete(newPlan("uid-half", table, plan.StepCreate, 1))
	load := newPlan("uid-half", table, plan.StepLoad, 2)
	load.Gate, load.YCSB.RateMilli = true, 1_000_000 // four seconds
	c.meanwhile = func(stop func(string)) {
		time.Sleep(1500 * time.Millisecond)
		stop("Suspended")
	}
	stopped := c.carry(load)
	c.meanwhile = nil
	for _, r := range stopped {
		if r.Envelope.Outcome != report.Partial || r.Body.Operations == 0 || r.Body.Operations >= testRecords/2 || r.Body.Series.Total() != r.Body.Operations {
			t.Errorf("stopped: %s with %d operations", r.Envelope.Outcome, r.Body.Operations)
		}
	}
	existing := newPlan("uid-next", table, plan.StepPreflight, 1)
	existing.YCSB.UseExisting, existing.YCSB.CreatePolicy = true, plan.CreateNever
	if f := c.failed(existing, steps.ReasonLoadIncomplete); !strings.Contains(f.Message, table) {
		t.Errorf("useExisting: %+v", f)
	}
	f := c.failed(newPlan("uid-next", table, plan.StepPreflight, 1), steps.ReasonLeftoversFound)
	if !strings.Contains(f.Message, "bench/uid-half (UID uid-half, execution 1) since 20") || !strings.Contains(f.Remedy, "drop '"+table+"'") {
		t.Errorf("leftovers: %+v", f)
	}
	load.YCSB.RateMilli, load.Identity.Attempt = 0, 2
	c.complete(load)
	if rows := c.rows(table); rows != testRecords {
		t.Errorf("%d rows, want %d", rows, testRecords)
	}
}

// TestRealVersions walks through a whole run with checked data on servers of other versions.
func TestRealVersions(t *testing.T) {
	list := os.Getenv(versionsEnv)
	if list == "" {
		t.Skipf("%s is not set", versionsEnv)
	}
	for entry := range strings.SplitSeq(list, ",") {
		version, dir, _ := strings.Cut(entry, "=")
		t.Run(version, func(t *testing.T) {
			facts := walk(&pods{t: t, conf: loadConf(t, dir)}, nil)
			if !strings.HasPrefix(facts["hbase.version"], version) {
				t.Errorf("version %s", facts["hbase.version"])
			}
		})
	}
}

// TestRealKerberos does so with tickets, by a keytab.
func TestRealKerberos(t *testing.T) {
	realm, dir := os.Getenv(kerberosEnv), os.Getenv(kerberosConfEnv)
	if realm == "" || dir == "" {
		t.Skipf("%s or %s is not set", kerberosEnv, kerberosConfEnv)
	}
	login := &plan.Kerberos{Principal: "alice@HB.TEST", Keytab: filepath.Join(realm, "keytabs", "alice.keytab"), Krb5Conf: filepath.Join(realm, "krb5.conf")}
	c := &pods{t: t, conf: loadConf(t, dir)}
	if facts := walk(c, login); facts["hbase.user"] != login.Principal {
		t.Errorf("user %s", facts["hbase.user"])
	}
	refused := newPlan("uid-krb", "k2_krb", plan.StepPreflight, 1)
	if f := c.failed(refused, steps.ReasonLoginFailed); !strings.Contains(f.Remedy, "asks for Kerberos") {
		t.Errorf("without a principal: %+v", f)
	}
	refused.Target.Kerberos = &plan.Kerberos{Principal: "nobody@HB.TEST", Keytab: login.Keytab, Krb5Conf: login.Krb5Conf}
	c.failed(refused, steps.ReasonLoginFailed)
}

// walk carries out a whole run of two shards and returns the facts of its preflight.
func walk(c *pods, login *plan.Kerberos) map[string]string {
	t := c.t
	table := fmt.Sprintf("k2_walk_%d", time.Now().UnixNano())
	with := func(name string, shards int32) *plan.Plan {
		p := newPlan("uid-walk", table, name, shards)
		p.Target.Kerberos, p.Gate = login, shards > 1
		p.YCSB.Steps = []string{plan.StepLoad, "workload-f"}
		p.YCSB.Properties["dataintegrity"] = "true"
		return p
	}
	facts := c.complete(with(plan.StepPreflight, 1))[0].Body.Facts
	defer func() { c.complete(with(plan.StepCleanup, 1)) }()
	c.complete(with(plan.StepCreate, 1))
	c.complete(with(plan.StepLoad, 2))
	measured := c.complete(with("workload-f", 2))
	if ops, verified := sum(measured, func(b *report.Body) int64 { return b.Operations }), part(measured, "VERIFY"); ops != 2000 || verified != 2000 {
		t.Errorf("%d operations, %d verified", ops, verified)
	}
	existing := with(plan.StepPreflight, 1)
	existing.Identity.RunUID, existing.YCSB.UseExisting, existing.YCSB.CreatePolicy = "uid-next", true, plan.CreateNever
	if state := c.complete(existing)[0].Body.Facts["table.state"]; state != "loaded 4000 3x20" {
		t.Errorf("state %q", state)
	}
	return facts
}
