package jobs

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// Input is all that an attempt's objects depend on.
type Input struct {
	// Owner is the run, as controller of all that is made.
	Owner metav1.OwnerReference
	// Namespace and Name of the run.
	Namespace, Name string
	// Plan of the attempt.
	Plan plan.Plan
	// Parallelism is how many shards may run at once; for a gated step it is the number of shards.
	Parallelism int32
	// Image of the runner, unless the template names one. With engine Upstream the template's is the Hadoop image, into
	// which the runner is copied from this one.
	Image string
	// PullSecrets are the names of the Secrets to pull the image with, unless the template names some.
	PullSecrets []string
	// ConfigMap with the Hadoop configuration; empty for none.
	ConfigMap string
	// KeytabSecret and Krb5ConfigMap are what the plan's Kerberos files are in; empty without Kerberos.
	KeytabSecret, Krb5ConfigMap string
	// Template adjusts the pods; nil for none.
	Template *v1alpha1.PodTemplate
}

// lostNodeSeconds is how long a pod stays bound to a node that is not ready: long enough for a hiccup, short enough
// that a lost shard is known within a minute.
const lostNodeSeconds = 30

// Job returns the Indexed Job of the attempt.
//
// Kubernetes must never end a measuring pod, since a deleted pod takes its report with it: one failed index does not
// touch the others, none is replaced before it is gone, and the Job has neither a deadline nor a time to live.
func Job(in Input) *batchv1.Job {
	labels := labels(in)
	return &batchv1.Job{
		ObjectMeta: objectMeta(in, AttemptName(in.Name, in.Plan.Identity)),
		Spec: batchv1.JobSpec{
			Completions:          ptr(in.Plan.Shards),
			Parallelism:          ptr(in.Parallelism),
			CompletionMode:       ptr(batchv1.IndexedCompletion),
			BackoffLimitPerIndex: ptr(int32(0)),
			PodReplacementPolicy: ptr(batchv1.Failed),
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: podLabels(in, labels), Annotations: podAnnotations(in)},
				Spec:       podSpec(in),
			},
		},
	}
}

// PlanConfigMap returns the ConfigMap with the attempt's plan.
func PlanConfigMap(in Input) (*corev1.ConfigMap, error) {
	doc, err := json.MarshalIndent(in.Plan, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode plan of step %s: %w", in.Plan.Identity.Step, err)
	}
	return &corev1.ConfigMap{
		ObjectMeta: objectMeta(in, AttemptName(in.Name, in.Plan.Identity)),
		Immutable:  ptr(true),
		Data:       map[string]string{"plan.json": string(doc)},
	}, nil
}

func objectMeta(in Input, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace:       in.Namespace,
		Name:            name,
		Labels:          labels(in),
		Annotations:     map[string]string{AnnotationRun: in.Name},
		OwnerReferences: []metav1.OwnerReference{*in.Owner.DeepCopy()},
	}
}

func labels(in Input) map[string]string {
	return map[string]string{
		LabelManaged: ManagedBy,
		LabelRunUID:  in.Plan.Identity.RunUID,
		LabelKind:    strings.ToLower(in.Owner.Kind),
		LabelStep:    in.Plan.Identity.Step,
		LabelAttempt: AttemptHash(in.Plan.Identity),
	}
}

// podLabels lays our labels over the user's: they tell pods apart and must not be lost.
func podLabels(in Input, ours map[string]string) map[string]string {
	out := map[string]string{}
	if in.Template != nil {
		for k, v := range in.Template.Labels {
			out[k] = string(v)
		}
	}
	maps.Copy(out, ours)
	return out
}

func podAnnotations(in Input) map[string]string {
	out := map[string]string{}
	if in.Template != nil {
		for k, v := range in.Template.Annotations {
			out[k] = string(v)
		}
	}
	out[AnnotationRun] = in.Name
	out["cluster-autoscaler.kubernetes.io/safe-to-evict"] = "false"
	out["karpenter.sh/do-not-disrupt"] = "true"
	return out
}

func ptr[T any](v T) *T { return &v }
