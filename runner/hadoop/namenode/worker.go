package namenode

import (
	"context"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// A Worker is the name service as one thread sees it: it is used by one goroutine at a time, and keeps the messages of the
// calls that are made most, so that making them again leaves no garbage but what their answers hold.
//
// Errors of its methods name the call. They wrap *rpc.RemoteError where the NameNode refused (see [Class]), and are
// ErrUnreachable where no NameNode answered in time. Safe mode of a NameNode that stands alone is such a refusal,
// SafeModeException; a NameNode of a pair asks for patience instead, and the call is repeated.
type Worker struct {
	router *router
	call   rpc.Call

	create    wire.CreateRequestProto
	created   wire.CreateResponseProto
	complete  wire.CompleteRequestProto
	completed wire.CompleteResponseProto
	mkdirs    wire.MkdirsRequestProto
	made      wire.MkdirsResponseProto
	locate    wire.GetBlockLocationsRequestProto
	located   wire.GetBlockLocationsResponseProto
	remove    wire.DeleteRequestProto
	removed   wire.DeleteResponseProto
	append    wire.AppendRequestProto
	appended  wire.AppendResponseProto
	rename    wire.RenameRequestProto
	renamed   wire.RenameResponseProto
	info      wire.GetFileInfoRequestProto
	status    wire.GetFileInfoResponseProto
	refresh   wire.RefreshUserToGroupsMappingsRequestProto
	refreshed wire.RefreshUserToGroupsMappingsResponseProto
}

func newWorker(r *router, i int) *Worker {
	w := &Worker{router: r}
	w.call.Connection = i
	// These parts of requests are the same in every call.
	w.create.SetMasked(&wire.FsPermissionProto{})
	w.create.SetCreateParent(true)
	w.create.SetCryptoProtocolVersion([]wire.CryptoProtocolVersionProto{wire.CryptoProtocolVersionProto_ENCRYPTION_ZONES})
	w.mkdirs.SetMasked(&wire.FsPermissionProto{})
	return w
}

// do makes one call.
func (w *Worker) do(ctx context.Context, protocol, method string, request, response proto.Message) error {
	w.call.Protocol, w.call.Method, w.call.Request, w.call.Response = protocol, method, request, response
	return w.router.do(ctx, &w.call)
}

// Create makes a file, and directories above it where there are none. It returns the new file's status.
func (w *Worker) Create(ctx context.Context, path string, o CreateOptions) (FileStatus, error) {
	flag := uint32(wire.CreateFlagProto_CREATE)
	if o.Overwrite {
		flag |= uint32(wire.CreateFlagProto_OVERWRITE)
	}
	w.create.SetSrc(path)
	w.create.GetMasked().SetPerm(o.Permission)
	w.create.SetClientName(o.Client)
	w.create.SetCreateFlag(flag)
	w.create.SetReplication(uint32(o.Replication))
	w.create.SetBlockSize(uint64(o.BlockSize))
	if err := w.do(ctx, clientProtocol, "create", &w.create, &w.created); err != nil {
		return FileStatus{}, err
	}
	return fileStatus(w.created.GetFs()), nil
}

// Complete closes a file whose last block is last, nil if it has none. False asks to be called again: not all blocks are
// reported yet.
func (w *Worker) Complete(ctx context.Context, path, client string, last *Block, fileID uint64) (bool, error) {
	w.complete.SetSrc(path)
	w.complete.SetClientName(client)
	w.complete.SetLast(extendedBlock(last))
	w.complete.SetFileId(fileID)
	err := w.do(ctx, clientProtocol, "complete", &w.complete, &w.completed)
	return err == nil && w.completed.GetResult(), err
}

// Mkdirs makes a directory with permission, masked already.
func (w *Worker) Mkdirs(ctx context.Context, path string, permission uint32, createParent bool) (bool, error) {
	w.mkdirs.SetSrc(path)
	w.mkdirs.GetMasked().SetPerm(permission)
	w.mkdirs.SetCreateParent(createParent)
	err := w.do(ctx, clientProtocol, "mkdirs", &w.mkdirs, &w.made)
	return err == nil && w.made.GetResult(), err
}

// GetBlockLocations opens a file for reading. It returns the number of blocks between offset and offset+length, -1 if
// there is no such file.
func (w *Worker) GetBlockLocations(ctx context.Context, path string, offset, length uint64) (int, error) {
	w.locate.SetSrc(path)
	w.locate.SetOffset(offset)
	w.locate.SetLength(length)
	err := w.do(ctx, clientProtocol, "getBlockLocations", &w.locate, &w.located)
	switch {
	case isRemote(err, "FileNotFoundException"):
		return -1, nil
	case err != nil:
		return 0, err
	case !w.located.HasLocations():
		return -1, nil
	}
	return len(w.located.GetLocations().GetBlocks()), nil
}

// Delete removes a file or directory. False says that nothing was there.
func (w *Worker) Delete(ctx context.Context, path string, recursive bool) (bool, error) {
	w.remove.SetSrc(path)
	w.remove.SetRecursive(recursive)
	err := w.do(ctx, clientProtocol, "delete", &w.remove, &w.removed)
	return err == nil && w.removed.GetResult(), err
}

// Append opens a file to write at its end; with newBlock, into a block of its own.
func (w *Worker) Append(ctx context.Context, path, client string, newBlock bool) error {
	flag := uint32(wire.CreateFlagProto_APPEND)
	if newBlock {
		flag |= uint32(wire.CreateFlagProto_NEW_BLOCK)
	}
	w.append.SetSrc(path)
	w.append.SetClientName(client)
	w.append.SetFlag(flag)
	return w.do(ctx, clientProtocol, "append", &w.append, &w.appended)
}

// Rename is the old call, which moves into a directory that exists. False says that nothing was renamed.
func (w *Worker) Rename(ctx context.Context, from, to string) (bool, error) {
	w.rename.SetSrc(from)
	w.rename.SetDst(to)
	err := w.do(ctx, clientProtocol, "rename", &w.rename, &w.renamed)
	return err == nil && w.renamed.GetResult(), err
}

// GetFileInfo returns the status of a file or directory, false if there is no such path.
func (w *Worker) GetFileInfo(ctx context.Context, path string) (FileStatus, bool, error) {
	w.info.SetSrc(path)
	if err := w.do(ctx, clientProtocol, "getFileInfo", &w.info, &w.status); err != nil {
		return FileStatus{}, false, err
	}
	if !w.status.HasFs() {
		return FileStatus{}, false, nil
	}
	return fileStatus(w.status.GetFs()), true, nil
}

// RefreshUserToGroupsMappings makes the NameNode forget the groups of users it knows.
func (w *Worker) RefreshUserToGroupsMappings(ctx context.Context) error {
	return w.do(ctx, refreshProtocol, "refreshUserToGroupsMappings", &w.refresh, &w.refreshed)
}
