package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DFSIORun measures how fast files are written to and read from HDFS: Hadoop's TestDFSIO as an object. Each file is
// written and read by a pod of its own.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=dfsio,categories=hadoopbench
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Succeeded",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].status`
// +kubebuilder:printcolumn:name="Valid",type=string,JSONPath=`.status.conditions[?(@.type=="Valid")].status`
// +kubebuilder:printcolumn:name="Summary",type=string,JSONPath=`.status.summary`
// +kubebuilder:printcolumn:name="Execution",type=integer,JSONPath=`.status.execution`,priority=1
// +kubebuilder:printcolumn:name="Report",type=string,JSONPath=`.status.reportRef.name`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DFSIORun struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what to measure. Apart from suspend and ttlAfterFinished it changes only together with spec.rerun.
	// +required
	Spec DFSIORunSpec `json:"spec"`
	// Status is how far the run came and what it found.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status RunStatus `json:"status,omitempty"`
}

// DFSIORunList is a list of DFSIORuns.
//
// +kubebuilder:object:root=true
type DFSIORunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DFSIORun `json:"items"`
}

// DFSIORunSpec is what a DFSIORun measures. The fields have the names of TestDFSIO's options.
//
// +kubebuilder:validation:XValidation:rule="!has(self.parallelism) || self.parallelism <= (has(self.nrFiles) ? self.nrFiles : 1)",message="parallelism is more than nrFiles: raise nrFiles or leave parallelism out",fieldPath=".parallelism"
type DFSIORunSpec struct {
	RunSpec `json:",inline"`

	// Tests are run in this order: write, read, clean. A run without write reads what an earlier run with keepResults
	// left in baseDir. randomRead, backwardRead, skipRead, append and truncate are not supported yet.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Tests []DFSIOTest `json:"tests"`

	// NrFiles is the number of files, and of pods. Default 1, as in TestDFSIO.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	NrFiles *int32 `json:"nrFiles,omitempty"`

	// Size is the size of each file, in TestDFSIO's grammar: a number with B, KB, MB, GB or TB, powers of 1024; without
	// a unit it is MB. Default 1MB, as in TestDFSIO.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:Pattern=`^0*[1-9][0-9]*([kKmMgGtT]?[bB])?$`
	Size string `json:"size,omitempty"`

	// BufferSize is the number of bytes of one read or write call. Default 1000000, as in TestDFSIO.
	// +optional
	// +kubebuilder:validation:Minimum=512
	// +kubebuilder:validation:Maximum=268435456
	BufferSize *int32 `json:"bufferSize,omitempty"`

	// SkipSize is the distance that skipRead skips after each read, in the grammar of size. Not supported yet.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:Pattern=`^0*[1-9][0-9]*([kKmMgGtT]?[bB])?$`
	SkipSize string `json:"skipSize,omitempty"`

	// Parallelism bounds how many files are worked on at once. Default: all of them. A smaller number than nrFiles is
	// not supported yet.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	Parallelism *int32 `json:"parallelism,omitempty"`

	// Compression is the codec that files are written and read through. Not supported yet.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Compression string `json:"compression,omitempty"`

	// Replication is the number of replicas of each file. Default: dfs.replication of the configuration.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=512
	Replication *int32 `json:"replication,omitempty"`

	// BlockSize is the block size of each file, in the grammar of size but with B as the unit if none is given; a
	// multiple of 512 bytes. Default: dfs.blocksize of the configuration.
	// +optional
	// +kubebuilder:validation:MaxLength=24
	// +kubebuilder:validation:Pattern=`^0*[1-9][0-9]*([kKmMgGtT]?[bB])?$`
	BlockSize string `json:"blockSize,omitempty"`

	// StoragePolicy is the storage policy of each file. Not supported yet.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	StoragePolicy string `json:"storagePolicy,omitempty"`

	// ErasureCodingPolicy is the erasure coding policy of the data directory. Not supported yet.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	ErasureCodingPolicy string `json:"erasureCodingPolicy,omitempty"`

	// BaseDir is the directory for the run's files; data lies in <baseDir>/io_data, as in TestDFSIO. Default:
	// /benchmarks/TestDFSIO/<namespace>/<name>. TestDFSIO's own default is one directory for everybody, in which runs
	// destroy each other's files.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:Pattern=`^/[^:]*[^/:]$`
	BaseDir string `json:"baseDir,omitempty"`

	// Data says what is written.
	// +optional
	Data *DFSIOData `json:"data,omitempty"`

	// Verify adds a step that reads every file once more, untimed, and compares every byte with what was written.
	// Default false.
	// +optional
	Verify *bool `json:"verify,omitempty"`

	// Sync says how written data is made durable: None (default) leaves it to closing the file, as TestDFSIO does.
	// HFlush and HSync are not supported yet.
	// +optional
	Sync DFSIOSync `json:"sync,omitempty"`

	// UpstreamCompatible makes byte counts deviate from what was asked just as TestDFSIO's do. Default false. Not
	// supported yet.
	// +optional
	UpstreamCompatible *bool `json:"upstreamCompatible,omitempty"`
}

// DFSIOTest is one of TestDFSIO's tests.
// +kubebuilder:validation:Enum=write;read;randomRead;backwardRead;skipRead;append;truncate;clean
type DFSIOTest string

// Values of DFSIOTest.
const (
	DFSIOWrite        DFSIOTest = "write"
	DFSIORead         DFSIOTest = "read"
	DFSIORandomRead   DFSIOTest = "randomRead"
	DFSIOBackwardRead DFSIOTest = "backwardRead"
	DFSIOSkipRead     DFSIOTest = "skipRead"
	DFSIOAppend       DFSIOTest = "append"
	DFSIOTruncate     DFSIOTest = "truncate"
	DFSIOClean        DFSIOTest = "clean"
)

// DFSIOData says what is written.
type DFSIOData struct {
	// Pattern is Random (default), incompressible bytes, or Zero, which is what TestDFSIO really writes.
	// +optional
	Pattern DFSIOPattern `json:"pattern,omitempty"`
	// Seed selects the random bytes: the byte at an offset of a file depends on seed, file and offset only. Default 0.
	// +optional
	Seed *int64 `json:"seed,omitempty"`
	// CompressRatioPercent is how small a codec should find the data, in percent. Default 100. Not supported yet.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	CompressRatioPercent *int32 `json:"compressRatioPercent,omitempty"`
}

// DFSIOPattern is a kind of data.
// +kubebuilder:validation:Enum=Random;Zero
type DFSIOPattern string

// Values of DFSIOPattern.
const (
	PatternRandom DFSIOPattern = "Random"
	PatternZero   DFSIOPattern = "Zero"
)

// DFSIOSync is how written data is made durable.
// +kubebuilder:validation:Enum=None;HFlush;HSync
type DFSIOSync string

// Values of DFSIOSync.
const (
	SyncNone   DFSIOSync = "None"
	SyncHFlush DFSIOSync = "HFlush"
	SyncHSync  DFSIOSync = "HSync"
)

// RunObject returns what all kinds have in common: the shared spec and the status.
func (r *DFSIORun) RunObject() (*RunSpec, *RunStatus) { return &r.Spec.RunSpec, &r.Status }
