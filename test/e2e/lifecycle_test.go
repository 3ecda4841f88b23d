package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers/jobs"
)

// namespaceLimit is how soon a namespace must be gone.
const namespaceLimit = 60 * time.Second

// TestFinishedRunStays: a finished run is applied again, by both ways of applying: nothing changes and nothing differs.
// Then all that was made for it is deleted, and a new manager sees it: nothing is made again.
func TestFinishedRunStays(t *testing.T) {
	s := begin(t, "finished")
	ways := map[string][]string{"client-side": nil, "server-side": {"--server-side"}}
	runs := map[string]*v1alpha1.DFSIORun{}
	for name, flags := range ways {
		runs[name] = s.newRun(name, files(1, "1MB"))
		s.kubectl(append([]string{"apply", "-f", s.manifest(runs[name])}, flags...)...)
	}
	for name, flags := range ways {
		run := runs[name]
		s.awaitEnd(run, endOfRun)
		s.expectSuccess(run)
		s.expectNoChange(run, flags)
	}
	before := s.jobs()
	s.deleteChildren()
	manager, _ := s.leader()
	s.deleteNow(manager)
	s.leader()
	for _, run := range runs {
		s.patch(run, `{"metadata":{"annotations":{"e2e.hadoopbench.test/look":"again"}}}`)
	}
	// This one is visited after them, so they have been visited when it has its answer.
	later := s.start("later", tests(v1alpha1.DFSIOWrite, v1alpha1.DFSIORandomRead))
	s.awaitEnd(later, soon)
	if diff := cmp.Diff(before, s.jobs()); diff != "" {
		t.Errorf("Jobs ever made, by step (-before +after):\n%s", diff)
	}
	if left := s.children(); len(left) > 0 {
		t.Errorf("made for finished runs: %s %s", left[0].GetName(), left[0].GetLabels()[jobs.LabelStep])
	}
	for _, run := range runs {
		old := run.Status.DeepCopy()
		s.get(run)
		if diff := cmp.Diff(*old, run.Status); diff != "" {
			t.Errorf("status of %s (-before +after):\n%s", run.Name, diff)
		}
	}
}

// expectNoChange applies the finished run once more.
func (s *story) expectNoChange(run *v1alpha1.DFSIORun, flags []string) {
	s.t.Helper()
	manifest := s.manifest(run)
	diff := exec.CommandContext(s.t.Context(), "kubectl", append([]string{"-n", s.namespace, "diff", "-f", manifest}, flags...)...)
	out, err := diff.CombinedOutput()
	if code := s.exitCode(err); code != 0 {
		s.t.Errorf("kubectl diff of %s: exit code %d\n%s", run.Name, code, out)
	}
	said := s.kubectl(append([]string{"apply", "-f", manifest}, flags...)...)
	if flags == nil {
		s.mentions(said, "unchanged")
	}
	version := run.ResourceVersion
	s.get(run)
	if run.ResourceVersion != version {
		s.t.Errorf("applying %s again changed it: %s", run.Name, said)
	}
}

// manifest writes the run's manifest as a user would, without status, into a file.
func (s *story) manifest(run *v1alpha1.DFSIORun) string {
	s.t.Helper()
	doc, err := yaml.Marshal(map[string]any{
		"apiVersion": v1alpha1.GroupVersion.String(), "kind": "DFSIORun",
		"metadata": map[string]any{"namespace": run.Namespace, "name": run.Name}, "spec": run.Spec,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	file := filepath.Join(s.t.TempDir(), run.Name+".yaml")
	if err := os.WriteFile(file, doc, 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

// children are all that was made for runs of the namespace.
func (s *story) children() []client.Object {
	s.t.Helper()
	made := client.MatchingLabels{jobs.LabelManaged: jobs.ManagedBy}
	var maps corev1.ConfigMapList
	var list batchv1.JobList
	var pods corev1.PodList
	s.list(&maps, made)
	s.list(&list, made)
	s.list(&pods, made)
	var out []client.Object
	for i := range maps.Items {
		out = append(out, &maps.Items[i])
	}
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	for i := range pods.Items {
		out = append(out, &pods.Items[i])
	}
	return out
}

func (s *story) deleteChildren() {
	s.t.Helper()
	for _, c := range s.children() {
		if err := s.client.Delete(s.t.Context(), c, client.PropagationPolicy(metav1.DeletePropagationBackground)); client.IgnoreNotFound(err) != nil {
			s.t.Fatal(err)
		}
	}
	s.eventually(soon, "the runs' children are gone", func() bool { return len(s.children()) == 0 })
}

// TestNamespaceDeleted: the namespace is deleted in mid-run; nothing holds it up.
func TestNamespaceDeleted(t *testing.T) {
	t.Parallel()
	s := begin(t, "namespace")
	run := s.start("run", files(2, "1GB"), gently)
	s.await(run, endOfRun, "measuring", func() bool { return started(run, "write") })
	s.deleteNamespace()
	// The data stays, and its marker says whose it is.
	if c := s.content(dirOf(run) + "/_hadoopbench-run.json"); c == nil || c.Bytes == 0 {
		t.Errorf("the marker in %s is %+v", dirOf(run), c)
	}
}

func (s *story) deleteNamespace() {
	s.t.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := s.client.Delete(s.t.Context(), ns); err != nil {
		s.t.Fatal(err)
	}
	begun := time.Now()
	s.eventually(namespaceLimit, "the namespace is gone", func() bool { return s.gone(ns) })
	s.t.Logf("the namespace was gone after %.1f s", time.Since(begun).Seconds())
}
