package dfsio_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/dfsio"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

func TestWrite(t *testing.T) {
	b := newBench(t, newPlan(plan.TestWrite, func(p *plan.Plan) { p.DFSIO.Replication, p.DFSIO.BlockSize = 2, 1<<20 })).claim()
	b.env.Index = 1
	b.fs.put(base+"/io_data/test_io_1", []byte("old"))
	b.fs.ahead = 250 * time.Millisecond
	if err := b.run(t); err != nil {
		t.Fatalf("Run: %v", err)
	}
	if got := b.fs.entries[base+"/io_data/test_io_1"]; got.open || !bytes.Equal(got.data, content(1)) {
		t.Errorf("file of %d bytes, open %v, want the generator's 2500, closed", len(got.data), got.open)
	}
	if diff := cmp.Diff([]string{
		"/benchmarks/", "/benchmarks/x/", "/benchmarks/x/_hadoopbench-run.json 128",
		"/benchmarks/x/io_data/", "/benchmarks/x/io_data/test_io_1 2500",
	}, b.fs.tree()); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	// Reading the clock takes a reading before and one after, so a trip is a millisecond, in whose beginning the file is
	// made; half a millisecond is added for the clock's step and subtracted for the middle.
	if diff := cmp.Diff(&report.Clock{OffsetMicros: 250_000, UncertaintyMicros: 1000}, b.body.Clock); diff != "" {
		t.Errorf("clock (-want +got):\n%s", diff)
	}
	body := b.body
	if body.Planned != 2500 || body.Bytes != 2500 || body.Operations != 3 || len(body.Errors) > 0 {
		t.Errorf("planned %d, bytes %d, operations %d, errors %v, want 2500, 2500, 3, none", body.Planned, body.Bytes, body.Operations, body.Errors)
	}
	if l := body.Latency; l.Count() != 3 || l.Min() != 1e6 || l.Max() != 1e6 || l.Sum() != 3e6 {
		t.Errorf("latencies %d from %d to %d, want three of a millisecond", l.Count(), l.Min(), l.Max())
	}
	// Start, three pairs of readings, closing, end.
	if took := body.End - body.Start; took != 8000 || body.CloseMicros != 1000 {
		t.Errorf("took %d µs with %d to close, want 8000 with 1000", took, body.CloseMicros)
	}
	if body.Prepared == 0 || body.Prepared > body.Start {
		t.Errorf("prepared %d, started %d", body.Prepared, body.Start)
	}
	// Buckets of a millisecond by the target's clock, from the gate on: one later the start, then a pair of readings for
	// each call; the series widens as the offset reaches beyond its end.
	if got := body.Series.Total(); got != 2500 {
		t.Errorf("series of %d in total, want 2500", got)
	}
	if body.Client == nil || body.Client.AllowanceMilli != 3000 {
		t.Errorf("client %+v, want an allowance of 3000", body.Client)
	}
}

// TestWriteCalls pins the order of what a shard does: everything but writing and closing happens before it is ready.
func TestWriteCalls(t *testing.T) {
	b := newBench(t, newPlan(plan.TestWrite, func(p *plan.Plan) { p.DFSIO.Size = 3000 })).claim()
	ready := -1
	b.fs.fail = func(call string) error {
		if _, err := os.Stat(b.env.Gate.ReadyFile); err == nil && ready < 0 {
			ready = len(b.fs.calls) - 1
		}
		return nil
	}
	if err := b.run(t); err != nil {
		t.Fatalf("Run: %v", err)
	}
	file := base + "/io_data/test_io_0"
	want := []string{"write " + file + " 0", "write " + file + " 1024", "write " + file + " 2048", "close " + file, "disconnect "}
	if diff := cmp.Diff(want, b.fs.calls[ready:]); diff != "" {
		t.Errorf("calls after ready (-want +got):\n%s", diff)
	}
	if want := "create " + file + " 3 134217728"; b.fs.calls[ready-1] != want {
		t.Errorf("last call before ready %q, want %q", b.fs.calls[ready-1], want)
	}
}

func TestWriteZero(t *testing.T) {
	b := newBench(t, newPlan(plan.TestWrite, func(p *plan.Plan) { p.DFSIO.Pattern = "Zero" })).claim()
	if err := b.run(t); err != nil {
		t.Fatalf("Run: %v", err)
	}
	if got := b.fs.entries[base+"/io_data/test_io_0"].data; !bytes.Equal(got, make([]byte, 2500)) {
		t.Errorf("%d bytes, want 2500 zeros", len(got))
	}
}

func TestWriteFailures(t *testing.T) {
	file := base + "/io_data/test_io_0"
	tests := map[string]struct {
		fail   func(string) error
		exit   int
		reason string
		text   string
		bytes  int64
		errors []report.ErrorCount
	}{
		"marker cannot be read": {failOn("open "+base+"/_h", io.ErrUnexpectedEOF), report.ExitBenchmark, steps.ReasonIOError, "read " + base, 0, nil},
		"defaults":              {failOn("defaults", io.ErrUnexpectedEOF), report.ExitBenchmark, steps.ReasonIOError, "defaults", 0, nil},
		"old file":              {failOn("remove "+file, fs.ErrPermission), report.ExitTarget, steps.ReasonPermissionDenied, `as user "tester": permission denied`, 0, nil},
		"clock":                 {failOn("create "+base+"/_hadoopbench-tmp", fs.ErrPermission), report.ExitTarget, steps.ReasonPermissionDenied, "read the NameNode's clock", 0, nil},
		"create":                {failOn("create "+file, fs.ErrPermission), report.ExitTarget, steps.ReasonPermissionDenied, "create " + file, 0, nil},
		"first write": {
			failOn("write "+file+" 0", syscall.ECONNRESET), report.ExitBenchmark, steps.ReasonIOError, "write at offset 0", 0,
			[]report.ErrorCount{{Class: "ConnectionLost", Count: 1, First: "write at offset 0: connection reset by peer"}},
		},
		"third write": {
			failOn("write "+file+" 2048", os.ErrDeadlineExceeded), report.ExitBenchmark, steps.ReasonIOError, "write at offset 2048", 2048,
			[]report.ErrorCount{{Class: "Timeout", Count: 1, First: "write at offset 2048: i/o timeout"}},
		},
		"short write": {
			failOn("write "+file+" 1024", io.ErrShortWrite), report.ExitBenchmark, steps.ReasonIOError, "short write", 1024,
			[]report.ErrorCount{{Class: "IOError", Count: 1, First: "write at offset 1024: short write"}},
		},
		"close": {
			failOn("close "+file, io.EOF), report.ExitBenchmark, steps.ReasonIOError, file, 2500,
			[]report.ErrorCount{{Class: "ConnectionLost", Count: 1, First: "EOF"}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.TestWrite)).claim()
			b.fs.put(file, []byte("old"))
			b.fs.fail = tt.fail
			err := b.run(t)
			wantFailure(t, err, tt.exit, tt.reason, tt.text)
			if b.body.Bytes != tt.bytes || b.body.Planned != 2500 {
				t.Errorf("%d of %d bytes, want %d of 2500", b.body.Bytes, b.body.Planned, tt.bytes)
			}
			if diff := cmp.Diff(tt.errors, b.body.Errors); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if tt.errors != nil && (b.body.Start == 0 || b.body.End <= b.body.Start) {
				t.Errorf("start %d, end %d, want the time it took", b.body.Start, b.body.End)
			}
		})
	}
}

// TestWriteOnlyToOwn: without the run's marker nothing is removed or made.
func TestWriteOnlyToOwn(t *testing.T) {
	tests := map[string]struct {
		marker string
		want   string
	}{
		"no marker":       {"", "_hadoopbench-run.json is missing"},
		"of another run":  {`{"version":1,"runUID":"` + otherUID + `","run":"ns/other"}`, "belongs to run ns/other (UID " + otherUID + ")"},
		"of something":    {`hello`, "is not a marker"},
		"of a later kind": {`{"version":2,"runUID":"` + testUID + `"}`, "version 2, want 1"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.TestWrite), base+"/io_data/test_io_0")
			if tt.marker != "" {
				b.fs.put(base+"/_hadoopbench-run.json", []byte(tt.marker))
			}
			before := b.fs.tree()
			err := b.run(t)
			reason := steps.ReasonNotOurs
			if !strings.HasPrefix(tt.marker, `{"version":1`) && tt.marker != "" {
				reason = steps.ReasonBaseDirNotOurs
			}
			wantFailure(t, err, report.ExitTarget, reason, tt.want)
			if diff := cmp.Diff(before, b.fs.tree()); diff != "" {
				t.Errorf("tree changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestStopInMidWrite(t *testing.T) {
	b := newBench(t, newPlan(plan.TestWrite)).claim()
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := &measure.Stopped{Reason: "Suspended"}
	file := base + "/io_data/test_io_0"
	b.fs.fail = func(call string) error {
		if call == "write "+file+" 1024" {
			cancel(stopped)
		}
		return nil
	}
	if err := dfsio.Run(ctx, b.env, &b.body); !errors.Is(err, stopped) {
		t.Fatalf("Run: %v, want the order to stop", err)
	}
	if b.body.Bytes != 2048 || b.body.Operations != 2 || b.body.Planned != 2500 || len(b.body.Errors) > 0 {
		t.Errorf("%d bytes in %d operations of %d, errors %v, want 2048 in 2 of 2500, none", b.body.Bytes, b.body.Operations, b.body.Planned, b.body.Errors)
	}
	if got := b.fs.entries[file]; got.open || len(got.data) != 2048 {
		t.Errorf("file of %d bytes, open %v, want 2048, closed", len(got.data), got.open)
	}
	if b.body.Start == 0 || b.body.End < b.body.Start || b.body.CloseMicros == 0 {
		t.Errorf("start %d, end %d, close %d", b.body.Start, b.body.End, b.body.CloseMicros)
	}
}

// TestStopAtTheGate: a shard stopped before its start reports no start.
func TestStopAtTheGate(t *testing.T) {
	for _, step := range []string{plan.TestWrite, plan.TestRead} {
		t.Run(step, func(t *testing.T) {
			b := newBench(t, newPlan(step)).claim()
			file := base + "/io_data/test_io_0"
			if step == plan.TestRead {
				b.fs.put(file, content(0))
			}
			b.env.Gate.Closed, b.env.Gate.Timeout = true, time.Minute
			b.env.Gate.StartFile = b.env.Gate.ReadyFile + ".start"
			err := b.run(t)
			if !errors.Is(err, measure.ErrGateTimeout) {
				t.Fatalf("Run: %v, want ErrGateTimeout", err)
			}
			if b.body.Start != 0 || b.body.End != 0 || b.body.Operations != 0 || b.body.Prepared == 0 {
				t.Errorf("prepared %d, start %d, end %d, operations %d", b.body.Prepared, b.body.Start, b.body.End, b.body.Operations)
			}
			if b.fs.entries[file].open {
				t.Error("the file stays open")
			}
		})
	}
}

// TestGateGivesTheOrigin: the series starts at the start time that was ordered, which all shards share.
func TestGateGivesTheOrigin(t *testing.T) {
	b := newBench(t, newPlan(plan.TestWrite)).claim()
	b.env.Gate.Closed = true
	b.env.Gate.StartFile = b.env.Gate.ReadyFile + ".start"
	start := epoch.Add(3 * time.Second)
	if err := os.WriteFile(b.env.Gate.StartFile, []byte(start.Format(plan.TimeFormat)), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := b.run(t); err != nil {
		t.Fatalf("Run: %v", err)
	}
	if got := b.body.Series.Origin(); got != start.UnixMicro() {
		t.Errorf("origin %d, want %d", got, start.UnixMicro())
	}
	if late := b.body.Start - start.UnixMicro(); late < 0 || late > 3000 {
		t.Errorf("started %d µs after the ordered time by a clock of milliseconds", late)
	}
}

func TestRead(t *testing.T) {
	b := newBench(t, newPlan(plan.TestRead, func(p *plan.Plan) { p.DFSIO.Size = 2300 })).claim()
	b.fs.put(base+"/io_data/test_io_0", content(0))
	if err := b.run(t); err != nil {
		t.Fatalf("Run: %v", err)
	}
	// Packets of 1000 bytes; the last call asks only for what is missing.
	if b.body.Bytes != 2300 || b.body.Operations != 3 || b.body.Planned != 2300 {
		t.Errorf("%d bytes in %d operations of %d, want exactly 2300 in 3 of 2300", b.body.Bytes, b.body.Operations, b.body.Planned)
	}
	if l := b.body.Latency; l.Count() != 3 || l.Sum() != 3e6 {
		t.Errorf("latencies %d, %d in sum", l.Count(), l.Sum())
	}
	if b.body.End-b.body.Start != 8000 || b.body.CloseMicros != 1000 {
		t.Errorf("took %d µs with %d to close, want 8000 with 1000", b.body.End-b.body.Start, b.body.CloseMicros)
	}
	if b.body.Clock == nil {
		t.Error("no clock offset")
	}
}

func TestReadFailures(t *testing.T) {
	file := base + "/io_data/test_io_0"
	tests := map[string]struct {
		data   []byte // nil: no file
		fail   func(string) error
		exit   int
		reason string
		text   string
		bytes  int64
	}{
		"no file":        {nil, nil, report.ExitTarget, steps.ReasonDataMissing, file + " does not exist", 0},
		"not allowed":    {content(0), failOn("open "+file, fs.ErrPermission), report.ExitTarget, steps.ReasonPermissionDenied, "open " + file, 0},
		"too short":      {content(0)[:1500], nil, report.ExitBenchmark, steps.ReasonFileTooShort, file + " ended after 1500 of 2500 bytes", 1500},
		"empty":          {[]byte{}, nil, report.ExitBenchmark, steps.ReasonFileTooShort, "after 0 of 2500", 0},
		"read fails":     {content(0), failOn("read "+file, syscall.ECONNRESET), report.ExitBenchmark, steps.ReasonIOError, "read at offset 0", 0},
		"close fails":    {content(0), failOn("close "+file, io.ErrClosedPipe), report.ExitBenchmark, steps.ReasonIOError, file, 2500},
		"clock is out":   {content(0), failOn("create ", syscall.ECONNREFUSED), report.ExitTarget, steps.ReasonNameNodeUnreachable, "clock", 0},
		"defaults fail":  {content(0), failOn("defaults", io.EOF), report.ExitBenchmark, steps.ReasonIOError, "defaults", 0},
		"clock's remove": {content(0), failOn("remove ", io.EOF), report.ExitBenchmark, steps.ReasonIOError, "clock", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.TestRead)).claim()
			if tt.data != nil {
				b.fs.put(file, tt.data)
			}
			b.fs.fail = tt.fail
			wantFailure(t, b.run(t), tt.exit, tt.reason, tt.text)
			if b.body.Bytes != tt.bytes {
				t.Errorf("%d bytes, want %d", b.body.Bytes, tt.bytes)
			}
		})
	}
}

// TestReadWithoutTheRightToWrite reads data that others wrote; only the clock's offset is missing then.
func TestReadWithoutTheRightToWrite(t *testing.T) {
	b := newBench(t, newPlan(plan.TestRead)).claim()
	b.fs.put(base+"/io_data/test_io_0", content(0))
	b.fs.fail = failOn("create ", fs.ErrPermission)
	if err := b.run(t); err != nil {
		t.Fatalf("Run: %v", err)
	}
	if b.body.Clock != nil || b.body.Bytes != 2500 {
		t.Errorf("clock %v, bytes %d, want none, 2500", b.body.Clock, b.body.Bytes)
	}
}

func TestStopInMidRead(t *testing.T) {
	b := newBench(t, newPlan(plan.TestRead)).claim()
	file := base + "/io_data/test_io_0"
	b.fs.put(file, content(0))
	ctx, cancel := context.WithCancelCause(t.Context())
	b.fs.fail = func(call string) error {
		if call == "read "+file {
			cancel(measure.ErrDeadline)
		}
		return nil
	}
	if err := dfsio.Run(ctx, b.env, &b.body); !errors.Is(err, measure.ErrDeadline) {
		t.Fatalf("Run: %v, want ErrDeadline", err)
	}
	if b.body.Bytes != 1000 {
		t.Errorf("%d bytes, want those of the one read", b.body.Bytes)
	}
}

func TestVerify(t *testing.T) {
	files := []string{base + "/io_data/test_io_0", base + "/io_data/test_io_1"}
	tests := map[string]struct {
		shards int32
		change func(b *bench)
		reason string // empty: fine
		text   string
		bytes  int64
	}{
		"one shard checks all":     {1, func(*bench) {}, "", "", 5000},
		"a shard for each":         {2, func(*bench) {}, "", "", 2500},
		"a byte differs":           {1, func(b *bench) { b.fs.entries[files[1]].data[1999] ^= 1 }, steps.ReasonDataMismatch, files[1] + ": byte at offset 1999 is 0x", 3500},
		"the other file's content": {1, func(b *bench) { b.fs.entries[files[1]].data = content(0) }, steps.ReasonDataMismatch, "byte at offset 0", 2500},
		"shorter":                  {1, func(b *bench) { b.fs.put(files[0], content(0)[:2499]) }, steps.ReasonDataMismatch, "has 2499 bytes, not 2500", 0},
		"longer":                   {1, func(b *bench) { b.fs.put(files[0], append(content(0), 0)) }, steps.ReasonDataMismatch, "has 2501 bytes, not 2500", 0},
		"longer, only read": {1, func(b *bench) {
			b.fs.put(files[0], append(content(0), 0))
			b.env.Plan.DFSIO.Tests = []string{plan.TestRead}
		}, "", "", 5000},
		"missing":    {1, func(b *bench) { delete(b.fs.entries, files[1]) }, steps.ReasonDataMissing, files[1] + " does not exist", 2500},
		"unreadable": {1, func(b *bench) { b.fs.fail = failOn("read "+files[1], syscall.ECONNRESET) }, steps.ReasonIOError, "read " + files[1] + " at offset 0", 2500},
		"not opened": {1, func(b *bench) { b.fs.fail = failOn("open "+files[0], fs.ErrPermission) }, steps.ReasonPermissionDenied, "open", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.StepVerify, func(p *plan.Plan) { p.Shards = tt.shards })).claim()
			for i, file := range files {
				b.fs.put(file, content(int32(i)))
			}
			tt.change(b)
			err := b.run(t)
			if tt.reason == "" {
				if err != nil {
					t.Errorf("Run: %v", err)
				}
			} else {
				exit := report.ExitBenchmark
				if tt.reason == steps.ReasonDataMissing || tt.reason == steps.ReasonPermissionDenied {
					exit = report.ExitTarget
				}
				wantFailure(t, err, exit, tt.reason, tt.text)
			}
			if tt.reason != steps.ReasonDataMismatch && b.body.Bytes != tt.bytes {
				t.Errorf("%d bytes checked, want %d", b.body.Bytes, tt.bytes)
			}
		})
	}
}
