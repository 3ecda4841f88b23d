package e2e

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/dfsio"
)

// What TestFigures writes: files that are no multiple of the buffer, the block or a packet.
const (
	figureFiles = 3
	figureSize  = 67_000_003
	figureBlock = 33_554_432
	figureSeed  = 42
)

// TestFigures: what a run says it wrote is what Hadoop's own tools find. Its data outlives it, another run reads it, no
// run overwrites it, and a single wrong file is found.
func TestFigures(t *testing.T) {
	t.Parallel()
	s := begin(t, "figures")
	writer := s.start("writer", figures, func(spec *v1alpha1.DFSIORunSpec) {
		spec.KeepResults, spec.Verify = ptr(true), ptr(true)
		spec.Replication, spec.BlockSize = ptr(int32(2)), fmt.Sprint(figureBlock)
	})
	s.awaitEnd(writer, endOfRun)
	s.expectSuccess(writer)
	s.expectFigures(writer, figureFiles, figureSize)
	if r := row(writer, "verify"); r == nil || r.State != v1alpha1.StepDone {
		t.Errorf("step verify is %+v", r)
	}

	dir := dirOf(writer)
	want := &content{Directories: 1, Files: figureFiles, Bytes: figureFiles * figureSize, Space: 2 * figureFiles * figureSize}
	if diff := cmp.Diff(want, s.content(path.Join(dir, "io_data"))); diff != "" {
		t.Errorf("what the NameNode says of the data (-want +got):\n%s", diff)
	}
	s.expectFiles(dir)
	s.expectContent(dir)

	s.deleteNow(writer)
	if diff := cmp.Diff(want, s.content(path.Join(dir, "io_data"))); diff != "" {
		t.Errorf("data after its run was deleted (-want +got):\n%s", diff)
	}
	reader := s.start("reader", figures, tests(v1alpha1.DFSIORead), baseDir(dir), verified)
	other := s.start("other", figures, baseDir(dir))
	s.awaitEnd(other, endOfRun)
	s.expect(other, v1alpha1.ConditionTargetReady, metav1.ConditionFalse, "LeftoversFound")
	s.mentions(s.expectFailure(other, "LeftoversFound"), dir, s.namespace+"/writer", string(writer.UID), "hdfs dfs -rm -r "+dir, "spec.baseDir")
	s.awaitEnd(reader, endOfRun)
	s.expectSuccess(reader)
	s.expectFigures(reader, figureFiles, figureSize)
	if diff := cmp.Diff(want, s.content(path.Join(dir, "io_data"))); diff != "" {
		t.Errorf("data after other runs (-want +got):\n%s", diff)
	}

	damaged := path.Join(dir, "io_data", "test_io_1")
	s.hdfs(bytes.NewReader(make([]byte, figureSize)), nil, "-Ddfs.replication=1", "-put", "-f", "-", damaged)
	doubter := s.start("doubter", figures, tests(v1alpha1.DFSIORead), baseDir(dir), verified)
	s.awaitEnd(doubter, endOfRun)
	s.mentions(s.expectFailure(doubter, "DataMismatch"), damaged, "offset 0")
}

func figures(spec *v1alpha1.DFSIORunSpec) {
	files(figureFiles, fmt.Sprint(figureSize)+"B")(spec)
	spec.Data = &v1alpha1.DFSIOData{Pattern: v1alpha1.PatternRandom, Seed: ptr(int64(figureSeed))}
}

func verified(spec *v1alpha1.DFSIORunSpec) { spec.Verify = ptr(true) }

// expectFiles asks Hadoop's shell for each file's size, replicas and block size.
func (s *story) expectFiles(dir string) {
	s.t.Helper()
	var out bytes.Buffer
	s.hdfs(nil, &out, "-stat", "%n %b %r %o", path.Join(dir, "io_data", "*"))
	var want []string
	for i := range figureFiles {
		want = append(want, fmt.Sprintf("test_io_%d %d 2 %d", i, figureSize, figureBlock))
	}
	if diff := cmp.Diff(want, strings.Split(strings.TrimSpace(out.String()), "\n")); diff != "" {
		s.t.Errorf("hdfs dfs -stat: name, size, replicas, block size (-want +got):\n%s", diff)
	}
}

// expectContent reads all files with Hadoop's Java client and compares their sums with those of what was to be written.
func (s *story) expectContent(dir string) {
	s.t.Helper()
	args := []string{"-cat"}
	for i := range figureFiles {
		args = append(args, path.Join(dir, "io_data", fmt.Sprintf("test_io_%d", i)))
	}
	var sums splitter
	s.hdfs(nil, &sums, args...)
	var got, want []string
	for _, h := range sums.hashes {
		got = append(got, fmt.Sprintf("%x", h.Sum(nil)))
	}
	buf := make([]byte, figureSize)
	for i := range int32(figureFiles) {
		dfsio.NewGenerator(figureSeed, i).Fill(buf, 0)
		want = append(want, fmt.Sprintf("%x", sha256.Sum256(buf)))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("SHA-256 of the files as Java reads them (-want +got):\n%s", diff)
	}
}

// splitter sums up a stream of files of figureSize bytes.
type splitter struct {
	hashes []hash.Hash
	room   int // in the last file
}

func (w *splitter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if w.room == 0 {
			w.hashes, w.room = append(w.hashes, sha256.New()), figureSize
		}
		part := p[:min(len(p), w.room)]
		w.hashes[len(w.hashes)-1].Write(part)
		w.room -= len(part)
		p = p[len(part):]
	}
	return n, nil
}
