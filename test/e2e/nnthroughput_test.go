package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// The lone NameNode that hack/test.sh starts for these stories. It has no DataNodes, takes blocks of 16 bytes and
// registers DataNodes of any address. Only TestNNThroughputAll counts what it does.
const (
	loneNameNode     = nameNodeHost + ":8130"
	loneNameNodeHTTP = nameNodeHost + ":9930"
)

// newNNThroughput is a run of the kind against the lone NameNode, as its superuser.
func (s *story) newNNThroughput(name string, operations ...v1alpha1.NNThroughputOperation) *v1alpha1.NNThroughputRun {
	run := &v1alpha1.NNThroughputRun{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
	run.Spec.Target = v1alpha1.Target{
		FS: "hdfs://" + loneNameNode, User: "root",
		HTTP: &v1alpha1.HTTPAddresses{NameNodes: []string{"http://" + loneNameNodeHTTP}},
	}
	run.Spec.Operations = operations
	run.Spec.MinDuration = &v1alpha1.Duration{}
	run.Spec.Shards, run.Spec.Threads = ptr(int32(4)), ptr(int32(10))
	run.Spec.BlockSize = "16"
	return run
}

// callCounts is how often each method was called at the lone NameNode, by its own account.
func (s *story) callCounts() map[string]int64 {
	s.t.Helper()
	var answer struct {
		Beans []map[string]any `json:"beans"`
	}
	s.getJSON("http://"+loneNameNodeHTTP+"/jmx?qry=Hadoop:service=NameNode,name=RpcDetailedActivityForPort8130", &answer)
	counts := map[string]int64{}
	for _, bean := range answer.Beans {
		for key, v := range bean {
			method, ok := strings.CutSuffix(key, "NumOps")
			if n, isNumber := v.(float64); ok && isNumber {
				counts[method] = int64(n)
			}
		}
	}
	return counts
}

// liveDataNodes is the number of DataNodes that the lone NameNode believes to be alive.
func (s *story) liveDataNodes() int {
	s.t.Helper()
	var answer struct {
		Beans []struct {
			Live int `json:"NumLiveDataNodes"`
		} `json:"beans"`
	}
	s.getJSON("http://"+loneNameNodeHTTP+"/jmx?qry=Hadoop:service=NameNode,name=FSNamesystemState", &answer)
	if len(answer.Beans) != 1 {
		s.t.Fatalf("the NameNode has %d beans FSNamesystemState", len(answer.Beans))
	}
	return answer.Beans[0].Live
}

// TestNNThroughputAll: all operations in one run, on four shards, counted by the NameNode itself.
func TestNNThroughputAll(t *testing.T) {
	t.Parallel()
	s := begin(t, "nnt-all")
	run := s.newNNThroughput("all", v1alpha1.NNThroughputAll)
	run.Spec.AllowFakeDataNodes = ptr(true)
	files, dirs, reports := int64(203), int64(101), int64(40)
	if long() {
		files, dirs, reports = 50_003, 50_001, 4_000
	}
	run.Spec.Files, run.Spec.Dirs, run.Spec.Reports = &files, &dirs, &reports
	run.Spec.DataNodes, run.Spec.BlocksPerReport = ptr(int32(8)), ptr(int32(50))
	before := s.callCounts()
	s.create(run)
	s.awaitEnd(run, 4*endOfRun)
	s.expectSuccess(run)
	s.expectOperations(run, map[string]int64{
		"create": files, "mkdirs": dirs, "open": files, "delete": files, "append": files, "fileStatus": files, "rename": files, "blockReport": reports,
	})
	after := s.callCounts()
	// These methods are called by nothing else. The others serve set-up and cleanup, too.
	for step, method := range map[string]string{"mkdirs": "Mkdirs", "open": "GetBlockLocations", "append": "Append", "rename": "Rename"} {
		s.expectCalls(row(run, step), method, after[method]-before[method])
	}
	if n := s.liveDataNodes(); n > 1 {
		t.Errorf("%d fake DataNodes are still listed, want the last one at most", n)
	}
	s.expectNothingAtLone(path.Join("/nnThroughputBenchmark", run.Namespace, run.Name))
	for _, fact := range []string{"calls.before.Mkdirs", "calls.after.Mkdirs"} {
		if _, ok := run.Status.Environment.Facts[fact]; !ok {
			t.Errorf("the environment lacks the fact %s: %v", fact, run.Status.Environment.Facts)
		}
	}
	if _, text := s.report(run); strings.Count(text, " Ops per sec: ") != 8 {
		t.Errorf("the tool's own report does not have eight operations:\n%s", text)
	}
}

// expectCalls checks a step's count against the NameNode's. Shards of an attempt whose gate broke may have made calls before
// they were stopped, which the NameNode counts and the result must not.
func (s *story) expectCalls(r *v1alpha1.StepStatus, method string, got int64) {
	s.t.Helper()
	if r == nil || r.Result == nil {
		s.t.Errorf("no result to compare %d calls of %s with", got, method)
		return
	}
	least, most := r.Result.Operations, r.Result.Operations*int64(r.Attempt)
	if r.Attempt > 1 {
		s.t.Logf("step %s took %d attempts: %d calls of %s", r.Name, r.Attempt, got, method)
	}
	if got < least || got > most {
		s.t.Errorf("the NameNode counted %d calls of %s, want %d to %d after %d attempts", got, method, least, most, r.Attempt)
	}
}

// expectOperations checks how many operations each measured step counted, that none failed, and that the rate follows
// from count and time.
func (s *story) expectOperations(run *v1alpha1.NNThroughputRun, want map[string]int64) {
	s.t.Helper()
	got := map[string]int64{}
	for _, r := range run.Status.Steps {
		if r.Result == nil {
			continue
		}
		got[r.Name] = r.Result.Operations
		if r.Result.Errors != 0 || r.Result.WallMicros <= 0 {
			s.t.Errorf("%s: %d errors in %d µs: %+v", r.Name, r.Result.Errors, r.Result.WallMicros, r.Result.ErrorClasses)
			continue
		}
		s.expectRate(r, "opsPerSec", float64(r.Result.Operations)*1e6/float64(r.Result.WallMicros))
		s.t.Logf("%s: %.1f/s in %.3f s, set-up %.3f s", r.Name, s.rate(r, "opsPerSec"), float64(r.Result.WallMicros)/1e6, float64(r.Result.SetUpMicros)/1e6)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("operations by step (-want +got):\n%s", diff)
	}
}

func (s *story) expectNothingAtLone(file string) {
	s.t.Helper()
	status, err := webHDFSAt(s.t.Context(), loneNameNodeHTTP, http.MethodGet, file, "GETFILESTATUS", nil)
	if err != nil || status != http.StatusNotFound {
		s.t.Errorf("%s: HTTP status %d, %v; want it not to exist", file, status, err)
	}
}

// TestNNThroughputNames: the names that four shards make are exactly those of one process of the original tool.
func TestNNThroughputNames(t *testing.T) {
	t.Parallel()
	s := begin(t, "nnt-names")
	run := s.newNNThroughput("names", v1alpha1.NNThroughputCreate)
	run.Spec.Files, run.Spec.FilesPerDir, run.Spec.KeepResults = ptr(int64(100)), ptr(int32(3)), ptr(true)
	s.create(run)
	s.awaitEnd(run, endOfRun)
	s.expectSuccess(run)
	s.expectOperations(run, map[string]int64{"create": 100})
	base := path.Join("/nnThroughputBenchmark", run.Namespace, run.Name)
	if diff := cmp.Diff(upstreamNames(100, 3), s.filesBelow(base+"/create")); diff != "" {
		t.Errorf("names below %s/create (-want +got):\n%s", base, diff)
	}
	if status, err := webHDFSAt(t.Context(), loneNameNodeHTTP, http.MethodDelete, base, "DELETE", nil); err != nil || status != http.StatusOK {
		t.Errorf("remove %s: HTTP status %d, %v", base, status, err)
	}
}

// upstreamNames walks as the original's generator does: an odometer of directory numbers below perDir, which gets a digit
// more when all stand at their end, and perDir files in each directory.
func upstreamNames(files, perDir int) []string {
	var digits []int
	var names []string
	for n := range files {
		if n%perDir == 0 {
			i := len(digits) - 1
			for ; i >= 0 && digits[i] == perDir-1; i-- {
				digits[i] = 0
			}
			if i >= 0 {
				digits[i]++
			} else {
				digits = append(digits, 0)
			}
		}
		var name strings.Builder
		for _, d := range digits {
			fmt.Fprintf(&name, "ThroughputBenchDir%d/", d)
		}
		fmt.Fprintf(&name, "ThroughputBench%d", n)
		names = append(names, name.String())
	}
	slices.Sort(names)
	return names
}

// filesBelow lists the files below a directory of the lone NameNode, relative to it, in order.
func (s *story) filesBelow(dir string) []string {
	s.t.Helper()
	var files []string
	var walk func(relative string)
	walk = func(relative string) {
		var answer struct {
			FileStatuses struct {
				FileStatus []struct {
					PathSuffix string `json:"pathSuffix"`
					Type       string `json:"type"`
				}
			}
		}
		status, err := webHDFSAt(s.t.Context(), loneNameNodeHTTP, http.MethodGet, path.Join(dir, relative), "LISTSTATUS", &answer)
		if err != nil || status != http.StatusOK {
			s.t.Fatalf("list %s/%s: HTTP status %d, %v", dir, relative, status, err)
		}
		for _, e := range answer.FileStatuses.FileStatus {
			if name := path.Join(relative, e.PathSuffix); e.Type == "DIRECTORY" {
				walk(name)
			} else {
				files = append(files, name)
			}
		}
	}
	walk("")
	slices.Sort(files)
	return files
}

// TestNNThroughputSeed: the command line `-op open -threads 1000 -files 100000` as an object, on four pods.
func TestNNThroughputSeed(t *testing.T) {
	t.Parallel()
	s := begin(t, "nnt-seed")
	s.kubectl("apply", "-f", s.root+"/config/samples/nnthroughputrun-seed.yaml")
	run := &v1alpha1.NNThroughputRun{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "sample-seed"}}
	s.awaitEnd(run, 2*endOfRun)
	s.expectSuccess(run)
	s.expectOperations(run, map[string]int64{"open": 100_000})
	s.expectNothingAt(path.Join("/nnThroughputBenchmark", run.Namespace, run.Name))
}

// long says whether tests are to use full sizes.
func long() bool { return os.Getenv("HADOOPBENCH_LONG") == "1" }

// TestNNThroughputSample: somebody applies the sample as it is and gets a result to believe. It takes some ten minutes;
// without HADOOPBENCH_LONG=1 the API server only says whether it would take it.
func TestNNThroughputSample(t *testing.T) {
	if !long() {
		t.Parallel()
	}
	s := begin(t, "nnt-sample")
	file := s.root + "/config/samples/nnthroughputrun.yaml"
	if !long() {
		s.mentions(s.kubectl("apply", "--dry-run=server", "-f", file), "created (server dry run)")
		return
	}
	s.kubectl("apply", "-f", file)
	run := &v1alpha1.NNThroughputRun{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "sample"}}
	s.awaitEnd(run, 10*endOfRun)
	s.expectSuccess(run)
	s.expect(run, v1alpha1.ConditionValid, metav1.ConditionTrue, v1alpha1.ReasonMeasuredProperly)
	s.expectOperations(run, map[string]int64{"create": 60_000, "open": 60_000, "fileStatus": 60_000, "rename": 60_000, "delete": 60_000})
	s.t.Logf("%s", s.kubectl("get", "nnt"))
	s.expectNothingAt(path.Join("/nnThroughputBenchmark", run.Namespace, run.Name))
}

// TestNNThroughputStandalone: the original tool with a NameNode of its own, in a Hadoop image, under a user that no image
// knows and with a root that cannot be written.
func TestNNThroughputStandalone(t *testing.T) {
	t.Parallel()
	s := begin(t, "nnt-java")
	run := s.newNNThroughput("standalone", v1alpha1.NNThroughputCreate, v1alpha1.NNThroughputReplication)
	run.Spec.Engine = v1alpha1.EngineUpstream
	run.Spec.Target = v1alpha1.Target{FS: "file:///"}
	run.Spec.Shards, run.Spec.Threads, run.Spec.Files = nil, ptr(int32(3)), ptr(int64(500))
	run.Spec.PodTemplate = &v1alpha1.PodTemplate{
		Image:           "localhost/hadoop-bench-operator/hadoop:3.5.0",
		SecurityContext: &corev1.PodSecurityContext{RunAsUser: ptr(int64(123_456))},
	}
	s.create(run)
	s.awaitEnd(run, endOfRun)
	s.expectSuccess(run)
	// With its defaults the tool wants (100 blocks * 3 replicas * 1 node * 2) / 10² = 6 rounds; it stops as soon as one finds
	// no more work.
	r := row(run, "replication")
	if r == nil || r.Result == nil || r.Result.Operations < 1 || r.Result.Operations > 6 {
		t.Errorf("replication: %+v, want 1 to 6 operations", r)
	}
	_, text := s.report(run)
	s.mentions(text, "--- create stats  ---\n# operations: 500\n", "--- replication stats  ---\n", "decommissioned blocks = ")
}

// TestNNThroughputKerberos: a run with a keytab against a NameNode that demands privacy.
func TestNNThroughputKerberos(t *testing.T) {
	t.Parallel()
	s := begin(t, "nnt-krb")
	state := os.Getenv("HADOOPBENCH_TEST_KERBEROS")
	if state == "" {
		t.Fatal("HADOOPBENCH_TEST_KERBEROS is not set: hack/test.sh e2e sets it to the realm's directory")
	}
	read := func(name string) []byte {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	conf := filepath.Join(s.root, "hack/hadoop/conf/client-krb")
	s.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "krb-config"}, Data: map[string]string{
		"core-site.xml": string(read(filepath.Join(conf, "core-site.xml"))), "hdfs-site.xml": string(read(filepath.Join(conf, "hdfs-site.xml"))),
	}})
	s.create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "realm"}, Data: map[string]string{
		"krb5.conf": string(read(filepath.Join(state, "krb5.conf"))),
	}})
	s.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "alice"}, Data: map[string][]byte{
		"keytab": read(filepath.Join(state, "keytabs/alice.keytab")),
	}})
	run := s.newNNThroughput("kerberos", v1alpha1.NNThroughputCreate, v1alpha1.NNThroughputOpen)
	run.Spec.Shards, run.Spec.Files = ptr(int32(2)), ptr(int64(200))
	run.Spec.Target = v1alpha1.Target{
		HadoopConfig: &v1alpha1.HadoopConfig{ConfigMapRef: v1alpha1.LocalObjectReference{Name: "krb-config"}},
		FS:           "hdfs://" + nameNodeHost + ":8322",
		Properties:   map[string]v1alpha1.PropertyValue{"hadoop.rpc.protection": "privacy"},
		Kerberos: &v1alpha1.Kerberos{
			Principal: "alice@HB.TEST", KeytabSecretRef: v1alpha1.LocalObjectReference{Name: "alice"},
			Krb5ConfigMapRef: v1alpha1.LocalObjectReference{Name: "realm"},
		},
	}
	s.create(run)
	s.awaitEnd(run, endOfRun)
	s.expectSuccess(run)
	s.expectOperations(run, map[string]int64{"create": 200, "open": 200})
}
