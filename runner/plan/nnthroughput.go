package plan

// Operations of NNThroughputBenchmark; the measured ones are steps of the same names.
const (
	OpCreate      = "create"
	OpMkdirs      = "mkdirs"
	OpOpen        = "open"
	OpDelete      = "delete"
	OpAppend      = "append"
	OpFileStatus  = "fileStatus"
	OpRename      = "rename"
	OpBlockReport = "blockReport"
	OpReplication = "replication"
	OpClean       = "clean"
	OpAll         = "all"
)

// Engines of a plan.
const (
	EngineNative   = "Native"
	EngineUpstream = "Upstream"
)

// NNThroughput is the part of a plan that only NNThroughput steps have. The step's name is the operation. Fields have the
// names and meanings of the tool's options; counts are totals over all shards.
//
// Shard i of n works as the threads [threads·i/n, threads·(i+1)/n) of one process of the original tool, so the names of
// all shards together are exactly that process's.
type NNThroughput struct {
	Engine     string   `json:"engine"`     // Native or Upstream
	Operations []string `json:"operations"` // all measured operations of the run, in order: preflight looks ahead

	// BaseDirs are the directories below which the run works; thread t works in BaseDirs[t mod len]. The files of an
	// operation lie in AttemptDir of one of them.
	BaseDirs []string `json:"baseDirs"`

	Threads     int32 `json:"threads"`
	Connections int32 `json:"connections"` // to the NameNode, for each shard

	Files       int64 `json:"files"`
	FilesPerDir int32 `json:"filesPerDir"`
	Dirs        int64 `json:"dirs"`
	DirsPerDir  int32 `json:"dirsPerDir"`
	Replication int32 `json:"replication,omitempty"` // 0: dfs.replication of the configuration
	BlockSize   int64 `json:"blockSize,omitempty"`   // bytes; 0: dfs.blocksize of the configuration

	Close        bool `json:"close,omitempty"`        // create: complete each file, too
	UseExisting  bool `json:"useExisting,omitempty"`  // work on the files that an earlier create left in <baseDir>/create
	AppendNewBlk bool `json:"appendNewBlk,omitempty"` // append: begin a new block

	DataNodes       int32 `json:"dataNodes,omitempty"` // fake ones, of blockReport and replication
	Reports         int64 `json:"reports,omitempty"`
	BlocksPerReport int32 `json:"blocksPerReport,omitempty"`
	BlocksPerFile   int32 `json:"blocksPerFile,omitempty"`

	// Of replication, which only the upstream tool does.
	NodesToDecommission  int32 `json:"nodesToDecommission,omitempty"`
	NodeReplicationLimit int32 `json:"nodeReplicationLimit,omitempty"`
	TotalBlocks          int32 `json:"totalBlocks,omitempty"`

	// UGCacheRefreshCount: each thread refreshes the NameNode's user-to-group mappings before every so many-th of its
	// operations; 0: never.
	UGCacheRefreshCount int32  `json:"ugCacheRefreshCount,omitempty"`
	LogLevel            string `json:"logLevel,omitempty"` // of the upstream tool
	// ManageSafeMode: leave safe mode before working, and enter it again at the end if it was on.
	ManageSafeMode bool `json:"manageSafeMode,omitempty"`
	// AllowFakeDataNodes: the owner of the target agrees to fake DataNodes among its own.
	AllowFakeDataNodes bool `json:"allowFakeDataNodes,omitempty"`
	KeepResults        bool `json:"keepResults,omitempty"` // leave what repeats and attempts made

	// RateMilli is the offered load in thousandths of an operation per second over all shards; 0: as fast as it goes.
	RateMilli int64 `json:"rateMilli,omitempty"`
	// DurationMillis measures for so long instead of a number of operations; 0: by number.
	DurationMillis int64 `json:"durationMillis,omitempty"`
	// WarmupMillis is how long shards work on names of their own between the start order and the measurement.
	WarmupMillis int64 `json:"warmupMillis,omitempty"`

	// HTTP are web addresses of the NameNodes, asked for their call counts; empty: they are not asked.
	HTTP []string `json:"http,omitempty"`
}
