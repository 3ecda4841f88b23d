package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// YCSBRun measures an HBase cluster with the workloads of YCSB: it makes a table, loads it, waits until its compactions
// are over, and measures workloads. Threads are spread over pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=ycsb,categories=hadoopbench
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`
// +kubebuilder:printcolumn:name="Succeeded",type=string,JSONPath=`.status.conditions[?(@.type=="Succeeded")].status`
// +kubebuilder:printcolumn:name="Valid",type=string,JSONPath=`.status.conditions[?(@.type=="Valid")].status`
// +kubebuilder:printcolumn:name="Summary",type=string,JSONPath=`.status.summary`
// +kubebuilder:printcolumn:name="Execution",type=integer,JSONPath=`.status.execution`,priority=1
// +kubebuilder:printcolumn:name="Report",type=string,JSONPath=`.status.reportRef.name`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type YCSBRun struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec is what to measure. Apart from suspend and ttlAfterFinished it changes only together with spec.rerun.
	// +required
	Spec YCSBRunSpec `json:"spec"`
	// Status is how far the run came and what it found.
	// +optional
	// +kubebuilder:default={"observedGeneration":-1}
	Status RunStatus `json:"status,omitempty"`
}

// YCSBRunList is a list of YCSBRuns.
//
// +kubebuilder:object:root=true
type YCSBRunList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []YCSBRun `json:"items"`
}

// YCSBRunSpec is what a YCSBRun measures. The fields have the names of YCSB's properties, in camelCase; counts are totals
// over all shards.
//
// +kubebuilder:validation:XValidation:rule="(has(self.threads) ? self.threads : 1) >= (has(self.shards) ? self.shards : 1)",message="threads is less than shards, so that some pods would have none: raise threads (default 1) or lower shards",fieldPath=".shards"
// +kubebuilder:validation:XValidation:rule="!has(self.useExisting) || !self.useExisting || !has(self.load)",message="useExisting and load exclude each other: leave one of them out",fieldPath=".useExisting"
type YCSBRunSpec struct {
	RunSpec `json:",inline"`

	// Table is the table that is loaded and measured.
	// +required
	Table YCSBTable `json:"table"`

	// RecordCount is the number of records that are loaded, or that useExisting finds.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	RecordCount int64 `json:"recordCount"`

	// UseExisting measures workloads on a table that holds the records already, after looking at a sample of them.
	// Default false: the records are loaded first.
	// +optional
	UseExisting *bool `json:"useExisting,omitempty"`

	// Load is how the records are loaded, and what is waited for before the first workload.
	// +optional
	Load *YCSBLoad `json:"load,omitempty"`

	// Workloads are measured in the order given. Without any, the run only loads.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Workloads []YCSBWorkload `json:"workloads,omitempty"`

	// Threads is the number of threads of load and workloads, over all shards. Default 1, as in YCSB.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Threads *int32 `json:"threads,omitempty"`

	// Shards is the number of pods that threads are spread over; at most as many as there are threads. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Shards *int32 `json:"shards,omitempty"`

	// ConnectionsPerShard is the number of connections to each RegionServer that the threads of one shard share.
	// Default: hbase.client.ipc.pool.size of the configuration, else 1, as in HBase's Java client.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	ConnectionsPerShard *int32 `json:"connectionsPerShard,omitempty"`

	// Rest is how long nothing is done before each measurement of a workload. Default 0.
	// +optional
	Rest *Duration `json:"rest,omitempty"`

	YCSBProperties `json:",inline"`

	// Seed of keys, values and the mix of operations; equal seeds make equal sequences for each thread. Default 0: the
	// run's own.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Seed *int64 `json:"seed,omitempty"`

	// Properties are further properties of YCSB and of its HBase binding, in YCSB's own spelling. Those that have a field
	// of their own are refused.
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Properties map[string]PropertyValue `json:"properties,omitempty"`
}

// YCSBTable is a table of HBase.
type YCSBTable struct {
	// Name of the table, or namespace:name. Default usertable, as in YCSB.
	// +optional
	// +kubebuilder:validation:MaxLength=255
	// +kubebuilder:validation:Pattern=`^([a-zA-Z0-9_]+:)?[a-zA-Z0-9_][a-zA-Z0-9_.-]*$`
	Name string `json:"name,omitempty"`

	// ColumnFamily that holds the fields. Default family.
	// +optional
	// +kubebuilder:validation:MaxLength=127
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_-][A-Za-z0-9_.-]*$`
	ColumnFamily string `json:"columnFamily,omitempty"`

	// Regions is how many regions a table that is created begins with, in equal shares of the keys. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100000
	Regions *int32 `json:"regions,omitempty"`

	// CreatePolicy says who makes the table: Create (default), the run, which ends before it writes anything if there is
	// one of that name; IfMissing, the run, if there is none; Never, somebody else.
	// +optional
	CreatePolicy YCSBCreatePolicy `json:"createPolicy,omitempty"`

	// DropAfter drops the table in the end, if the run made it. Default false.
	// +optional
	DropAfter *bool `json:"dropAfter,omitempty"`

	// Compression of the column family of a table that is created. Default None.
	// +optional
	// +kubebuilder:validation:Enum=None;GZ;Snappy;LZ4;ZSTD
	Compression string `json:"compression,omitempty"`

	// Values are attributes of a table that is created, such as hbase.hregion.memstore.flush.size.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Values map[string]PropertyValue `json:"values,omitempty"`
}

// YCSBCreatePolicy says who makes the table.
// +kubebuilder:validation:Enum=Create;IfMissing;Never
type YCSBCreatePolicy string

// Values of YCSBCreatePolicy.
const (
	YCSBCreate          YCSBCreatePolicy = "Create"
	YCSBCreateIfMissing YCSBCreatePolicy = "IfMissing"
	YCSBCreateNever     YCSBCreatePolicy = "Never"
)

// YCSBLoad is how records are loaded.
type YCSBLoad struct {
	// Shards that load. Default: shards of the run.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	Shards *int32 `json:"shards,omitempty"`

	// Threads that load, over all its shards. Default: threads of the run.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	Threads *int32 `json:"threads,omitempty"`

	// Target is the number of records per second to load, over all shards, a decimal with at most three places.
	// Default: as fast as it goes.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]{1,9}(\.[0-9]{1,3})?$`
	Target string `json:"target,omitempty"`

	// MajorCompact has every region compacted once more, wholly, after the load. Default false.
	// +optional
	MajorCompact *bool `json:"majorCompact,omitempty"`

	// WaitForCompaction flushes the table after the load and waits until all its compactions are over. Default: true.
	// +optional
	WaitForCompaction *bool `json:"waitForCompaction,omitempty"`

	// SettleTime is how long no compaction may be seen before the first workload. Default 60s.
	// +optional
	SettleTime *Duration `json:"settleTime,omitempty"`

	// CompactionDeadline bounds the wait. Default 2h.
	// +optional
	CompactionDeadline *Duration `json:"compactionDeadline,omitempty"`
}

// YCSBWorkload is one workload: one of YCSB's own, or proportions of one's own. Fields that are not set are the preset's,
// then the run's, then YCSB's defaults.
//
// +kubebuilder:validation:XValidation:rule="has(self.operationCount) || has(self.duration)",message="a workload without an end: set operationCount or duration"
// +kubebuilder:validation:XValidation:rule="has(self.preset) || has(self.readProportion) || has(self.updateProportion) || has(self.insertProportion) || has(self.scanProportion) || has(self.readModifyWriteProportion)",message="a workload without operations: set preset, or proportions"
type YCSBWorkload struct {
	// Name of the step. Default: workload-a and so on, or update-only, after the preset; without a preset it is needed.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// Preset is one of YCSB's workloads: A (half reads, half updates), B (95 % reads), C (reads), D (reads of the latest,
	// and inserts), E (short scans, and inserts), F (reads and read-modify-writes), or UpdateOnly.
	// +optional
	// +kubebuilder:validation:Enum=A;B;C;D;E;F;UpdateOnly
	Preset string `json:"preset,omitempty"`

	// OperationCount is the number of operations, over all shards.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000000
	OperationCount *int64 `json:"operationCount,omitempty"`

	// Duration measures for so long; with operationCount until the first of the two ends (YCSB's maxexecutiontime).
	// +optional
	Duration *Duration `json:"duration,omitempty"`

	// Repeats of this workload. Default: those of the run.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=30
	Repeats *int32 `json:"repeats,omitempty"`

	// Target is the number of operations per second to offer, over all shards, a decimal with at most three places.
	// Default: each thread works as fast as it is answered.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]{1,9}(\.[0-9]{1,3})?$`
	Target string `json:"target,omitempty"`

	// Warmup of this workload. Default: that of the run.
	// +optional
	Warmup *Duration `json:"warmup,omitempty"`

	YCSBMix `json:",inline"`
}

// YCSBMix is which operations a workload consists of, and on which records.
type YCSBMix struct {
	// ReadProportion of the operations, a decimal. The proportions are made to sum up to one. If any is set, those that
	// are not are 0, whatever the preset has; YCSB itself would read 95 % and update 5 %.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]{1,6}(\.[0-9]{1,9})?$`
	ReadProportion string `json:"readProportion,omitempty"`
	// UpdateProportion of the operations.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]{1,6}(\.[0-9]{1,9})?$`
	UpdateProportion string `json:"updateProportion,omitempty"`
	// InsertProportion of the operations.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]{1,6}(\.[0-9]{1,9})?$`
	InsertProportion string `json:"insertProportion,omitempty"`
	// ScanProportion of the operations.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]{1,6}(\.[0-9]{1,9})?$`
	ScanProportion string `json:"scanProportion,omitempty"`
	// ReadModifyWriteProportion of the operations.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]{1,6}(\.[0-9]{1,9})?$`
	ReadModifyWriteProportion string `json:"readModifyWriteProportion,omitempty"`

	// RequestDistribution of the records that operations choose. Default: the preset's, else uniform.
	// +optional
	// +kubebuilder:validation:Enum=uniform;zipfian;latest;hotspot;sequential;exponential
	RequestDistribution string `json:"requestDistribution,omitempty"`
	// MinScanLength in records. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	MinScanLength *int32 `json:"minScanLength,omitempty"`
	// MaxScanLength in records. Default 1000; 100 in preset E.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	MaxScanLength *int32 `json:"maxScanLength,omitempty"`
	// ScanLengthDistribution. Default uniform.
	// +optional
	// +kubebuilder:validation:Enum=uniform;zipfian
	ScanLengthDistribution string `json:"scanLengthDistribution,omitempty"`
	// HotspotDataFraction is the part of the records that is hot. Default 0.2.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^(0(\.[0-9]{1,9})?|1(\.0{1,9})?)$`
	HotspotDataFraction string `json:"hotspotDataFraction,omitempty"`
	// HotspotOpnFraction is the part of the operations on hot records. Default 0.8.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^(0(\.[0-9]{1,9})?|1(\.0{1,9})?)$`
	HotspotOpnFraction string `json:"hotspotOpnFraction,omitempty"`
	// ExponentialPercentile of the operations falls on the exponentialFrac latest records. Default 95.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]{1,2}(\.[0-9]{1,9})?$`
	ExponentialPercentile string `json:"exponentialPercentile,omitempty"`
	// ExponentialFrac is that part of the records. Default 0.8571428571.
	// +optional
	// +kubebuilder:validation:MaxLength=16
	// +kubebuilder:validation:Pattern=`^[0-9]{1,2}(\.[0-9]{1,12})?$`
	ExponentialFrac string `json:"exponentialFrac,omitempty"`
}

// YCSBProperties are YCSB's properties that load and workloads share.
type YCSBProperties struct {
	// FieldCount is the number of fields of a record. Default 10.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	FieldCount *int32 `json:"fieldCount,omitempty"`
	// FieldLength is the length of a field in bytes, or the longest one. Default 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10485760
	FieldLength *int32 `json:"fieldLength,omitempty"`
	// MinFieldLength is the shortest length of a field where the lengths are not constant. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10485760
	MinFieldLength *int32 `json:"minFieldLength,omitempty"`
	// FieldLengthDistribution. Default constant. (YCSB's histogram needs a file, which a pod does not have.)
	// +optional
	// +kubebuilder:validation:Enum=constant;uniform;zipfian
	FieldLengthDistribution string `json:"fieldLengthDistribution,omitempty"`
	// FieldNamePrefix before the number of a field. Default field.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_.-]+$`
	FieldNamePrefix string `json:"fieldNamePrefix,omitempty"`
	// ReadAllFields reads whole records; false: one field of each. Default true.
	// +optional
	ReadAllFields *bool `json:"readAllFields,omitempty"`
	// ReadAllFieldsByName names every field in a read of a whole record. Default false.
	// +optional
	ReadAllFieldsByName *bool `json:"readAllFieldsByName,omitempty"`
	// WriteAllFields updates whole records; false: one field of each. Default false.
	// +optional
	WriteAllFields *bool `json:"writeAllFields,omitempty"`
	// DataIntegrity writes values that depend on record and field and checks every one that is read. Needs fields of
	// constant length. Default false.
	// +optional
	DataIntegrity *bool `json:"dataIntegrity,omitempty"`
	// InsertOrder: hashed (default) spreads successive records over the table, ordered does not.
	// +optional
	// +kubebuilder:validation:Enum=hashed;ordered
	InsertOrder string `json:"insertOrder,omitempty"`
	// ZeroPadding is the least number of digits of a key's number. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=32
	ZeroPadding *int32 `json:"zeroPadding,omitempty"`
	// InsertionRetryLimit is how often a failed insert is repeated (core_workload_insertion_retry_limit). Default 0.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	InsertionRetryLimit *int32 `json:"insertionRetryLimit,omitempty"`
	// InsertionRetryInterval is how long to wait before, give or take a fifth. Default 3s.
	// +optional
	InsertionRetryInterval *Duration `json:"insertionRetryInterval,omitempty"`
	// Durability of writes. Default UseDefault: the table's.
	// +optional
	// +kubebuilder:validation:Enum=UseDefault;SkipWAL;AsyncWAL;SyncWAL;FsyncWAL
	Durability string `json:"durability,omitempty"`
	// ClientBuffering collects writes in a buffer, so that an operation is over before its record is stored. Default
	// false.
	// +optional
	ClientBuffering *bool `json:"clientBuffering,omitempty"`
	// WriteBufferSize in bytes, with clientBuffering. Default 12582912.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1073741824
	WriteBufferSize *int64 `json:"writeBufferSize,omitempty"`
	// UsePageFilter has regions end scans by a filter (hbase.usepagefilter). Default true.
	// +optional
	UsePageFilter *bool `json:"usePageFilter,omitempty"`
	// ZipfianScrambling: YCSB (default) chooses the very records that YCSB chooses, whose distribution is not quite
	// Zipf's; Exact chooses by the true one.
	// +optional
	// +kubebuilder:validation:Enum=YCSB;Exact
	ZipfianScrambling string `json:"zipfianScrambling,omitempty"`
}

// RunObject returns what all kinds have in common: the shared spec and the status.
func (r *YCSBRun) RunObject() (*RunSpec, *RunStatus) { return &r.Spec.RunSpec, &r.Status }
