package cli_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/report"
)

// faultRecords is how many records are checked.
const faultRecords = 1000

// faults is a table whose records are checked while things happen to its regions.
type faults struct {
	*realHBase
	table, args, control string
}

// TestRealFaults: regions are split and moved, a RegionServer is killed and another one hangs, each in the middle of a run
// that checks what it reads. No record is lost or wrong in the end.
func TestRealFaults(t *testing.T) {
	env := fromEnv(t, clusterEnv, controlEnv, tableEnv)
	f := faults{realHBase: openReal(t, env[0]), control: env[1]}
	f.table = f.create(t, "faults")
	f.args = fmt.Sprintf("-P workloads/workloadf -p table=%s -p recordcount=%d -p operationcount=0 -p requestdistribution=uniform "+
		"-p dataintegrity=true -p fieldcount=2 -p fieldlength=60 -p readproportion=0.3 -p updateproportion=0.3 "+
		"-p readmodifywriteproportion=0.4 -threads 8 -s -p status.interval=1 -p hbase.client.operation.timeout=120000", f.table, faultRecords)
	f.ycsb(t, "load hbase", f.args).operations(t, faultRecords)
	f.splitAndMove(t)
	f.kill(t)
	f.freeze(t)
	want := fmt.Sprintf("rows %d cells %d bytes %d wrong 0", faultRecords, 2*faultRecords, 120*faultRecords)
	if got := word(t, "check", f.table); got != want {
		t.Errorf("HBase's client says %q, want %q", got, want)
	}
}

// locate is where a key is.
func (f faults) locate(t *testing.T, key string) hbase.LocatedRegion {
	t.Helper()
	all, err := f.client.Regions(t.Context(), f.table)
	if err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(r hbase.LocatedRegion) bool { return len(r.End) == 0 || key < string(r.End) })
	return all[at]
}

// move moves the region of a key to the other server, and returns which that is.
func (f faults) move(t *testing.T, key string) (server string) {
	t.Helper()
	servers, err := f.admin.Servers(t.Context())
	if err != nil || len(servers) != 2 {
		t.Fatalf("servers %v, error %v, want 2", servers, err)
	}
	region := f.locate(t, key)
	to := servers[0]
	if to.Address() == region.Server {
		to = servers[1]
	}
	if err := f.admin.Move(t.Context(), region, to); err != nil {
		t.Fatalf("move: %v", err)
	}
	return to.Address()
}

func (f faults) script(t *testing.T, word, server string) {
	t.Helper()
	number := server[len(server)-1:] // ports are 16021 and 16022
	if out, err := exec.CommandContext(t.Context(), f.control, word, number).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", word, number, err, out)
	}
}

// begin starts a run and waits until it is at work.
func (f faults) begin(t *testing.T, more string) *realRun {
	t.Helper()
	r := f.start(t, "run hbase", f.args, more)
	r.progress(t, 100)
	return r
}

// end stops a run. Nothing may have failed in it; every record that it read was right.
func (r *realRun) end(t *testing.T) {
	t.Helper()
	r.stop()
	n := succeeded(t, r.text(t))
	t.Logf("%v, %+v, the longest update took %d ms", n, r.counters(t), whole(r.text(t), "UPDATE", "MaxLatency(us)")/1000)
	// A signal may come between a read and its check.
	if r.code != report.ExitInterrupted || n["VERIFY"] < n["READ"]-8 || n["VERIFY"] == 0 {
		t.Errorf("exit code %d, %d of %d reads were checked\n%s", r.code, n["VERIFY"], n["READ"], r.stderr.String())
	}
}

func (f faults) splitAndMove(t *testing.T) {
	r := f.begin(t, "")
	if err := f.admin.Split(t.Context(), f.locate(t, "user4"), []byte("user45")); err != nil {
		t.Fatalf("split: %v", err)
	}
	r.progress(t, 300)
	f.move(t, "user4")
	r.progress(t, 300)
	f.move(t, "user7")
	r.progress(t, 300)
	r.end(t)
	if all, err := f.client.Regions(t.Context(), f.table); err != nil || len(all) != regions+1 {
		t.Errorf("%d regions, error %v, want %d", len(all), err, regions+1)
	}
	// A daughter that is moved at once may be found only where it is then, and one that no operation asks for is not looked up.
	if n := r.counters(t); n.Relocations < 2 || n.Lost != 0 {
		t.Errorf("%+v, want relocations of split and moved regions, and no lost connections", n)
	}
}

// kill kills the server of a region, and starts it again. It is not the server of hbase:meta, without which HBase takes
// several times as long.
func (f faults) kill(t *testing.T) {
	meta, err := f.client.Registry().MetaServer(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server := f.locate(t, "user2").Server
	if server == meta.Address {
		server = f.move(t, "user2")
	}
	t.Cleanup(func() { f.startAgain(t, server) })
	r := f.begin(t, "")
	began := time.Now()
	f.script(t, "kill9", server)
	// Each thread soon meets a region that is nowhere, so it goes on only if they are found again.
	r.progress(t, 2000)
	t.Logf("it went on %v after the kill", time.Since(began))
	f.startAgain(t, server)
	r.progress(t, 100)
	r.end(t)
	if n := r.counters(t); n.Lost == 0 || n.Relocations == 0 || n.Retries == 0 {
		t.Errorf("%+v, want a lost connection, retries and relocations", n)
	}
	// A server that does not answer ZooKeeper is believed to live for some seconds.
	if longest := whole(r.text(t), "UPDATE", "MaxLatency(us)"); longest < 1_000_000 {
		t.Errorf("the longest update took %d us; the pause is not in the report", longest)
	}
}

// startAgain starts a server that is down, also at the end of a test that failed.
func (f faults) startAgain(t *testing.T, server string) {
	if out, err := exec.Command(f.control, "start", server[len(server)-1:]).CombinedOutput(); err != nil {
		t.Errorf("start %s: %v\n%s", server, err, out)
	}
}

// freeze has a server hang while the time of a run comes to its end.
func (f faults) freeze(t *testing.T) {
	server := f.move(t, "user2") // that has no region since it was started
	r := f.begin(t, "-p maxexecutiontime=3")
	t.Cleanup(func() { f.startAgain(t, server) })
	f.script(t, "freeze", server)
	<-r.done
	f.script(t, "thaw", server)
	operations := whole(r.text(t), "READ", "Return=OK") + whole(r.text(t), "UPDATE", "Return=OK")
	t.Logf("%d operations until the time was over, %+v", operations, r.counters(t))
	if r.code != report.ExitDeadline || !strings.Contains(r.stderr.String(), "reason=OperationsHung") || operations == 0 {
		t.Errorf("exit code %d, %d operations\n%s", r.code, operations, r.stderr.String())
	}
	f.settle(t, server)
}

// settle waits until a server that hung is at work again, or has ended itself since it was taken for dead, and is at work
// after that.
func (f faults) settle(t *testing.T, server string) {
	// Whoever serves the region now, it answers again.
	get := hbase.Get{Table: f.table, Row: []byte("user2"), Family: []byte("f")}
	if _, err := f.client.Session().Get(t.Context(), &get); err != nil {
		t.Errorf("read after the server hung: %v", err)
	}
	alive := func() bool {
		servers, err := f.admin.Servers(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.ContainsFunc(servers, func(s admin.Server) bool { return s.Address() == server })
	}
	if alive() {
		return
	}
	for began := time.Now(); f.runs(t, server); time.Sleep(100 * time.Millisecond) {
		if time.Since(began) > realTimeout {
			t.Fatalf("%s was taken for dead, and does not end", server)
		}
	}
	f.startAgain(t, server)
}

// runs says whether the process of a server runs.
func (f faults) runs(t *testing.T, server string) bool {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), f.control, "list").Output()
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(regexp.QuoteMeta(server) + ` \S+ up`).Match(out)
}
