package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// NNThroughputRun measures how many operations per second an HDFS NameNode carries out: Hadoop's NNThroughputBenchmark
// as an object. The operations' threads are spread over pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=nnt,categories=hadoopbench
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Succeeded",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].status`
// +kubebuilder:printcolumn:name="Valid",type=string,JSONPath=`.status.conditions[?(@.type=="Valid")].status`
// +kubebuilder:printcolumn:name="Summary",type=string,JSONPath=`.status.summary`
// +kubebuilder:printcolumn:name="Execution",type=integer,JSONPath=`.status.execution`,priority=1
// +kubebuilder:printcolumn:name="Report",type=string,JSONPath=`.status.reportRef.name`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type NNThroughputRun struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what to measure. Apart from suspend and ttlAfterFinished it changes only together with spec.rerun.
	// +required
	Spec NNThroughputRunSpec `json:"spec"`
	// Status is how far the run came and what it found.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status RunStatus `json:"status,omitempty"`
}

// NNThroughputRunList is a list of NNThroughputRuns.
//
// +kubebuilder:object:root=true
type NNThroughputRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []NNThroughputRun `json:"items"`
}

// NNThroughputRunSpec is what an NNThroughputRun measures. The fields have the names of NNThroughputBenchmark's options;
// counts are totals over all shards.
//
// +kubebuilder:validation:XValidation:rule="(has(self.threads) ? self.threads : 3) >= (has(self.shards) ? self.shards : 1) || self.operations.all(o, o in ['blockReport', 'replication', 'clean'])",message="threads is less than shards, so that some pods would have none: raise threads (default 3) or lower shards",fieldPath=".shards"
// +kubebuilder:validation:XValidation:rule="!has(self.baseDirName) || !has(self.baseDirNames)",message="baseDirName and baseDirNames exclude each other: leave one of them out",fieldPath=".baseDirNames"
// +kubebuilder:validation:XValidation:rule="!has(self.nonSuperUser) || !self.nonSuperUser || !has(self.manageSafeMode) || !self.manageSafeMode",message="only a superuser can change the safe mode: leave manageSafeMode or nonSuperUser out",fieldPath=".manageSafeMode"
type NNThroughputRunSpec struct {
	RunSpec `json:",inline"`

	// Operations are run in the order given: create, mkdirs, open, delete, append, fileStatus, rename, blockReport,
	// clean; or all, which stands for all of these and stands alone. replication needs engine Upstream and the file
	// system file:///; blockReport and all need allowFakeDataNodes.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=10
	Operations []NNThroughputOperation `json:"operations"`

	// Threads is the number of threads that call the NameNode, over all shards. Default 3.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Threads *int32 `json:"threads,omitempty"`

	// Shards is the number of pods that threads and fake DataNodes are spread over; at most as many as there are of those.
	// Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Shards *int32 `json:"shards,omitempty"`

	// ConnectionsPerShard is the number of connections to the NameNode that the threads of one shard share. Default 1,
	// as in NNThroughputBenchmark.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	ConnectionsPerShard *int32 `json:"connectionsPerShard,omitempty"`

	// Files is the number of files of create, open, delete, append, fileStatus and rename. Default 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	Files *int64 `json:"files,omitempty"`

	// Dirs is the number of directories of mkdirs. Default 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	Dirs *int64 `json:"dirs,omitempty"`

	// FilesPerDir is the largest number of files in one directory, and of subdirectories beside them. Default 4.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	FilesPerDir *int32 `json:"filesPerDir,omitempty"`

	// DirsPerDir is what filesPerDir is, for mkdirs. Default 2.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	DirsPerDir *int32 `json:"dirsPerDir,omitempty"`

	// Close lets create complete each file after its timed call. Default false: files stay open, as in
	// NNThroughputBenchmark.
	// +optional
	Close *bool `json:"close,omitempty"`

	// UseExisting makes operations work on the files that an earlier create with keepResults left in the base directory,
	// instead of making files of their own. delete, append and rename use files up: with useExisting one of them may
	// only be the last operation, measured once. Default false.
	// +optional
	UseExisting *bool `json:"useExisting,omitempty"`

	// AppendNewBlk lets append begin a new block. Default false. (In NNThroughputBenchmark the option has no effect.)
	// +optional
	AppendNewBlk *bool `json:"appendNewBlk,omitempty"`

	// DataNodes is the number of fake DataNodes of blockReport and replication, over all shards; at least shards.
	// Default 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32766
	DataNodes *int32 `json:"datanodes,omitempty"`

	// Reports is the number of block reports sent by blockReport, over all fake DataNodes. Default 30.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	Reports *int64 `json:"reports,omitempty"`

	// BlocksPerReport is the number of blocks in each block report. Default 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000000
	BlocksPerReport *int32 `json:"blocksPerReport,omitempty"`

	// BlocksPerFile is the number of blocks of each file that blockReport makes. Default 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	BlocksPerFile *int32 `json:"blocksPerFile,omitempty"`

	// NodesToDecommission is how many of its fake DataNodes replication decommissions. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32766
	NodesToDecommission *int32 `json:"nodesToDecommission,omitempty"`

	// NodeReplicationLimit is how many replications replication lets one DataNode have at once. Default 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	NodeReplicationLimit *int32 `json:"nodeReplicationLimit,omitempty"`

	// TotalBlocks is the number of blocks that replication makes. Default 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000000
	TotalBlocks *int32 `json:"totalBlocks,omitempty"`

	// Replication is the number of replicas of each file. Default: dfs.replication of the configuration.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=512
	Replication *int32 `json:"replication,omitempty"`

	// BaseDirName is the directory for the run's files; an operation works in <baseDirName>/<operation>. Default:
	// /nnThroughputBenchmark/<namespace>/<name>. NNThroughputBenchmark's own default is one directory for everybody, in
	// which runs destroy each other's files.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[^:]*[^/:]$`
	BaseDirName string `json:"baseDirName,omitempty"`

	// BaseDirNames are several such directories instead of one, such as one below each mount point of a router
	// federation; thread t works in number t modulo their count.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:items:Pattern=`^/[^:]*[^/:]$`
	BaseDirNames []string `json:"baseDirNames,omitempty"`

	// BlockSize is the block size of each file in bytes, or with one of k, m, g, t, p, e, powers of 1024. Default:
	// dfs.blocksize of the configuration.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:Pattern=`^0*[1-9][0-9]*[kKmMgGtTpPeE]?$`
	BlockSize string `json:"blockSize,omitempty"`

	// LogLevel is the log level of the Java tool; only with engine Upstream. Default ERROR.
	// +optional
	// +kubebuilder:validation:Enum=ERROR;WARN;INFO;DEBUG;TRACE
	LogLevel string `json:"logLevel,omitempty"`

	// UGCacheRefreshCount makes each thread refresh the NameNode's user-to-group mappings before every so many-th of its
	// operations. Default 0: never.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	UGCacheRefreshCount *int32 `json:"ugCacheRefreshCount,omitempty"`

	// NonSuperUser promises that nothing is called that only a superuser may call. It is so anyway unless manageSafeMode
	// is set. Default false.
	// +optional
	NonSuperUser *bool `json:"nonSuperUser,omitempty"`

	// ManageSafeMode lets the run leave the NameNode's safe mode at its beginning and, if it was on, enter it again at
	// its end; not with keepResults. Default false: the safe mode is never touched. NNThroughputBenchmark always leaves
	// it, and often ends with it on.
	// +optional
	ManageSafeMode *bool `json:"manageSafeMode,omitempty"`

	// AllowFakeDataNodes agrees that blockReport registers DataNodes at the target that do not exist. While it runs,
	// the NameNode may send other clients' blocks to them: use a cluster that serves nobody else. Default false.
	// +optional
	AllowFakeDataNodes *bool `json:"allowFakeDataNodes,omitempty"`

	// Rate is the number of operations per second to offer, over all shards, a decimal with at most three places.
	// Default: each thread calls as fast as it is answered.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]{1,9}(\.[0-9]{1,3})?$`
	Rate string `json:"rate,omitempty"`

	// Duration measures each operation for so long, instead of a number of times. Not for delete, append and rename,
	// which use their files up.
	// +optional
	Duration *Duration `json:"duration,omitempty"`
}

// NNThroughputOperation is one of NNThroughputBenchmark's operations.
// +kubebuilder:validation:Enum=create;mkdirs;open;delete;append;fileStatus;rename;blockReport;replication;clean;all
type NNThroughputOperation string

// Values of NNThroughputOperation.
const (
	NNThroughputCreate      NNThroughputOperation = "create"
	NNThroughputMkdirs      NNThroughputOperation = "mkdirs"
	NNThroughputOpen        NNThroughputOperation = "open"
	NNThroughputDelete      NNThroughputOperation = "delete"
	NNThroughputAppend      NNThroughputOperation = "append"
	NNThroughputFileStatus  NNThroughputOperation = "fileStatus"
	NNThroughputRename      NNThroughputOperation = "rename"
	NNThroughputBlockReport NNThroughputOperation = "blockReport"
	NNThroughputReplication NNThroughputOperation = "replication"
	NNThroughputClean       NNThroughputOperation = "clean"
	NNThroughputAll         NNThroughputOperation = "all"
)

// RunObject returns what all kinds have in common: the shared spec and the status.
func (r *NNThroughputRun) RunObject() (*RunSpec, *RunStatus) { return &r.Spec.RunSpec, &r.Status }
