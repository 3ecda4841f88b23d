package hbase_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// Environment variables that name real servers; without them the tests are skipped.
const (
	clusterEnv  = "HADOOPBENCH_TEST_HBASE"          // configuration directory of a cluster with two RegionServers
	controlEnv  = "HADOOPBENCH_TEST_HBASE_CONTROL"  // script that kills and starts them
	versionsEnv = "HADOOPBENCH_TEST_HBASE_VERSIONS" // configuration directories of other clusters: version=directory, commas

	kerberosEnv     = "HADOOPBENCH_TEST_HBASE_KERBEROS"      // a realm's krb5.conf and keytabs
	kerberosConfEnv = "HADOOPBENCH_TEST_HBASE_KERBEROS_CONF" // configuration directory of a cluster in it
)

const realTimeout = 3 * time.Minute

// A realTable is a table of a real cluster, made for a test.
type realTable struct {
	client *hbase.Client
	admin  *admin.Admin
	name   string
}

// openReal makes a client from a configuration directory, with some properties changed.
func openReal(ctx context.Context, t *testing.T, dir string, overrides map[string]string) *hbase.Client {
	t.Helper()
	return openRealAs(ctx, t, dir, overrides, hbase.Identity{User: "hadoop-bench"})
}

func openRealAs(ctx context.Context, t *testing.T, dir string, overrides map[string]string, id hbase.Identity) *hbase.Client {
	t.Helper()
	c, err := conf.LoadDir(dir, conf.Options{Files: hbase.ConfFiles(), Overrides: overrides})
	if err != nil {
		t.Fatal(err)
	}
	o, err := hbase.FromConf(c, id)
	if err != nil {
		t.Fatal(err)
	}
	client, err := hbase.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

// createReal makes a table with family f and regions from "", b, c and d on.
func createReal(ctx context.Context, t *testing.T, client *hbase.Client, prefix string) realTable {
	t.Helper()
	r := realTable{client: client, admin: admin.New(admin.Of(client), admin.Options{}), name: fmt.Sprintf("%s_%d", prefix, time.Now().UnixNano())}
	err := r.admin.CreateTable(ctx, admin.Table{
		Name: r.name, Families: []admin.Family{{Name: "f"}}, SplitKeys: [][]byte{[]byte("b"), []byte("c"), []byte("d")},
		Values: map[string]string{"SPLIT_POLICY": "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.admin.Delete(context.WithoutCancel(ctx), r.name); err != nil {
			t.Errorf("delete the table: %v", err)
		}
	})
	return r
}

func (r realTable) get(row string) *hbase.Get {
	return &hbase.Get{Table: r.name, Row: []byte(row), Family: []byte("f")}
}

func (r realTable) put(row, value string) *hbase.Mutation {
	m := put(row, value)
	m.Table = r.name
	return m
}

func TestReal(t *testing.T) {
	clusters := map[string]string{"cluster": os.Getenv(clusterEnv)}
	for entry := range strings.SplitSeq(os.Getenv(versionsEnv), ",") {
		if version, dir, ok := strings.Cut(entry, "="); ok {
			clusters[version] = dir
		}
	}
	for version, dir := range clusters {
		t.Run(version, func(t *testing.T) {
			if dir == "" {
				t.Skipf("%s does not name a cluster", clusterEnv)
			}
			ctx, cancel := context.WithTimeout(t.Context(), realTimeout)
			defer cancel()
			client := openReal(ctx, t, dir, nil)
			r := createReal(ctx, t, client, "c_real")
			testRealRows(ctx, t, r)
			testRealBatches(ctx, t, r)
			testRealScans(ctx, t, r)
			testRealRefusals(ctx, t, r)
			if got := client.Counters(); got != (hbase.Counters{}) {
				t.Errorf("Counters %+v, want none: nothing went wrong", got)
			}
			if version != "1.7" {
				testRealNamespace(ctx, t, r)
			}
		})
	}
}

// testRealRows writes with every durability, reads and deletes.
func testRealRows(ctx context.Context, t *testing.T, r realTable) {
	s := r.client.Session()
	for d := hbase.UseDefault; d <= hbase.FsyncWAL; d++ {
		m := r.put(fmt.Sprintf("b-durability-%d", d), "v")
		m.Durability = d
		m.Columns = append(m.Columns, hbase.Column{Qualifier: []byte("empty")}, hbase.Column{Qualifier: []byte{0, 0xFF}, Value: []byte{0}})
		if err := s.Mutate(ctx, m); err != nil {
			t.Errorf("Mutate with durability %d: %v", d, err)
		}
		row, err := s.Get(ctx, r.get(string(m.Row)))
		if diff := cmp.Diff([]string{"f:\x00\xff=\x00", "f:empty=", "f:q=v"}, texts(row)); diff != "" || err != nil {
			t.Errorf("Get: error %v (-want +got):\n%s", err, diff)
		}
		m.Delete, m.Columns = true, nil
		if err := s.Mutate(ctx, m); err != nil {
			t.Errorf("delete with durability %d: %v", d, err)
		}
		if row, err := s.Get(ctx, r.get(string(m.Row))); err != nil || len(row) != 0 {
			t.Errorf("Get of a deleted row: %v, %v", texts(row), err)
		}
	}
	big := strings.Repeat("0123456789abcdef", 5<<20/16)
	if err := s.Mutate(ctx, r.put("d-big", big)); err != nil {
		t.Errorf("Mutate of 5 MiB: %v", err)
	}
	row, err := s.Get(ctx, &hbase.Get{Table: r.name, Row: []byte("d-big"), Family: []byte("f"), Columns: [][]byte{[]byte("q"), []byte("absent")}})
	if err != nil || len(row) != 1 || string(row[0].Value) != big || row[0].Timestamp < time.Now().Add(-time.Hour).UnixMilli() {
		t.Errorf("Get of 5 MiB: %d cells, %v", len(row), err)
	}
	if err := s.Mutate(ctx, &hbase.Mutation{Table: r.name, Row: []byte("d-big"), Family: []byte("f"), Delete: true}); err != nil {
		t.Errorf("delete of 5 MiB: %v", err)
	}
}

// realRows are in all four regions.
func realRows() []string {
	var rows []string
	for _, region := range "abcd" {
		for i := range 100 {
			rows = append(rows, fmt.Sprintf("%c%03d", region, i))
		}
	}
	return rows
}

func testRealBatches(ctx context.Context, t *testing.T, r realTable) {
	s := r.client.Session()
	m := s.Mutator(8 << 10)
	for i, row := range realRows() {
		if err := m.Add(ctx, int64(i), r.put(row, "old")); err != nil {
			t.Fatalf("Add: %v", err)
		}
		if err := m.Add(ctx, int64(i), r.put(row, "of "+row)); err != nil {
			t.Fatalf("Add: %v", err)
		}
	}
	if err := m.Flush(ctx); err != nil {
		t.Fatalf("Flush: %v", err)
	}
	results, err := s.Multi(ctx, []hbase.Action{
		{Get: r.get("a000")},
		{Mutation: r.put("e000", "v")},
		{Get: r.get("absent")},
		{Get: &hbase.Get{Table: r.name, Row: []byte("c007"), Family: []byte("g")}},
		{Get: r.get("d099")},
		{Mutation: &hbase.Mutation{Table: r.name, Row: []byte("e001"), Family: []byte("f"), Delete: true}},
		{Mutation: &hbase.Mutation{Table: r.name, Row: []byte("a001"), Family: []byte("g"), Columns: []hbase.Column{{Value: []byte("v")}}}},
		{Get: r.get("a001")},
	})
	if err != nil {
		t.Fatalf("Multi: %v", err)
	}
	var got []string
	for _, one := range results {
		class := ""
		if failed := new(hbase.OperationError); errors.As(one.Err, &failed) {
			class = failed.ErrorClass()
		}
		got = append(got, strings.Join(texts(one.Row), " ")+class)
	}
	want := []string{"f:q=of a000", "", "", "NoSuchColumnFamilyException", "f:q=of d099", "", "NoSuchColumnFamilyException", "f:q=of a001"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Multi (-want +got):\n%s", diff)
	}
	if err := s.Mutate(ctx, &hbase.Mutation{Table: r.name, Row: []byte("e000"), Family: []byte("f"), Delete: true}); err != nil {
		t.Error(err)
	}
}

func testRealScans(ctx context.Context, t *testing.T, r realTable) {
	all := realRows()
	at := func(row string) int { return slices.Index(all, row) }
	tests := map[string]struct {
		scan hbase.Scan
		want []string
	}{
		"all":                       {hbase.Scan{}, all},
		"all, a few at a time":      {hbase.Scan{Caching: 33}, all},
		"within a region":           {hbase.Scan{Start: []byte("b010"), Limit: 20}, all[at("b010") : at("b010")+20]},
		"over regions":              {hbase.Scan{Start: []byte("a090"), Limit: 120, Caching: 50}, all[at("a090") : at("a090")+120]},
		"page filter":               {hbase.Scan{Start: []byte("b010"), Limit: 20, PageFilter: true}, all[at("b010") : at("b010")+20]},
		"page filter, over regions": {hbase.Scan{Start: []byte("a090"), Limit: 120, PageFilter: true}, all[at("a090") : at("a090")+120]},
		"page filter, caching":      {hbase.Scan{Start: []byte("a090"), Limit: 150, Caching: 7, PageFilter: true}, all[at("a090") : at("a090")+150]},
		"to a row":                  {hbase.Scan{Start: []byte("a0905"), Stop: []byte("c003")}, all[at("a091"):at("c003")]},
		"more than there is":        {hbase.Scan{Start: []byte("d090"), Limit: 1000}, all[at("d090"):]},
		"nothing":                   {hbase.Scan{Start: []byte("x")}, nil},
	}
	s := r.client.Session()
	for name, tt := range tests {
		tt.scan.Table, tt.scan.Family = r.name, []byte("f")
		var got []string
		err := s.Scan(ctx, &tt.scan, func(row hbase.Row) error {
			got = append(got, string(row[0].Row))
			if len(row) != 1 || string(row[0].Value) != "of "+string(row[0].Row) {
				return fmt.Errorf("row %s has %q", row[0].Row, texts(row))
			}
			return nil
		})
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("scan %s: error %v (-want +got):\n%s", name, err, diff)
		}
	}
	// A scan whose answers are cut by their size.
	value := strings.Repeat("x", 1<<20)
	for i := range 5 {
		if err := s.Mutate(ctx, r.put(fmt.Sprintf("f%d", i), value)); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	if err := s.Scan(ctx, &hbase.Scan{Table: r.name, Start: []byte("f"), Limit: 5}, func(row hbase.Row) error {
		if n++; len(row) != 1 || string(row[0].Value) != value {
			return errors.New("not the row that was written")
		}
		return nil
	}); err != nil || n != 5 {
		t.Errorf("scan of 5 MiB: %d rows, %v", n, err)
	}
}

func testRealRefusals(ctx context.Context, t *testing.T, r realTable) {
	s := r.client.Session()
	_, err := s.Get(ctx, &hbase.Get{Table: r.name, Row: []byte("r"), Family: []byte("absent")})
	if refused := new(hbase.NoFamilyError); !errors.As(err, &refused) {
		t.Errorf("absent family: %v, want a NoFamilyError", err)
	}
	for _, name := range []string{"c_absent", "0", "zzz", "ns:absent"} {
		if _, err = s.Get(ctx, &hbase.Get{Table: name, Row: []byte("r")}); !errors.Is(err, hbase.ErrTableNotFound) {
			t.Errorf("table %s: %v, want ErrTableNotFound", name, err)
		}
		if _, err = r.client.Regions(ctx, name); !errors.Is(err, hbase.ErrTableNotFound) {
			t.Errorf("regions of %s: %v, want ErrTableNotFound", name, err)
		}
	}
	regions, err := r.client.Regions(ctx, r.name)
	if err != nil || len(regions) != 4 {
		t.Errorf("%d regions, %v, want 4", len(regions), err)
	}
	if id, err := r.client.Registry().ClusterID(ctx); err != nil || len(id) != 36 {
		t.Errorf("ClusterID: %q, %v", id, err)
	}
}

// testRealNamespace makes a namespace and a table in it.
func testRealNamespace(ctx context.Context, t *testing.T, r realTable) {
	namespace := fmt.Sprintf("c_ns_%d", time.Now().UnixNano())
	call := func(method string, request []byte) {
		t.Helper()
		master, err := r.client.Registry().Master(ctx)
		if err == nil {
			err = r.client.RPC().Do(ctx, &rpc.Call{Address: master.Address, Service: rpc.MasterService, Method: method, Param: request})
		}
		if err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
	bytesField := func(b []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), b)
	}
	call("CreateNamespace", bytesField(bytesField([]byte(namespace)))) // NamespaceDescriptor{name}
	name := namespace + ":t"
	create := func() error {
		return r.admin.CreateTable(ctx, admin.Table{Name: name, Families: []admin.Family{{Name: "f"}}})
	}
	for err := create(); err != nil; err = create() { // the namespace is made by a procedure
		if ctx.Err() != nil || !strings.Contains(err.Error(), "NamespaceNotFound") {
			t.Fatalf("CreateTable: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
	s := r.client.Session()
	m := put("r", "v")
	m.Table = name
	if err := s.Mutate(ctx, m); err != nil {
		t.Errorf("Mutate: %v", err)
	}
	row, err := s.Get(ctx, &hbase.Get{Table: name, Row: []byte("r"), Family: []byte("f")})
	if diff := cmp.Diff([]string{"f:q=v"}, texts(row)); diff != "" || err != nil {
		t.Errorf("Get: error %v (-want +got):\n%s", err, diff)
	}
	if err := r.admin.Disable(ctx, name); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(ctx, &hbase.Get{Table: name, Row: []byte("r")}); !errors.Is(err, hbase.ErrTableDisabled) {
		t.Errorf("Get from a disabled table: %v, want ErrTableDisabled", err)
	}
	if err := r.admin.Delete(ctx, name); err != nil {
		t.Errorf("delete the table: %v", err)
	}
	call("DeleteNamespace", bytesField([]byte(namespace)))
}

// TestRealRegistries finds the same cluster in every way.
func TestRealRegistries(t *testing.T) {
	dir := os.Getenv(clusterEnv)
	if dir == "" {
		t.Skipf("%s does not name a cluster", clusterEnv)
	}
	ctx, cancel := context.WithTimeout(t.Context(), realTimeout)
	defer cancel()
	const impl = "hbase.client.registry.impl"
	var ids []string
	for _, overrides := range []map[string]string{
		{},
		{impl: "org.apache.hadoop.hbase.client.RpcConnectionRegistry"},
		{impl: "org.apache.hadoop.hbase.client.RpcConnectionRegistry", "hbase.client.bootstrap.servers": ""},
		{impl: "org.apache.hadoop.hbase.client.MasterRegistry"},
	} {
		r := openReal(ctx, t, dir, overrides).Registry()
		id, err := r.ClusterID(ctx)
		master, errMaster := r.Master(ctx)
		meta, errMeta := r.MetaServer(ctx)
		if err := errors.Join(err, errMaster, errMeta); err != nil {
			t.Errorf("%v: %v", overrides, err)
		}
		ids = append(ids, fmt.Sprintf("%s %v %v", id, master, meta))
	}
	if len(slices.Compact(slices.Clone(ids))) != 1 {
		t.Errorf("they found %v", ids)
	}
}

func TestRealKerberos(t *testing.T) {
	realm, dir := os.Getenv(kerberosEnv), os.Getenv(kerberosConfEnv)
	if realm == "" || dir == "" {
		t.Skipf("%s and %s do not name a realm and a cluster", kerberosEnv, kerberosConfEnv)
	}
	ctx, cancel := context.WithTimeout(t.Context(), realTimeout)
	defer cancel()
	login, err := sasl.FromKeytab("alice", filepath.Join(realm, "keytabs", "alice.keytab"), filepath.Join(realm, "krb5.conf"))
	if err != nil {
		t.Fatal(err)
	}
	id := hbase.Identity{Kerberos: login, CanonicalHost: func(host string) (string, error) { return host, nil }}
	for _, protection := range []string{"authentication", "integrity", "privacy"} {
		client := openRealAs(ctx, t, dir, map[string]string{"hbase.rpc.protection": protection}, id)
		r := createReal(ctx, t, client, "c_krb")
		testRealRows(ctx, t, r)
		if got := client.Counters(); got != (hbase.Counters{}) {
			t.Errorf("%s: Counters %+v, want none: nothing went wrong", protection, got)
		}
	}
}
