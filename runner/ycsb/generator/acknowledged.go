package generator

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Window is how many numbers YCSB lets be handed out beyond the first that is not acknowledged.
const Window = 1 << 20

// ErrWindow says that an Acknowledged has no number to hand out.
var ErrWindow = fmt.Errorf("too many unacknowledged inserts: %d keys were handed out after the first insert that has not ended", Window)

// An Acknowledged hands out the numbers from 0 on and knows up to which all have been acknowledged, so that readers choose
// among these. It locks nothing unless a number failed. (YCSB acknowledges an insert that failed, and its readers then miss.)
type Acknowledged struct {
	next, limit atomic.Int64
	ended       []atomic.Int64 // slot n mod len holds n+1 once n is acknowledged or failed

	failures atomic.Int64
	mu       sync.RWMutex
	failed   map[int64]*[failedBlock / 64]uint64 // bits of failed numbers, by block
}

// failedBlock is how many numbers one entry of failed covers.
const failedBlock = 4096

// NewAcknowledged lets at most window numbers, a power of two, be handed out beyond the first that has not ended.
func NewAcknowledged(window int) *Acknowledged {
	return &Acknowledged{ended: make([]atomic.Int64, window), failed: map[int64]*[failedBlock / 64]uint64{}}
}

// Next hands out a number, or ErrWindow.
func (a *Acknowledged) Next() (int64, error) {
	for {
		n := a.next.Load()
		if n-a.limit.Load() >= int64(len(a.ended)) {
			return 0, ErrWindow
		}
		if a.next.CompareAndSwap(n, n+1) {
			return n, nil
		}
	}
}

// Acknowledge says that a number handed out can be read.
func (a *Acknowledged) Acknowledge(n int64) {
	mask := int64(len(a.ended) - 1)
	a.ended[n&mask].Store(n + 1)
	// Whoever ends the number that the limit waits for moves it on over all that ended before.
	for l := a.limit.Load(); a.ended[l&mask].Load() == l+1; l = a.limit.Load() {
		a.limit.CompareAndSwap(l, l+1)
	}
}

// Fail says that a number handed out is never to be read. It holds up no later one.
func (a *Acknowledged) Fail(n int64) {
	a.mu.Lock()
	block := a.failed[n/failedBlock]
	if block == nil {
		block = new([failedBlock / 64]uint64)
		a.failed[n/failedBlock] = block
	}
	block[n%failedBlock/64] |= 1 << (n % 64)
	a.mu.Unlock()
	a.failures.Add(1)
	a.Acknowledge(n)
}

// Limit returns the first number that has not ended: all below it are acknowledged or failed.
func (a *Acknowledged) Limit() int64 { return a.limit.Load() }

// Readable says whether a number and all before it have ended, and it did not fail.
func (a *Acknowledged) Readable(n int64) bool {
	if n < 0 || n >= a.limit.Load() {
		return false
	}
	if a.failures.Load() == 0 {
		return true
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	block := a.failed[n/failedBlock]
	return block == nil || block[n%failedBlock/64]>>(n%64)&1 == 0
}
