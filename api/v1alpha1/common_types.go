package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// RunSpec is what the kinds have in common. Its defaults are computed when the run starts and echoed in
// status.effective; they are never written into the spec, so that a GitOps tool sees no drift.
//
// +kubebuilder:validation:XValidation:rule="!has(self.successCriteria) || self.successCriteria != 'ThresholdsMet' || has(self.thresholds) && size(self.thresholds) > 0",message="successCriteria ThresholdsMet would never be met without thresholds: add thresholds or choose Completed or Valid",fieldPath=".successCriteria"
type RunSpec struct {
	// Target is the cluster under test and how to reach it.
	// +required
	Target Target `json:"target"`

	// Repeats is how often each measured step is measured; mean and spread over the repeats are the result. Default 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=30
	Repeats *int32 `json:"repeats,omitempty"`

	// RepeatOrder says in which order steps are repeated: PerStep (default) measures a step as often as asked before it
	// goes to the next; RoundRobin goes through all steps and starts over.
	// +optional
	RepeatOrder RepeatOrder `json:"repeatOrder,omitempty"`

	// Warmup is how long a step runs before it is measured. Default 0: no warm-up. Not supported yet by DFSIORun.
	// +optional
	Warmup *Duration `json:"warmup,omitempty"`

	// MinDuration is the shortest measurement that is believed; a shorter one makes the run not Valid (TooShort).
	// Default 5s.
	// +optional
	MinDuration *Duration `json:"minDuration,omitempty"`

	// StartDeadline is how long a step may make no progress (a pod created, scheduled, Ready) before its start is given
	// up. Default 5m.
	// +optional
	StartDeadline *Duration `json:"startDeadline,omitempty"`

	// ActiveDeadline bounds a whole execution. When it passes, shards are told to stop and the run ends with
	// Completed=False, DeadlineExceeded. Default: none.
	// +optional
	ActiveDeadline *Duration `json:"activeDeadline,omitempty"`

	// ShardFailurePolicy says what a shard lost during a measurement means. Fail (default): the step is stopped and the
	// run ends. Retry and Ignore are not supported yet.
	// +optional
	ShardFailurePolicy ShardFailurePolicy `json:"shardFailurePolicy,omitempty"`

	// Suspend keeps the run from starting its next step, and stops a running one; it is measured anew on resume.
	// May be changed at any time.
	// +optional
	Suspend *bool `json:"suspend,omitempty"`

	// TTLAfterFinished deletes the run this long after it finished. Default: never. Not supported yet.
	// +optional
	TTLAfterFinished *Duration `json:"ttlAfterFinished,omitempty"`

	// Thresholds are the bar that the results must meet. Not supported yet.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Thresholds []Threshold `json:"thresholds,omitempty"`

	// Baseline is an earlier run to compare with. Not supported yet.
	// +optional
	Baseline *Baseline `json:"baseline,omitempty"`

	// SuccessCriteria says which condition decides Succeeded. Default: ThresholdsMet if thresholds are given, else
	// Completed.
	// +optional
	SuccessCriteria SuccessCriteria `json:"successCriteria,omitempty"`

	// KeepResults leaves the data that the run wrote on the target. Default false: a cleanup step removes it. YCSBRun
	// refuses it: there table.dropAfter says what becomes of the table.
	// +optional
	KeepResults *bool `json:"keepResults,omitempty"`

	// MaxStartSpread is the largest accepted difference between the starts of the shards of one measurement.
	// Default: 5 % of the shortest shard's time, at most 1s.
	// +optional
	MaxStartSpread *Duration `json:"maxStartSpread,omitempty"`

	// Engine says who generates the load: Native (default), the operator's own runner, or Upstream, the original Java
	// tool, which only NNThroughputRun has.
	// +optional
	Engine Engine `json:"engine,omitempty"`

	// Client says which client library is used. DFSIORun has Colinmarc (github.com/colinmarc/hdfs), NNThroughputRun and
	// YCSBRun have Native, the operator's own; each is the default there, and the other one is not supported yet.
	// +optional
	Client ClientKind `json:"client,omitempty"`

	// Rerun is a token of your choice; changing it, alone or together with other fields, starts a new execution.
	// Changing it is not supported yet: create a new object.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Rerun string `json:"rerun,omitempty"`

	// PodTemplate adjusts the pods of the run.
	// +optional
	PodTemplate *PodTemplate `json:"podTemplate,omitempty"`
}

// Duration is a Go duration: a number with a unit (ms, s, m, h), or several of them, such as "90s" or "1h30m".
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
type Duration struct {
	metav1.Duration `json:",inline"`
}

// RepeatOrder is the order in which steps are repeated.
// +kubebuilder:validation:Enum=PerStep;RoundRobin
type RepeatOrder string

// Values of RepeatOrder.
const (
	RepeatPerStep    RepeatOrder = "PerStep"
	RepeatRoundRobin RepeatOrder = "RoundRobin"
)

// ShardFailurePolicy says what a lost shard means.
// +kubebuilder:validation:Enum=Fail;Retry;Ignore
type ShardFailurePolicy string

// Values of ShardFailurePolicy.
const (
	ShardFailureFail   ShardFailurePolicy = "Fail"
	ShardFailureRetry  ShardFailurePolicy = "Retry"
	ShardFailureIgnore ShardFailurePolicy = "Ignore"
)

// SuccessCriteria names the condition that decides Succeeded.
// +kubebuilder:validation:Enum=Completed;Valid;ThresholdsMet
type SuccessCriteria string

// Values of SuccessCriteria.
const (
	SuccessCompleted     SuccessCriteria = "Completed"
	SuccessValid         SuccessCriteria = "Valid"
	SuccessThresholdsMet SuccessCriteria = "ThresholdsMet"
)

// Engine says who generates the load.
// +kubebuilder:validation:Enum=Native;Upstream
type Engine string

// Values of Engine.
const (
	EngineNative   Engine = "Native"
	EngineUpstream Engine = "Upstream"
)

// ClientKind names a client library.
// +kubebuilder:validation:Enum=Native;Colinmarc
type ClientKind string

// Values of ClientKind.
const (
	ClientNative    ClientKind = "Native"
	ClientColinmarc ClientKind = "Colinmarc"
)

// Target is the cluster under test and how to reach it.
//
// +kubebuilder:validation:XValidation:rule="has(self.hadoopConfig) || has(self.fs) && size(self.fs) > 0 || has(self.properties) && ['fs.defaultFS', 'hbase.zookeeper.quorum', 'hbase.masters', 'hbase.client.bootstrap.servers'].exists(p, p in self.properties)",message="target says nowhere which cluster to use: set hadoopConfig.configMapRef, or fs or fs.defaultFS in properties for HDFS, or hbase.zookeeper.quorum in properties for HBase"
type Target struct {
	// HadoopConfig is the Hadoop configuration of the cluster.
	// +optional
	HadoopConfig *HadoopConfig `json:"hadoopConfig,omitempty"`

	// FS is the file system's URI, such as hdfs://namenode:8020 or hdfs://nameservice. Default: fs.defaultFS of the
	// configuration. YCSBRun, which works on HBase, refuses it.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^(hdfs://.+|file:///.*)?$`
	FS string `json:"fs,omitempty"`

	// Properties are Hadoop properties laid over the configuration's files (-D).
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Properties map[string]PropertyValue `json:"properties,omitempty"`

	// User is the user of simple authentication. Default: hadoop-bench.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	User string `json:"user,omitempty"`

	// Kerberos is how to log in to a secure cluster. Not supported yet by DFSIORun.
	// +optional
	Kerberos *Kerberos `json:"kerberos,omitempty"`

	// TLS is how to verify the cluster's web addresses. Not supported yet.
	// +optional
	TLS *TLS `json:"tls,omitempty"`

	// HTTP are the cluster's web addresses, asked for facts about the servers: NNThroughputRun asks for the NameNodes'
	// counts of calls, YCSBRun for settings of HBase's servers and for what is queued for compaction. Not supported yet by
	// DFSIORun.
	// +optional
	HTTP *HTTPAddresses `json:"http,omitempty"`
}

// PropertyValue is the value of a Hadoop property.
// +kubebuilder:validation:MaxLength=1024
type PropertyValue string

// HadoopConfig is where the Hadoop configuration is.
type HadoopConfig struct {
	// ConfigMapRef names a ConfigMap in the run's namespace with the keys core-site.xml, hdfs-site.xml and so on.
	// +required
	ConfigMapRef LocalObjectReference `json:"configMapRef"`
}

// LocalObjectReference names an object in the run's namespace.
type LocalObjectReference struct {
	// Name is the object's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Kerberos is how to log in.
type Kerberos struct {
	// Principal is the user's principal, user@REALM.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Principal string `json:"principal"`
	// KeytabSecretRef names a Secret with the key "keytab".
	// +required
	KeytabSecretRef LocalObjectReference `json:"keytabSecretRef"`
	// Krb5ConfigMapRef names a ConfigMap with the key "krb5.conf".
	// +required
	Krb5ConfigMapRef LocalObjectReference `json:"krb5ConfigMapRef"`
}

// TLS is how to verify servers.
type TLS struct {
	// CAConfigMapRef names a ConfigMap with the key "ca.crt".
	// +required
	CAConfigMapRef LocalObjectReference `json:"caConfigMapRef"`
}

// HTTPAddresses are web addresses of the servers.
type HTTPAddresses struct {
	// NameNodes are the NameNodes' web addresses, such as http://namenode:9870.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=512
	NameNodes []string `json:"nameNodes,omitempty"`
	// Masters are the HBase masters' web addresses, such as http://master:16010. Only of YCSBRun.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=512
	Masters []string `json:"masters,omitempty"`
	// RegionServers are the RegionServers' web addresses, such as http://regionserver:16030. Only of YCSBRun.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=128
	// +kubebuilder:validation:items:MaxLength=512
	RegionServers []string `json:"regionServers,omitempty"`
}

// Threshold is one bar.
//
// +kubebuilder:validation:XValidation:rule="has(self.min) || has(self.max)",message="a threshold without min and max is met by everything: set min, max or both"
type Threshold struct {
	// Step is the step it applies to, such as write.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Step string `json:"step"`
	// Figure is the figure's name in status.aggregates, such as aggregateMiBps.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	Figure string `json:"figure"`
	// Min is the smallest accepted value, a decimal in the figure's unit.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)?$`
	Min string `json:"min,omitempty"`
	// Max is the largest accepted value, a decimal in the figure's unit.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^[0-9]+(\.[0-9]+)?$`
	Max string `json:"max,omitempty"`
}

// Baseline is an earlier run to compare with.
type Baseline struct {
	// Name is the name of a finished run of the same kind in the same namespace.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// EquivalenceMarginPercent is the change below which two results are called similar. Default 5.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	EquivalenceMarginPercent *int32 `json:"equivalenceMarginPercent,omitempty"`
	// AllowDifferences are the spec fields that may differ from the baseline's.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MaxLength=128
	AllowDifferences []string `json:"allowDifferences,omitempty"`
}

// PodTemplate adjusts the pods of a run. Fields of Kubernetes' own types have their meaning there.
type PodTemplate struct {
	// Labels are added to the pods. Keys of hadoopbench.dev and of Jobs are refused.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// Annotations are added to the pods. Keys of hadoopbench.dev are refused.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	Annotations map[string]AnnotationValue `json:"annotations,omitempty"`
	// Image is the runner's image. Default: the operator's own. With engine Upstream it is an image with Hadoop and Java,
	// and required.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Image string `json:"image,omitempty"`
	// ImagePullPolicy is when the image is pulled. Default IfNotPresent.
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`
	// ImagePullSecrets are the Secrets to pull the image with.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	ImagePullSecrets []LocalObjectReference `json:"imagePullSecrets,omitempty"`
	// Resources are the runner container's. Default: none; a CPU limit would measure the throttling instead of the target.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// NodeSelector restricts the nodes.
	// +optional
	// +kubebuilder:validation:MaxProperties=32
	NodeSelector map[string]LabelValue `json:"nodeSelector,omitempty"`
	// Tolerations of the pods, beside the operator's own for lost nodes (30 s).
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// Affinity of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`
	// TopologySpreadConstraints of the pods. Default: a soft spread over the nodes.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
	// PriorityClassName of the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// ServiceAccountName of the pods. No token is mounted.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceAccountName string `json:"serviceAccountName,omitempty"`
	// Volumes are added to the pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	Volumes []corev1.Volume `json:"volumes,omitempty"`
	// VolumeMounts are added to the runner container.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	VolumeMounts []corev1.VolumeMount `json:"volumeMounts,omitempty"`
	// Env is added to the runner container.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	Env []corev1.EnvVar `json:"env,omitempty"`
	// SecurityContext is the pods' security context. Default: any non-root user, seccomp RuntimeDefault.
	// +optional
	SecurityContext *corev1.PodSecurityContext `json:"securityContext,omitempty"`
}

// LabelValue is the value of a label.
// +kubebuilder:validation:MaxLength=63
type LabelValue string

// AnnotationValue is the value of an annotation.
// +kubebuilder:validation:MaxLength=4096
type AnnotationValue string
