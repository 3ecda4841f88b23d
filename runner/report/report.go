// Package report is what a shard says it did: one compact JSON document in its pod's termination message. It holds the
// document's schema, the histogram and the rate series (record, encode, merge), the merging of the shards' reports into
// one result, and the upstream tools' text formats. Operator and runner both import it; it imports nothing of ours.
package report

// Version is the version of the document. A reader refuses every other one by name.
const Version = 2

// MaxBytes bounds one encoded report: 12 KiB of termination message are shared by all containers of a pod, so a shard
// that leaves room for three sidecars is never cut.
const MaxBytes = 3072

// Outcome says how far a shard came.
type Outcome string

const (
	// Complete: everything that was planned for the shard was done and measured.
	Complete Outcome = "Complete"
	// Partial: the shard was stopped by a signal or by order; its figures cover what it did until then.
	Partial Outcome = "Partial"
	// Failed: the shard could not do what was planned; Failure says why.
	Failed Outcome = "Failed"
)

// Exit codes of the runner. Zero is never returned without a complete report.
const (
	ExitDone        = 0 // complete report
	ExitBenchmark   = 1 // the benchmark itself failed: I/O error, wrong data
	ExitPlan        = 2 // bad plan, option or configuration
	ExitTarget      = 3 // target unreachable, or it refused
	ExitDeadline    = 4 // a deadline passed
	ExitNeverBegan  = 5 // prepared, but never started: no start order, or one that came too late
	ExitInterrupted = 6 // stopped by a signal or by order; the report is partial
)

// Identity names the one attempt a plan or a report belongs to. The operator believes only reports whose identity is
// the one it asked for.
type Identity struct {
	RunUID    string `json:"uid"`
	Execution int32  `json:"execution"`
	Step      string `json:"step"`
	Repeat    int32  `json:"repeat"`  // from 1
	Attempt   int32  `json:"attempt"` // from 1
}

// Envelope is the head of every report. It is encoded first, so that a report cut in transport still tells whose it is.
type Envelope struct {
	Version int `json:"v"`
	Identity
	Index    int32    `json:"index"` // the shard, from 0
	Outcome  Outcome  `json:"outcome"`
	ExitCode int      `json:"exit"`
	Failure  *Failure `json:"failure,omitempty"`
}

// Failure says what went wrong and what the user can do. Reason is a CamelCase word fit for a condition.
type Failure struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`          // at most 512 bytes
	Remedy  string `json:"remedy,omitempty"` // at most 256 bytes
}

// Report is one shard's account of one attempt of a step.
type Report struct {
	Envelope Envelope `json:"envelope"`
	Body     Body     `json:"body"`
}

// Body holds the figures. Times are the shard's own clock, in microseconds since the Unix epoch; Clock corrects them.
type Body struct {
	Prepared int64 `json:"prepared,omitempty"` // set-up finished
	SetUp    int64 `json:"setUp,omitempty"`    // how long set-up took, in microseconds; it is no part of any rate
	Start    int64 `json:"start,omitempty"`    // first operation began; 0 = never
	End      int64 `json:"end,omitempty"`      // last operation, and the stream's close, ended

	Clock *Clock `json:"clock,omitempty"`

	Operations int64 `json:"ops,omitempty"`     // completed operations (for DFSIO: calls of read or write; for YCSB: transactions that succeeded)
	Bytes      int64 `json:"bytes,omitempty"`   // bytes those operations moved
	Planned    int64 `json:"planned,omitempty"` // bytes (or operations) that were planned

	// Due is how many operations a rate asked for until the end; what is missing was not offered in time. 0: no rate.
	Due int64 `json:"due,omitempty"`

	// Tried is how many operations ended, failed ones included, where a step counts them: it is what YCSB's throughput
	// is made of. 0: the step does not count them, and those that failed are the sum of Errors.
	Tried int64 `json:"tried,omitempty"`
	// Unfinished is how many operations were cut off before they ended. They are part of neither Operations nor Tried.
	Unfinished int64 `json:"unfinished,omitempty"`

	CloseMicros int64 `json:"closeMicros,omitempty"` // part of End-Start spent in closing the stream

	Errors []ErrorCount `json:"errors,omitempty"`
	Series *Series      `json:"series,omitempty"` // bytes, or operations where none move bytes, over time; already by the target's clock

	// Parts are what a step that mixes kinds of operations recorded under each name, at most MaxParts.
	Parts []Part `json:"parts,omitempty"`
	// Latency is the service time of one operation, in nanoseconds. This and every other histogram of a report is
	// encoded in one common stream; see bodyJSON.
	Latency *Histogram `json:"-"`
	// Intended is the time from when the rate's schedule wanted an operation to begin until its end, in nanoseconds.
	Intended *Histogram `json:"-"`

	Client *ClientUse `json:"client,omitempty"`

	ConfHash string            `json:"confHash,omitempty"` // of the Hadoop configuration files this shard read
	Facts    map[string]string `json:"facts,omitempty"`    // preflight: what the target is
}

// Clock is the target's clock minus the shard's, found before the start; the true offset lies within ± Uncertainty.
type Clock struct {
	OffsetMicros      int64 `json:"offset"`
	UncertaintyMicros int64 `json:"uncertainty"`
}

// ErrorCount counts failed operations of one class.
type ErrorCount struct {
	Class string `json:"class"` // for example the remote exception's class, or a Go error's kind
	Count int64  `json:"count"`
	First string `json:"first,omitempty"` // the first such error's text, at most 200 bytes
}

// ClientUse is what measuring cost the shard itself, between Start and End: evidence of whether the client was the
// bottleneck.
type ClientUse struct {
	CPUMicros       int64 `json:"cpu"`                 // user and system time of the process
	AllowanceMilli  int64 `json:"allowance"`           // CPU it may use, in thousandths of a core: its limit, else the node's cores
	ThrottledMicros int64 `json:"throttled,omitempty"` // time the kernel kept it from running because of its limit
}
