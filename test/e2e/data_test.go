package e2e

import (
	"bytes"
	"os"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/controllers"
)

// TestForeignFiles: while a run is suspended, somebody puts files where it works. The run goes on, is measured once, and
// removes its own files only; what is left there keeps the next run away.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	s := begin(t, "foreign")
	run := s.start("run")
	s.await(run, soon, "past preflight", func() bool {
		r := row(run, "preflight")
		return r != nil && r.State == v1alpha1.StepDone
	})
	s.patch(run, `{"spec":{"suspend":true}}`)
	s.await(run, soon, "suspended", func() bool {
		c := meta.FindStatusCondition(run.Status.Conditions, v1alpha1.ConditionReconciling)
		return c.Reason == v1alpha1.ReasonSuspended && !running(run)
	})
	dir := dirOf(run)
	s.putForeign(dir)
	s.patch(run, `{"spec":{"suspend":false}}`)
	s.awaitEnd(run, endOfRun)
	s.expectSuccess(run)
	s.expectFigures(run, 2, 1<<20)
	s.expectForeign(dir)

	next := s.start("next", baseDir(dir))
	s.awaitEnd(next, endOfRun)
	s.expect(next, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, "BaseDirNotOurs")
	s.mentions(s.expectFailure(next, "BaseDirNotOurs"), dir, "theirs.txt", "set spec.baseDir to a directory")
	s.expectForeign(dir)

	var text bytes.Buffer
	s.hdfs(nil, &text, "-cat", path.Join(dir, "theirs.txt"), path.Join(dir, "io_data/test_io_2"))
	if want := foreignText + foreignText; text.String() != want {
		t.Errorf("the foreign files hold %q, want %q", text.String(), want)
	}
}

// running says whether a step is under way.
func running(run controllers.Run) bool {
	steps := statusOf(run).Steps
	last := steps[len(steps)-1]
	return last.State == v1alpha1.StepRunning || last.State == v1alpha1.StepStopping
}

// foreignText is what a file of somebody else holds.
const foreignText = "not the run's"

// putForeign puts a file into the run's directory, and one that looks nearly like its own among its data.
func (s *story) putForeign(dir string) {
	s.t.Helper()
	local := s.t.TempDir()
	sources := []string{"-put", path.Join(local, "theirs.txt"), path.Join(local, "io_data"), dir}
	if err := os.Mkdir(path.Join(local, "io_data"), 0o755); err != nil {
		s.t.Fatal(err)
	}
	for _, file := range []string{"theirs.txt", "io_data/test_io_2"} {
		if err := os.WriteFile(path.Join(local, file), []byte(foreignText), 0o644); err != nil {
			s.t.Fatal(err)
		}
	}
	s.hdfs(nil, nil, sources...)
}

// expectForeign: dir holds the foreign files and nothing else.
func (s *story) expectForeign(dir string) {
	s.t.Helper()
	got := s.content(dir)
	if got == nil {
		s.t.Fatalf("%s is gone", dir)
	}
	// The space depends on the other client's replication.
	want := &content{Directories: 2, Files: 2, Bytes: 2 * int64(len(foreignText)), Space: got.Space}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("what is in %s (-want +got):\n%s", dir, diff)
	}
}
