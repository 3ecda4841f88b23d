package namenode

import "time"

// FileStatus is what the NameNode says of a file or directory.
type FileStatus struct {
	Path        string // last element, empty for the path that was asked for
	Dir         bool
	Length      int64 // bytes
	Replication int32
	BlockSize   int64
	Owner       string
	ModTime     time.Time // by the NameNode's clock, whole milliseconds
	FileID      uint64
	Children    int32 // of a directory, where the server says it
	ErasureCode string
	Encrypted   bool
}

// CreateOptions of a file, as they go onto the wire.
type CreateOptions struct {
	Client      string // name of the lease's holder
	Overwrite   bool
	Replication int32
	BlockSize   int64
	Permission  uint32 // masked already
}

// Block names a block and the replica's length and generation.
type Block struct {
	Pool            string
	ID              uint64
	GenerationStamp uint64
	NumBytes        uint64
}

// DataNode is a DataNode as the NameNode lists it.
type DataNode struct {
	IP, Host     string
	UUID         string
	TransferPort uint32
	InfoPort     uint32
	SecurePort   uint32
	IPCPort      uint32
	Capacity     uint64 // bytes
	Remaining    uint64
	Location     string // rack
	State        string // In Service, Decommissioned and so on, as the server's enum says: NORMAL, DECOMMISSIONED, ...
	LastUpdate   time.Time
}

// LocatedBlock is a block and the DataNodes that shall hold it.
type LocatedBlock struct {
	Block     Block
	Locations []DataNode
	Storages  []string // storage ids, one for each location
}

// Safe mode actions.
type SafeModeAction int32

// Values of SafeModeAction.
const (
	SafeModeLeave SafeModeAction = 1
	SafeModeEnter SafeModeAction = 2
	SafeModeGet   SafeModeAction = 3
)

// DataNodeReport selects DataNodes.
type DataNodeReport int32

// Values of DataNodeReport.
const (
	ReportAll  DataNodeReport = 1
	ReportLive DataNodeReport = 2
	ReportDead DataNodeReport = 3
)

// Namespace is what versionRequest answers.
type Namespace struct {
	BuildVersion, SoftwareVersion string
	Pool                          string // block pool id
	LayoutVersion                 uint32
	NamespaceID                   uint32
	ClusterID                     string
	CTime                         uint64
	Capabilities                  uint64
	State                         string // ACTIVE, STANDBY, OBSERVER
}

// Registration is a DataNode's identity towards a NameNode: what it asks to be registered with, and what the NameNode
// answers, which goes with each later call.
type Registration struct {
	DataNode
	Namespace       Namespace
	SoftwareVersion string
}

// Replica is one entry of a block report.
type Replica struct {
	ID, GenerationStamp, NumBytes int64
}

// FSStats are the file system's totals, in bytes over all DataNodes.
type FSStats struct {
	Capacity, Used, Remaining                     uint64
	UnderReplicated, CorruptBlocks, MissingBlocks uint64
	PendingDeletionBlocks                         uint64
}

// ServerDefaults are the NameNode's own settings.
type ServerDefaults struct {
	BlockSize        uint64
	Replication      uint32
	BytesPerChecksum uint32
}

// ContentSummary counts what lies below a path.
type ContentSummary struct {
	Files, Directories, Length uint64
}

// Entry is one name of a directory.
type Entry = FileStatus

// EncodedReport is a block report as it goes onto the wire, encoded once by EncodeReport.
type EncodedReport struct {
	Blocks uint64
	Buffer []byte // per replica: zig-zag varint id, varint length, varint generation stamp, varint state (0: FINALIZED)
}
