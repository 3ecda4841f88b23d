package controlplane

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// TestStartDeadline: pods that cannot start end the run in time, with the reason in the message.
func TestStartDeadline(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(s *scenario)
		adjust  func(*v1alpha1.DFSIORun)
		says    []string
	}{
		"unschedulable": {
			adjust: func(r *v1alpha1.DFSIORun) {
				r.Spec.PodTemplate = &v1alpha1.PodTemplate{NodeSelector: map[string]v1alpha1.LabelValue{"disk": "nobody-has-it"}}
			},
			says: []string{"0 of 1 shards", "1 unschedulable", "0/2 nodes are available", "node affinity/selector"},
		},
		"too large": {
			adjust: func(r *v1alpha1.DFSIORun) {
				r.Spec.PodTemplate = &v1alpha1.PodTemplate{Resources: &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("100Ti")}}}
			},
			says: []string{"1 unschedulable", "Insufficient memory"},
		},
		"quota": {
			prepare: func(s *scenario) {
				q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}}}
				if err := s.client.Create(s.ctx, q); err != nil {
					s.Fatal(err)
				}
				s.until(func() string {
					if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(q), q); err != nil {
						return err.Error()
					}
					if len(q.Status.Hard) == 0 {
						return "the quota is not in force"
					}
					return ""
				})
			},
			says: []string{"1 without a pod", "FailedCreate", "exceeded quota"},
		},
		"image": {
			adjust: func(r *v1alpha1.DFSIORun) {
				r.Spec.PodTemplate = &v1alpha1.PodTemplate{Annotations: map[string]v1alpha1.AnnotationValue{annotationPullError: "true"}}
			},
			says: []string{"ImagePullBackOff", runnerImage},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			if c.prepare != nil {
				c.prepare(s)
			}
			s.manage(nil, nil)
			s.create(func(r *v1alpha1.DFSIORun) {
				r.Spec.StartDeadline = seconds(4)
				if c.adjust != nil {
					c.adjust(r)
				}
			})
			run := s.finished("bench")
			s.wantCondition(run, v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonStartDeadlineExceeded, append(c.says, "spec.startDeadline")...)
			s.wantCondition(run, v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonStartDeadlineExceeded)
			s.wantJobs(run, plan.StepPreflight, 1, 1)
			s.wantGone(&corev1.PodList{})
			if took := run.Status.CompletionTime.Sub(run.Status.StartTime.Time); took > 15*time.Second {
				t.Errorf("it took %s to give up", took)
			}
		})
	}
}

// TestStartDeadlineCountsFromProgress: a step whose shards come one after the other may take longer than startDeadline.
func TestStartDeadlineCountsFromProgress(t *testing.T) {
	t.Parallel()
	s := begin(t)
	c := &clock{}
	tp := &tap{}
	s.manage(tp, c)
	run := s.create(heldPods, func(r *v1alpha1.DFSIORun) { r.Spec.StartDeadline = minutes(10) })
	s.passPreflight(run)
	for i, p := range s.waitPods(run, "write", 1, 3) {
		c.set(time.Duration(i+1) * 8 * time.Minute)
		s.unhold([]corev1.Pod{p})
		s.until(func() string {
			if r := row(s.seen("bench"), "write", 1); int(r.Shards.Ready) < i+1 && r.State == v1alpha1.StepPreparing {
				return fmt.Sprintf("%d shards are Ready, want %d", r.Shards.Ready, i+1)
			}
			return ""
		})
	}
	c.set(0) // the start is not to be waited for so long
	run = s.live("bench")
	if run.Status.Failure != nil {
		t.Errorf("the run failed: %+v", run.Status.Failure)
	}
}

// TestConfigComesLater: a run may be applied before the ConfigMap with the Hadoop configuration.
func TestConfigComesLater(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.manage(nil, nil)
	s.create(func(r *v1alpha1.DFSIORun) {
		r.Spec.Target = v1alpha1.Target{HadoopConfig: &v1alpha1.HadoopConfig{ConfigMapRef: v1alpha1.LocalObjectReference{Name: "hdfs"}}}
	})
	s.until(func() string {
		for _, c := range s.seen("bench").Status.Conditions {
			if c.Type == v1alpha1.ConditionReconciling && c.Reason == v1alpha1.ReasonWaitingForConfig {
				return ""
			}
		}
		return "the run does not wait for its configuration"
	})
	if n := len(s.history.names(s.ns, "Job")); n != 0 {
		t.Errorf("%d Jobs were made without a configuration", n)
	}
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "hdfs"}, Data: map[string]string{"core-site.xml": "<configuration/>"}}
	if err := s.client.Create(s.ctx, cm); err != nil {
		t.Fatal(err)
	}
	run := s.finished("bench")
	s.wantCondition(run, v1alpha1.ConditionSucceeded, metav1.ConditionTrue, v1alpha1.ReasonSucceeded)
	if want := plan.ConfHash(map[string][]byte{"core-site.xml": []byte("<configuration/>")}); run.Status.Effective.ConfigHash != want {
		t.Errorf("the configuration's hash is %q, want %q", run.Status.Effective.ConfigHash, want)
	}
}

// TestConfigNeverComes: and if it does not come, the run says so.
func TestConfigNeverComes(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.manage(nil, nil)
	s.create(func(r *v1alpha1.DFSIORun) {
		r.Spec.StartDeadline = seconds(2)
		r.Spec.Target = v1alpha1.Target{HadoopConfig: &v1alpha1.HadoopConfig{ConfigMapRef: v1alpha1.LocalObjectReference{Name: "hdfs"}}}
	})
	run := s.finished("bench")
	s.wantCondition(run, v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonConfigNotFound, `"hdfs"`, s.ns)
	if n := len(s.history.names(s.ns, "Job")); n != 0 {
		t.Errorf("%d Jobs were made without a configuration", n)
	}
}

// TestActiveDeadline: a run takes too long. Its shards are told to stop before anything is deleted, and what they have is
// kept.
func TestActiveDeadline(t *testing.T) {
	t.Parallel()
	s := begin(t)
	s.player.hold(s.ns, "write")
	m := s.manage(nil, nil)
	s.create(func(r *v1alpha1.DFSIORun) { r.Spec.ActiveDeadline = minutes(60) })
	s.measuring("write", 1, 3)
	m.clock.set(2 * time.Hour)
	s.annotate("bench")
	run := s.finished("bench")
	s.wantCondition(run, v1alpha1.ConditionCompleted, metav1.ConditionFalse, v1alpha1.ReasonDeadlineExceeded, "spec.activeDeadline of 1h0m0s")
	pods := s.pods(run, "write", 1)
	if len(pods) != 3 {
		t.Errorf("%d pods are left, want all 3", len(pods))
	}
	for _, p := range pods {
		if got := p.Annotations[plan.AnnotationStop]; got != v1alpha1.ReasonDeadlineExceeded {
			t.Errorf("pod %s has the stop order %q", p.Name, got)
		}
	}
	doc, _ := s.document(run)
	if len(doc.Sections) != 1 || doc.Sections[0].Merged == nil || doc.Sections[0].Merged.Shards.Partial != 3 {
		t.Errorf("report.json has %+v, want 3 partial reports", doc.Sections)
	}
	if len(run.Status.Aggregates) != 0 {
		t.Errorf("a partial measurement counts: %+v", run.Status.Aggregates)
	}
}
