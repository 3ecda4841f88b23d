package step_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/shard"
	"github.com/hadoop-bench/operator/runner/steps"
	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/step"
)

const testRecords = 4000

// newPlan is the plan of a small run, for a step of it.
func newPlan(uid, table, name string, shards int32) *plan.Plan {
	p := &plan.Plan{
		Version: plan.Version, Run: "bench/" + uid, Shards: shards, SeriesMicros: 100_000,
		Identity: report.Identity{RunUID: uid, Execution: 1, Step: name, Repeat: 1, Attempt: 1},
		YCSB: &plan.YCSB{
			Table: table, ColumnFamily: "family", Regions: 6, CreatePolicy: plan.CreateTable, Compression: "NONE",
			Steps:       []string{plan.StepLoad, "workload-a", "workload-d", "workload-e", "workload-f"},
			RecordCount: testRecords, Seed: 42, Threads: 8,
			Properties: map[string]string{"fieldcount": "3", "fieldlength": "20"},
		},
	}
	mixes := map[string]map[string]string{
		"workload-a": {"readproportion": "0.5", "updateproportion": "0.5", "requestdistribution": "zipfian"},
		"workload-d": {"readproportion": "0.9", "updateproportion": "0", "insertproportion": "0.1", "requestdistribution": "latest"},
		"workload-e": {"readproportion": "0", "updateproportion": "0", "scanproportion": "0.9", "insertproportion": "0.1", "maxscanlength": "20", "requestdistribution": "zipfian"},
		"workload-f": {"readproportion": "0.5", "updateproportion": "0", "readmodifywriteproportion": "0.5", "requestdistribution": "zipfian"},
	}
	if mix, ok := mixes[name]; ok {
		maps.Copy(p.YCSB.Properties, mix)
		p.YCSB.Operations = 2000
		p.YCSB.InsertBase = plan.InsertBase(testRecords, int(name[len(name)-1]-'a'), 1, 1)
	}
	return p
}

// pods carries out a plan by as many shards as it has, all at once; a closed gate is opened when all are ready.
type pods struct {
	t       *testing.T
	conf    *conf.Conf
	clock   measure.Clock
	connect func(context.Context, *step.Env, *ycsb.Properties) (step.Target, error)
	env     map[string]string
	// meanwhile is called once all shards have been told to start.
	meanwhile func(stop func(reason string))
}

func (p *pods) lookupEnv(name string) (string, bool) { v, ok := p.env[name]; return v, ok }

func (p *pods) carry(planned *plan.Plan) []*report.Report {
	p.t.Helper()
	gated := planned.Gate
	dir := p.t.TempDir()
	ctx, cancel := context.WithCancelCause(p.t.Context())
	defer cancel(nil)
	reports := make([]*report.Report, planned.Shards)
	done := make(chan int, planned.Shards)
	for i := range planned.Shards {
		go func() {
			reports[i] = p.shard(ctx, planned, i, dir)
			done <- int(i)
		}()
	}
	started := !gated
	for left := int(planned.Shards); left > 0; {
		select {
		case <-done:
			left--
		case <-time.After(5 * time.Millisecond):
			if ready, _ := filepath.Glob(filepath.Join(dir, "ready-*")); !started && len(ready) == int(planned.Shards) {
				started = true
				p.open(dir)
				if p.meanwhile != nil {
					p.meanwhile(func(reason string) { cancel(&measure.Stopped{Reason: reason}) })
				}
			}
		}
	}
	return reports
}

// open gives the start order, written aside first as the kubelet does.
func (p *pods) open(dir string) {
	text := time.Now().Add(300 * time.Millisecond).UTC().Format(plan.TimeFormat)
	if err := os.WriteFile(filepath.Join(dir, "start.new"), []byte(text), 0o644); err != nil {
		p.t.Error(err)
	}
	if err := os.Rename(filepath.Join(dir, "start.new"), filepath.Join(dir, "start")); err != nil {
		p.t.Error(err)
	}
}

func (p *pods) shard(ctx context.Context, planned *plan.Plan, index int32, dir string) *report.Report {
	clock := p.clock
	if clock == nil {
		clock = measure.System()
	}
	r := &report.Report{Envelope: report.Envelope{Version: report.Version, Identity: planned.Identity, Index: index}}
	err := step.Run(ctx, &step.Env{
		Env: steps.Env{
			Plan: planned, Index: index, Conf: p.conf, User: "alice",
			Gate: &measure.Gate{
				Clock: clock, Closed: planned.Gate, ReadyFile: filepath.Join(dir, fmt.Sprintf("ready-%d", index)),
				StartFile: filepath.Join(dir, "start"), Timeout: time.Minute,
			},
			Clock: clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), LookupEnv: p.lookupEnv, Version: "test", GoVersion: "go",
		},
		Connect: p.connect,
	}, &r.Body)
	r.Envelope.Outcome, r.Envelope.ExitCode, r.Envelope.Failure = shard.Judge(err)
	// What a pod leaves is what the report's text says.
	text, err := report.Encode(r)
	if err != nil {
		p.t.Errorf("encode report of shard %d: %v", index, err)
		return r
	}
	read, err := report.Decode(text)
	if err != nil {
		p.t.Errorf("decode report of shard %d: %v\n%s", index, err, text)
		return r
	}
	return read
}

// complete carries out a plan all of whose shards are to end well.
func (p *pods) complete(planned *plan.Plan) []*report.Report {
	p.t.Helper()
	reports := p.carry(planned)
	for _, r := range reports {
		if r.Envelope.Outcome != report.Complete {
			p.t.Fatalf("step %s, shard %d: %s %+v", planned.Identity.Step, r.Envelope.Index, r.Envelope.Outcome, r.Envelope.Failure)
		}
	}
	return reports
}

// failed carries out a plan of one shard that is to fail, and returns its failure.
func (p *pods) failed(planned *plan.Plan, reason string) *report.Failure {
	p.t.Helper()
	r := p.carry(planned)[0]
	if r.Envelope.Outcome != report.Failed || r.Envelope.Failure.Reason != reason {
		p.t.Fatalf("step %s: %s %+v, want a failure for %s", planned.Identity.Step, r.Envelope.Outcome, r.Envelope.Failure, reason)
	}
	return r.Envelope.Failure
}

// sum adds a figure of all reports up.
func sum(reports []*report.Report, figure func(*report.Body) int64) (total int64) {
	for _, r := range reports {
		total += figure(&r.Body)
	}
	return total
}

// part counts what all reports recorded under a name.
func part(reports []*report.Report, name string) int64 {
	return sum(reports, func(b *report.Body) (n int64) {
		for i := range b.Parts {
			if b.Parts[i].Name == name {
				n += b.Parts[i].Count()
			}
		}
		return n
	})
}

func loadConf(t *testing.T, dir string) *conf.Conf {
	t.Helper()
	c, err := conf.LoadDir(dir, conf.Options{Files: hbase.ConfFiles()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
