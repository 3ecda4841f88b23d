package namenode_test

import (
	"context"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
)

// golden reads testdata/requests.txt: method and bytes by name.
func golden(t *testing.T) map[string][2]string {
	t.Helper()
	text, err := os.ReadFile("testdata/requests.txt")
	if err != nil {
		t.Fatal(err)
	}
	requests := map[string][2]string{}
	for line := range strings.Lines(string(text)) {
		if parts := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(parts) == 3 {
			requests[parts[0]] = [2]string{parts[1], parts[2]}
		}
	}
	return requests
}

const pool = "BP-1-127.0.0.1-2"

func fakeNode() namenode.Registration {
	return namenode.Registration{
		DataNode: namenode.DataNode{
			IP: "127.0.0.1", Host: "localhost", UUID: "uuid-1", TransferPort: 1, InfoPort: 9864, SecurePort: 9865, IPCPort: 9867,
		},
		Namespace: namenode.Namespace{
			Pool: pool, LayoutVersion: 4294967229, NamespaceID: 1234567, ClusterID: "CID-x", CTime: 1700000000000, Capabilities: 1,
		},
		SoftwareVersion: "3.5.0",
	}
}

const (
	clientProtocol   = "org.apache.hadoop.hdfs.protocol.ClientProtocol"
	dataNodeProtocol = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol"
)

// calls are those of a worker, by their name in testdata/requests.txt.
func calls() map[string]func(context.Context, *namenode.Worker) {
	last := &namenode.Block{Pool: pool, ID: 1073741825, GenerationStamp: 1001, NumBytes: 77}
	excluded := namenode.DataNode{
		IP: "10.0.0.7", Host: "dn7", UUID: "uuid-7", TransferPort: 9866, InfoPort: 9864, SecurePort: 9865, IPCPort: 9867,
		Location: "/rack1", Capacity: 5, State: "NORMAL",
	}
	return map[string]func(context.Context, *namenode.Worker){
		"create with overwrite": func(ctx context.Context, w *namenode.Worker) {
			_, _ = w.Create(ctx, "/b/create/f0", namenode.CreateOptions{Client: "create-client-3", Overwrite: true, Replication: 3, BlockSize: 134217728, Permission: 0o777})
		},
		"create without overwrite": func(ctx context.Context, w *namenode.Worker) {
			_, _ = w.Create(ctx, "/b/m", namenode.CreateOptions{Client: "c", Replication: 1, BlockSize: 16, Permission: 0o644})
		},
		"complete of an empty file": func(ctx context.Context, w *namenode.Worker) { _, _ = w.Complete(ctx, "/b/f", "c", nil, 0) },
		"complete after a block":    func(ctx context.Context, w *namenode.Worker) { _, _ = w.Complete(ctx, "/b/f", "c", last, 16386) },
		"mkdirs":                    func(ctx context.Context, w *namenode.Worker) { _, _ = w.Mkdirs(ctx, "/b/d", 0o777, true) },
		"getBlockLocations":         func(ctx context.Context, w *namenode.Worker) { _, _ = w.GetBlockLocations(ctx, "/b/f", 0, 134217728) },
		"delete":                    func(ctx context.Context, w *namenode.Worker) { _, _ = w.Delete(ctx, "/b/f", false) },
		"delete recursively":        func(ctx context.Context, w *namenode.Worker) { _, _ = w.Delete(ctx, "/b", true) },
		"append":                    func(ctx context.Context, w *namenode.Worker) { _ = w.Append(ctx, "/b/f", "TestClient", false) },
		"append to a new block":     func(ctx context.Context, w *namenode.Worker) { _ = w.Append(ctx, "/b/f", "TestClient", true) },
		"rename":                    func(ctx context.Context, w *namenode.Worker) { _, _ = w.Rename(ctx, "/b/f", "/b/f.r") },
		"getFileInfo":               func(ctx context.Context, w *namenode.Worker) { _, _, _ = w.GetFileInfo(ctx, "/b/f") },
		"getListing":                func(ctx context.Context, w *namenode.Worker) { _, _, _ = w.List(ctx, "/b") },
		"setSafeMode leave": func(ctx context.Context, w *namenode.Worker) {
			_, _ = w.SetSafeMode(ctx, namenode.SafeModeLeave, false)
		},
		"setSafeMode enter": func(ctx context.Context, w *namenode.Worker) { _, _ = w.SetSafeMode(ctx, namenode.SafeModeEnter, true) },
		"addBlock, first":   func(ctx context.Context, w *namenode.Worker) { _, _ = w.AddBlock(ctx, "/b/f", "c", nil, nil, 0) },
		"addBlock, next": func(ctx context.Context, w *namenode.Worker) {
			_, _ = w.AddBlock(ctx, "/b/f", "c", last, []namenode.DataNode{excluded}, 16386)
		},
		"abandonBlock":                func(ctx context.Context, w *namenode.Worker) { _ = w.AbandonBlock(ctx, "/b/f", "c", *last, 16386) },
		"getDatanodeReport":           func(ctx context.Context, w *namenode.Worker) { _, _ = w.DataNodeReport(ctx, namenode.ReportLive) },
		"getFsStats":                  func(ctx context.Context, w *namenode.Worker) { _, _ = w.FSStats(ctx) },
		"getServerDefaults":           func(ctx context.Context, w *namenode.Worker) { _, _ = w.ServerDefaults(ctx) },
		"getContentSummary":           func(ctx context.Context, w *namenode.Worker) { _, _ = w.ContentSummary(ctx, "/b") },
		"saveNamespace":               func(ctx context.Context, w *namenode.Worker) { _ = w.SaveNamespace(ctx) },
		"getHAServiceState":           func(ctx context.Context, w *namenode.Worker) { _, _ = w.HAServiceState(ctx) },
		"msync":                       func(ctx context.Context, w *namenode.Worker) { _ = w.Msync(ctx) },
		"refreshUserToGroupsMappings": func(ctx context.Context, w *namenode.Worker) { _ = w.RefreshUserToGroupsMappings(ctx) },
		"versionRequest":              func(ctx context.Context, w *namenode.Worker) { _, _ = w.Version(ctx) },
	}
}

// nodeCalls are those of a DataNode.
func nodeCalls() map[string]func(context.Context, *namenode.DataNodeSide) {
	report := namenode.EncodeReport([]namenode.Replica{
		{ID: 1073741825, GenerationStamp: 1001}, {ID: -3, NumBytes: 134217728, GenerationStamp: 1002}, {ID: 1},
	})
	return map[string]func(context.Context, *namenode.DataNodeSide){
		"dn versionRequest": func(ctx context.Context, d *namenode.DataNodeSide) { _, _ = d.Version(ctx) },
		"registerDatanode":  func(ctx context.Context, d *namenode.DataNodeSide) { _, _ = d.Register(ctx, fakeNode()) },
		"sendHeartbeat": func(ctx context.Context, d *namenode.DataNodeSide) {
			_, _ = d.Heartbeat(ctx, fakeNode(), "DS-1", 104857600, true)
		},
		"blockReport": func(ctx context.Context, d *namenode.DataNodeSide) {
			_ = d.BlockReport(ctx, fakeNode(), "DS-1", report)
		},
		"blockReport, empty": func(ctx context.Context, d *namenode.DataNodeSide) {
			_ = d.BlockReport(ctx, fakeNode(), "DS-1", namenode.EncodeReport(nil))
		},
		"blockReceivedAndDeleted": func(ctx context.Context, d *namenode.DataNodeSide) {
			_ = d.BlockReceived(ctx, fakeNode(), "DS-1", namenode.Block{ID: 1073741825, GenerationStamp: 1001})
		},
		"errorReport": func(ctx context.Context, d *namenode.DataNodeSide) {
			_ = d.FatalDiskError(ctx, fakeNode(), "taken back")
		},
	}
}

// protocolOf is the protocol that a request of that name in testdata/requests.txt belongs to.
func protocolOf(name string) string {
	switch name {
	case "refreshUserToGroupsMappings":
		return "org.apache.hadoop.security.RefreshUserMappingsProtocol"
	case "versionRequest":
		return "org.apache.hadoop.hdfs.server.protocol.NamenodeProtocol"
	}
	if nodeCalls()[name] != nil {
		return dataNodeProtocol
	}
	return clientProtocol
}

// TestRequestsAreThoseOfHadoop makes every call, with reused messages twice, and compares the bytes with Java's.
func TestRequestsAreThoseOfHadoop(t *testing.T) {
	client, f, _ := connected(t, nil, []string{"a"}, func(attempt) (proto.Message, error) { return nil, nil })
	worker, side := client.Worker(5), client.DataNodeSides()[0]
	want := golden(t)
	if made := len(calls()) + len(nodeCalls()); made != len(want) {
		t.Errorf("%d calls are made, %d requests are in testdata/requests.txt", made, len(want))
	}
	for name, request := range want {
		t.Run(name, func(t *testing.T) {
			for range 2 {
				connection := 5
				if call := calls()[name]; call != nil {
					call(t.Context(), worker)
				} else {
					nodeCalls()[name](t.Context(), side)
					connection = 1 // the transfer port
				}
				last := f.attempts[len(f.attempts)-1]
				wanted := attempt{Address: "a", Protocol: protocolOf(name), Method: request[0], Connection: connection, ID: last.ID}
				if name == "dn versionRequest" {
					wanted.Connection = 0
				}
				if diff := cmp.Diff(wanted, last); diff != "" {
					t.Errorf("call (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(request[1], hex.EncodeToString(f.request)); diff != "" {
					t.Errorf("request (-want +got):\n%s", diff)
				}
			}
		})
	}
}
