package nnthroughput_test

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
)

// fakeNameNode is a name service in memory, for the steps' own logic. What HDFS really does is tested against HDFS.
type fakeNameNode struct {
	clock measure.Clock
	ahead time.Duration // of the NameNode's clock

	// fail is asked before each call with its name and path; an error it returns is the call's. It may block, or move the
	// clock. It is called without the lock.
	fail func(call, path string) error
	// answerFalse has delete, rename, mkdirs and complete of a path answer false.
	answerFalse func(call, path string) bool
	sides       []nnthroughput.DataNodeSide
	addBlock    func(path string) (namenode.LocatedBlock, error) // nil: there are no DataNodes

	mu       sync.Mutex
	entries  map[string]*fakeEntry
	calls    []string // what went over the wire, in order: "<method> <path> <values>"
	live     []namenode.DataNode
	safeMode bool
	stats    namenode.FSStats
	space    namenode.Namespace
	nextID   uint64
	closed   int
}

type fakeEntry struct {
	dir    bool
	open   string // lease holder, empty once completed
	mtime  time.Time
	fileID uint64
}

func newFakeNameNode(clock measure.Clock, paths ...string) *fakeNameNode {
	f := &fakeNameNode{
		clock: clock, entries: map[string]*fakeEntry{"/": {dir: true}}, nextID: 1000,
		stats: namenode.FSStats{Capacity: 1 << 40, Remaining: 1 << 39},
		space: namenode.Namespace{SoftwareVersion: "3.5.0", Pool: "BP-1", NamespaceID: 7, ClusterID: "CID-1", State: "ACTIVE"},
	}
	for _, p := range paths {
		f.put(p)
	}
	return f
}

// put makes a complete file, or a directory if the path ends in a slash, with its parents.
func (f *fakeNameNode) put(p string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	clean := path.Clean(p)
	f.mkdirsLocked(path.Dir(clean))
	f.entries[clean] = &fakeEntry{dir: strings.HasSuffix(p, "/"), mtime: f.now()}
}

// drop makes a directory and what is in it vanish.
func (f *fakeNameNode) drop(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for p := range f.entries {
		if p == dir || strings.HasPrefix(p, dir+"/") {
			delete(f.entries, p)
		}
	}
}

func (f *fakeNameNode) mkdirsLocked(dir string) {
	for ; dir != "/"; dir = path.Dir(dir) {
		if f.entries[dir] == nil {
			f.entries[dir] = &fakeEntry{dir: true, mtime: f.now()}
		}
	}
}

// now is the NameNode's clock, which looking at does not move.
func (f *fakeNameNode) now() time.Time {
	if c, ok := f.clock.(interface{ peek() time.Time }); ok {
		return c.peek()
	}
	return f.clock.Now()
}

// files lists the files below a directory, sorted.
func (f *fakeNameNode) files(below string) []string { return f.list(below, false) }

// dirs lists the directories below a directory, sorted.
func (f *fakeNameNode) dirs(below string) []string { return f.list(below, true) }

func (f *fakeNameNode) list(below string, dirs bool) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var list []string
	for p, e := range f.entries {
		if e.dir == dirs && strings.HasPrefix(p, below+"/") {
			list = append(list, p)
		}
	}
	slices.Sort(list)
	return list
}

// log returns the calls so far whose text begins with one of the prefixes, all without any.
func (f *fakeNameNode) log(prefixes ...string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(prefixes) == 0 {
		return slices.Clone(f.calls)
	}
	var list []string
	for _, c := range f.calls {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(c, p) }) {
			list = append(list, c)
		}
	}
	return list
}

// remoteError is an exception of a NameNode.
func remoteError(class, message string) error {
	return &rpc.RemoteError{Class: "org.apache.hadoop." + class, Message: message, Code: 1}
}

// called logs a call and asks for its failure.
func (f *fakeNameNode) called(ctx context.Context, method, p, format string, args ...any) error {
	text := strings.TrimSpace(method + " " + p + " " + fmt.Sprintf(format, args...))
	f.mu.Lock()
	f.calls = append(f.calls, text)
	f.mu.Unlock()
	if f.fail != nil {
		if err := f.fail(method, p); err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

func (f *fakeNameNode) refuses(method, p string) bool {
	return f.answerFalse != nil && f.answerFalse(method, p)
}

func (f *fakeNameNode) statusOf(p string, e *fakeEntry) namenode.FileStatus {
	return namenode.FileStatus{Path: p, Dir: e.dir, ModTime: e.mtime.Add(f.ahead).Truncate(time.Millisecond), FileID: e.fileID}
}

func (f *fakeNameNode) Create(ctx context.Context, p string, o namenode.CreateOptions) (namenode.FileStatus, error) {
	err := f.called(ctx, "create", p, "client=%s overwrite=%v replication=%d blockSize=%d permission=%o", o.Client, o.Overwrite, o.Replication, o.BlockSize, o.Permission)
	if err != nil {
		return namenode.FileStatus{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.safeMode {
		return namenode.FileStatus{}, remoteError("hdfs.server.namenode.SafeModeException", "Cannot create file "+p+". Name node is in safe mode.")
	}
	if e := f.entries[p]; e != nil && (e.dir || !o.Overwrite) {
		return namenode.FileStatus{}, remoteError("fs.FileAlreadyExistsException", p+" already exists")
	}
	f.mkdirsLocked(path.Dir(p))
	f.nextID++
	e := &fakeEntry{open: o.Client, mtime: f.now(), fileID: f.nextID}
	f.entries[p] = e
	return f.statusOf("", e), nil
}

func (f *fakeNameNode) Complete(ctx context.Context, p, client string, last *namenode.Block, fileID uint64) (bool, error) {
	if err := f.called(ctx, "complete", p, "client=%s last=%v fileId=%d", client, last != nil, fileID); err != nil {
		return false, err
	}
	if f.refuses("complete", p) {
		return false, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.entries[p]
	if e == nil || e.open != client {
		return false, remoteError("hdfs.server.namenode.LeaseExpiredException", "No lease on "+p)
	}
	e.open = ""
	return true, nil
}

func (f *fakeNameNode) Mkdirs(ctx context.Context, p string, permission uint32, createParent bool) (bool, error) {
	if err := f.called(ctx, "mkdirs", p, "permission=%o createParent=%v", permission, createParent); err != nil {
		return false, err
	}
	if f.refuses("mkdirs", p) {
		return false, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mkdirsLocked(p)
	return true, nil
}

func (f *fakeNameNode) GetBlockLocations(ctx context.Context, p string, offset, length uint64) (int, error) {
	if err := f.called(ctx, "getBlockLocations", p, "offset=%d length=%d", offset, length); err != nil {
		return 0, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.entries[p]; e == nil || e.dir {
		return -1, nil
	}
	return 0, nil
}

func (f *fakeNameNode) Delete(ctx context.Context, p string, recursive bool) (bool, error) {
	if err := f.called(ctx, "delete", p, "recursive=%v", recursive); err != nil {
		return false, err
	}
	if f.refuses("delete", p) {
		return false, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.entries[p] == nil {
		return false, nil
	}
	for other := range f.entries {
		if strings.HasPrefix(other, p+"/") {
			if !recursive {
				return false, remoteError("fs.PathIsNotEmptyDirectoryException", p+" is non empty")
			}
			delete(f.entries, other)
		}
	}
	delete(f.entries, p)
	return true, nil
}

func (f *fakeNameNode) Append(ctx context.Context, p, client string, newBlock bool) error {
	if err := f.called(ctx, "append", p, "client=%s newBlock=%v", client, newBlock); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.entries[p]
	if e == nil {
		return remoteError("FileNotFoundException", "File does not exist: "+p)
	}
	if e.open != "" {
		return remoteError("hdfs.protocol.AlreadyBeingCreatedException", p+" is being written by "+e.open)
	}
	e.open = client
	return nil
}

func (f *fakeNameNode) Rename(ctx context.Context, from, to string) (bool, error) {
	if err := f.called(ctx, "rename", from, "to=%s", to); err != nil {
		return false, err
	}
	if f.refuses("rename", from) {
		return false, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.entries[from]
	if e == nil || f.entries[to] != nil {
		return false, nil
	}
	for other, entry := range f.entries {
		if rest, below := strings.CutPrefix(other, from+"/"); below {
			delete(f.entries, other)
			f.entries[to+"/"+rest] = entry
		}
	}
	delete(f.entries, from)
	f.entries[to] = e
	return true, nil
}

func (f *fakeNameNode) GetFileInfo(ctx context.Context, p string) (namenode.FileStatus, bool, error) {
	if err := f.called(ctx, "getFileInfo", p, ""); err != nil {
		return namenode.FileStatus{}, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.entries[p]
	if e == nil {
		return namenode.FileStatus{}, false, nil
	}
	return f.statusOf("", e), true, nil
}

func (f *fakeNameNode) List(ctx context.Context, dir string) ([]namenode.Entry, bool, error) {
	if err := f.called(ctx, "getListing", dir, ""); err != nil {
		return nil, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.entries[dir]
	if e == nil {
		return nil, false, nil
	}
	if !e.dir {
		return []namenode.Entry{f.statusOf("", e)}, true, nil
	}
	var list []namenode.Entry
	for p, entry := range f.entries {
		if p != "/" && path.Dir(p) == dir {
			list = append(list, f.statusOf(path.Base(p), entry))
		}
	}
	slices.SortFunc(list, func(a, b namenode.Entry) int { return strings.Compare(a.Path, b.Path) })
	return list, true, nil
}

func (f *fakeNameNode) SetSafeMode(ctx context.Context, action namenode.SafeModeAction, checked bool) (bool, error) {
	if err := f.called(ctx, "setSafeMode", "", "action=%d checked=%v", action, checked); err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch action {
	case namenode.SafeModeEnter:
		f.safeMode = true
	case namenode.SafeModeLeave:
		f.safeMode = false
	}
	return f.safeMode, nil
}

func (f *fakeNameNode) RefreshUserToGroupsMappings(ctx context.Context) error {
	return f.called(ctx, "refreshUserToGroupsMappings", "", "")
}

func (f *fakeNameNode) AddBlock(ctx context.Context, p, client string, previous *namenode.Block, exclude []namenode.DataNode, fileID uint64) (namenode.LocatedBlock, error) {
	if err := f.called(ctx, "addBlock", p, "client=%s previous=%v exclude=%d fileId=%d", client, previous != nil, len(exclude), fileID); err != nil {
		return namenode.LocatedBlock{}, err
	}
	if f.addBlock == nil {
		return namenode.LocatedBlock{}, remoteError("ipc.RemoteException", "File "+p+" could only be written to 0 of the 1 minReplication nodes.")
	}
	return f.addBlock(p)
}

func (f *fakeNameNode) AbandonBlock(ctx context.Context, p, client string, b namenode.Block, fileID uint64) error {
	return f.called(ctx, "abandonBlock", p, "client=%s block=%d fileId=%d", client, b.ID, fileID)
}

func (f *fakeNameNode) DataNodeReport(ctx context.Context, kind namenode.DataNodeReport) ([]namenode.DataNode, error) {
	if err := f.called(ctx, "getDatanodeReport", "", "type=%d", kind); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.live), nil
}

func (f *fakeNameNode) FSStats(ctx context.Context) (namenode.FSStats, error) {
	return f.stats, f.called(ctx, "getFsStats", "", "")
}

func (f *fakeNameNode) ServerDefaults(ctx context.Context) (namenode.ServerDefaults, error) {
	return namenode.ServerDefaults{BlockSize: 128 << 20, Replication: 3, BytesPerChecksum: 512}, f.called(ctx, "getServerDefaults", "", "")
}

func (f *fakeNameNode) ContentSummary(ctx context.Context, p string) (namenode.ContentSummary, error) {
	if err := f.called(ctx, "getContentSummary", p, ""); err != nil {
		return namenode.ContentSummary{}, err
	}
	return namenode.ContentSummary{Files: uint64(len(f.files(p))), Directories: uint64(len(f.dirs(p)) + 1)}, nil
}

func (f *fakeNameNode) SaveNamespace(ctx context.Context) error {
	return f.called(ctx, "saveNamespace", "", "")
}

func (f *fakeNameNode) Version(ctx context.Context) (namenode.Namespace, error) {
	return f.space, f.called(ctx, "versionRequest", "", "")
}

// fakeNameNode is its own target.
func (f *fakeNameNode) Thread(int) nnthroughput.NameNode { return f }

func (f *fakeNameNode) DataNodeSides() []nnthroughput.DataNodeSide { return f.sides }

func (f *fakeNameNode) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return nil
}
