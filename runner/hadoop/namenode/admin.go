package namenode

import (
	"context"
	"fmt"

	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// List returns the entries of a directory by name, false if there is no such path. A file is ErrNotDirectory. It asks as
// often as the NameNode's limit of one answer (dfs.ls.limit) makes necessary.
func (w *Worker) List(ctx context.Context, dir string) ([]Entry, bool, error) {
	request, response := &wire.GetListingRequestProto{}, &wire.GetListingResponseProto{}
	request.SetSrc(dir)
	request.SetStartAfter([]byte{})
	request.SetNeedLocation(false)
	entries := []Entry{}
	for {
		err := w.do(ctx, clientProtocol, "getListing", request, response)
		if isRemote(err, "FileNotFoundException") || err == nil && !response.HasDirList() {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		page := response.GetDirList().GetPartialListing()
		for _, status := range page {
			if len(status.GetPath()) == 0 {
				return nil, false, fmt.Errorf("getListing: %s: %w", dir, ErrNotDirectory)
			}
			entries = append(entries, fileStatus(status))
		}
		if response.GetDirList().GetRemainingEntries() == 0 || len(page) == 0 {
			return entries, true, nil
		}
		request.SetStartAfter(page[len(page)-1].GetPath())
	}
}

// SetSafeMode carries out the action and returns whether the NameNode is in safe mode then. Checked makes a standby refuse.
func (w *Worker) SetSafeMode(ctx context.Context, action SafeModeAction, checked bool) (bool, error) {
	request, response := &wire.SetSafeModeRequestProto{}, &wire.SetSafeModeResponseProto{}
	request.SetAction(wire.SafeModeActionProto(action))
	request.SetChecked(checked)
	err := w.do(ctx, clientProtocol, "setSafeMode", request, response)
	return response.GetResult(), err
}

// AddBlock asks for the next block of a file that is being written, whose block before that is previous, nil for the
// first. No DataNode of exclude gets a replica. NotReplicatedYetException asks to be called again later.
func (w *Worker) AddBlock(ctx context.Context, path, client string, previous *Block, exclude []DataNode, fileID uint64) (LocatedBlock, error) {
	request, response := &wire.AddBlockRequestProto{}, &wire.AddBlockResponseProto{}
	request.SetSrc(path)
	request.SetClientName(client)
	request.SetPrevious(extendedBlock(previous))
	request.SetFileId(fileID)
	nodes := make([]*wire.DatanodeInfoProto, len(exclude))
	for i := range exclude {
		nodes[i] = dataNodeInfo(&exclude[i])
	}
	request.SetExcludeNodes(nodes)
	if err := w.do(ctx, clientProtocol, "addBlock", request, response); err != nil {
		return LocatedBlock{}, err
	}
	located := LocatedBlock{Block: block(response.GetBlock().GetB()), Storages: response.GetBlock().GetStorageIDs()}
	located.Locations = dataNodes(response.GetBlock().GetLocs())
	return located, nil
}

// AbandonBlock gives back the last block of a file that is being written.
func (w *Worker) AbandonBlock(ctx context.Context, path, client string, b Block, fileID uint64) error {
	request := &wire.AbandonBlockRequestProto{}
	request.SetB(extendedBlock(&b))
	request.SetSrc(path)
	request.SetHolder(client)
	request.SetFileId(fileID)
	return w.do(ctx, clientProtocol, "abandonBlock", request, &wire.AbandonBlockResponseProto{})
}

// DataNodeReport lists DataNodes.
func (w *Worker) DataNodeReport(ctx context.Context, kind DataNodeReport) ([]DataNode, error) {
	request, response := &wire.GetDatanodeReportRequestProto{}, &wire.GetDatanodeReportResponseProto{}
	request.SetType(wire.DatanodeReportTypeProto(kind))
	if err := w.do(ctx, clientProtocol, "getDatanodeReport", request, response); err != nil {
		return nil, err
	}
	return dataNodes(response.GetDi()), nil
}

// FSStats returns the file system's totals.
func (w *Worker) FSStats(ctx context.Context) (FSStats, error) {
	response := &wire.GetFsStatsResponseProto{}
	if err := w.do(ctx, clientProtocol, "getFsStats", &wire.GetFsStatusRequestProto{}, response); err != nil {
		return FSStats{}, err
	}
	return FSStats{
		Capacity: response.GetCapacity(), Used: response.GetUsed(), Remaining: response.GetRemaining(),
		UnderReplicated: response.GetUnderReplicated(), CorruptBlocks: response.GetCorruptBlocks(),
		MissingBlocks: response.GetMissingBlocks(), PendingDeletionBlocks: response.GetPendingDeletionBlocks(),
	}, nil
}

// ServerDefaults returns the NameNode's own settings.
func (w *Worker) ServerDefaults(ctx context.Context) (ServerDefaults, error) {
	response := &wire.GetServerDefaultsResponseProto{}
	if err := w.do(ctx, clientProtocol, "getServerDefaults", &wire.GetServerDefaultsRequestProto{}, response); err != nil {
		return ServerDefaults{}, err
	}
	d := response.GetServerDefaults()
	return ServerDefaults{BlockSize: d.GetBlockSize(), Replication: d.GetReplication(), BytesPerChecksum: d.GetBytesPerChecksum()}, nil
}

// ContentSummary counts what lies below a path; a directory counts itself. A path that does not exist is a
// FileNotFoundException.
func (w *Worker) ContentSummary(ctx context.Context, path string) (ContentSummary, error) {
	request, response := &wire.GetContentSummaryRequestProto{}, &wire.GetContentSummaryResponseProto{}
	request.SetPath(path)
	if err := w.do(ctx, clientProtocol, "getContentSummary", request, response); err != nil {
		return ContentSummary{}, err
	}
	s := response.GetSummary()
	return ContentSummary{Files: s.GetFileCount(), Directories: s.GetDirectoryCount(), Length: s.GetLength()}, nil
}

// SaveNamespace makes the NameNode, which must be in safe mode, write a checkpoint.
func (w *Worker) SaveNamespace(ctx context.Context) error {
	request := &wire.SaveNamespaceRequestProto{}
	request.SetTimeWindow(0)
	request.SetTxGap(0)
	return w.do(ctx, clientProtocol, "saveNamespace", request, &wire.SaveNamespaceResponseProto{})
}

// Version is NamenodeProtocol's versionRequest, which only asks who the NameNode is. Where service-level authorization is
// on, ordinary users are refused.
func (w *Worker) Version(ctx context.Context) (Namespace, error) {
	response := &wire.VersionResponseProto{}
	if err := w.do(ctx, nameNodeProtocol, "versionRequest", &wire.VersionRequestProto{}, response); err != nil {
		return Namespace{}, err
	}
	return namespace(response.GetInfo()), nil
}

// HAServiceState is the state of the NameNode that calls go to now: ACTIVE, STANDBY, OBSERVER or INITIALIZING. A NameNode
// that stands alone refuses to tell it: ServiceFailedException.
func (w *Worker) HAServiceState(ctx context.Context) (string, error) {
	response := &wire.HAServiceStateResponseProto{}
	if err := w.do(ctx, clientProtocol, methodState, &wire.HAServiceStateRequestProto{}, response); err != nil {
		return "", err
	}
	return response.GetState().String(), nil
}

// Msync learns the last transaction of the active NameNode, so that a later read from an observer knows of it.
func (w *Worker) Msync(ctx context.Context) error {
	return w.do(ctx, clientProtocol, "msync", &wire.MsyncRequestProto{}, &wire.MsyncResponseProto{})
}
