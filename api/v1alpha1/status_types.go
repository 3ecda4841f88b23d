package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RunStatus is how far a run came and what it found. It is bounded to 64 KiB whatever the number of shards: all
// shards' rows are in the ConfigMaps that reportRef leads to.
type RunStatus struct {
	// ObservedGeneration is the generation of the spec that this status is about; -1 before the first visit.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Conditions: TargetReady, Completed, Valid, ThresholdsMet, Succeeded, Reconciling, Stalled.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Phase is one word for people; nothing is decided by it.
	// +optional
	Phase string `json:"phase,omitempty"`

	// Execution counts the carryings-out of this run, from 1.
	// +optional
	Execution int32 `json:"execution,omitempty"`

	// StartTime is when the execution began.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// CompletionTime is when the execution ended, whatever its outcome.
	// +optional
	CompletionTime *metav1.Time `json:"completionTime,omitempty"`

	// Summary is the result, or the present activity, in one line.
	// +optional
	Summary string `json:"summary,omitempty"`

	// Effective is what the execution really runs with: the spec with every default filled in.
	// +optional
	Effective *Effective `json:"effective,omitempty"`

	// Environment is what was found about the target and the runner.
	// +optional
	Environment *Environment `json:"environment,omitempty"`

	// Steps are the steps of the execution that have begun, in order; a measured step has a row per repeat.
	// +optional
	// +listType=atomic
	Steps []StepStatus `json:"steps,omitempty"`

	// Aggregates are the figures of each measured step over its repeats.
	// +optional
	// +listType=atomic
	Aggregates []Aggregate `json:"aggregates,omitempty"`

	// PooledLatencies are the latencies of each measured step over all its repeats together, from merged histograms.
	// +optional
	// +listType=atomic
	PooledLatencies []PooledLatency `json:"pooledLatencies,omitempty"`

	// Failure is the first thing that went wrong.
	// +optional
	Failure *Failure `json:"failure,omitempty"`

	// ReportRef names the ConfigMap with the execution's reports: report.json, and the tool's own text.
	// +optional
	ReportRef *LocalObjectReference `json:"reportRef,omitempty"`
}

// Effective is what an execution runs with, fixed at its first visit.
type Effective struct {
	// SpecHash is the hash of the spec without suspend and ttlAfterFinished.
	// +optional
	SpecHash string `json:"specHash,omitempty"`
	// ConfigHash is the hash of the Hadoop configuration.
	// +optional
	ConfigHash string `json:"configHash,omitempty"`
	// RunnerImage is the image of the runner as asked for.
	// +optional
	RunnerImage string `json:"runnerImage,omitempty"`
	// RunnerImageID is the image that ran, with its digest, as the node reported it.
	// +optional
	RunnerImageID string `json:"runnerImageID,omitempty"`
	// Options are the options with their defaults filled in.
	// +optional
	Options map[string]string `json:"options,omitempty"`
}

// Environment is what was found about the target and the runner.
type Environment struct {
	// Facts are what preflight found, such as the NameNode's address and the free space.
	// +optional
	Facts map[string]string `json:"facts,omitempty"`
	// ShardsPerNode is how many shards ran on each node in the latest measured step, for at most 32 nodes.
	// +optional
	ShardsPerNode map[string]int32 `json:"shardsPerNode,omitempty"`
	// Nodes is the number of nodes that shards ran on in the latest measured step.
	// +optional
	Nodes int32 `json:"nodes,omitempty"`
}

// StepState is where a step is.
type StepState string

// Values of StepState.
const (
	// StepPreparing: the attempt's Job is made and its shards get ready.
	StepPreparing StepState = "Preparing"
	// StepRunning: the shards have their start time, or run without one.
	StepRunning StepState = "Running"
	// StepStopping: the shards have been told to stop.
	StepStopping StepState = "Stopping"
	// StepDone: the step ran to its end and its result is kept.
	StepDone StepState = "Done"
	// StepFailed: the step ended without a full result.
	StepFailed StepState = "Failed"
)

// StepStatus is one step, or one repeat of a measured step.
type StepStatus struct {
	// Name of the step: preflight, verify, cleanup, or the tool's own word, such as write or fileStatus.
	Name string `json:"name"`
	// Repeat, from 1.
	Repeat int32 `json:"repeat"`
	// State is where the step is.
	State StepState `json:"state"`
	// Attempt is the number of the present or last attempt, from 1.
	Attempt int32 `json:"attempt"`
	// Losses is the number of attempts that were given up because a shard was lost before the start, or because not all
	// shards could be given the same start time. At the third the step fails.
	// +optional
	Losses int32 `json:"losses,omitempty"`
	// Job is the name of the attempt's Job.
	// +optional
	Job string `json:"job,omitempty"`
	// Message says what is going on, or what went wrong.
	// +optional
	Message string `json:"message,omitempty"`
	// BeginTime is when the step's first attempt was begun.
	// +optional
	BeginTime *metav1.Time `json:"beginTime,omitempty"`
	// ProgressTime is when a pod was last seen to make progress towards the start.
	// +optional
	ProgressTime *metav1.Time `json:"progressTime,omitempty"`
	// StartAt is the time at which all shards of the attempt were told to start.
	// +optional
	StartAt *metav1.MicroTime `json:"startAt,omitempty"`
	// Stop is the order to stop, if one was given.
	// +optional
	Stop *StopOrder `json:"stop,omitempty"`
	// EndTime is when the step was over.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
	// Shards counts the attempt's shards.
	// +optional
	Shards ShardCounts `json:"shards,omitempty"`
	// Result is what was measured.
	// +optional
	Result *StepResult `json:"result,omitempty"`
}

// StopOrder is an order to the shards to stop.
type StopOrder struct {
	// Reason why: ShardFailed, DeadlineExceeded, StartDeadlineExceeded, Suspended, GateBroken.
	Reason string `json:"reason"`
	// Message for people.
	// +optional
	Message string `json:"message,omitempty"`
	// Time of the order.
	Time metav1.Time `json:"time"`
}

// ShardCounts counts the shards of an attempt.
type ShardCounts struct {
	// Expected shards.
	// +optional
	Expected int32 `json:"expected,omitempty"`
	// Progress counts pods created, scheduled, started, Ready and ended; a change of it is progress.
	// +optional
	Progress int32 `json:"progress,omitempty"`
	// Ready shards: prepared, waiting for the start.
	// +optional
	Ready int32 `json:"ready,omitempty"`
	// Reported shards: their report is in.
	// +optional
	Reported int32 `json:"reported,omitempty"`
	// Failed shards: ended without a complete report, or lost.
	// +optional
	Failed int32 `json:"failed,omitempty"`
}

// Failure is what went wrong, and where.
type Failure struct {
	// Reason, a CamelCase word.
	Reason string `json:"reason"`
	// Message gives the particulars and the remedy.
	Message string `json:"message"`
	// Step in which it happened.
	// +optional
	Step string `json:"step,omitempty"`
	// Shard it happened to.
	// +optional
	Shard *int32 `json:"shard,omitempty"`
	// Pod of the shard.
	// +optional
	Pod string `json:"pod,omitempty"`
	// Node the pod was on.
	// +optional
	Node string `json:"node,omitempty"`
	// Container that ended.
	// +optional
	Container string `json:"container,omitempty"`
	// ExitCode of the container.
	// +optional
	ExitCode *int32 `json:"exitCode,omitempty"`
}
