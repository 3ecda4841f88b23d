package controllers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
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
	// auxTimeout bounds preflight and cleanup.
	auxTimeout = 2 * time.Minute
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

// checkShared returns what is wrong with the shared fields.
func checkShared(spec *v1alpha1.RunSpec) []Problem {
	var out []Problem
	refuse := func(asked bool, field, val, remedy string) {
		if asked {
			out = append(out, notSupported(field, val, remedy))
		}
	}
	t := spec.Target
	refuse(spec.Warmup != nil && spec.Warmup.Duration.Duration > 0, "warmup", "a warm-up", "remove it")
	refuse(spec.ShardFailurePolicy != "" && spec.ShardFailurePolicy != v1alpha1.ShardFailureFail, "shardFailurePolicy", string(spec.ShardFailurePolicy), "use Fail")
	refuse(spec.TTLAfterFinished != nil, "ttlAfterFinished", "deletion of finished runs", "remove it")
	refuse(len(spec.Thresholds) > 0, "thresholds", "judging by thresholds", "remove it")
	refuse(spec.Baseline != nil, "baseline", "comparison with a baseline", "remove it")
	refuse(spec.SuccessCriteria == v1alpha1.SuccessThresholdsMet, "successCriteria", "ThresholdsMet", "use Completed or Valid")
	refuse(spec.Engine == v1alpha1.EngineUpstream, "engine", "Upstream", "use Native")
	refuse(spec.Client == v1alpha1.ClientNative, "client", "Native", "use Colinmarc")
	refuse(t.Kerberos != nil, "target.kerberos", "Kerberos", "use a cluster with simple authentication")
	refuse(t.TLS != nil, "target.tls", "TLS", "remove it")
	refuse(t.HTTP != nil, "target.http", "asking web addresses", "remove it")
	if t.HadoopConfig == nil && t.FS == "" && t.Properties["fs.defaultFS"] == "" {
		out = append(out, invalid("target", "neither hadoopConfig nor fs", "name the ConfigMap of the cluster's configuration in spec.target.hadoopConfig.configMapRef, or the NameNode in spec.target.fs or in fs.defaultFS of spec.target.properties"))
	}
	return append(append(out, checkDurations(spec)...), checkTemplate(spec.PodTemplate)...)
}

func checkDurations(spec *v1alpha1.RunSpec) []Problem {
	var out []Problem
	for _, f := range []struct {
		field string
		d     *v1alpha1.Duration
	}{
		{"startDeadline", spec.StartDeadline}, {"activeDeadline", spec.ActiveDeadline}, {"maxStartSpread", spec.MaxStartSpread},
	} {
		if f.d != nil && f.d.Duration.Duration <= 0 {
			out = append(out, invalid(f.field, f.d.Duration.Duration, "give a duration above zero, or remove it"))
		}
	}
	if d := spec.MinDuration; d != nil && d.Duration.Duration < 0 {
		out = append(out, invalid("minDuration", d.Duration.Duration, "give a duration of zero or more"))
	}
	return out
}

// checkTemplate refuses what has a meaning for the operator or the Job controller: a pod that says otherwise would be
// overlooked, or do another's work.
func checkTemplate(t *v1alpha1.PodTemplate) []Problem {
	if t == nil {
		return nil
	}
	var out []Problem
	check := func(field, key string) {
		domain, _, _ := strings.Cut(key, "/")
		if domain == "hadoopbench.dev" || strings.HasSuffix(domain, ".hadoopbench.dev") || domain == "batch.kubernetes.io" || key == "app.kubernetes.io/managed-by" || key == "job-name" || key == "controller-uid" {
			out = append(out, invalid("podTemplate."+field, key, "choose a key outside hadoopbench.dev and batch.kubernetes.io"))
		}
		if field == "labels" && key == "kueue.x-k8s.io/queue-name" {
			out = append(out, notSupported("podTemplate.labels", key, "remove it"))
		}
	}
	for _, k := range slices.Sorted(maps.Keys(t.Labels)) {
		check("labels", k)
	}
	for _, k := range slices.Sorted(maps.Keys(t.Annotations)) {
		check("annotations", k)
		if k == "cluster-autoscaler.kubernetes.io/safe-to-evict" || k == "karpenter.sh/do-not-disrupt" {
			out = append(out, invalid("podTemplate.annotations", k, "remove it: the operator keeps nodes with measuring pods"))
		}
	}
	for _, e := range t.Env {
		if e.Name == plan.IndexEnv || e.Name == plan.NodeEnv {
			out = append(out, invalid("podTemplate.env", e.Name, "choose another name: the operator sets this one"))
		}
	}
	for _, v := range t.Volumes {
		if v.Name == "plan" || v.Name == "pod" || v.Name == "run" || v.Name == "conf" {
			out = append(out, invalid("podTemplate.volumes", v.Name, "choose another name: the operator has a volume of this one"))
		}
	}
	return out
}

// options are the shared options with their defaults filled in, for status.effective.
func options(b Benchmark, run Run) map[string]string {
	spec, _ := run.RunObject()
	out := map[string]string{
		"repeats":            strconv.Itoa(int(value(spec.Repeats, 1))),
		"repeatOrder":        orDefault(string(spec.RepeatOrder), string(v1alpha1.RepeatPerStep)),
		"minDuration":        durationOr(spec.MinDuration, defaultMinDuration).String(),
		"startDeadline":      durationOr(spec.StartDeadline, defaultStartDeadline).String(),
		"shardFailurePolicy": orDefault(string(spec.ShardFailurePolicy), string(v1alpha1.ShardFailureFail)),
		"successCriteria":    orDefault(string(spec.SuccessCriteria), string(v1alpha1.SuccessCompleted)),
		"keepResults":        strconv.FormatBool(value(spec.KeepResults, false)),
		"engine":             orDefault(string(spec.Engine), string(v1alpha1.EngineNative)),
		"client":             orDefault(string(spec.Client), string(v1alpha1.ClientColinmarc)),
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
	maps.Copy(out, b.Options(run))
	return out
}

func orDefault(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

// specHash is a hash of the spec without the fields that may change at any time. It guards runs where the CRD's
// immutability rules are not installed.
func specHash(run Run) (string, error) {
	c, ok := run.DeepCopyObject().(Run)
	if !ok {
		return "", fmt.Errorf("copy %T: the copy is no run", run)
	}
	spec, status := c.RunObject()
	spec.Suspend, spec.TTLAfterFinished = nil, nil
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
