package v1alpha1

// Conditions of a run. "It ran", "it was measured properly" and "it met the bar" are three answers.
const (
	// ConditionTargetReady: preflight found the target fit for the run.
	ConditionTargetReady = "TargetReady"
	// ConditionCompleted: every step ran to its end.
	ConditionCompleted = "Completed"
	// ConditionValid: the measurements are to be believed.
	ConditionValid = "Valid"
	// ConditionThresholdsMet: the results meet spec.thresholds. Unknown without thresholds, or on invalid data.
	ConditionThresholdsMet = "ThresholdsMet"
	// ConditionSucceeded: what a gate waits for, by spec.successCriteria.
	ConditionSucceeded = "Succeeded"
	// ConditionReconciling: the run is queued, running or suspended (kstatus).
	ConditionReconciling = "Reconciling"
	// ConditionStalled: the run ended without success; somebody must do something (kstatus).
	ConditionStalled = "Stalled"
)

// Reasons while a run is on its way.
const (
	// ReasonPending: not decided yet.
	ReasonPending = "Pending"
	// ReasonRunning: steps are being carried out.
	ReasonRunning = "Running"
	// ReasonSuspended: spec.suspend is true.
	ReasonSuspended = "Suspended"
	// ReasonWaitingForConfig: the Hadoop configuration's ConfigMap does not exist yet.
	ReasonWaitingForConfig = "WaitingForConfig"
)

// Reasons of an end.
const (
	// ReasonSucceeded: the run's success criteria are met.
	ReasonSucceeded = "Succeeded"
	// ReasonFinished: the run is over, nothing is being done.
	ReasonFinished = "Finished"
	// ReasonPreflightPassed: the target is fit for the run.
	ReasonPreflightPassed = "PreflightPassed"
	// ReasonAllStepsDone: every step ran to its end.
	ReasonAllStepsDone = "AllStepsDone"
	// ReasonMeasuredProperly: no doubt about the measurements was found.
	ReasonMeasuredProperly = "MeasuredProperly"
	// ReasonNoThresholds: spec.thresholds is empty.
	ReasonNoThresholds = "NoThresholds"
	// ReasonNotMeasured: the run ended before it measured anything that could be judged.
	ReasonNotMeasured = "NotMeasured"
	// ReasonNotRun: the run ended before this was looked at.
	ReasonNotRun = "NotRun"

	// ReasonInvalidSpec: a field's value is impossible; the message names field, value and remedy.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonNotSupported: a field asks for what this version cannot do yet.
	ReasonNotSupported = "NotSupported"
	// ReasonSpecChanged: the spec was changed during the execution.
	ReasonSpecChanged = "SpecChanged"
	// ReasonConfigNotFound: the Hadoop configuration's ConfigMap did not appear within startDeadline.
	ReasonConfigNotFound = "ConfigNotFound"
	// ReasonNameConflict: an object of the name of a child exists and belongs to somebody else.
	ReasonNameConflict = "NameConflict"
	// ReasonPreflightFailed: the target is not fit for the run.
	ReasonPreflightFailed = "PreflightFailed"
	// ReasonShardFailed: a shard ended with an error of the benchmark or the target.
	ReasonShardFailed = "ShardFailed"
	// ReasonShardLost: a shard's pod ended or vanished without a report.
	ReasonShardLost = "ShardLost"
	// ReasonPodDisrupted: a shard's pod was evicted, preempted or deleted by Kubernetes.
	ReasonPodDisrupted = "PodDisrupted"
	// ReasonStartDeadlineExceeded: shards made no progress towards their start within startDeadline.
	ReasonStartDeadlineExceeded = "StartDeadlineExceeded"
	// ReasonDeadlineExceeded: activeDeadline passed.
	ReasonDeadlineExceeded = "DeadlineExceeded"
	// ReasonGateBroken: not all shards could be given the same start time.
	ReasonGateBroken = "GateBroken"
	// ReasonReportsUnusable: the shards' reports contradict each other.
	ReasonReportsUnusable = "ReportsUnusable"
)

// Reasons of Valid=False.
const (
	// ReasonTooShort: a measurement took less than minDuration.
	ReasonTooShort = "TooShort"
	// ReasonStartSpread: the shards did not start together.
	ReasonStartSpread = "StartSpread"
	// ReasonClockSkew: the shards' clocks could not be compared closely enough to know their starts.
	ReasonClockSkew = "ClockSkew"
	// ReasonShardsMissing: not every shard's report is complete.
	ReasonShardsMissing = "ShardsMissing"
	// ReasonClientSaturated: a shard was throttled, or used nearly all the CPU it may: it measured itself.
	ReasonClientSaturated = "ClientSaturated"
	// ReasonRateNotReached: operations that the rate asked for were not begun in time.
	ReasonRateNotReached = "RateNotReached"
	// ReasonConfigChanged: a shard read another Hadoop configuration than the run began with.
	ReasonConfigChanged = "ConfigChanged"
	// ReasonOperationErrors: operations failed.
	ReasonOperationErrors = "OperationErrors"
)
