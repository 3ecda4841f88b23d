package nnthroughput_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// A pair of real NameNodes for these tests: a client's configuration, in which it is the default file system, and the
// program that moves the active one (failover), kills it (kill-active) and brings it back (up).
const (
	haEnv        = "HADOOPBENCH_TEST_HA"
	haControlEnv = "HADOOPBENCH_TEST_HA_CONTROL"
)

// pair is the name service, as one run sees it.
type pair struct {
	*cluster
	conf *conf.Conf
}

func haPair(t *testing.T) *pair {
	t.Helper()
	dir := os.Getenv(haEnv)
	if dir == "" || os.Getenv(haControlEnv) == "" {
		t.Skipf("%s or %s is not set", haEnv, haControlEnv)
	}
	files, err := conf.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	p := &pair{cluster: &cluster{t: t, base: fmt.Sprintf("/nnThroughputBenchmark/%s/%d", path.Base(t.Name()), time.Now().UnixNano())}}
	if p.conf, err = conf.Load(files, conf.Options{}); err != nil {
		t.Fatal(err)
	}
	fs, err := p.conf.FileSystem("")
	if err != nil {
		t.Fatal(err)
	}
	p.uri = fs.URI
	p.nn = connectAs(t, p.conf, fs, namenode.Identity{User: superuser()})
	return p
}

// connectAs are a test's own eyes.
func connectAs(t *testing.T, c *conf.Conf, fs conf.FileSystem, id namenode.Identity) *namenode.Worker {
	t.Helper()
	o, err := namenode.FromConf(c, fs, id)
	if err != nil {
		t.Fatal(err)
	}
	client, err := namenode.Connect(t.Context(), o)
	if err != nil {
		t.Fatalf("Connect: %v", err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return client.Worker(0)
}

// control has the pair changed.
func (p *pair) control(verb string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.t.Context()), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Getenv(haControlEnv), verb)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	p.t.Logf("%s: %s", verb, out)
	if err != nil {
		return fmt.Errorf("%s: %w", verb, err)
	}
	return nil
}

// haRun is a run of one operation and one shard.
type haRun struct {
	*pair
	op   string
	c    *checkpoint
	body report.Body
	err  error
}

// Operations of a run: those until the failover, which takes a while to begin, those until the active NameNode is killed,
// which is soon, and the rest after that.
const (
	haFailover = 400
	haKill     = 600
	haFiles    = 650
	haBefore   = 20 // of each stage, after which all runs are in it
)

func (r *haRun) step(step string) *plan.Plan {
	p := r.plan(step, func(n *plan.NNThroughput) {
		n.Operations, n.HTTP, n.Files = []string{r.op}, nil, haFiles
		n.UGCacheRefreshCount = 1
	})
	p.Shards, p.SeriesMicros = 1, 25_000
	return p
}

// do carries out a step.
func (r *haRun) do(step string) (report.Body, error) {
	bodies, err := r.run(r.step(step), func(env *nnthroughput.Env) {
		env.Conf = r.conf
		if step == r.op {
			env.Connect = func(ctx context.Context, env *nnthroughput.Env, threads int) (nnthroughput.Target, error) {
				under, err := nnthroughput.Connect(ctx, env, threads)
				if err != nil {
					return nil, err
				}
				return &target{under, under.(service), r.c}, nil
			}
		}
	})
	return bodies[0], err
}

func (r *haRun) must(step string) {
	r.t.Helper()
	if _, err := r.do(step); err != nil {
		r.t.Fatalf("step %s of %s: %v", step, r.op, err)
	}
}

// TestHAFailoverInMidRun: shards measure while an administrator moves the active NameNode, and while it is killed. What was
// carried out but never answered is answered when it is repeated: nothing is lost, and nothing done twice.
func TestHAFailoverInMidRun(t *testing.T) {
	t.Parallel()
	p := haPair(t)
	var runs []*haRun
	for _, op := range []string{plan.OpRename, plan.OpDelete, plan.OpCreate} {
		own := *p.cluster
		own.base += "-" + op
		r := &haRun{pair: &pair{&own, p.conf}, op: op, c: newCheckpoint()}
		r.must(plan.StepPreflight)
		runs = append(runs, r)
	}
	measureThrough(t, p, runs)
	for _, r := range runs {
		t.Run(r.op, func(t *testing.T) { r.check(t) })
		r.must(plan.StepCleanup)
		r.gone(r.base)
	}
}

// measureThrough has the runs measure, and a failover and a death in the midst of it.
func measureThrough(t *testing.T, p *pair, runs []*haRun) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	var wait sync.WaitGroup
	for _, r := range runs {
		wait.Go(func() {
			if r.body, r.err = r.do(r.op); r.err != nil {
				cancel() // the others are not waited for
			}
		})
	}
	defer func() {
		if err := p.control("up"); err != nil {
			t.Error(err)
		}
	}()
	err := p.story(ctx, runs)
	for _, r := range runs {
		r.c.allow(math.MaxInt)
	}
	wait.Wait()
	for _, r := range runs {
		err = errors.Join(err, r.err)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// story is what happens to the pair.
func (p *pair) story(ctx context.Context, runs []*haRun) error {
	passed := 0
	for _, stage := range []struct {
		verb  string
		limit int
	}{{"failover", haFailover}, {"kill-active", haKill}} {
		// One after the other: when the last one begins, the set-up of all is done.
		for _, r := range runs {
			r.c.allow(passed + haBefore)
			if err := r.c.reached(ctx, passed+haBefore); err != nil {
				return fmt.Errorf("wait for %s before %s: %w", r.op, stage.verb, err)
			}
		}
		for _, r := range runs {
			r.c.allow(stage.limit)
		}
		if err := p.control(stage.verb); err != nil {
			return err
		}
		passed = stage.limit
	}
	return nil
}

// check looks at the report, and at what the NameNode has now.
func (r *haRun) check(t *testing.T) {
	b := r.body
	if b.Operations != haFiles || b.Planned != haFiles || len(b.Errors) > 0 || b.Latency.Count() != haFiles || b.Series.Total() != haFiles {
		t.Errorf("%d of %d operations, errors %v, %d latencies, %d in the series", b.Operations, b.Planned, b.Errors, b.Latency.Count(), b.Series.Total())
	}
	if fact := b.Facts["failovers"]; !strings.HasPrefix(fact, "2 (the last to ") {
		t.Errorf("fact failovers is %q, want two", fact)
	}
	// The pause as the calls have seen it: nobody was answered, so the series has a hole, and somebody waited. Two buckets
	// at its ends are not wholly empty.
	pause, width := r.c.pause(), time.Duration(b.Series.Width())*time.Microsecond
	t.Logf("longest pause %v, longest call %v, by the report %v", pause, r.c.longest, time.Duration(b.Latency.Max()))
	if hole := longestHole(b.Series.Amounts()); hole < int(pause/width)-2 {
		t.Errorf("%d empty buckets of %v in a row, but for %v no call was answered: %v", hole, width, pause, b.Series.Amounts())
	}
	if b.Latency.Max() < int64(r.c.longest) {
		t.Errorf("the longest latency is %v, the longest call took %v", time.Duration(b.Latency.Max()), r.c.longest)
	}
	want := upstreamTree(r.base+"/"+r.op, haFiles, 4, "")
	switch r.op {
	case plan.OpCreate:
		// A file that was made twice would look the same, but have used up two inode numbers. Nobody else used any.
		ids := r.inodes(r.base + "/" + r.op)
		if first, last := slices.Min(ids), slices.Max(ids); last-first+1 != uint64(len(ids)) {
			t.Errorf("%d files and directories have the inodes from %d to %d", len(ids), first, last)
		}
	case plan.OpRename:
		want = upstreamTree(r.base+"/"+r.op, haFiles, 4, ".r")
	case plan.OpDelete:
		want = slices.DeleteFunc(want, func(name string) bool { return !strings.HasSuffix(name, "/") })
	}
	if diff := cmp.Diff(want, r.tree(r.base+"/"+r.op)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// longestHole is how many empty buckets stand in a row.
func longestHole(amounts []int64) int {
	longest, row := 0, 0
	for _, n := range amounts {
		if row++; n > 0 {
			row = 0
		}
		longest = max(longest, row)
	}
	return longest
}

// inodes are the numbers of all that lies below a directory.
func (r *haRun) inodes(dir string) []uint64 {
	r.t.Helper()
	entries, _, err := r.nn.List(r.t.Context(), dir)
	if err != nil {
		r.t.Fatal(err)
	}
	var ids []uint64
	for _, e := range entries {
		ids = append(ids, e.FileID)
		if e.Dir {
			ids = append(ids, r.inodes(path.Join(dir, e.Path))...)
		}
	}
	return ids
}
