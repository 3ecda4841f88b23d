package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
)

// Environment variables that name real servers; without them the tests are skipped.
const (
	clusterEnv  = "HADOOPBENCH_TEST_HBASE"          // configuration directory of a cluster with two RegionServers
	controlEnv  = "HADOOPBENCH_TEST_HBASE_CONTROL"  // script that kills, freezes and starts them
	tableEnv    = "HADOOPBENCH_TEST_HBASE_TABLE"    // HBase's own client
	versionsEnv = "HADOOPBENCH_TEST_HBASE_VERSIONS" // configuration directories of other clusters: version=directory, commas
	originalEnv = "HADOOPBENCH_TEST_YCSB"           // the original YCSB

	kerberosEnv     = "HADOOPBENCH_TEST_HBASE_KERBEROS"      // a realm's krb5.conf and keytabs
	kerberosConfEnv = "HADOOPBENCH_TEST_HBASE_KERBEROS_CONF" // configuration directory of a cluster in it
)

// realTimeout bounds whatever a test waits for.
const realTimeout = 2 * time.Minute

// long says whether full sizes are wanted.
func long() bool { return os.Getenv("HADOOPBENCH_LONG") == "1" }

// fromEnv are the values of environment variables, all of which a test needs.
func fromEnv(t *testing.T, names ...string) []string {
	t.Helper()
	values := make([]string, len(names))
	for i, name := range names {
		if values[i] = os.Getenv(name); values[i] == "" {
			t.Skipf("%s is not set", name)
		}
	}
	return values
}

// realHBase is real servers, and the test's own client of them.
type realHBase struct {
	env    map[string]string // of the commands
	client *hbase.Client
	admin  *admin.Admin
}

// openReal connects to the servers that a configuration directory names.
func openReal(t *testing.T, dir string) *realHBase {
	t.Helper()
	return openRealAs(t, dir, hbase.Identity{User: "hadoop-bench"})
}

func openRealAs(t *testing.T, dir string, id hbase.Identity) *realHBase {
	t.Helper()
	c, err := conf.LoadDir(dir, conf.Options{Files: hbase.ConfFiles()})
	if err != nil {
		t.Fatal(err)
	}
	options, err := hbase.FromConf(c, id)
	if err != nil {
		t.Fatal(err)
	}
	client, err := hbase.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return &realHBase{env: map[string]string{"HBASE_CONF_DIR": dir}, client: client, admin: admin.New(admin.Of(client), admin.Options{})}
}

// regions is how many regions a table of a test has at first.
const regions = 4

// create makes a table with family f, which is deleted at the test's end, and returns its name. Regions are split only by
// the test.
func (h *realHBase) create(t *testing.T, name string) string {
	t.Helper()
	keys, err := admin.SplitKeys(regions, admin.Keys{})
	if err != nil {
		t.Fatal(err)
	}
	table := fmt.Sprintf("t_%s_%d", name, time.Now().UnixNano())
	err = h.admin.CreateTable(t.Context(), admin.Table{
		Name: table, SplitKeys: keys, Families: []admin.Family{{Name: "f"}},
		Values: map[string]string{"SPLIT_POLICY": "org.apache.hadoop.hbase.regionserver.ConstantSizeRegionSplitPolicy"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), realTimeout)
		defer cancel()
		if err := h.admin.Delete(ctx, table); err != nil {
			t.Errorf("delete the table: %v", err)
		}
	})
	return table
}

// scan hands every row of a table on, in order.
func (h *realHBase) scan(t *testing.T, table string, visit func(hbase.Row)) {
	t.Helper()
	err := h.client.Session().Scan(t.Context(), &hbase.Scan{Table: table, Caching: 1000}, func(row hbase.Row) error {
		visit(row)
		return nil
	})
	if err != nil {
		t.Fatalf("scan table %s: %v", table, err)
	}
}

// A realRun is a command line of this process that works with real servers.
type realRun struct {
	*scene
	code int
	done chan struct{} // closed at its end
}

// ycsb carries out a command line to its end.
func (h *realHBase) ycsb(t *testing.T, args ...string) *realRun {
	t.Helper()
	r := h.start(t, args...)
	<-r.done
	return r
}

// start begins to carry out a command line, with family f unless it names another one.
func (h *realHBase) start(t *testing.T, args ...string) *realRun {
	t.Helper()
	r := &realRun{scene: newScene(strings.Join(args, " ")), done: make(chan struct{})}
	r.process.Args = slices.Insert(r.process.Args, 2, "-p", "columnfamily=f") // after phase and binding
	r.process.Clock, r.process.Random = measure.System(), nil
	r.process.LookupEnv = func(name string) (string, bool) { value, ok := h.env[name]; return value, ok }
	go func() {
		defer close(r.done)
		r.code = r.run(t)
	}()
	t.Cleanup(func() { <-r.done })
	return r
}

// stop ends the run by a signal, and waits for its end.
func (r *realRun) stop() {
	r.signals <- syscall.SIGTERM
	<-r.done
}

var statusOperations = regexp.MustCompile(`sec: (\d+) operations; `)

// progress waits until the run has carried out more operations, by its status lines.
func (r *realRun) progress(t *testing.T, more int64) {
	t.Helper()
	done := func() int64 {
		lines := statusOperations.FindAllStringSubmatch(r.stderr.String(), -1)
		if len(lines) == 0 {
			return 0
		}
		n, _ := strconv.ParseInt(lines[len(lines)-1][1], 10, 64)
		return n
	}
	target := done() + more
	for began := time.Now(); done() < target; time.Sleep(20 * time.Millisecond) {
		select {
		case <-r.done:
			t.Fatalf("the run ended with code %d\n%s", r.code, r.stderr.String())
		default:
		}
		if time.Since(began) > realTimeout {
			t.Fatalf("the run does not go on: %d operations, want %d\n%s", done(), target, r.stderr.String())
		}
	}
}

// text is the report on standard output.
func (r *realRun) text(t *testing.T) report.YCSBText {
	t.Helper()
	return reportIn(t, r.stdout.String())
}

func reportIn(t *testing.T, text string) report.YCSBText {
	t.Helper()
	reports, err := report.ParseYCSB(strings.NewReader(text))
	if err != nil || len(reports) != 1 {
		t.Fatalf("%d reports, error %v in\n%s", len(reports), err, text)
	}
	return reports[0]
}

// whole is a whole number of a report; 0 if it is not there.
func whole(text report.YCSBText, metric, measurement string) int64 {
	value, _ := text.Find(metric, measurement)
	n, _ := value.Whole()
	return n
}

// operations are how many of each kind a run carried out. It must have ended well, with that many operations in all, none
// of which failed.
func (r *realRun) operations(t *testing.T, want int64) map[string]int64 {
	t.Helper()
	if r.code != report.ExitDone {
		t.Fatalf("exit code %d\n%s", r.code, r.stderr.String())
	}
	n := succeeded(t, r.text(t))
	// A read-modify-write is a read and an update too.
	if sum := n["READ"] + n["UPDATE"] + n["INSERT"] + n["SCAN"] - n["READ-MODIFY-WRITE"]; sum != want {
		t.Errorf("%d operations in %v, want %d", sum, n, want)
	}
	return n
}

// succeeded are the operations of a report, by their kind; failures are errors of the test.
func succeeded(t *testing.T, text report.YCSBText) map[string]int64 {
	t.Helper()
	n := map[string]int64{}
	for _, metric := range []string{"READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "VERIFY"} {
		n[metric] = whole(text, metric, "Operations")
		if ok := whole(text, metric, "Return=OK"); ok != n[metric] && metric != "READ-MODIFY-WRITE" {
			t.Errorf("%s: %d of %d operations are OK", metric, ok, n[metric])
		}
		if failed, ok := text.Find(metric+"-FAILED", "Operations"); ok {
			t.Errorf("%s: %v operations failed", metric, failed)
		}
	}
	return n
}

var counterField = regexp.MustCompile(`msg=Client retries=(\d+) relocations=(\d+) lostConnections=(\d+) busy=(\d+)`)

// counters are what the client met, by the log.
func (r *realRun) counters(t *testing.T) hbase.Counters {
	t.Helper()
	found := counterField.FindStringSubmatch(r.stderr.String())
	if found == nil {
		t.Fatalf("no counters in\n%s", r.stderr.String())
	}
	var n [4]int64
	for i := range n {
		n[i], _ = strconv.ParseInt(found[i+1], 10, 64)
	}
	return hbase.Counters{Retries: n[0], Relocations: n[1], Lost: n[2], Busy: n[3]}
}

// served is what the RegionServers counted for a table: rows, and for HBase 2.6 requests too.
type served struct{ ReadRows, WrittenRows, Gets, Puts, Scans int64 }

// serves asks them.
func (h *realHBase) serves(ctx context.Context, table string) (served, error) {
	var sum served
	servers, err := h.admin.Servers(ctx)
	if err != nil {
		return sum, err
	}
	for _, s := range servers {
		rows, errRows := beans(ctx, s.Web, "sub=Tables")
		requests, err := beans(ctx, s.Web, "sub=TableRequests_Namespace_default_table_"+table)
		if err := errors.Join(errRows, err); err != nil {
			return sum, err
		}
		prefix := "Namespace_default_table_" + table + "_metric_"
		sum.ReadRows += rows[prefix+"readRequestCount"]
		sum.WrittenRows += rows[prefix+"writeRequestCount"]
		sum.Gets += requests["GetTime_num_ops"]
		sum.Puts += requests["PutTime_num_ops"]
		sum.Scans += requests["ScanTime_num_ops"]
	}
	return sum, nil
}

// beans are the whole numbers of a RegionServer's beans with a name.
func beans(ctx context.Context, web, name string) (map[string]int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+web+"/jmx?qry=Hadoop:service=HBase,name=RegionServer,"+name, nil)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	var answer struct {
		Beans []map[string]any `json:"beans"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("read beans %s of %s: %w", name, web, err)
	}
	numbers := map[string]int64{}
	for _, bean := range answer.Beans {
		for name := range maps.Keys(bean) {
			if n, ok := bean[name].(float64); ok {
				numbers[name] = int64(n)
			}
		}
	}
	return numbers, nil
}

// expectServed waits until the servers' counts, which come late, are as wanted and stay so for as long as they may be old.
// wrong says what is not; empty if all is.
func (h *realHBase) expectServed(t *testing.T, table string, wrong func(served) string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), realTimeout)
	defer cancel()
	var last served
	var why string
	for good := 0; good < 2; {
		got, err := h.serves(ctx, table)
		if err == nil {
			last, why = got, wrong(got)
		} else if ctx.Err() == nil {
			why = err.Error()
		}
		if good++; why != "" {
			good = 0
		}
		select {
		case <-time.After(2 * time.Second):
		case <-ctx.Done():
			t.Fatalf("the servers count %+v: %s", last, why)
		}
	}
}

// word is what HBase's own client says about a table of the cluster.
func word(t *testing.T, command, table string) string {
	t.Helper()
	tool := fromEnv(t, tableEnv)[0]
	ctx, cancel := context.WithTimeout(t.Context(), realTimeout)
	defer cancel()
	var stderr buffer
	c := exec.CommandContext(ctx, tool, command, table)
	c.Env, c.Stderr = append(os.Environ(), "HBASE_CLIENT=client"), &stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", tool, command, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// realVersions are the configuration directories of other versions.
func realVersions(t *testing.T) map[string]string {
	t.Helper()
	dirs := map[string]string{}
	for entry := range strings.SplitSeq(fromEnv(t, versionsEnv)[0], ",") {
		version, dir, _ := strings.Cut(entry, "=")
		dirs[version] = dir
	}
	return dirs
}

// sorted are the keys of a map in their order.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
