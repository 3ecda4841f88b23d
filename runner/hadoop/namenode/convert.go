package namenode

import (
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

func fileStatus(s *wire.HdfsFileStatusProto) FileStatus {
	return FileStatus{
		Path:        string(s.GetPath()),
		Dir:         s.GetFileType() == wire.HdfsFileStatusProto_IS_DIR,
		Length:      int64(s.GetLength()),
		Replication: int32(s.GetBlockReplication()),
		BlockSize:   int64(s.GetBlocksize()),
		Owner:       s.GetOwner(),
		ModTime:     time.UnixMilli(int64(s.GetModificationTime())),
		FileID:      s.GetFileId(),
		Children:    max(s.GetChildrenNum(), 0),
		ErasureCode: s.GetEcPolicy().GetName(),
		Encrypted:   s.GetFlags()&uint32(wire.HdfsFileStatusProto_HAS_CRYPT) != 0,
	}
}

func block(b *wire.ExtendedBlockProto) Block {
	return Block{Pool: b.GetPoolId(), ID: b.GetBlockId(), GenerationStamp: b.GetGenerationStamp(), NumBytes: b.GetNumBytes()}
}

// extendedBlock is nil for nil.
func extendedBlock(b *Block) *wire.ExtendedBlockProto {
	if b == nil {
		return nil
	}
	m := &wire.ExtendedBlockProto{}
	m.SetPoolId(b.Pool)
	m.SetBlockId(b.ID)
	m.SetGenerationStamp(b.GenerationStamp)
	m.SetNumBytes(b.NumBytes)
	return m
}

func dataNode(id *wire.DatanodeIDProto) DataNode {
	return DataNode{
		IP: id.GetIpAddr(), Host: id.GetHostName(), UUID: id.GetDatanodeUuid(), TransferPort: id.GetXferPort(),
		InfoPort: id.GetInfoPort(), SecurePort: id.GetInfoSecurePort(), IPCPort: id.GetIpcPort(),
	}
}

func dataNodeID(n *DataNode) *wire.DatanodeIDProto {
	m := &wire.DatanodeIDProto{}
	m.SetIpAddr(n.IP)
	m.SetHostName(n.Host)
	m.SetDatanodeUuid(n.UUID)
	m.SetXferPort(n.TransferPort)
	m.SetInfoPort(n.InfoPort)
	m.SetIpcPort(n.IPCPort)
	m.SetInfoSecurePort(n.SecurePort)
	return m
}

func dataNodes(infos []*wire.DatanodeInfoProto) []DataNode {
	nodes := make([]DataNode, len(infos))
	for i, info := range infos {
		nodes[i] = dataNode(info.GetId())
		nodes[i].Capacity, nodes[i].Remaining = info.GetCapacity(), info.GetRemaining()
		nodes[i].Location, nodes[i].State = info.GetLocation(), info.GetAdminState().String()
		nodes[i].LastUpdate = time.UnixMilli(int64(info.GetLastUpdate()))
	}
	return nodes
}

// dataNodeInfo is what identifies a DataNode that shall be excluded: who it is, and its rack, from which the NameNode
// counts how many nodes are left there.
func dataNodeInfo(n *DataNode) *wire.DatanodeInfoProto {
	m := &wire.DatanodeInfoProto{}
	m.SetId(dataNodeID(n))
	if n.Location != "" {
		m.SetLocation(n.Location)
	}
	return m
}

func namespace(info *wire.NamespaceInfoProto) Namespace {
	s := info.GetStorageInfo()
	n := Namespace{
		BuildVersion: info.GetBuildVersion(), SoftwareVersion: info.GetSoftwareVersion(), Pool: info.GetBlockPoolID(),
		LayoutVersion: s.GetLayoutVersion(), NamespaceID: s.GetNamespceID(), ClusterID: s.GetClusterID(), CTime: s.GetCTime(),
		Capabilities: info.GetCapabilities(),
	}
	if info.HasState() {
		n.State = info.GetState().String()
	}
	return n
}

func storageInfo(n *Namespace) *wire.StorageInfoProto {
	m := &wire.StorageInfoProto{}
	m.SetLayoutVersion(n.LayoutVersion)
	m.SetNamespceID(n.NamespaceID)
	m.SetClusterID(n.ClusterID)
	m.SetCTime(n.CTime)
	return m
}
