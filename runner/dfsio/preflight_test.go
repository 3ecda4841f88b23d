package dfsio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/dfsio"
	"github.com/hadoop-bench/operator/runner/hadoop/reach"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

func readOnly(p *plan.Plan) { p.DFSIO.Tests = []string{plan.TestRead} }

const ownMarker = `{"version":1,"runUID":"` + testUID + `","run":"ns/run","created":["/benchmarks/x/io_data"],"madeAt":"2026-12-01T09:00:00Z"}`

const otherMarker = `{"version":1,"runUID":"` + otherUID + `","run":"ns/other","madeAt":"2026-12-01T09:00:00Z"}`

func TestPreflightClaims(t *testing.T) {
	marker := base + "/_hadoopbench-run.json"
	text := func(created ...string) string {
		return `{"version":1,"runUID":"` + testUID + `","run":"ns/run","created":["` + strings.Join(created, `","`) + `"],"madeAt":"2026-12-01T10:00:00Z"}`
	}
	tests := map[string]struct {
		paths  []string
		change func(*plan.Plan)
		marker string // in the end; empty: none
		tree   []string
	}{
		"nothing there": {
			nil, nil, text("/benchmarks", "/benchmarks/x", "/benchmarks/x/io_data"),
			[]string{"/benchmarks/", "/benchmarks/x/", "MARKER", "/benchmarks/x/io_data/"},
		},
		"parent there": {
			[]string{"/benchmarks/other"},
			nil, text("/benchmarks/x", "/benchmarks/x/io_data"),
			[]string{"/benchmarks/", "/benchmarks/other 0", "/benchmarks/x/", "MARKER", "/benchmarks/x/io_data/"},
		},
		"empty directory there": {
			[]string{base + "/"},
			nil, text("/benchmarks/x/io_data"),
			[]string{"/benchmarks/", "/benchmarks/x/", "MARKER", "/benchmarks/x/io_data/"},
		},
		"own temporary files there": {
			[]string{base + "/_hadoopbench-tmp-" + testUID + "-clock-write-0"},
			nil, text("/benchmarks/x/io_data"),
			[]string{"/benchmarks/", "/benchmarks/x/", "MARKER", "/benchmarks/x/_hadoopbench-tmp-" + testUID + "-clock-write-0 0", "/benchmarks/x/io_data/"},
		},
		"own marker there": {
			[]string{marker},
			nil, ownMarker,
			[]string{"/benchmarks/", "/benchmarks/x/", "MARKER", "/benchmarks/x/io_data/"},
		},
		"own data there": {
			[]string{marker, base + "/io_data/test_io_0"},
			nil, ownMarker,
			[]string{"/benchmarks/", "/benchmarks/x/", "MARKER", "/benchmarks/x/io_data/", "/benchmarks/x/io_data/test_io_0 0"},
		},
		"only clean": {
			nil, func(p *plan.Plan) { p.DFSIO.Tests = []string{plan.TestClean} }, "", []string{},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var change []func(*plan.Plan)
			if tt.change != nil {
				change = append(change, tt.change)
			}
			b := newBench(t, newPlan(plan.StepPreflight, change...), tt.paths...)
			if b.fs.entries[marker] != nil {
				b.fs.put(marker, []byte(ownMarker))
			}
			if err := b.run(t); err != nil {
				t.Fatalf("Run: %v", err)
			}
			for i, line := range tt.tree {
				if line == "MARKER" {
					tt.tree[i] = fmt.Sprintf("%s %d", marker, len(tt.marker))
				}
			}
			if diff := cmp.Diff(tt.tree, b.fs.tree()); diff != "" {
				t.Errorf("tree (-want +got):\n%s", diff)
			}
			if e := b.fs.entries[marker]; e != nil && string(e.data) != tt.marker {
				t.Errorf("marker %s, want %s", e.data, tt.marker)
			}
		})
	}
}

func TestPreflightFacts(t *testing.T) {
	b := newBench(t, newPlan(plan.StepPreflight, func(p *plan.Plan) { p.DFSIO.Replication = 2 }))
	if err := b.run(t); err != nil {
		t.Fatalf("Run: %v", err)
	}
	want := map[string]string{
		"fs": "hdfs://nn:8020", "nameNode": "nn:8020", "user": "tester", "client": "Colinmarc",
		"blockSize": "134217728", "defaultBlockSize": "134217728", "replication": "2", "checksum": "CRC32C/512",
		"capacityBytes": "1099511627776", "remainingBytes": "549755813888", "runner": "v1", "go": "go1",
	}
	if diff := cmp.Diff(want, b.body.Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	if b.body.Clock == nil || b.body.Clock.UncertaintyMicros != 1000 {
		t.Errorf("clock %+v, want one", b.body.Clock)
	}
}

// TestPreflightFailures: whatever is wrong is told by reason and remedy, and nothing is left behind.
func TestPreflightFailures(t *testing.T) {
	marker := base + "/_hadoopbench-run.json"
	data := base + "/io_data/test_io_"
	tests := map[string]struct {
		change func(*plan.Plan)
		paths  []string
		marker string
		fs     func(*memFS)
		exit   int
		reason string
		text   string
	}{
		"encrypting cluster": {fs: func(m *memFS) { m.defaults.EncryptsTransfer = true }, exit: report.ExitTarget, reason: steps.ReasonNotSupported, text: "dfs.encrypt.data.transfer"},
		"small blocks":       {change: func(p *plan.Plan) { p.DFSIO.BlockSize = 65536 }, exit: report.ExitPlan, reason: steps.ReasonBlockSizeInvalid, text: "block size 65536: not a multiple of 512 of at least 1048576 bytes"},
		"odd blocks":         {change: func(p *plan.Plan) { p.DFSIO.BlockSize = 1<<20 + 1 }, exit: report.ExitPlan, reason: steps.ReasonBlockSizeInvalid, text: "block size 1048577"},
		"many replicas":      {change: func(p *plan.Plan) { p.DFSIO.Replication = 600 }, exit: report.ExitPlan, reason: steps.ReasonReplicationInvalid, text: "replication 600: not between 1 and 512"},
		"few replicas": {change: func(p *plan.Plan) {
			p.Target.Properties = map[string]string{"dfs.namenode.replication.min": "2", "dfs.replication": "1"}
		}, exit: report.ExitPlan, reason: steps.ReasonReplicationInvalid, text: "replication 1: not between 2"},
		"another run's data":          {marker: otherMarker, exit: report.ExitTarget, reason: steps.ReasonLeftoversFound, text: base + " holds the data of run ns/other (UID " + otherUID + "), made at 2026-12-01T09:00:00Z"},
		"unreadable marker":           {marker: "{", exit: report.ExitTarget, reason: steps.ReasonBaseDirNotOurs, text: "is not a marker"},
		"somebody's files":            {paths: []string{base + "/a", base + "/b", base + "/c", base + "/d"}, exit: report.ExitTarget, reason: steps.ReasonBaseDirNotOurs, text: "holds 4 entries that no run made, such as a, b, c"},
		"upstream's data":             {paths: []string{data + "0"}, exit: report.ExitTarget, reason: steps.ReasonBaseDirNotOurs, text: "such as io_data"},
		"a file":                      {paths: []string{base}, exit: report.ExitTarget, reason: steps.ReasonBaseDirNotOurs, text: "is a file"},
		"encryption zone":             {paths: []string{base + "/"}, fs: func(m *memFS) { m.entries[base].special.Encrypted = true }, exit: report.ExitTarget, reason: steps.ReasonNotSupported, text: "encryption zone"},
		"erasure coding":              {paths: []string{base + "/io_data/"}, marker: ownMarker, fs: func(m *memFS) { m.entries[base+"/io_data"].special.ErasureCoded = true }, exit: report.ExitTarget, reason: steps.ReasonNotSupported, text: "erasure coding"},
		"no space":                    {fs: func(m *memFS) { m.space.Remaining = 2*2500*3 - 1 }, exit: report.ExitTarget, reason: steps.ReasonNotEnoughSpace, text: "2 files of 2500 bytes with 3 replicas need more than the 14999 bytes"},
		"no space, overflowing":       {change: func(p *plan.Plan) { p.DFSIO.Size = 1 << 62 }, exit: report.ExitTarget, reason: steps.ReasonNotEnoughSpace, text: "2 files"},
		"no DataNodes":                {fs: func(m *memFS) { m.space = dfsio.Space{} }, exit: report.ExitTarget, reason: steps.ReasonNoDataNodes, text: "no live DataNode"},
		"no right to make":            {fs: func(m *memFS) { m.fail = failOn("mkdir ", fs.ErrPermission) }, exit: report.ExitTarget, reason: steps.ReasonPermissionDenied, text: `make directory /benchmarks as user "tester"`},
		"no right to make the second": {fs: func(m *memFS) { m.fail = failOn("mkdir "+base, fs.ErrPermission) }, exit: report.ExitTarget, reason: steps.ReasonPermissionDenied, text: "make directory " + base},
		"no marker made":              {fs: func(m *memFS) { m.fail = failOn("create "+marker, fs.ErrPermission) }, exit: report.ExitTarget, reason: steps.ReasonPermissionDenied, text: "write " + marker},
		"no marker written": {
			fs: func(m *memFS) {
				m.fail = failOn("write "+marker, errors.New("addBlock: File could only be written to 0 of the 1 minReplication nodes"))
			},
			exit: report.ExitTarget, reason: steps.ReasonNoDataNodes, text: "write marker",
		},
		"no marker closed":    {fs: func(m *memFS) { m.fail = failOn("close "+marker, io.EOF) }, exit: report.ExitBenchmark, reason: steps.ReasonIOError, text: "write marker: EOF"},
		"space is not told":   {fs: func(m *memFS) { m.fail = failOn("space", io.EOF) }, exit: report.ExitBenchmark, reason: steps.ReasonIOError, text: "free space"},
		"defaults not told":   {fs: func(m *memFS) { m.fail = failOn("defaults", io.EOF) }, exit: report.ExitBenchmark, reason: steps.ReasonIOError, text: "defaults"},
		"base is not shown":   {fs: func(m *memFS) { m.fail = failOn("stat "+base, io.EOF) }, exit: report.ExitBenchmark, reason: steps.ReasonIOError, text: "look at " + base},
		"base is not listed":  {paths: []string{base + "/"}, fs: func(m *memFS) { m.fail = failOn("list", io.EOF) }, exit: report.ExitBenchmark, reason: steps.ReasonIOError, text: "list " + base},
		"marker is not shown": {fs: func(m *memFS) { m.fail = failOn("open", io.EOF) }, exit: report.ExitBenchmark, reason: steps.ReasonIOError, text: "read " + marker},
		"own data not listed": {marker: ownMarker, fs: func(m *memFS) { m.fail = failOn("list", io.EOF) }, exit: report.ExitBenchmark, reason: steps.ReasonIOError, text: "list " + base},
		"own data not shown":  {marker: ownMarker, fs: func(m *memFS) { m.fail = failOn("stat "+base, io.EOF) }, exit: report.ExitBenchmark, reason: steps.ReasonIOError, text: "look at " + base},
		"reading nothing":     {change: readOnly, exit: report.ExitTarget, reason: steps.ReasonDataMissing, text: base + " holds no data of a run"},
		"reading upstream's":  {change: readOnly, paths: []string{data + "0", data + "1"}, exit: report.ExitTarget, reason: steps.ReasonDataMissing, text: "_hadoopbench-run.json is missing"},
		"reading too few":     {change: readOnly, marker: otherMarker, paths: []string{data + "1"}, exit: report.ExitTarget, reason: steps.ReasonDataMissing, text: data + "0 does not exist; 1 of 2 files do"},
		"reading too little":  {change: readOnly, marker: otherMarker, paths: []string{data + "0", data + "1"}, exit: report.ExitTarget, reason: steps.ReasonDataMissing, text: data + "0 has 0 bytes, less than the 2500"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var change []func(*plan.Plan)
			if tt.change != nil {
				change = append(change, tt.change)
			}
			b := newBench(t, newPlan(plan.StepPreflight, change...), tt.paths...)
			if tt.marker != "" {
				b.fs.put(marker, []byte(tt.marker))
			}
			if tt.fs != nil {
				tt.fs(b.fs)
			}
			before := b.fs.tree()
			wantFailure(t, b.run(t), tt.exit, tt.reason, tt.text)
			if diff := cmp.Diff(before, b.fs.tree()); diff != "" {
				t.Errorf("tree changed (-before +after):\n%s", diff)
			}
			if b.fs.closed != 1 {
				t.Errorf("disconnected %d times", b.fs.closed)
			}
		})
	}
}

// TestPreflightRace: of two runs that claim a directory at once, the slower one sees whose it is.
func TestPreflightRace(t *testing.T) {
	marker := base + "/_hadoopbench-run.json"
	b := newBench(t, newPlan(plan.StepPreflight), base+"/")
	b.fs.fail = func(call string) error {
		if strings.HasPrefix(call, "create "+marker) {
			b.fs.put(marker, []byte(otherMarker))
		}
		return nil
	}
	wantFailure(t, b.run(t), report.ExitTarget, steps.ReasonLeftoversFound, "run ns/other")
	if got := string(b.fs.entries[marker].data); got != otherMarker {
		t.Errorf("marker %s, want the other run's", got)
	}
}

// TestPreflightRaceUnread: the quicker run's marker may not be readable yet.
func TestPreflightRaceUnread(t *testing.T) {
	marker := base + "/_hadoopbench-run.json"
	b := newBench(t, newPlan(plan.StepPreflight), base+"/")
	b.fs.fail = func(call string) error {
		if strings.HasPrefix(call, "create "+marker) {
			b.fs.put(marker, nil)
		}
		return nil
	}
	wantFailure(t, b.run(t), report.ExitTarget, steps.ReasonLeftoversFound, "another run claimed "+base)
}

// TestPreflightAgain: what the run wrote before counts as room, since it is replaced.
func TestPreflightAgain(t *testing.T) {
	b := newBench(t, newPlan(plan.StepPreflight)).claim()
	b.fs.put(base+"/io_data/test_io_0", content(0))
	b.fs.put(base+"/io_data/test_io_1", content(1))
	b.fs.space.Remaining = 1
	if err := b.run(t); err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestPreflightForReading(t *testing.T) {
	tests := map[string]struct {
		fail  func(string) error
		clock bool
	}{
		"allowed to write":     {nil, true},
		"not allowed to write": {failOn("create ", fs.ErrPermission), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.StepPreflight, readOnly))
			b.fs.put(base+"/_hadoopbench-run.json", []byte(otherMarker))
			b.fs.put(base+"/io_data/test_io_0", content(0))
			b.fs.put(base+"/io_data/test_io_1", append(content(1), 1))
			before := b.fs.tree()
			b.fs.fail = tt.fail
			if err := b.run(t); err != nil {
				t.Fatalf("Run: %v", err)
			}
			if diff := cmp.Diff(before, b.fs.tree()); diff != "" {
				t.Errorf("tree changed (-before +after):\n%s", diff)
			}
			if (b.body.Clock != nil) != tt.clock {
				t.Errorf("clock %v", b.body.Clock)
			}
		})
	}
}

func TestPreflightReach(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	unknown := &net.DNSError{Err: "no such host", Name: "nn", IsNotFound: true}
	one := func(p *plan.Plan) { p.Target.FS = "hdfs://nn:9000" }
	two := func(p *plan.Plan) {
		p.Target.FS = "hdfs://ns"
		p.Target.Properties = map[string]string{
			"dfs.ha.namenodes.ns": "a,b", "dfs.namenode.rpc-address.ns.a": "one:1", "dfs.namenode.rpc-address.ns.b": "two:2",
		}
	}
	tests := map[string]struct {
		target  func(*plan.Plan)
		lookup  map[string]error // by host
		dial    map[string]error // by address
		connect error
		root    error // answer to the first call
		reason  string
		text    string
	}{
		"refused":            {one, nil, map[string]error{"nn:9000": refused}, nil, nil, steps.ReasonNameNodeUnreachable, "nn:9000: connect: dial tcp: connection refused"},
		"silent":             {one, nil, map[string]error{"nn:9000": context.DeadlineExceeded}, nil, nil, steps.ReasonNameNodeUnreachable, "nn:9000: connect: context deadline exceeded"},
		"unknown":            {one, map[string]error{"nn": unknown}, nil, nil, nil, steps.ReasonUnknownHost, "nn:9000: look up host: lookup nn: no such host"},
		"both refuse":        {two, nil, map[string]error{"one:1": refused, "two:2": refused}, nil, nil, steps.ReasonNameNodeUnreachable, "one:1: connect: dial tcp: connection refused; two:2: "},
		"unknown and silent": {two, map[string]error{"one": unknown}, map[string]error{"two:2": refused}, nil, nil, steps.ReasonNameNodeUnreachable, "two:2"},
		"one of two":         {two, map[string]error{"one": unknown}, nil, nil, nil, "", ""},
		"lost at once":       {one, nil, nil, errors.New("no available namenodes: EOF"), nil, steps.ReasonNameNodeUnreachable, "connect to hdfs://nn:9000"},
		"not a NameNode":     {one, nil, nil, nil, io.ErrUnexpectedEOF, steps.ReasonNameNodeUnreachable, "does not answer as a NameNode: unexpected EOF"},
		"standby":            {one, nil, nil, nil, errors.New("no available namenodes: getFileInfo call failed with ERROR_APPLICATION (org.apache.hadoop.ipc.StandbyException)"), steps.ReasonNoActiveNameNode, "none of nn:9000 is active"},
		"refusing user":      {one, nil, nil, nil, remoteError{"org.apache.hadoop.security.AccessControlException", "SIMPLE authentication is not enabled"}, steps.ReasonPermissionDenied, "SIMPLE authentication"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.StepPreflight, tt.target))
			b.env.Network = reach.Network{
				LookupHost: func(_ context.Context, host string) ([]string, error) {
					return []string{"198.51.100.1"}, tt.lookup[host]
				},
				DialContext: func(_ context.Context, _, address string) (net.Conn, error) {
					if err := tt.dial[address]; err != nil {
						return nil, err
					}
					c, _ := net.Pipe()
					return c, nil
				},
			}
			b.env.Connect = func(context.Context, dfsio.Connection) (dfsio.FS, error) {
				if tt.connect != nil {
					return nil, tt.connect
				}
				return b.fs, nil
			}
			b.fs.fail = func(call string) error {
				if call == "stat /" {
					return tt.root
				}
				return nil
			}
			err := b.run(t)
			if tt.reason == "" {
				if err != nil {
					t.Errorf("Run: %v", err)
				}
				return
			}
			wantFailure(t, err, report.ExitTarget, tt.reason, tt.text)
			if b.body.Facts != nil {
				t.Errorf("facts %v of a target that was not reached", b.body.Facts)
			}
		})
	}
}

// TestPreflightSilentNameNode: one that accepts connections and never answers does not hold preflight up.
func TestPreflightSilentNameNode(t *testing.T) {
	b := newBench(t, newPlan(plan.StepPreflight))
	ctx, cancel := context.WithCancelCause(t.Context())
	ended := make(chan struct{})
	t.Cleanup(func() { <-ended })
	release := make(chan struct{})
	b.fs.fail = func(call string) error {
		switch call {
		case "stat /":
			cancel(errors.New("enough"))
			<-release
			close(ended)
		case "disconnect ":
			close(release)
		}
		return nil
	}
	if err := dfsio.Run(ctx, b.env, &b.body); err == nil || err.Error() != "enough" {
		t.Errorf("Run: %v, want the context's cause", err)
	}
}

// remoteError is an answer of a NameNode.
type remoteError struct{ exception, message string }

func (e remoteError) Error() string     { return "call failed (" + e.exception + ")" }
func (e remoteError) Method() string    { return "getFileInfo" }
func (e remoteError) Desc() string      { return "ERROR_APPLICATION" }
func (e remoteError) Exception() string { return e.exception }
func (e remoteError) Message() string   { return e.message }
