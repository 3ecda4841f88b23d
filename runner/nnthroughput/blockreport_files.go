package nnthroughput

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
)

const (
	// placeTimeout bounds how long one block is asked for, placeFirst and placeLast the pauses in between. Upstream asks 30
	// times, every 100 ms.
	placeTimeout = time.Minute
	placeFirst   = time.Millisecond
	placeLast    = 100 * time.Millisecond
	// maxMisplaced bounds how often a block may land on somebody else's DataNode that is excluded already.
	maxMisplaced = 20
)

// placer makes files whose blocks lie on the shard's fake DataNodes.
type placer struct {
	*step
	fleet *fleet
	share reportShare

	mu      sync.Mutex
	known   map[string]bool     // UUIDs of exclude
	exclude []namenode.DataNode // DataNodes that are not ours; replaced as a whole
}

// relist finds out which live DataNodes are not ours: the shards register theirs at the same time. Only superusers may ask
// for the list. Others learn it from the blocks that are put elsewhere.
func (p *placer) relist(ctx context.Context, nn NameNode) (news int, err error) {
	live, err := nn.DataNodeReport(ctx, namenode.ReportLive)
	if err != nil && classOf(err) != classAccess {
		return 0, p.refused("list the live DataNodes", err)
	}
	return p.learn(live), nil
}

// learn excludes those of some DataNodes that are not ours, and returns how many of them are new.
func (p *placer) learn(seen []namenode.DataNode) (news int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	exclude := slices.Clone(p.exclude)
	for _, d := range seen {
		if p.fleet.byUUID[d.UUID] == nil && !p.known[d.UUID] {
			p.known[d.UUID] = true
			exclude = append(exclude, d)
			news++
		}
	}
	p.exclude = exclude
	return news
}

func (p *placer) excluded() []namenode.DataNode {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exclude
}

// file makes one file with its blocks, each of which its DataNodes report as received.
func (p *placer) file(ctx context.Context, nn NameNode, path string) error {
	_, err := nn.Create(ctx, path, namenode.CreateOptions{
		Client: reportClient, Overwrite: true, Replication: p.share.replication, BlockSize: p.settings.blockSize,
		Permission: permission,
	})
	if err != nil {
		return p.refused("create "+path, err)
	}
	var last *namenode.Block
	for range p.nnt.BlocksPerFile {
		located, err := p.place(ctx, nn, path, last)
		if err != nil {
			return err
		}
		if err := p.receive(ctx, located); err != nil {
			return p.refused("report a received block of "+path, err)
		}
		last = &located.Block
		p.done.Add(1)
	}
	return p.finish(ctx, nn, path, last)
}

// place asks for a block until it lies on the shard's own DataNodes alone. The one before it must have been received by
// then, which the NameNode takes notice of in its own time.
func (p *placer) place(ctx context.Context, nn NameNode, path string, previous *namenode.Block) (namenode.LocatedBlock, error) {
	pause := newBackOff(p.env.Clock.Now())
	for misplaced := 0; ; {
		located, err := nn.AddBlock(ctx, path, reportClient, previous, p.excluded(), 0)
		switch {
		case err != nil && classOf(err) == classNotReplicated:
			if err := pause.wait(ctx, p.step, "wait for a block of "+path); err != nil {
				return namenode.LocatedBlock{}, err
			}
			continue
		case err != nil:
			return namenode.LocatedBlock{}, p.refused("add a block to "+path, err)
		case p.fleet.owns(located):
			return located, nil
		}
		news, err := p.relist(ctx, nn)
		if err != nil {
			return namenode.LocatedBlock{}, err
		}
		if news += p.learn(located.Locations); news == 0 {
			misplaced++
		}
		if misplaced > maxMisplaced {
			return namenode.LocatedBlock{}, p.refused("add a block to "+path,
				fmt.Errorf("the NameNode chose DataNodes that were to be excluded, %d times", misplaced))
		}
		if err := nn.AbandonBlock(ctx, path, reportClient, located.Block, 0); err != nil {
			return namenode.LocatedBlock{}, p.refused("give a block of "+path+" back", err)
		}
	}
}

// owns tells whether all locations of a block are the fleet's.
func (f *fleet) owns(located namenode.LocatedBlock) bool {
	for _, d := range located.Locations {
		if f.byUUID[d.UUID] == nil {
			return false
		}
	}
	return len(located.Locations) > 0
}

// receive has the DataNodes of a block keep it, and tell every NameNode that they have it.
func (p *placer) receive(ctx context.Context, located namenode.LocatedBlock) error {
	for _, d := range located.Locations {
		n := p.fleet.byUUID[d.UUID]
		n.keep(located.Block, p.nnt.BlocksPerReport)
		for side := range p.fleet.sides {
			if err := p.fleet.sides[side].BlockReceived(ctx, n.at(side), n.storage, located.Block); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish completes a file once its last block has been received.
func (p *placer) finish(ctx context.Context, nn NameNode, path string, last *namenode.Block) error {
	pause := newBackOff(p.env.Clock.Now())
	for {
		done, err := nn.Complete(ctx, path, reportClient, last, 0)
		if err != nil {
			return p.refused("complete "+path, err)
		}
		if done {
			return nil
		}
		if err := pause.wait(ctx, p.step, "wait until "+path+" is complete"); err != nil {
			return err
		}
	}
}

// backOff is a row of pauses, each twice as long as the one before, that ends after placeTimeout.
type backOff struct {
	began time.Time
	next  time.Duration
}

func newBackOff(now time.Time) *backOff { return &backOff{began: now, next: placeFirst} }

// wait waits for the next pause. Its error says what was waited for in vain.
func (b *backOff) wait(ctx context.Context, s *step, what string) error {
	if s.env.Clock.Now().Sub(b.began) > placeTimeout {
		return s.refused(what, fmt.Errorf("the NameNode did not take notice of it within %s", placeTimeout))
	}
	if err := s.env.Clock.Wait(ctx, b.next); err != nil {
		return err
	}
	b.next = min(2*b.next, placeLast)
	return nil
}
