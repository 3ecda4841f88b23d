package e2e

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

const (
	// wrongAddressLimit is how soon a wrong address must be known.
	wrongAddressLimit = 30 * time.Second
	// atOnce is how soon a run must be refused that needs no pod for that.
	atOnce = 10 * time.Second
	// shortDeadline is a startDeadline for a run that cannot start.
	shortDeadline = 10 * time.Second
)

// TestWrongNameNode: the address is wrong; the run says so while one still looks at it, and nothing is written.
func TestWrongNameNode(t *testing.T) {
	t.Parallel()
	for name, address := range map[string]string{"refused": nameNodeHost + ":8021", "nobody": "198.18.0.99:8020"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := begin(t, "address")
			run := s.start(name, func(spec *v1alpha1.DFSIORunSpec) { spec.Target.FS = "hdfs://" + address })
			s.awaitEnd(run, wrongAddressLimit)
			message := s.expect(run, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, "NameNodeUnreachable")
			s.mentions(message, address, "check the address in spec.target")
			s.expectFailure(run, "NameNodeUnreachable")
			if diff := cmp.Diff(map[string]int{"preflight": 1}, s.jobs()); diff != "" {
				t.Errorf("Jobs by step (-want +got):\n%s", diff)
			}
			s.expectNothingAt(dirOf(run))
		})
	}
}

// TestUnschedulable: no node fits; the run gives up in time, in the scheduler's own words.
func TestUnschedulable(t *testing.T) {
	t.Parallel()
	s := begin(t, "unschedulable")
	run := s.start("run", func(spec *v1alpha1.DFSIORunSpec) {
		spec.StartDeadline = &v1alpha1.Duration{Duration: metav1.Duration{Duration: shortDeadline}}
		spec.PodTemplate = &v1alpha1.PodTemplate{NodeSelector: map[string]v1alpha1.LabelValue{"e2e.hadoopbench.test/nobody": "has"}}
	})
	s.awaitEnd(run, shortDeadline+soon)
	message := s.expectFailure(run, v1alpha1.ReasonStartDeadlineExceeded)
	s.mentions(message, "1 unschedulable", "2 node(s) didn't match Pod's node affinity/selector", "spec.startDeadline")
	if took := run.Status.CompletionTime.Sub(run.Status.StartTime.Time); took < shortDeadline-time.Second {
		t.Errorf("it gave up after %s, before its startDeadline of %s", took, shortDeadline)
	}
	s.expectNothingAt(dirOf(run))
}

// TestNotSupported: what this version cannot do is refused by name, at once, and no pod is made for it.
func TestNotSupported(t *testing.T) {
	t.Parallel()
	s := begin(t, "unsupported")
	runs := map[string]*v1alpha1.DFSIORun{
		"spec.compression": s.start("compression", func(spec *v1alpha1.DFSIORunSpec) { spec.Compression = "org.apache.hadoop.io.compress.GzipCodec" }),
		"spec.tests[1]":    s.start("random-read", tests(v1alpha1.DFSIOWrite, v1alpha1.DFSIORandomRead)),
		"spec.parallelism": s.start("waves", func(spec *v1alpha1.DFSIORunSpec) { spec.Parallelism = ptr(int32(1)) }),
		"spec.warmup": s.start("warmup", func(spec *v1alpha1.DFSIORunSpec) {
			spec.Warmup = &v1alpha1.Duration{Duration: metav1.Duration{Duration: time.Second}}
		}),
	}
	for field, run := range runs {
		s.awaitEnd(run, atOnce)
		s.mentions(s.expectFailure(run, v1alpha1.ReasonNotSupported), field, "not supported yet")
	}
	if diff := cmp.Diff(map[string]int{}, s.jobs()); diff != "" {
		t.Errorf("Jobs by step (-want +got):\n%s", diff)
	}
}
