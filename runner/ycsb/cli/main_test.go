package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/cli"
)

// bubbleClock is the time of a synctest bubble.
type bubbleClock struct{}

func (bubbleClock) Now() time.Time { return time.Now() }

func (bubbleClock) Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// buffer is written to and read by several goroutines.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// scene is a command and what came of it.
type scene struct {
	process        cli.Process
	signals        chan os.Signal
	stdout, stderr buffer
}

// newScene is a command in a bubble.
func newScene(args string) *scene {
	s := &scene{signals: make(chan os.Signal, 2)}
	s.process = cli.Process{
		Args: strings.Fields(args), LookupEnv: func(string) (string, bool) { return "", false }, Stdout: &s.stdout, Stderr: &s.stderr,
		Signals: s.signals, Clock: bubbleClock{}, Judge: judge, Random: strings.NewReader("12345678"),
	}
	return s
}

func (s *scene) run(t *testing.T) int {
	t.Helper()
	return s.process.Main(t.Context())
}

// fakeDB answers operations by do, and the end of sessions by end.
type fakeDB struct {
	closing func() // nil: at once
	do      func(ctx context.Context) (ycsb.Status, error)
	end     func() (ycsb.Status, error)
}

func (db fakeDB) Session(context.Context) (ycsb.Session, error) { return fakeSession(db), nil }
func (db fakeDB) Facts() map[string]string                      { return map[string]string{"regions": "3"} }

func (db fakeDB) Close() error {
	if db.closing != nil {
		db.closing()
	}
	return nil
}

type fakeSession fakeDB

func (s fakeSession) Read(ctx context.Context, _ []byte, _ [][]byte, _ *ycsb.Record) (ycsb.Status, error) {
	return s.do(ctx)
}

func (s fakeSession) Scan(ctx context.Context, _ []byte, _ int, _ [][]byte, _ func(ycsb.Record)) (ycsb.Status, error) {
	return s.do(ctx)
}

func (s fakeSession) Update(ctx context.Context, _ []byte, _ []ycsb.Field) (ycsb.Status, error) {
	return s.do(ctx)
}

func (s fakeSession) Insert(ctx context.Context, _ []byte, _ []ycsb.Field) (ycsb.Status, error) {
	return s.do(ctx)
}
func (s fakeSession) Delete(ctx context.Context, _ []byte) (ycsb.Status, error) { return s.do(ctx) }

func (s fakeSession) Close(context.Context) (ycsb.Status, error) {
	if s.end == nil {
		return ycsb.OK, nil
	}
	return s.end()
}

// against has the command find a database.
func (s *scene) against(db ycsb.DB) {
	s.process.Open = func(context.Context, string, *ycsb.Config) (ycsb.DB, error) { return db, nil }
}

// YCSB's own exit code is 0 in nearly all of these cases.
func TestDefectExitCodes(t *testing.T) {
	const c = " -P workloads/workloadc"
	no := func(context.Context) (ycsb.Status, error) {
		time.Sleep(time.Millisecond)
		return ycsb.ErrorStatus, errors.New("no")
	}
	yes := func(context.Context) (ycsb.Status, error) { time.Sleep(time.Millisecond); return ycsb.OK, nil }
	release := make(chan struct{})
	hang := func(context.Context) (ycsb.Status, error) { <-release; return ycsb.OK, nil }
	var n atomic.Int64
	oneOf := func(k int64) func(ctx context.Context) (ycsb.Status, error) {
		return func(ctx context.Context) (ycsb.Status, error) {
			if n.Add(1)%k == 0 {
				return no(ctx)
			}
			return yes(ctx)
		}
	}
	for name, tc := range map[string]struct {
		args   string
		db     ycsb.DB
		open   error
		code   int
		stderr string
		report bool
	}{
		"done":                 {"run basic" + c, fakeDB{do: yes}, nil, 0, "Starting test.", true},
		"some failed":          {"run basic" + c, fakeDB{do: oneOf(2)}, nil, 0, `msg="Operations failed" op=READ class=Error count=500 first="READ: no"`, true},
		"all failed":           {"run basic" + c, fakeDB{do: no}, nil, 1, "none of 1000 operations succeeded", true},
		"a record lost":        {"load basic" + c + " -threads 3", fakeDB{do: oneOf(500)}, nil, 1, "records were not inserted", true},
		"one lost on the way":  {"load basic" + c + " -p core_workload_insertion_keep_going_on_error=true", fakeDB{do: oneOf(500)}, nil, 1, "2 of 1000 records were not inserted", true},
		"lost in a buffer":     {"load basic" + c, fakeDB{do: yes, end: func() (ycsb.Status, error) { return ycsb.ErrorStatus, errors.New("flush") }}, nil, 1, "the last records of 1 threads were not all written", true},
		"hung":                 {"run basic" + c + " -p maxexecutiontime=1", fakeDB{do: hang, closing: func() { <-release }}, nil, 4, "1 operations hung when the time was over", true},
		"time over":            {"run basic" + c + " -p maxexecutiontime=1 -p operationcount=0", fakeDB{do: yes}, nil, 0, "Starting test.", true},
		"no table":             {"run hbase" + c, nil, steps.Fail(3, "TableNotFound", "make it", "Table usertable does not exists"), 3, "Table usertable does not exists", false},
		"no connection":        {"run hbase" + c, nil, errors.New("refused"), 3, "reason=NotConnected", false},
		"help":                 {"-h", nil, nil, 0, "", false},
		"a bad option":         {"run basic -p x", nil, nil, 2, "-p x: write it as name=value", false},
		"no workload":          {"run basic", nil, nil, 2, "property workload is missing", false},
		"another workload":     {"run basic -p workload=site.ycsb.workloads.RestWorkload", nil, nil, 2, "RestWorkload", false},
		"no such distribution": {"run basic" + c + " -p requestdistribution=x", nil, nil, 2, "property requestdistribution", false},
		"no such measurement":  {"run basic" + c + " -p measurementtype=x", nil, nil, 2, "property measurementtype", false},
		"no such exporter":     {"run basic" + c + " -p exporter=x.Y", nil, nil, 2, "property exporter: ", false},
		"no place":             {"run basic" + c + " -p exportfile=/absent/x", nil, nil, 2, "property exportfile: open /absent/x", false},
		"no place for latencies": {
			"run basic" + c + " -p measurementtype=raw -p measurement.raw.output_file=/absent/x", nil, nil, 2, "property measurement.raw.output_file: open /absent/x", false,
		},
		"no warm-up":   {"run basic" + c + " -p hadoopbench.warmup=soon", nil, nil, 2, "property hadoopbench.warmup: ", false},
		"a bad delay":  {"run basic" + c + " -p basicdb.simulatedelay=x", nil, nil, 2, "property basicdb.simulatedelay", false},
		"a bad switch": {"run basic" + c + " -p basicdb.randomizedelay=x", nil, nil, 2, "property basicdb.randomizedelay", false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n.Store(0)
				release = make(chan struct{})
				s := newScene(tc.args)
				switch {
				case tc.db != nil:
					s.against(tc.db)
				case tc.open != nil:
					s.process.Open = func(context.Context, string, *ycsb.Config) (ycsb.DB, error) { return nil, tc.open }
				}
				code := s.run(t)
				close(release)
				if code != tc.code || !strings.Contains(s.stderr.String(), tc.stderr) {
					t.Errorf("exit code %d, want %d; %q in\n%s", code, tc.code, tc.stderr, s.stderr.String())
				}
				if has := strings.Contains(s.stdout.String(), "[OVERALL], Throughput"); has != tc.report {
					t.Errorf("a report: %v\n%s", has, s.stdout.String())
				}
			})
		})
	}
}

// The whole output of a load without a database, in time that is known.
func TestOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene("load basic -P workloads/workloada -s -threads 2 -l L -p recordcount=10 -p basicdb.simulatedelay=100 -p basicdb.randomizedelay=false " +
			"-p basicdb.verbose=true -p nosuchproperty=1 -jvm-args -Xmx1g")
		if code := s.run(t); code != 0 {
			t.Fatalf("exit code %d\n%s", code, s.stderr.String())
		}
		want := `[OVERALL], RunTime(ms), 500
[OVERALL], Throughput(ops/sec), 20.0
[TOTAL_GCS_Go], Count, 0
[TOTAL_GC_TIME_Go], Time(ms), 0
[TOTAL_GC_TIME_%_Go], Time(%), 0.0
[TOTAL_GCs], Count, 0
[TOTAL_GC_TIME], Time(ms), 0
[TOTAL_GC_TIME_%], Time(%), 0.0
[INSERT], Operations, 10
[INSERT], AverageLatency(us), 100000.0
[INSERT], MinLatency(us), 99968
[INSERT], MaxLatency(us), 100031
[INSERT], 50thPercentileLatency(us), 100031
[INSERT], 95thPercentileLatency(us), 100031
[INSERT], 99thPercentileLatency(us), 100031
[INSERT], Return=OK, 10
[CLEANUP], Operations, 2
[CLEANUP], AverageLatency(us), 0.0
[CLEANUP], MinLatency(us), 0
[CLEANUP], MaxLatency(us), 0
[CLEANUP], 50thPercentileLatency(us), 0
[CLEANUP], 95thPercentileLatency(us), 0
[CLEANUP], 99thPercentileLatency(us), 0
`
		collections := regexp.MustCompile(`(?m)^(\[TOTAL_GC.*), [0-9.E-]+$`)
		if diff := cmp.Diff(collections.ReplaceAllString(want, "$1"), collections.ReplaceAllString(s.stdout.String(), "$1")); diff != "" {
			t.Errorf("standard output (-want +got):\n%s", diff)
		}
		errs := s.stderr.String()
		if !strings.HasPrefix(errs, "Command line: load basic -P workloads/workloada -s -threads 2 -l L ") {
			t.Errorf("standard error begins otherwise:\n%s", errs)
		}
		for _, part := range []string{
			"\nYCSB Client (runner ", "\n\nLoading workload...\n", "\nStarting test.\n", "\nL2000-01-01 00:00:00:000 0 sec: 0 operations; est completion in 0 second \n",
			"-P workloads/workloada: there is no such file", "property nosuchproperty is not known", "property basicdb.verbose has no effect",
			"-jvm-args has no effect", "seed=", "L2000-01-01 00:00:00:500 0 sec: 10 operations; ", "succeededPerSec=20",
		} {
			if !strings.Contains(errs, part) {
				t.Errorf("no %q on standard error:\n%s", part, errs)
			}
		}
	})
}

func TestSignals(t *testing.T) {
	for name, tc := range map[string]struct {
		second bool
		hang   bool
		within time.Duration
		report bool
	}{
		"the first reports":                {false, false, time.Second, true},
		"the first cuts off what hangs":    {false, true, 6 * time.Second, true},
		"the second ends all this at once": {true, true, 2 * time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				s := newScene("run basic -P workloads/workloadc -p operationcount=0")
				s.against(fakeDB{do: func(context.Context) (ycsb.Status, error) {
					time.Sleep(10 * time.Millisecond)
					if tc.hang && time.Now().Second() >= 4 {
						<-release
					}
					return ycsb.OK, nil
				}})
				time.AfterFunc(5*time.Second, func() { s.signals <- syscall.SIGTERM })
				if tc.second {
					time.AfterFunc(6*time.Second, func() { s.signals <- syscall.SIGINT })
				}
				began := time.Now()
				code := s.run(t)
				took := time.Since(began) - 5*time.Second
				if code != report.ExitInterrupted || took < 0 || took > tc.within {
					t.Errorf("exit code %d, %s after the signal\n%s", code, took, s.stderr.String())
				}
				if has := strings.Contains(s.stdout.String(), "[READ], Operations, "); has != tc.report {
					t.Errorf("a report: %v\n%s", has, s.stdout.String())
				}
				close(release)
			})
		})
	}
}

func TestExporters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report")
	for name, tc := range map[string]struct {
		args  string
		check func(text string) bool
	}{
		"text":  {"", func(text string) bool { return strings.HasPrefix(text, "[OVERALL], RunTime(ms), ") }},
		"JSON":  {"-p exporter=site.ycsb.measurements.exporter.JSONMeasurementsExporter", func(text string) bool { return strings.HasPrefix(text, "{\n  \"metric\" : \"OVERALL\",") }},
		"array": {"-p exporter=com.yahoo.ycsb.measurements.exporter.JSONArrayMeasurementsExporter", func(text string) bool { return json.Valid([]byte(text)) }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				write(t, file, strings.Repeat("what was there before\n", 1000))
				s := newScene("run basic -P workloads/workloada -threads 2000 -p exportfile=" + file + " " + tc.args)
				if code := s.run(t); code != 0 {
					t.Fatalf("exit code %d\n%s", code, s.stderr.String())
				}
				text, err := os.ReadFile(file)
				if err != nil || !tc.check(string(text)) {
					t.Errorf("%v, the file holds %s", err, text)
				}
				if want := "Warning: the threadcount is bigger than recordcount, the threadcount will be recordcount!\n"; s.stdout.String() != want {
					t.Errorf("standard output %q, want %q", s.stdout.String(), want)
				}
			})
		})
	}
}

func TestWarmupAndRaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		raw := filepath.Join(t.TempDir(), "raw")
		n := 0
		s := newScene("run basic -P workloads/workloadc -p operationcount=10 -p hadoopbench.warmup=1s -p measurementtype=raw -p measurement.raw.output_file=" + raw)
		s.against(fakeDB{do: func(context.Context) (ycsb.Status, error) {
			n++
			time.Sleep(10 * time.Millisecond)
			return ycsb.OK, nil
		}})
		if code := s.run(t); code != 0 || n != 110 {
			t.Fatalf("exit code %d after %d operations\n%s", code, n, s.stderr.String())
		}
		text, err := os.ReadFile(raw)
		if err != nil || strings.Count(string(text), "\nREAD,946684801") != 10 {
			t.Errorf("%v, latencies\n%s", err, text)
		}
	})
}

// A target that was not reached is told.
func TestMissedTarget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene("run basic -P workloads/workloadc -target 1000 -p basicdb.simulatedelay=10 -p basicdb.randomizedelay=false")
		if code := s.run(t); code != 0 || !strings.Contains(s.stderr.String(), "reason=RateNotReached target=1000 due=") {
			t.Errorf("exit code %d\n%s", code, s.stderr.String())
		}
	})
}

// Writes that were buffered by a thread that hangs are lost although they were counted, which is told.
func TestHungBuffersAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newScene("load basic -P workloads/workloada -p recordcount=9 -p maxexecutiontime=1 -p clientbuffering=true")
		s.against(fakeDB{do: func(ctx context.Context) (ycsb.Status, error) {
			<-ctx.Done()
			return ycsb.ErrorStatus, ctx.Err()
		}})
		if code := s.run(t); code != report.ExitDeadline || !strings.Contains(s.stderr.String(), "write buffers of threads that hung") {
			t.Errorf("exit code %d:\n%s", code, s.stderr.String())
		}
	})
}
