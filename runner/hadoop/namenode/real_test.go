package namenode_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
)

// hdfsEnv names a real HDFS for these tests: hdfs://host:port, with simple authentication.
const hdfsEnv = "HADOOPBENCH_TEST_HDFS"

// realHDFS connects as the superuser, who is whoever started the NameNode: "root" unless the environment says otherwise.
// The directory is the test's own.
func realHDFS(t *testing.T) (client *namenode.Client, dir string) {
	t.Helper()
	uri := os.Getenv(hdfsEnv)
	if uri == "" {
		t.Skipf("%s is not set", hdfsEnv)
	}
	c, err := conf.Load(nil, conf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fs, err := c.FileSystem(uri)
	if err != nil {
		t.Fatal(err)
	}
	user := os.Getenv("HADOOP_USER_NAME")
	if user == "" {
		user = "root"
	}
	o, err := namenode.FromConf(c, fs, namenode.Identity{User: user})
	if err != nil {
		t.Fatal(err)
	}
	if client, err = namenode.Connect(t.Context(), o); err != nil {
		t.Fatalf("Connect: %v", err)
	}
	dir = fmt.Sprintf("/benchmarks/%s-%d", t.Name(), time.Now().UnixNano())
	t.Cleanup(func() {
		if _, err := client.Worker(0).Delete(context.Background(), dir, true); err != nil {
			t.Errorf("clean up: %v", err)
		}
		if err := client.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return client, dir
}

// real wraps a worker so that an unexpected error ends the test.
type real struct {
	t *testing.T
	*namenode.Worker
}

func (r real) try(what string, err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatalf("%s: %v", what, err)
	}
}

// refused wants an exception of that class.
func (r real) refused(what, class string, err error) {
	r.t.Helper()
	if err == nil || namenode.Class(err) != class {
		r.t.Errorf("%s: error %v, want a %s", what, err, class)
	}
}

// want compares a result.
func want[T any](t *testing.T, what string, want, got T, opts ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(want, got, opts...); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func TestRealFiles(t *testing.T) {
	client, dir := realHDFS(t)
	ctx, w := t.Context(), real{t, client.Worker(0)}
	block := uint64(1 << 20)
	o := namenode.CreateOptions{Client: "client-0", Replication: 1, BlockSize: int64(block), Permission: 0o640}

	ok, err := w.Mkdirs(ctx, dir+"/d", 0o777, true)
	w.try("mkdirs", err)
	want(t, "mkdirs", true, ok)
	_, err = w.Mkdirs(ctx, dir+"/x/y", 0o777, false)
	w.refused("mkdirs below nothing", "FileNotFoundException", err)

	created, err := w.Create(ctx, dir+"/d/f", o)
	w.try("create", err)
	wanted := namenode.FileStatus{Replication: 1, BlockSize: int64(block), FileID: created.FileID}
	ignored := cmpopts.IgnoreFields(namenode.FileStatus{}, "ModTime", "Owner")
	want(t, "create", wanted, created, ignored)
	_, err = w.Create(ctx, dir+"/d/f", o)
	w.refused("create what is being written", "AlreadyBeingCreatedException", err)
	done, err := w.Complete(ctx, dir+"/d/f", o.Client, nil, 0)
	w.try("complete", err)
	want(t, "complete", true, done)
	_, err = w.Create(ctx, dir+"/d/f", o)
	w.refused("create what exists", "FileAlreadyExistsException", err)

	status, ok, err := w.GetFileInfo(ctx, dir+"/d/f")
	w.try("getFileInfo", err)
	want(t, "getFileInfo", wanted, status, ignored)
	if age := time.Since(status.ModTime); !ok || age < -time.Minute || age > time.Minute || status.Owner == "" {
		t.Errorf("getFileInfo: %v, %+v, %v old", ok, status, age)
	}
	_, ok, err = w.GetFileInfo(ctx, dir+"/absent")
	w.try("getFileInfo of nothing", err)
	want(t, "getFileInfo of nothing", false, ok)

	changeFile(w, dir, created.FileID)
}

// changeFile appends to dir/d/f, reads, renames and deletes it.
func changeFile(w real, dir string, fileID uint64) {
	ctx, t, block := w.t.Context(), w.t, uint64(1<<20)
	w.try("append", w.Append(ctx, dir+"/d/f", "client-1", false))
	_, err := w.Complete(ctx, dir+"/d/f", "client-1", nil, 0)
	w.try("complete after append", err)
	w.try("append to a new block", w.Append(ctx, dir+"/d/f", "client-2", true))
	_, err = w.Complete(ctx, dir+"/d/f", "client-2", nil, fileID)
	w.try("complete after append", err)
	w.refused("append to nothing", "FileNotFoundException", w.Append(ctx, dir+"/absent", "client-1", false))

	n, err := w.GetBlockLocations(ctx, dir+"/d/f", 0, block)
	w.try("getBlockLocations", err)
	want(t, "getBlockLocations", 0, n)
	n, err = w.GetBlockLocations(ctx, dir+"/absent", 0, block)
	w.try("getBlockLocations of nothing", err)
	want(t, "getBlockLocations of nothing", -1, n)

	ok, err := w.Rename(ctx, dir+"/d/f", dir+"/d/g")
	w.try("rename", err)
	want(t, "rename", true, ok)
	ok, err = w.Rename(ctx, dir+"/d/f", dir+"/d/g")
	w.try("rename of nothing", err)
	want(t, "rename of nothing", false, ok)
	summary, err := w.ContentSummary(ctx, dir)
	w.try("getContentSummary", err)
	want(t, "getContentSummary", namenode.ContentSummary{Files: 1, Directories: 2}, summary)
	ok, err = w.Delete(ctx, dir+"/d/g", false)
	w.try("delete", err)
	want(t, "delete", true, ok)
	ok, err = w.Delete(ctx, dir+"/d/g", false)
	w.try("delete of nothing", err)
	want(t, "delete of nothing", false, ok)
}

// TestRealList lists more names than a NameNode puts into one answer.
func TestRealList(t *testing.T) {
	client, dir := realHDFS(t)
	ctx, w := t.Context(), real{t, client.Worker(0)}
	const names = 1005
	wanted := make([]string, names)
	for i := range names {
		wanted[i] = fmt.Sprintf("%04d", i)
		_, err := w.Mkdirs(ctx, dir+"/"+wanted[i], 0o755, true)
		w.try("mkdirs", err)
	}
	entries, ok, err := w.List(ctx, dir)
	w.try("getListing", err)
	got := make([]string, len(entries))
	for i, e := range entries {
		got[i] = e.Path
	}
	want(t, "getListing", true, ok)
	want(t, "names", wanted, got)
	_, ok, err = w.List(ctx, dir+"/absent")
	w.try("getListing of nothing", err)
	want(t, "getListing of nothing", false, ok)
	_, err = w.Create(ctx, dir+"/file", namenode.CreateOptions{Client: "c", Replication: 1, BlockSize: 1 << 20, Permission: 0o644})
	w.try("create", err)
	if _, _, err = w.List(ctx, dir+"/file"); !errors.Is(err, namenode.ErrNotDirectory) {
		t.Errorf("getListing of a file: %v", err)
	}
}

func TestRealFacts(t *testing.T) {
	client, _ := realHDFS(t)
	ctx, w := t.Context(), real{t, client.Worker(3)}
	if state, err := w.HAServiceState(ctx); err != nil {
		w.refused("getHAServiceState", "ServiceFailedException", err) // it stands alone
	} else {
		want(t, "state", "ACTIVE", state)
	}
	w.try("msync", w.Msync(ctx))
	w.try("refreshUserToGroupsMappings", w.RefreshUserToGroupsMappings(ctx))
	on, err := w.SetSafeMode(ctx, namenode.SafeModeGet, false)
	w.try("setSafeMode", err)
	want(t, "safe mode", false, on)
	if err := w.SaveNamespace(ctx); err == nil || !strings.Contains(err.Error(), "Safe mode should be turned ON") {
		t.Errorf("saveNamespace: %v, want to be refused outside safe mode", err)
	}

	version, err := w.Version(ctx)
	w.try("versionRequest", err)
	side, err := client.DataNodeSides()[0].Version(ctx)
	w.try("versionRequest of a DataNode", err)
	want(t, "the same to both protocols", version, side)
	if version.Pool == "" || version.SoftwareVersion == "" || version.ClusterID == "" || version.CTime == 0 && version.NamespaceID == 0 || version.Capabilities&1 == 0 {
		t.Errorf("version %+v", version)
	}
	defaults, err := w.ServerDefaults(ctx)
	w.try("getServerDefaults", err)
	want(t, "defaults", namenode.ServerDefaults{BlockSize: 128 << 20, Replication: defaults.Replication, BytesPerChecksum: 512}, defaults)
	nodes, err := w.DataNodeReport(ctx, namenode.ReportLive)
	w.try("getDatanodeReport", err)
	stats, err := w.FSStats(ctx)
	w.try("getFsStats", err)
	var capacity uint64
	for _, n := range nodes {
		capacity += n.Capacity
		if n.UUID == "" || n.TransferPort == 0 || n.State != "NORMAL" || n.Location == "" || time.Since(n.LastUpdate) > time.Hour {
			t.Errorf("DataNode %+v", n)
		}
	}
	if stats.Capacity > capacity+capacity/10 || stats.Capacity < capacity-capacity/10 {
		t.Errorf("the file system has %d bytes, its DataNodes %d", stats.Capacity, capacity)
	}
}

// TestRealBlock takes a block on a real DataNode and gives it back, since nothing is written here.
func TestRealBlock(t *testing.T) {
	client, dir := realHDFS(t)
	ctx, w := t.Context(), real{t, client.Worker(0)}
	live, err := w.DataNodeReport(ctx, namenode.ReportLive)
	w.try("getDatanodeReport", err)
	if len(live) < 2 {
		t.Skipf("%d DataNodes are live; this needs two", len(live))
	}
	created, err := w.Create(ctx, dir+"/f", namenode.CreateOptions{Client: "c", Replication: 1, BlockSize: 1 << 20, Permission: 0o644})
	w.try("create", err)
	first, err := w.AddBlock(ctx, dir+"/f", "c", nil, nil, created.FileID)
	w.try("addBlock", err)
	if len(first.Locations) != 1 || len(first.Storages) != 1 || first.Block.ID == 0 || first.Block.Pool == "" {
		t.Fatalf("addBlock: %+v", first)
	}
	w.try("abandonBlock", w.AbandonBlock(ctx, dir+"/f", "c", first.Block, created.FileID))
	second, err := w.AddBlock(ctx, dir+"/f", "c", nil, first.Locations, created.FileID)
	w.try("addBlock elsewhere", err)
	if second.Locations[0].UUID == first.Locations[0].UUID {
		t.Errorf("addBlock chose the excluded DataNode %+v", second.Locations[0])
	}
	w.try("abandonBlock", w.AbandonBlock(ctx, dir+"/f", "c", second.Block, created.FileID))
	_, err = w.AddBlock(ctx, dir+"/f", "c", nil, live, created.FileID)
	w.refused("addBlock nowhere", "IOException", err)
	done, err := w.Complete(ctx, dir+"/f", "c", nil, created.FileID)
	w.try("complete", err)
	want(t, "complete", true, done)
}

// fakeCapacity is less than a block of any file of other tests, so that none of theirs is placed on a fake DataNode.
const fakeCapacity = 64 << 10

// fakePort is the transfer port of the first fake DataNode, where nobody else's fake DataNodes are: those would displace ours.
const fakePort = 40001

// fakeNodes registers n fake DataNodes, and takes them back when the test ends.
func fakeNodes(w real, side *namenode.DataNodeSide, n uint32) (nodes []namenode.Registration, takeBack func()) {
	ctx, common := context.Background(), uuid()
	version, err := side.Version(ctx)
	w.try("versionRequest", err)
	takeBack = func() {
		for _, node := range nodes {
			node.UUID = common
			registered, err := side.Register(ctx, node)
			w.try("register the common node", err)
			w.try("errorReport", side.FatalDiskError(ctx, registered, "a fake DataNode is taken back"))
		}
	}
	w.t.Cleanup(func() { takeBack() })
	for port := range n {
		r, err := side.Register(ctx, namenode.Registration{
			DataNode: namenode.DataNode{
				IP: "127.0.0.1", Host: "hadoopbench-fake", UUID: uuid(), TransferPort: fakePort + port, InfoPort: 9864, SecurePort: 9865, IPCPort: 9867,
			},
			Namespace: version, SoftwareVersion: version.SoftwareVersion,
		})
		w.try("registerDatanode", err)
		nodes = append(nodes, r)
		w.try("blockReport", side.BlockReport(ctx, r, "DS-"+r.UUID, namenode.EncodeReport(nil)))
		again, err := side.Heartbeat(ctx, r, "DS-"+r.UUID, fakeCapacity, true)
		w.try("sendHeartbeat", err)
		want(w.t, "register again", false, again)
	}
	return nodes, takeBack
}

func uuid() string {
	return rand.Text()
}

// fakes are the fake nodes among the DataNodes of a report, by UUID; the others go into others.
func fakes(w real, kind namenode.DataNodeReport) (found map[string]namenode.DataNode, others []namenode.DataNode) {
	w.t.Helper()
	nodes, err := w.DataNodeReport(context.Background(), kind)
	w.try("getDatanodeReport", err)
	found = map[string]namenode.DataNode{}
	for _, n := range nodes {
		if n.Host == "hadoopbench-fake" {
			found[n.UUID] = n
		} else {
			others = append(others, n)
		}
	}
	return found, others
}

func TestRealFakeDataNodes(t *testing.T) {
	client, dir := realHDFS(t)
	ctx, w, side := t.Context(), real{t, client.Worker(0)}, client.DataNodeSides()[0]
	nodes, takeBack := fakeNodes(w, side, 3)
	live, others := fakes(w, namenode.ReportLive)
	for _, n := range nodes {
		if got := live[n.UUID]; got.Capacity != fakeCapacity || got.TransferPort != n.TransferPort || n.IP == "" {
			t.Errorf("live is %+v, registered as %+v", got, n.DataNode)
		}
	}

	o := namenode.CreateOptions{Client: "c", Replication: 1, BlockSize: fakeCapacity, Permission: 0o644}
	placed := false
	switch _, err := w.Create(ctx, dir+"/f", o); {
	case err == nil:
		placed = true
		writeOnFake(w, side, nodes, others, dir+"/f")
	case strings.Contains(err.Error(), "less than configured minimum"):
		t.Logf("no block is placed on a fake DataNode here: %v", err)
	default:
		t.Errorf("create: %v", err)
	}
	report := namenode.EncodeReport([]namenode.Replica{{ID: 2}, {ID: 1}})
	w.try("blockReport", side.BlockReport(ctx, nodes[2], "DS-"+nodes[2].UUID, report))

	takeBack()
	for _, kind := range []namenode.DataNodeReport{namenode.ReportLive, namenode.ReportAll} {
		if left, _ := fakes(w, kind); len(left) != 1 {
			t.Errorf("report %d has %v, want one entry", kind, left)
		}
	}
	left, _ := fakes(w, namenode.ReportLive)
	for _, n := range nodes {
		if _, there := left[n.UUID]; there {
			t.Errorf("%s is still there", n.UUID)
		}
		_, err := side.Heartbeat(ctx, n, "DS-"+n.UUID, fakeCapacity, false)
		if err == nil && placed {
			_, err = w.Create(ctx, dir+"/g", o)
			w.try("create", err)
			_, err = w.AddBlock(ctx, dir+"/g", "c", nil, others, 0)
			w.refused("addBlock where all are taken back", "IOException", err)
			placed = false
		}
	}
}

// writeOnFake gives an open file a block on one of the fake nodes and closes it.
func writeOnFake(w real, side *namenode.DataNodeSide, nodes []namenode.Registration, others []namenode.DataNode, path string) {
	w.t.Helper()
	ctx := w.t.Context()
	located, err := w.AddBlock(ctx, path, "c", nil, others, 0)
	w.try("addBlock", err)
	for _, n := range nodes {
		if len(located.Locations) == 1 && located.Locations[0].UUID == n.UUID {
			want(w.t, "storages", []string{"DS-" + n.UUID}, located.Storages)
			w.try("blockReceivedAndDeleted", side.BlockReceived(ctx, n, "DS-"+n.UUID, located.Block))
			done := false
			for attempt := 0; !done && attempt < 100; attempt++ {
				done, err = w.Complete(ctx, path, "c", &located.Block, 0)
				w.try("complete", err)
			}
			want(w.t, "complete", true, done)
			return
		}
	}
	w.t.Errorf("addBlock chose %+v", located.Locations)
}
