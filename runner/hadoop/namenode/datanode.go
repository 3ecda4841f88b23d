package namenode

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// A DataNodeSide is one NameNode as DataNodes see it: DatanodeProtocol at one address, active or not, since DataNodes
// report to every NameNode of a name service. It may be used concurrently. Its errors are like those of a [Worker]; a call
// is repeated at the same address only.
type DataNodeSide struct {
	router *router
}

func newDataNodeSide(o Options, address []string, open context.Context) *DataNodeSide {
	return &DataNodeSide{router: &router{o: o, addresses: address, open: open, answerer: address[0]}}
}

// Address is host:port of the NameNode.
func (d *DataNodeSide) Address() string { return d.router.active() }

// do makes one call. The DataNode's port chooses the connection, so that the nodes share all connections evenly.
func (d *DataNodeSide) do(ctx context.Context, port uint32, method string, request, response proto.Message) error {
	return d.router.do(ctx, &rpc.Call{Protocol: dataNodeProtocol, Method: method, Connection: int(port), Request: request, Response: response})
}

// Version asks who the NameNode is, as a DataNode does before it registers.
func (d *DataNodeSide) Version(ctx context.Context) (Namespace, error) {
	response := &wire.VersionResponseProto{}
	if err := d.do(ctx, 0, "versionRequest", &wire.VersionRequestProto{}, response); err != nil {
		return Namespace{}, err
	}
	return namespace(response.GetInfo()), nil
}

// Register makes a DataNode known to the NameNode and returns it as the NameNode knows it, with the address that the
// connection came from. Another node at the same address and port is forgotten, and so is another address of the same UUID.
func (d *DataNodeSide) Register(ctx context.Context, r Registration) (Registration, error) {
	request, response := &wire.RegisterDatanodeRequestProto{}, &wire.RegisterDatanodeResponseProto{}
	request.SetRegistration(registration(&r))
	if err := d.do(ctx, r.TransferPort, "registerDatanode", request, response); err != nil {
		return Registration{}, err
	}
	known, storage := response.GetRegistration(), response.GetRegistration().GetStorageInfo()
	id := dataNode(known.GetDatanodeID())
	id.Capacity, id.Remaining, id.Location, id.State, id.LastUpdate = r.Capacity, r.Remaining, r.Location, r.State, r.LastUpdate
	r.DataNode = id
	r.SoftwareVersion = known.GetSoftwareVersion()
	r.Namespace.LayoutVersion, r.Namespace.NamespaceID = storage.GetLayoutVersion(), storage.GetNamespceID()
	r.Namespace.ClusterID, r.Namespace.CTime = storage.GetClusterID(), storage.GetCTime()
	return r, nil
}

// Heartbeat reports one empty storage of that capacity, in bytes, and ignores the commands of the answer; registerAgain
// says that the NameNode does not know the node any more.
func (d *DataNodeSide) Heartbeat(ctx context.Context, r Registration, storage string, capacity uint64, wantLease bool) (registerAgain bool, err error) {
	report := &wire.StorageReportProto{}
	report.SetStorageUuid(storage)
	report.SetCapacity(capacity)
	report.SetDfsUsed(0)
	report.SetRemaining(capacity)
	report.SetBlockPoolUsed(0)
	report.SetStorage(dataNodeStorage(storage))
	report.SetNonDfsUsed(0)
	report.SetMount("")
	request, response := &wire.HeartbeatRequestProto{}, &wire.HeartbeatResponseProto{}
	request.SetRegistration(registration(&r))
	request.SetReports([]*wire.StorageReportProto{report})
	request.SetXmitsInProgress(0)
	request.SetXceiverCount(0)
	request.SetFailedVolumes(0)
	request.SetRequestFullBlockReportLease(wantLease)
	if err := d.do(ctx, r.TransferPort, "sendHeartbeat", request, response); err != nil {
		return false, err
	}
	for _, command := range response.GetCmds() {
		if command.GetCmdType() == wire.DatanodeCommandProto_RegisterCommand {
			return true, nil
		}
	}
	return false, nil
}

// buffersCapability is the bit of Namespace.Capabilities that says that block reports may come as buffers.
const buffersCapability = 1

// BlockReport tells all replicas of one storage. It needs no lease.
func (d *DataNodeSide) BlockReport(ctx context.Context, r Registration, storage string, report EncodedReport) error {
	if r.Namespace.Capabilities&buffersCapability == 0 {
		return fmt.Errorf("blockReport: the NameNode (%s, capabilities %#x) does not accept block reports as buffers; it is older than Hadoop 2.7, or its version was not asked for before the registration",
			r.Namespace.SoftwareVersion, r.Namespace.Capabilities)
	}
	one := &wire.StorageBlockReportProto{}
	one.SetStorage(dataNodeStorage(storage))
	one.SetNumberOfBlocks(report.Blocks)
	one.SetBlocksBuffers([][]byte{report.Buffer})
	reportContext := &wire.BlockReportContextProto{}
	reportContext.SetTotalRpcs(1)
	reportContext.SetCurRpc(0)
	reportContext.SetId(d.router.o.Clock.Now().UnixNano())
	reportContext.SetLeaseId(0)
	request := &wire.BlockReportRequestProto{}
	request.SetRegistration(registration(&r))
	request.SetBlockPoolId(r.Namespace.Pool)
	request.SetReports([]*wire.StorageBlockReportProto{one})
	request.SetContext(reportContext)
	return d.do(ctx, r.TransferPort, "blockReport", request, &wire.BlockReportResponseProto{})
}

// BlockReceived tells of one finished replica.
func (d *DataNodeSide) BlockReceived(ctx context.Context, r Registration, storage string, b Block) error {
	received := &wire.BlockProto{}
	received.SetBlockId(b.ID)
	received.SetGenStamp(b.GenerationStamp)
	received.SetNumBytes(b.NumBytes)
	info := &wire.ReceivedDeletedBlockInfoProto{}
	info.SetBlock(received)
	info.SetStatus(wire.ReceivedDeletedBlockInfoProto_RECEIVED)
	one := &wire.StorageReceivedDeletedBlocksProto{}
	one.SetStorageUuid(storage)
	one.SetBlocks([]*wire.ReceivedDeletedBlockInfoProto{info})
	one.SetStorage(dataNodeStorage(storage))
	request := &wire.BlockReceivedAndDeletedRequestProto{}
	request.SetRegistration(registration(&r))
	request.SetBlockPoolId(r.Namespace.Pool)
	request.SetBlocks([]*wire.StorageReceivedDeletedBlocksProto{one})
	return d.do(ctx, r.TransferPort, "blockReceivedAndDeleted", request, &wire.BlockReceivedAndDeletedResponseProto{})
}

// FatalDiskError takes the node out of placement.
func (d *DataNodeSide) FatalDiskError(ctx context.Context, r Registration, message string) error {
	request := &wire.ErrorReportRequestProto{}
	request.SetRegistartion(registration(&r))
	request.SetErrorCode(uint32(wire.ErrorReportRequestProto_FATAL_DISK_ERROR))
	request.SetMsg(message)
	return d.do(ctx, r.TransferPort, "errorReport", request, &wire.ErrorReportResponseProto{})
}

// registration has no block keys: a DataNode that never serves a block needs none.
func registration(r *Registration) *wire.DatanodeRegistrationProto {
	key := &wire.BlockKeyProto{}
	key.SetKeyId(0)
	key.SetExpiryDate(0)
	key.SetKeyBytes([]byte{})
	keys := &wire.ExportedBlockKeysProto{}
	keys.SetIsBlockTokenEnabled(false)
	keys.SetKeyUpdateInterval(0)
	keys.SetTokenLifeTime(0)
	keys.SetCurrentKey(key)
	m := &wire.DatanodeRegistrationProto{}
	m.SetDatanodeID(dataNodeID(&r.DataNode))
	m.SetStorageInfo(storageInfo(&r.Namespace))
	m.SetKeys(keys)
	m.SetSoftwareVersion(r.SoftwareVersion)
	return m
}

func dataNodeStorage(uuid string) *wire.DatanodeStorageProto {
	m := &wire.DatanodeStorageProto{}
	m.SetStorageUuid(uuid)
	m.SetState(wire.DatanodeStorageProto_NORMAL)
	m.SetStorageType(wire.StorageTypeProto_DISK)
	return m
}
