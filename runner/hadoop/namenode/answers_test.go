package namenode_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// answer makes a message from protojson.
func answer(t *testing.T, m proto.Message, text string) proto.Message {
	t.Helper()
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		t.Fatalf("answer: %v", err)
	}
	return m
}

const (
	aFile = `{"fileType":"IS_FILE","path":"Zg==","length":"42","owner":"alice","modification_time":"1700000000123","block_replication":3,
		"blocksize":"134217728","fileId":"16390","childrenNum":0,"flags":6,"ecPolicy":{"name":"RS-6-3-1024k"}}`
	aDir  = `{"fileType":"IS_DIR","path":"ZA==","length":"0","owner":"bob","modification_time":"1","childrenNum":7}`
	aNode = `{"id":{"ipAddr":"10.0.0.1","hostName":"dn1","datanodeUuid":"u1","xferPort":9866,"infoPort":9864,"ipcPort":9867,"infoSecurePort":9865},
		"capacity":"100","remaining":"60","lastUpdate":"1700000000000","location":"/r1","adminState":"DECOMMISSIONED"}`
)

func file() namenode.FileStatus {
	return namenode.FileStatus{
		Path: "f", Length: 42, Replication: 3, BlockSize: 134217728, Owner: "alice", ModTime: time.UnixMilli(1700000000123),
		FileID: 16390, ErasureCode: "RS-6-3-1024k", Encrypted: true,
	}
}

func directory() namenode.FileStatus {
	return namenode.FileStatus{Path: "d", Dir: true, Owner: "bob", ModTime: time.UnixMilli(1), Children: 7}
}

func node() namenode.DataNode {
	return namenode.DataNode{
		IP: "10.0.0.1", Host: "dn1", UUID: "u1", TransferPort: 9866, InfoPort: 9864, SecurePort: 9865, IPCPort: 9867,
		Capacity: 100, Remaining: 60, Location: "/r1", State: "DECOMMISSIONED", LastUpdate: time.UnixMilli(1700000000000),
	}
}

// result is what a call returns, apart from its error.
func result(values ...any) []any { return values }

func TestAnswers(t *testing.T) {
	notFound := remote("java.io.FileNotFoundException")
	type call = func(context.Context, *namenode.Worker) ([]any, error)
	getInfo := func(ctx context.Context, w *namenode.Worker) ([]any, error) {
		status, ok, err := w.GetFileInfo(ctx, "/f")
		return result(status, ok), err
	}
	locate := func(ctx context.Context, w *namenode.Worker) ([]any, error) {
		n, err := w.GetBlockLocations(ctx, "/f", 0, 1)
		return result(n), err
	}
	complete := func(ctx context.Context, w *namenode.Worker) ([]any, error) {
		done, err := w.Complete(ctx, "/f", "c", nil, 0)
		return result(done), err
	}
	list := func(ctx context.Context, w *namenode.Worker) ([]any, error) {
		entries, ok, err := w.List(ctx, "/d")
		return result(entries, ok), err
	}
	tests := map[string]struct {
		call    call
		message proto.Message
		failure error
		want    []any
		err     string
	}{
		"create": {func(ctx context.Context, w *namenode.Worker) ([]any, error) {
			status, err := w.Create(ctx, "/f", namenode.CreateOptions{})
			return result(status), err
		}, answer(t, &wire.CreateResponseProto{}, `{"fs":`+aFile+`}`), nil, result(file()), ""},
		"complete":          {complete, answer(t, &wire.CompleteResponseProto{}, `{"result":true}`), nil, result(true), ""},
		"complete, not yet": {complete, answer(t, &wire.CompleteResponseProto{}, `{"result":false}`), nil, result(false), ""},
		"delete, nothing there": {func(ctx context.Context, w *namenode.Worker) ([]any, error) {
			ok, err := w.Delete(ctx, "/f", false)
			return result(ok), err
		}, answer(t, &wire.DeleteResponseProto{}, `{"result":false}`), nil, result(false), ""},
		"rename": {func(ctx context.Context, w *namenode.Worker) ([]any, error) {
			ok, err := w.Rename(ctx, "/f", "/g")
			return result(ok), err
		}, answer(t, &wire.RenameResponseProto{}, `{"result":true}`), nil, result(true), ""},
		"append, refused": {func(ctx context.Context, w *namenode.Worker) ([]any, error) {
			return nil, w.Append(ctx, "/f", "c", false)
		}, nil, remote("org.apache.hadoop.hdfs.protocol.AlreadyBeingCreatedException"), nil, "append: AlreadyBeingCreatedException: said so"},
		"two blocks":                  {locate, answer(t, &wire.GetBlockLocationsResponseProto{}, `{"locations":{"fileLength":"2","blocks":[{"b":{"poolId":"p","blockId":"1","generationStamp":"2"}},{"b":{"poolId":"p","blockId":"3","generationStamp":"4"}}]}}`), nil, result(2), ""},
		"no block":                    {locate, answer(t, &wire.GetBlockLocationsResponseProto{}, `{"locations":{"fileLength":"0"}}`), nil, result(0), ""},
		"locations of no file":        {locate, nil, nil, result(-1), ""},
		"locations of a missing file": {locate, nil, notFound, result(-1), ""},
		"locations, refused":          {locate, nil, remote("org.apache.hadoop.security.AccessControlException"), result(0), "getBlockLocations: AccessControlException"},
		"a file":                      {getInfo, answer(t, &wire.GetFileInfoResponseProto{}, `{"fs":`+aFile+`}`), nil, result(file(), true), ""},
		"a directory":                 {getInfo, answer(t, &wire.GetFileInfoResponseProto{}, `{"fs":`+aDir+`}`), nil, result(directory(), true), ""},
		"no such path":                {getInfo, nil, nil, result(namenode.FileStatus{}, false), ""},
		"a listing":                   {list, answer(t, &wire.GetListingResponseProto{}, `{"dirList":{"partialListing":[`+aDir+`,`+aFile+`],"remainingEntries":0}}`), nil, result([]namenode.Entry{directory(), file()}, true), ""},
		"an empty listing":            {list, answer(t, &wire.GetListingResponseProto{}, `{"dirList":{"remainingEntries":0}}`), nil, result([]namenode.Entry{}, true), ""},
		"a listing of nothing":        {list, nil, nil, result([]namenode.Entry(nil), false), ""},
		"a listing, gone meanwhile":   {list, nil, notFound, result([]namenode.Entry(nil), false), ""},
		"a listing of a file":         {list, answer(t, &wire.GetListingResponseProto{}, `{"dirList":{"partialListing":[`+strings.Replace(aFile, "Zg==", "", 1)+`],"remainingEntries":0}}`), nil, result([]namenode.Entry(nil), false), "getListing: /d: not a directory"},
		"safe mode": {func(ctx context.Context, w *namenode.Worker) ([]any, error) {
			on, err := w.SetSafeMode(ctx, namenode.SafeModeGet, false)
			return result(on), err
		}, answer(t, &wire.SetSafeModeResponseProto{}, `{"result":true}`), nil, result(true), ""},
		"a block": {
			func(ctx context.Context, w *namenode.Worker) ([]any, error) {
				located, err := w.AddBlock(ctx, "/f", "c", nil, nil, 0)
				return result(located), err
			}, answer(t, &wire.AddBlockResponseProto{}, `{"block":{"b":{"poolId":"p","blockId":"1","generationStamp":"2"},"locs":[`+aNode+`],"storageIDs":["DS-1"]}}`), nil,
			result(namenode.LocatedBlock{Block: namenode.Block{Pool: "p", ID: 1, GenerationStamp: 2}, Locations: []namenode.DataNode{node()}, Storages: []string{"DS-1"}}), "",
		},
		"no block yet": {func(ctx context.Context, w *namenode.Worker) ([]any, error) {
			_, err := w.AddBlock(ctx, "/f", "c", nil, nil, 0)
			return nil, err
		}, nil, remote("org.apache.hadoop.hdfs.server.namenode.NotReplicatedYetException"), nil, "addBlock: NotReplicatedYetException: said so"},
		"DataNodes": {func(ctx context.Context, w *namenode.Worker) ([]any, error) {
			nodes, err := w.DataNodeReport(ctx, namenode.ReportAll)
			return result(nodes), err
		}, answer(t, &wire.GetDatanodeReportResponseProto{}, `{"di":[`+aNode+`]}`), nil, result([]namenode.DataNode{node()}), ""},
		"totals": {
			func(ctx context.Context, w *namenode.Worker) ([]any, error) {
				stats, err := w.FSStats(ctx)
				return result(stats), err
			}, answer(t, &wire.GetFsStatsResponseProto{}, `{"capacity":"1","used":"2","remaining":"3","under_replicated":"4","corrupt_blocks":"5","missing_blocks":"6","pending_deletion_blocks":"7"}`), nil,
			result(namenode.FSStats{Capacity: 1, Used: 2, Remaining: 3, UnderReplicated: 4, CorruptBlocks: 5, MissingBlocks: 6, PendingDeletionBlocks: 7}), "",
		},
		"defaults": {
			func(ctx context.Context, w *namenode.Worker) ([]any, error) {
				defaults, err := w.ServerDefaults(ctx)
				return result(defaults), err
			}, answer(t, &wire.GetServerDefaultsResponseProto{}, `{"serverDefaults":{"blockSize":"134217728","bytesPerChecksum":512,"replication":3}}`), nil,
			result(namenode.ServerDefaults{BlockSize: 134217728, Replication: 3, BytesPerChecksum: 512}), "",
		},
		"content": {
			func(ctx context.Context, w *namenode.Worker) ([]any, error) {
				summary, err := w.ContentSummary(ctx, "/")
				return result(summary), err
			}, answer(t, &wire.GetContentSummaryResponseProto{}, `{"summary":{"length":"9","fileCount":"2","directoryCount":"3"}}`), nil,
			result(namenode.ContentSummary{Files: 2, Directories: 3, Length: 9}), "",
		},
		"version": {
			func(ctx context.Context, w *namenode.Worker) ([]any, error) {
				version, err := w.Version(ctx)
				return result(version), err
			}, answer(t, &wire.VersionResponseProto{}, `{"info":{"buildVersion":"abc","blockPoolID":"p","storageInfo":{"layoutVersion":4294967229,"namespceID":5,"clusterID":"CID","cTime":"6"},"softwareVersion":"3.5.0","capabilities":"1","state":"STANDBY"}}`), nil,
			result(namenode.Namespace{BuildVersion: "abc", SoftwareVersion: "3.5.0", Pool: "p", LayoutVersion: 4294967229, NamespaceID: 5, ClusterID: "CID", CTime: 6, Capabilities: 1, State: "STANDBY"}), "",
		},
		"state": {func(ctx context.Context, w *namenode.Worker) ([]any, error) {
			state, err := w.HAServiceState(ctx)
			return result(state), err
		}, active(), nil, result("ACTIVE"), ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			client, _, _ := connected(t, nil, []string{"a"}, func(attempt) (proto.Message, error) { return tt.message, tt.failure })
			got, err := tt.call(t.Context(), client.Worker(0))
			if (err == nil) != (tt.err == "") || err != nil && !strings.HasPrefix(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

// TestListPages: the last name of one page is where the next one starts.
func TestListPages(t *testing.T) {
	pages := []string{
		`{"dirList":{"partialListing":[` + aDir + `],"remainingEntries":1}}`, `{"dirList":{"partialListing":[` + aFile + `],"remainingEntries":0}}`,
	}
	client, f, _ := connected(t, nil, []string{"a"}, nil)
	asked := 0
	f.answer = func(attempt) (proto.Message, error) {
		want := []string{"0a022f781200" + "1800", "0a022f78120164" + "1800"}[asked]
		if got := hex.EncodeToString(f.request); got != want {
			t.Errorf("request %d is %s, want %s", asked, got, want)
		}
		asked++
		return answer(t, &wire.GetListingResponseProto{}, pages[asked-1]), nil
	}
	entries, ok, err := client.Worker(0).List(t.Context(), "/x")
	if diff := cmp.Diff([]namenode.Entry{directory(), file()}, entries); diff != "" || !ok || err != nil || asked != 2 {
		t.Errorf("List = %v, %v after %d requests (-want +got):\n%s", ok, err, asked, diff)
	}
}

func TestDataNodeAnswers(t *testing.T) {
	var message proto.Message
	client, f, _ := connected(t, nil, []string{"a"}, func(attempt) (proto.Message, error) { return message, nil })
	side := client.DataNodeSides()[0]

	message = answer(t, &wire.RegisterDatanodeResponseProto{}, `{"registration":{
		"datanodeID":{"ipAddr":"10.1.1.1","hostName":"pod","datanodeUuid":"uuid-1","xferPort":1,"infoPort":9864,"ipcPort":9867,"infoSecurePort":9865},
		"storageInfo":{"layoutVersion":4294967229,"namespceID":9,"clusterID":"CID-y","cTime":"8"},
		"keys":{"isBlockTokenEnabled":true,"keyUpdateInterval":"1","tokenLifeTime":"2","currentKey":{"keyId":3,"expiryDate":"4"}},"softwareVersion":"3.5.0"}}`)
	want := fakeNode()
	want.IP, want.Host = "10.1.1.1", "pod"
	want.Namespace.NamespaceID, want.Namespace.ClusterID, want.Namespace.CTime = 9, "CID-y", 8
	got, err := side.Register(t.Context(), fakeNode())
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Register: %v (-want +got):\n%s", err, diff)
	}

	for text, want := range map[string]bool{
		`{"haStatus":{"state":"ACTIVE"}}`: false,
		`{"haStatus":{"state":"ACTIVE"},"cmds":[{"cmdType":"FinalizeCommand"},{"cmdType":"RegisterCommand"}]}`: true,
	} {
		message = answer(t, &wire.HeartbeatResponseProto{}, text)
		if again, err := side.Heartbeat(t.Context(), fakeNode(), "DS-1", 1, false); again != want || err != nil {
			t.Errorf("Heartbeat answered by %s = %v, %v; want %v", text, again, err, want)
		}
	}

	old := fakeNode()
	old.Namespace.Capabilities, old.Namespace.SoftwareVersion = 2, "2.6.0"
	before := len(f.attempts)
	err = side.BlockReport(t.Context(), old, "DS-1", namenode.EncodedReport{})
	if err == nil || !strings.Contains(err.Error(), "(2.6.0, capabilities 0x2) does not accept block reports as buffers") || len(f.attempts) != before {
		t.Errorf("BlockReport to an old NameNode: %v", err)
	}
}

// FuzzAnswers gives every call an answer of any bytes that are such a message.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0x0a, 0x00})
	f.Add([]byte{0x08, 0x01, 0x12, 0x02, 0x08, 0x05})
	f.Fuzz(func(t *testing.T, data []byte) {
		client, fake, _ := connected(t, nil, []string{"a"}, nil)
		asked := 0
		fake.decode = func(m proto.Message) error {
			if asked++; asked > 3 { // a listing that says that it goes on
				return errors.New("enough")
			}
			return proto.Unmarshal(data, m)
		}
		for _, call := range calls() {
			asked = 0
			call(t.Context(), client.Worker(0))
		}
		for _, call := range nodeCalls() {
			asked = 0
			call(t.Context(), client.DataNodeSides()[0])
		}
	})
}
