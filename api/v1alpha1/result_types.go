package v1alpha1

// StepResult is what one repeat of a step measured, over all its shards. Rates are decimals.
type StepResult struct {
	// Operations completed.
	// +optional
	Operations int64 `json:"operations,omitempty"`
	// Bytes moved by them; none by NNThroughputRun.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`
	// Errors is the number of failed operations.
	// +optional
	Errors int64 `json:"errors,omitempty"`
	// ErrorClasses are the classes of the failed operations, at most 8.
	// +optional
	// +listType=atomic
	ErrorClasses []ErrorClass `json:"errorClasses,omitempty"`
	// WallMicros is from the first shard's start to the last one's end, in microseconds.
	// +optional
	WallMicros int64 `json:"wallMicros,omitempty"`
	// StartSpreadMicros is the difference between the first and the last shard's start, in microseconds.
	// +optional
	StartSpreadMicros int64 `json:"startSpreadMicros,omitempty"`
	// ClockOffsetMaxMicros is the largest difference of a shard's clock to the target's, in microseconds.
	// +optional
	ClockOffsetMaxMicros int64 `json:"clockOffsetMaxMicros,omitempty"`
	// Headline is the name of the rate to quote.
	// +optional
	Headline string `json:"headline,omitempty"`
	// Rates by name; the kind's page in docs says how each is computed.
	// +optional
	// +listType=map
	// +listMapKey=name
	Rates []Figure `json:"rates,omitempty"`
	// SetUpMicros is how long the slowest shard prepared before the start, in microseconds; it is no part of any rate.
	// +optional
	SetUpMicros int64 `json:"setUpMicros,omitempty"`
	// DueOperations is how many operations the rate asked for until the end; absent without a rate.
	// +optional
	DueOperations int64 `json:"dueOperations,omitempty"`
	// Latency of one operation: service time, in microseconds.
	// +optional
	Latency *Latency `json:"latency,omitempty"`
	// IntendedLatency of one operation, in microseconds: from when the rate's schedule wanted it to begin until its end;
	// absent without a rate.
	// +optional
	IntendedLatency *Latency `json:"intendedLatency,omitempty"`
	// Tried is how many operations ended, failed ones included; only of YCSBRun.
	// +optional
	Tried int64 `json:"tried,omitempty"`
	// Unfinished is how many operations were cut off before they ended; only of YCSBRun.
	// +optional
	Unfinished int64 `json:"unfinished,omitempty"`
	// Metrics are what a step that mixes kinds of operations recorded of each, at most 16; only of YCSBRun.
	// +optional
	// +listType=map
	// +listMapKey=name
	Metrics []MetricResult `json:"metrics,omitempty"`
	// Invalid says why this measurement is not to be believed; empty if it is.
	// +optional
	// +listType=atomic
	Invalid []Doubt `json:"invalid,omitempty"`
	// Outliers are the slowest, the fastest and the failed shards.
	// +optional
	// +listType=atomic
	Outliers []ShardRow `json:"outliers,omitempty"`
}

// MetricResult is what was recorded under one name of the tool's report.
type MetricResult struct {
	// Name of the metric, in the tool's words, such as READ, READ-FAILED or READ-MODIFY-WRITE.
	Name string `json:"name"`
	// Count of operations.
	Count int64 `json:"count"`
	// Returns counts operations by status, in the tool's words: OK=99 NOT_FOUND=1.
	// +optional
	Returns string `json:"returns,omitempty"`
	// OpsPerSec is Count over WallMicros, a decimal.
	// +optional
	OpsPerSec string `json:"opsPerSec,omitempty"`
	// Latency of one operation: service time, in microseconds.
	// +optional
	Latency *Latency `json:"latency,omitempty"`
	// IntendedLatency of one operation, in microseconds: from when it was to begin until its end.
	// +optional
	IntendedLatency *Latency `json:"intendedLatency,omitempty"`
}

// Figure is a named figure.
type Figure struct {
	// Name of the figure; it ends with the unit.
	Name string `json:"name"`
	// Value, a decimal.
	Value string `json:"value"`
}

// ErrorClass counts failed operations of one class.
type ErrorClass struct {
	// Class of the error.
	Class string `json:"class"`
	// Count of operations.
	Count int64 `json:"count"`
	// First is the text of the first one.
	// +optional
	First string `json:"first,omitempty"`
}

// Latency is a distribution in microseconds. Percentiles come from merged histograms.
type Latency struct {
	// Count of operations.
	Count int64 `json:"count"`
	// MinMicros is exact.
	MinMicros int64 `json:"minMicros"`
	// MeanMicros is exact.
	MeanMicros int64 `json:"meanMicros"`
	// P50Micros is the median.
	P50Micros int64 `json:"p50Micros"`
	// P90Micros is the 90th percentile.
	P90Micros int64 `json:"p90Micros"`
	// P95Micros is the 95th percentile.
	P95Micros int64 `json:"p95Micros"`
	// P99Micros is the 99th percentile.
	P99Micros int64 `json:"p99Micros"`
	// P999Micros is the 99.9th percentile.
	P999Micros int64 `json:"p999Micros"`
	// MaxMicros is exact.
	MaxMicros int64 `json:"maxMicros"`
	// RelativeError of the percentiles, a fraction, such as 0.011.
	RelativeError string `json:"relativeError"`
}

// PooledLatency is the latency of a step's operations over all its repeats.
type PooledLatency struct {
	// Step it belongs to.
	Step string `json:"step"`
	// Metric that it is of, in the tool's words; absent: all operations.
	// +optional
	Metric string `json:"metric,omitempty"`
	// Latency of one operation of any repeat.
	Latency Latency `json:"latency"`
}

// Doubt is a reason not to believe a measurement.
type Doubt struct {
	// Reason is one of the reasons of condition Valid.
	Reason string `json:"reason"`
	// Message gives the figure and the limit.
	Message string `json:"message"`
}

// ShardRow is one shard's result.
type ShardRow struct {
	// Index of the shard.
	Index int32 `json:"index"`
	// Why it is listed: Slowest, Fastest or Failed.
	Why string `json:"why"`
	// Pod that ran it.
	// +optional
	Pod string `json:"pod,omitempty"`
	// Node it ran on.
	// +optional
	Node string `json:"node,omitempty"`
	// Bytes moved.
	// +optional
	Bytes int64 `json:"bytes,omitempty"`
	// Operations that succeeded.
	// +optional
	Operations int64 `json:"operations,omitempty"`
	// ExecMicros from its start to its end, in microseconds.
	// +optional
	ExecMicros int64 `json:"execMicros,omitempty"`
	// Outcome: Complete, Partial, Failed or Lost.
	Outcome string `json:"outcome"`
}

// Aggregate is one figure of a step over its repeats.
type Aggregate struct {
	// Step it belongs to.
	Step string `json:"step"`
	// Figure is its name; it ends with the unit.
	Figure string `json:"figure"`
	// N is the number of repeats.
	N int32 `json:"n"`
	// Mean over the repeats, a decimal.
	Mean string `json:"mean"`
	// StdDev is the sample standard deviation (n-1), a decimal; absent for one repeat.
	// +optional
	StdDev string `json:"stdDev,omitempty"`
	// CVPercent is the coefficient of variation, StdDev / Mean, in percent; absent for one repeat.
	// +optional
	CVPercent string `json:"cvPercent,omitempty"`
	// Min over the repeats, a decimal.
	Min string `json:"min"`
	// Max over the repeats, a decimal.
	Max string `json:"max"`
}
