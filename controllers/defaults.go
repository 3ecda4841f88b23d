package controllers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// Defaults of the shared fields.
const (
	defaultMinDuration   = 5 * time.Second
	defaultStartDeadline = 5 * time.Minute
)

// Bounds that are no options.
const (
	// maxAttempts of a step that loses shards before its start, or whose gate breaks.
	maxAttempts = 3
	// stopGrace is how long shards may take to report after an order to stop.
	stopGrace = 30 * time.Second
	// gateTimeout is how long a prepared shard waits for a start order before it ends by itself: only for the case that
	// the operator is gone, since an operator that is there ends attempts by startDeadline.
	gateTimeout = time.Hour
	// preflightTimeout bounds preflight.
	preflightTimeout = 2 * time.Minute
	// removalTimeout bounds the steps that remove what was made: a NameNode takes minutes for hundreds of millions of files.
	removalTimeout = 30 * time.Minute
)

func value[T any](p *T, def T) T {
	if p == nil {
		return def
	}
	return *p
}

func durationOr(d *v1alpha1.Duration, def time.Duration) time.Duration {
	if d == nil {
		return def
	}
	return d.Duration.Duration
}

// options are the shared options with their defaults filled in, for status.effective.
func options(b Benchmark, run Run) map[string]string {
	spec, _ := run.RunObject()
	can := b.Supports()
	out := map[string]string{
		"repeats":            strconv.Itoa(int(value(spec.Repeats, 1))),
		"repeatOrder":        orDefault(string(spec.RepeatOrder), string(v1alpha1.RepeatPerStep)),
		"minDuration":        durationOr(spec.MinDuration, defaultMinDuration).String(),
		"startDeadline":      durationOr(spec.StartDeadline, defaultStartDeadline).String(),
		"shardFailurePolicy": orDefault(string(spec.ShardFailurePolicy), string(v1alpha1.ShardFailureFail)),
		"successCriteria":    orDefault(string(spec.SuccessCriteria), string(v1alpha1.SuccessCompleted)),
		"engine":             orDefault(string(spec.Engine), string(can.Engines[0])),
	}
	if out["engine"] == string(v1alpha1.EngineNative) {
		out["client"] = orDefault(string(spec.Client), string(can.Clients[0]))
	}
	if can.KeepResults {
		out["keepResults"] = strconv.FormatBool(value(spec.KeepResults, false))
	}
	if can.Warmup {
		out["warmup"] = durationOr(spec.Warmup, 0).String()
	}
	if spec.ActiveDeadline != nil {
		out["activeDeadline"] = spec.ActiveDeadline.Duration.Duration.String()
	}
	if spec.MaxStartSpread != nil {
		out["maxStartSpread"] = spec.MaxStartSpread.Duration.Duration.String()
	}
	if spec.Target.FS != "" {
		out["target.fs"] = spec.Target.FS
	}
	if spec.Rerun != "" {
		out[optionRerun] = spec.Rerun
	}
	maps.Copy(out, b.Options(run))
	return out
}

// optionRerun is the option that says which token the execution began with.
const optionRerun = "rerun"

// rerunChanged says whether the user asks for another execution than the present one.
func rerunChanged(o *observed) bool {
	return o.status.Effective != nil && o.spec.Rerun != o.status.Effective.Options[optionRerun]
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// specHash is a hash of the spec without the fields that may change at any time, and without the token of the next
// execution, which says nothing about this one. It guards runs where the CRD's immutability rules are not installed.
func specHash(run Run) (string, error) {
	c, ok := run.DeepCopyObject().(Run)
	if !ok {
		return "", fmt.Errorf("copy %T: the copy is no run", run)
	}
	spec, status := c.RunObject()
	spec.Suspend, spec.TTLAfterFinished, spec.Rerun = nil, nil, ""
	*status = v1alpha1.RunStatus{}
	c.SetManagedFields(nil)
	doc, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("encode spec: %w", err)
	}
	var only struct {
		Spec json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(doc, &only); err != nil {
		return "", fmt.Errorf("decode spec: %w", err)
	}
	sum := sha256.Sum256(only.Spec)
	return hex.EncodeToString(sum[:8]), nil
}
