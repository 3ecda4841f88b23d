package controlplane

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// midway are the moments at which something is deleted.
var midway = map[string]struct {
	adjust func(*v1alpha1.DFSIORun)
	reach  func(s *scenario, run *v1alpha1.DFSIORun)
}{
	"before the start": {
		adjust: heldPods,
		reach: func(s *scenario, run *v1alpha1.DFSIORun) {
			s.passPreflight(run)
			s.waitPods(run, "write", 1, 3)
		},
	},
	"in measurement": {
		adjust: func(*v1alpha1.DFSIORun) {},
		reach:  func(s *scenario, _ *v1alpha1.DFSIORun) { s.measuring("write", 1, 3) },
	},
}

// TestNamespaceDeletion: the namespace is deleted under a run. It is gone within a minute, and the manager neither makes
// anything in it nor storms.
func TestNamespaceDeletion(t *testing.T) {
	t.Parallel()
	for name, c := range midway {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t)
			s.player.hold(s.ns, "write")
			tp := &tap{}
			m := s.manage(tp, nil)
			c.reach(s, s.create(c.adjust))
			made := tp.created()
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}
			begin := time.Now()
			if err := s.client.Delete(s.ctx, ns); err != nil {
				t.Fatal(err)
			}
			s.until(func() string {
				if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(ns), ns); !apierrors.IsNotFound(err) {
					return "the namespace is there"
				}
				return ""
			})
			if took := time.Since(begin); took > time.Minute {
				t.Errorf("the namespace was gone after %s only", took)
			}
			if d := cmp.Diff(made, tp.created()); d != "" {
				t.Errorf("objects were made in a namespace that was being deleted:\n%s", d)
			}
			if errs := m.log.errors(); len(errs) > 5 {
				t.Errorf("the manager logged %d errors", len(errs))
			}
		})
	}
}

// TestRunDeletion: a run is deleted under way. Job, pods and ConfigMaps follow it by garbage collection, and nothing is
// made again.
func TestRunDeletion(t *testing.T) {
	t.Parallel()
	for name, c := range midway {
		for _, how := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground, metav1.DeletePropagationForeground} {
			t.Run(name+", "+string(how), func(t *testing.T) {
				t.Parallel()
				s := begin(t)
				s.player.hold(s.ns, "write")
				tp := &tap{}
				m := s.manage(tp, nil)
				run := s.create(c.adjust)
				c.reach(s, run)
				made, jobs := tp.created(), s.history.names(s.ns, "Job")
				if err := s.client.Delete(s.ctx, run, client.PropagationPolicy(how)); err != nil {
					t.Fatal(err)
				}
				s.wantGone(&batchv1.JobList{}, &corev1.PodList{}, &corev1.ConfigMapList{})
				s.until(func() string {
					if err := s.client.Get(s.ctx, client.ObjectKeyFromObject(run), run); !apierrors.IsNotFound(err) {
						return "the run is there"
					}
					return ""
				})
				// A run of the same name is another one; that it comes to its end shows that the manager is past the deletion.
				s.player.fail(s.ns, plan.StepPreflight, report.Failure{Reason: "TargetUnreachable", Message: "enough seen"})
				next := s.create()
				s.finished("bench")
				s.wantJobs(next, plan.StepPreflight, 1, 1)
				for _, name := range tp.created()[len(made):] {
					if slices.Contains(made, name) {
						t.Errorf("%s was made again", name)
					}
				}
				if got := s.history.names(s.ns, "Job"); len(got) != len(jobs)+1 {
					t.Errorf("Jobs %v came to %v, want one more", jobs, got)
				}
				if errs := m.log.errors(); len(errs) > 5 {
					t.Errorf("the manager logged %d errors", len(errs))
				}
			})
		}
	}
}
