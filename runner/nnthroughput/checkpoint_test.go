package nnthroughput_test

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/nnthroughput"
)

// A checkpoint stands before each measured operation of a shard. It lets only so many pass, so that what is to happen in
// mid-run does, however fast either is; and not as fast as it goes, so that operations are under way when it happens.
type checkpoint struct {
	mu            sync.Mutex
	passed, limit int
	changed       chan struct{} // closed at the next change
	next          time.Time     // when an operation may pass again

	ends    []time.Time // of calls that passed
	longest time.Duration
}

func newCheckpoint() *checkpoint { return &checkpoint{changed: make(chan struct{})} }

func (c *checkpoint) change() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// until waits for what step, called with the lock, says.
func (c *checkpoint) until(ctx context.Context, step func() bool) error {
	for {
		c.mu.Lock()
		done, changed := step(), c.changed
		c.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// checkpointSpacing is the least time between two operations of a shard.
const checkpointSpacing = 6 * time.Millisecond

func (c *checkpoint) pass(ctx context.Context) error {
	var at time.Time
	err := c.until(ctx, func() bool {
		if c.passed >= c.limit {
			return false
		}
		if at = time.Now(); at.Before(c.next) {
			at = c.next
		}
		c.next = at.Add(checkpointSpacing)
		c.passed++
		c.change()
		return true
	})
	if err != nil {
		return err
	}
	return measure.System().Wait(ctx, time.Until(at))
}

// reached waits until n operations have passed.
func (c *checkpoint) reached(ctx context.Context, n int) error {
	return c.until(ctx, func() bool { return c.passed >= n })
}

func (c *checkpoint) allow(limit int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.limit = limit
	c.change()
}

// saw keeps when a call was answered. Those of set-up come before the first operation passes.
func (c *checkpoint) saw(began time.Time) {
	ended := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.passed > 0 {
		c.ends = append(c.ends, ended)
		c.longest = max(c.longest, ended.Sub(began))
	}
}

// pause is the longest time without an answer between the first and the last one.
func (c *checkpoint) pause() time.Duration {
	slices.SortFunc(c.ends, time.Time.Compare)
	longest := time.Duration(0)
	for i := 1; i < len(c.ends); i++ {
		longest = max(longest, c.ends[i].Sub(c.ends[i-1]))
	}
	return longest
}

// target is the name service behind a checkpoint.
type target struct {
	nnthroughput.Target
	service
	c *checkpoint
}

// service is what a target may tell beside.
type service interface {
	Failovers() int64
	Address() string
}

func (t *target) Thread(i int) nnthroughput.NameNode { return &guarded{t.Target.Thread(i), t.c} }

// guarded is one thread's NameNode. The refreshing of groups, which comes before each operation and is timed in none, is
// where the checkpoint stands; it is not passed on.
type guarded struct {
	nnthroughput.NameNode
	c *checkpoint
}

func (g *guarded) RefreshUserToGroupsMappings(ctx context.Context) error { return g.c.pass(ctx) }

func (g *guarded) Create(ctx context.Context, path string, o namenode.CreateOptions) (namenode.FileStatus, error) {
	defer g.c.saw(time.Now())
	return g.NameNode.Create(ctx, path, o)
}

func (g *guarded) Delete(ctx context.Context, path string, recursive bool) (bool, error) {
	defer g.c.saw(time.Now())
	return g.NameNode.Delete(ctx, path, recursive)
}

func (g *guarded) Rename(ctx context.Context, from, to string) (bool, error) {
	defer g.c.saw(time.Now())
	return g.NameNode.Rename(ctx, from, to)
}
