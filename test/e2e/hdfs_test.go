package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// benchmarks is below where runs put their data by default.
const benchmarks = "/benchmarks/TestDFSIO"

// dirOf is the run's base directory.
func dirOf(run *v1alpha1.DFSIORun) string {
	if run.Spec.BaseDir != "" {
		return run.Spec.BaseDir
	}
	return path.Join(benchmarks, run.Namespace, run.Name)
}

// webHDFS asks the NameNode by HTTP, which has nothing in common with the runner's client. It returns the status code.
func webHDFS(ctx context.Context, method, file, op string, into any) (int, error) {
	return webHDFSAt(ctx, nameNodeHost+":9870", method, file, op, into)
}

func webHDFSAt(ctx context.Context, host, method, file, op string, into any) (int, error) {
	u := url.URL{Scheme: "http", Host: host, Path: "/webhdfs/v1" + file, RawQuery: "recursive=true&user.name=root&op=" + op}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return 0, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK && into != nil {
		err = json.NewDecoder(resp.Body).Decode(into)
	}
	return resp.StatusCode, err
}

// content is what the NameNode says is in a directory.
type content struct {
	Directories int64 `json:"directoryCount"`
	Files       int64 `json:"fileCount"`
	Bytes       int64 `json:"length"`
	Space       int64 `json:"spaceConsumed"` // bytes times replicas
}

// content returns nil if dir does not exist.
func (s *story) content(dir string) *content {
	s.t.Helper()
	var answer struct{ ContentSummary content }
	status, err := webHDFS(s.t.Context(), http.MethodGet, dir, "GETCONTENTSUMMARY", &answer)
	switch {
	case err != nil:
		s.t.Fatalf("ask the NameNode about %s: %v", dir, err)
	case status == http.StatusNotFound:
		return nil
	case status != http.StatusOK:
		s.t.Fatalf("ask the NameNode about %s: HTTP status %d", dir, status)
	}
	return &answer.ContentSummary
}

// expectNothingAt checks that the path does not exist.
func (s *story) expectNothingAt(file string) {
	s.t.Helper()
	if c := s.content(file); c != nil {
		s.t.Errorf("%s exists: %+v", file, *c)
	}
}

// remove removes a file or a directory with all that is in it.
func (s *story) remove(ctx context.Context, file string) {
	s.t.Helper()
	if status, err := webHDFS(ctx, http.MethodDelete, file, "DELETE", nil); err != nil || status != http.StatusOK {
		s.t.Errorf("remove %s: HTTP status %d, %v", file, status, err)
	}
}

// hdfs runs Hadoop's own shell as HDFS's superuser.
func (s *story) hdfs(stdin io.Reader, stdout io.Writer, args ...string) {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), filepath.Join(s.root, "hack/hadoop/hdfs"), append([]string{"dfs"}, args...)...)
	// It lives for seconds: what an optimizing compiler or a parallel collector costs never pays.
	cmd.Env = append(os.Environ(), "JDK_JAVA_OPTIONS=-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto")
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, &stderr
	if err := cmd.Run(); err != nil {
		s.t.Fatalf("hdfs dfs %v: %v\n%s", args, err, stderr.Bytes())
	}
}

// getJSON reads what a server's web address answers.
func (s *story) getJSON(address string, into any) {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, address, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: HTTP status %d", address, resp.StatusCode)
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		s.t.Fatalf("%s: %v", address, err)
	}
}
