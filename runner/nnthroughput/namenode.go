package nnthroughput

import (
	"context"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
)

// A NameNode is the name service under test as one thread sees it. It is used by one goroutine at a time; every call ends
// in bounded time. Its errors are those of package namenode. *namenode.Worker is one.
type NameNode interface {
	Create(ctx context.Context, path string, o namenode.CreateOptions) (namenode.FileStatus, error)
	Complete(ctx context.Context, path, client string, last *namenode.Block, fileID uint64) (bool, error)
	Mkdirs(ctx context.Context, path string, permission uint32, createParent bool) (bool, error)
	// GetBlockLocations returns the number of blocks; -1 if there is no such file.
	GetBlockLocations(ctx context.Context, path string, offset, length uint64) (int, error)
	Delete(ctx context.Context, path string, recursive bool) (bool, error)
	Append(ctx context.Context, path, client string, newBlock bool) error
	// Rename is the old call, whose answer false says that nothing was renamed.
	Rename(ctx context.Context, from, to string) (bool, error)
	// GetFileInfo returns false if there is no such path.
	GetFileInfo(ctx context.Context, path string) (namenode.FileStatus, bool, error)
	// List returns a directory's entries by name, false if there is no such directory.
	List(ctx context.Context, dir string) ([]namenode.Entry, bool, error)
	SetSafeMode(ctx context.Context, action namenode.SafeModeAction, checked bool) (bool, error)
	RefreshUserToGroupsMappings(ctx context.Context) error

	// For set-up and facts.
	AddBlock(ctx context.Context, path, client string, previous *namenode.Block, exclude []namenode.DataNode, fileID uint64) (namenode.LocatedBlock, error)
	AbandonBlock(ctx context.Context, path, client string, b namenode.Block, fileID uint64) error
	DataNodeReport(ctx context.Context, kind namenode.DataNodeReport) ([]namenode.DataNode, error)
	FSStats(ctx context.Context) (namenode.FSStats, error)
	ServerDefaults(ctx context.Context) (namenode.ServerDefaults, error)
	ContentSummary(ctx context.Context, path string) (namenode.ContentSummary, error)
	SaveNamespace(ctx context.Context) error
	// Version is NamenodeProtocol's versionRequest, which only asks who the NameNode is.
	Version(ctx context.Context) (namenode.Namespace, error)
}

// A DataNodeSide is one NameNode as DataNodes see it: DatanodeProtocol at one address, since DataNodes report to every
// NameNode of a name service, not only to the active one. It may be used concurrently. *namenode.DataNodeSide is one.
type DataNodeSide interface {
	Version(ctx context.Context) (namenode.Namespace, error)
	Register(ctx context.Context, r namenode.Registration) (namenode.Registration, error)
	// Heartbeat reports one storage and ignores the commands of the answer; registerAgain says that the NameNode does not
	// know the node any more.
	Heartbeat(ctx context.Context, r namenode.Registration, storage string, capacity uint64, wantLease bool) (registerAgain bool, err error)
	BlockReport(ctx context.Context, r namenode.Registration, storage string, report namenode.EncodedReport) error
	BlockReceived(ctx context.Context, r namenode.Registration, storage string, b namenode.Block) error
	// FatalDiskError takes the node out of placement.
	FatalDiskError(ctx context.Context, r namenode.Registration, message string) error
}

// A Target connects threads to the name service.
type Target interface {
	// Thread is the NameNode for one thread of the shard, from 0. Threads share the shard's connections evenly.
	Thread(i int) NameNode
	// DataNodeSides are the NameNodes of the name service, the active one among them.
	DataNodeSides() []DataNodeSide
	Close() error
}
