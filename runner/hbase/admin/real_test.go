package admin_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
)

// Environment variables that name real servers: the configuration directory of a cluster with two RegionServers, a script
// that can throttle its compactions, and configuration directories of other versions, version=directory and commas.
const (
	clusterEnv  = "HADOOPBENCH_TEST_HBASE"
	controlEnv  = "HADOOPBENCH_TEST_HBASE_CONTROL"
	versionsEnv = "HADOOPBENCH_TEST_HBASE_VERSIONS"
)

const (
	realRegions = 6
	realRecords = 3000 // a time
	realTimeout = 90 * time.Second
)

func TestReal(t *testing.T) {
	clusters := map[string]string{"": os.Getenv(clusterEnv)}
	for entry := range strings.SplitSeq(os.Getenv(versionsEnv), ",") {
		version, dir, _ := strings.Cut(entry, "=")
		clusters[version] = dir
	}
	for version, dir := range clusters {
		name := version
		if version == "" {
			name, dir = "cluster", os.Getenv(clusterEnv)
		}
		t.Run(name, func(t *testing.T) {
			if dir == "" {
				t.Skipf("%s and %s do not name a cluster", clusterEnv, versionsEnv)
			}
			ctx, cancel := context.WithTimeout(t.Context(), realTimeout)
			defer cancel()
			testReal(ctx, t, dir, version)
		})
	}
}

func openReal(ctx context.Context, t *testing.T, dir string) *hbase.Client {
	t.Helper()
	c, err := conf.LoadDir(dir, conf.Options{Files: hbase.ConfFiles()})
	if err != nil {
		t.Fatal(err)
	}
	options, err := hbase.FromConf(c, hbase.Identity{User: "hadoop-bench"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := hbase.Open(ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// testReal walks through the life of a table.
func testReal(ctx context.Context, t *testing.T, dir, version string) {
	client := openReal(ctx, t, dir)
	a := admin.New(admin.Of(client), admin.Options{})
	status, err := a.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("HBase %s, servers %+v", status.Version, status.Servers)
	if !strings.HasPrefix(status.Version, version) || len(status.Servers) == 0 || status.Master == "" {
		t.Errorf("status %+v, want version %s, servers and a master", status, version)
	}
	table := fmt.Sprintf("a_real_%d", time.Now().UnixNano())
	create(ctx, t, a, client, table)
	load(ctx, t, client, table)
	flushed(ctx, t, a, table, 1)
	load(ctx, t, client, table)
	flushed(ctx, t, a, table, 2)
	compact(ctx, t, a, table, version == "")
	if len(status.Servers) > 1 {
		move(ctx, t, a, client, table, status.Servers)
	}
	split(ctx, t, a, client, table)
	balancer(ctx, t, a)
	enable(ctx, t, a, table)
	if err := a.Delete(ctx, table); err != nil {
		t.Fatal(err)
	}
	if exists, err := a.Exists(ctx, table); err != nil || exists {
		t.Errorf("after delete: exists %v, error %v", exists, err)
	}
	if err := a.Delete(ctx, table); !errors.Is(err, hbase.ErrTableNotFound) {
		t.Errorf("delete it again: error %v, want hbase.ErrTableNotFound", err)
	}
	if err := a.Flush(ctx, table); !errors.Is(err, hbase.ErrTableNotFound) {
		t.Errorf("flush it: error %v, want hbase.ErrTableNotFound", err)
	}
}

func create(ctx context.Context, t *testing.T, a *admin.Admin, client *hbase.Client, table string) {
	t.Helper()
	keys, err := admin.SplitKeys(realRegions, admin.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	wanted := admin.Table{
		Name: table, SplitKeys: keys,
		Families: []admin.Family{{Name: "f", BlockSize: 16384, Compression: "GZ", BloomFilter: "ROWCOL", DataBlockEncoding: "FAST_DIFF", TTL: time.Hour}},
		Values: map[string]string{
			"SPLIT_POLICY":                     "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy",
			"hbase.hstore.blockingStoreFiles":  "100",
			"hbase.hstore.compaction.min":      "50", // none that nobody asked for
			"hbase.hstore.compactionThreshold": "50",
		},
	}
	if err := a.CreateTable(ctx, wanted); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
		defer cancel()
		_ = a.Delete(ctx, table)
	})
	if err := a.CreateTable(ctx, wanted); !errors.Is(err, admin.ErrTableExists) {
		t.Errorf("create it again: error %v, want ErrTableExists", err)
	}
	regions, err := client.Regions(ctx, table)
	if err != nil || len(regions) != realRegions {
		t.Fatalf("regions %v, error %v, want %d", regions, err, realRegions)
	}
	for i, key := range keys {
		if !bytes.Equal(regions[i+1].Start, key) {
			t.Errorf("region %d begins with %q, want %q", i+1, regions[i+1].Start, key)
		}
	}
	got, err := a.Descriptor(ctx, table)
	if err != nil || len(got.Families) != 1 {
		t.Fatalf("descriptor %+v, error %v", got, err)
	}
	f := got.Families[0]
	f.Values = nil
	if f.Name != "f" || f.MaxVersions != 1 || f.BlockSize != 16384 || f.Compression != "GZ" || f.BloomFilter != "ROWCOL" ||
		f.DataBlockEncoding != "FAST_DIFF" || f.TTL != time.Hour || got.Values["hbase.hstore.blockingStoreFiles"] != "100" {
		t.Errorf("descriptor %+v, want what was created", got)
	}
}

// load puts YCSB's records, with values that do not compress well.
func load(ctx context.Context, t *testing.T, client *hbase.Client, table string) {
	t.Helper()
	session := client.Session()
	mutator := session.Mutator(0)
	value := make([]byte, 1000)
	for i := range value {
		value[i] = byte(i * i >> 3)
	}
	for record := range int64(realRecords) {
		copy(value, fmt.Sprint(record*7919))
		m := hbase.Mutation{Table: table, Row: ycsbKey(record, admin.Keys{}), Family: []byte("f"), Columns: []hbase.Column{{Qualifier: []byte("q"), Value: value}}}
		if err := mutator.Add(ctx, record, &m); err != nil {
			t.Fatal(err)
		}
	}
	if err := mutator.Flush(ctx); err != nil {
		t.Fatal(err)
	}
}

// flushed flushes, and wants that many store files in each region.
func flushed(ctx context.Context, t *testing.T, a *admin.Admin, table string, want int64) {
	t.Helper()
	if err := a.Flush(ctx, table); err != nil {
		t.Fatal(err)
	}
	regions, err := a.Compaction(ctx, table)
	if err != nil || len(regions) == 0 {
		t.Fatalf("compaction %v, error %v", regions, err)
	}
	for _, region := range regions {
		if region.StoreFiles != want || region.State != admin.CompactionNone || region.Unknown != "" {
			t.Errorf("region %+v, want %d store files and no compaction", region, want)
		}
	}
}

// compact sees a major compaction through. That it is seen at work is wanted only where it can be slowed down.
func compact(ctx context.Context, t *testing.T, a *admin.Admin, table string, cluster bool) {
	t.Helper()
	control := os.Getenv(controlEnv)
	slow := cluster && control != ""
	if slow {
		throttle := func(args ...string) {
			if out, err := exec.CommandContext(context.WithoutCancel(ctx), control, args...).CombinedOutput(); err != nil {
				t.Errorf("throttle: %v: %s", err, out)
			}
		}
		throttle("throttle", "300000")
		defer throttle("off")
	}
	if err := a.MajorCompact(ctx, table); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	settled, err := a.WaitForCompaction(ctx, table, admin.WaitOptions{
		Settle: 2 * time.Second, Poll: 100 * time.Millisecond, Deadline: time.Minute,
		Progress: func(_ admin.Look, _ time.Duration, why string) {
			if !seen[why] {
				t.Logf("wait for compactions: %q", why)
			}
			seen[why] = true
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if settled.QueuesError != nil {
		t.Errorf("the queues were not read: %v", settled.QueuesError)
	}
	for _, region := range settled.Regions {
		if region.StoreFiles != 1 || region.State != admin.CompactionNone {
			t.Errorf("region %+v, want one store file and no compaction", region)
		}
	}
	major := false
	for why := range seen {
		major = major || strings.Contains(why, "MAJOR in ")
	}
	if slow && !major {
		t.Error("the major compaction was never seen at work")
	}
}

func move(ctx context.Context, t *testing.T, a *admin.Admin, client *hbase.Client, table string, servers []admin.Server) {
	t.Helper()
	regions, err := client.Regions(ctx, table)
	if err != nil {
		t.Fatal(err)
	}
	to := servers[0]
	if to.Address() == regions[0].Server {
		to = servers[1]
	}
	if err := a.Move(ctx, regions[0], to); err != nil {
		t.Fatal(err)
	}
	if regions, err = client.Regions(ctx, table); err != nil || regions[0].Server != to.Address() {
		t.Errorf("after the move the region is on %s, error %v, want %s", regions[0].Server, err, to.Address())
	}
}

func split(ctx context.Context, t *testing.T, a *admin.Admin, client *hbase.Client, table string) {
	t.Helper()
	regions, err := client.Regions(ctx, table)
	if err != nil {
		t.Fatal(err)
	}
	key := append(bytes.Clone(regions[1].Start), '5')
	if err := a.Split(ctx, regions[1], key); err != nil {
		t.Fatal(err)
	}
	if regions, err = client.Regions(ctx, table); err != nil || len(regions) != realRegions+1 || !bytes.Equal(regions[2].Start, key) {
		t.Errorf("after the split: regions %v, error %v, want %d", regions, err, realRegions+1)
	}
}

func balancer(ctx context.Context, t *testing.T, a *admin.Admin) {
	t.Helper()
	was, err := a.Balancer(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	if off, err := a.Balancer(ctx, was); err != nil || off {
		t.Errorf("the balancer was %v after it was turned off, error %v", off, err)
	}
}

func enable(ctx context.Context, t *testing.T, a *admin.Admin, table string) {
	t.Helper()
	if err := a.Disable(ctx, table); err != nil {
		t.Fatal(err)
	}
	if err := a.Disable(ctx, table); err != nil {
		t.Errorf("disable it again: %v", err)
	}
	if err := a.Enable(ctx, table); err != nil {
		t.Fatal(err)
	}
	if err := a.Enable(ctx, table); err != nil {
		t.Errorf("enable it again: %v", err)
	}
}
