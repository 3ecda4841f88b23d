package measure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/plan"
)

const (
	gatePoll = 20 * time.Millisecond
	// gateLate is how far a start time may lie in the past when it is seen. Beyond it the shard would start alone.
	gateLate = time.Second
	// gateFuture bounds a start time the other way: one so far ahead is a mistake, not a lead.
	gateFuture = time.Hour
	// orderBytes bounds what is read of a start or stop order.
	orderBytes = 4096
)

// ErrGateTimeout says that no start order came in time.
var ErrGateTimeout = errors.New("no start order came in time")

// GateMissed says that the start order was seen too late to start with the others.
type GateMissed struct {
	Start time.Time // what was ordered
	Seen  time.Time // when it was seen
}

func (e *GateMissed) Error() string {
	return fmt.Sprintf("start order for %s was seen %s too late", e.Start.UTC().Format(plan.TimeFormat), e.Seen.Sub(e.Start).Round(time.Millisecond))
}

// A Gate is where prepared shards wait for their common start.
type Gate struct {
	Clock     Clock
	Closed    bool          // false: nobody gives a start order, shards start when they are prepared
	ReadyFile string        // made when the shard is prepared
	StartFile string        // holds the start time in plan.TimeFormat once it is ordered
	Timeout   time.Duration // for the order to come; 0: as long as the context lives
}

// Ready tells the kubelet's startup probe, and so the operator, that the shard is prepared.
func (g *Gate) Ready() error {
	if err := os.WriteFile(g.ReadyFile, nil, 0o644); err != nil {
		return fmt.Errorf("make the ready file: %w", err)
	}
	return nil
}

// Wait returns the start time T at the instant T. Errors: ErrGateTimeout, *GateMissed, an order that cannot be read, or
// the context's cause.
func (g *Gate) Wait(ctx context.Context) (time.Time, error) {
	if !g.Closed {
		return g.Clock.Now(), context.Cause(ctx)
	}
	start, err := g.order(ctx)
	if err != nil {
		return time.Time{}, err
	}
	now := g.Clock.Now()
	if now.Sub(start) > gateLate {
		return time.Time{}, &GateMissed{Start: start, Seen: now}
	}
	if start.Sub(now) > gateFuture {
		return time.Time{}, fmt.Errorf("start order for %s is more than %s ahead; are the clocks of operator and node set?", start.UTC().Format(plan.TimeFormat), gateFuture)
	}
	// The origin gets a monotonic reading, which the parsed time has not.
	origin := now.Add(start.Sub(now))
	return origin, WaitUntil(ctx, g.Clock, origin)
}

// order waits for the start file to hold a time.
func (g *Gate) order(ctx context.Context) (time.Time, error) {
	began := g.Clock.Now()
	for {
		text, err := readOrder(g.StartFile)
		if err != nil {
			return time.Time{}, fmt.Errorf("read the start order: %w", err)
		}
		if text != "" {
			start, err := time.Parse(plan.TimeFormat, text)
			if err != nil {
				return time.Time{}, fmt.Errorf("start order %q is not a time like %s", text, plan.TimeFormat)
			}
			return start, nil
		}
		if g.Timeout > 0 && g.Clock.Now().Sub(began) >= g.Timeout {
			return time.Time{}, fmt.Errorf("%w: waited %s", ErrGateTimeout, g.Timeout)
		}
		if err := g.Clock.Wait(ctx, gatePoll); err != nil {
			return time.Time{}, err
		}
	}
}

// readOrder reads a downward-API file by path, since the kubelet replaces the whole volume. A file that does not exist
// holds no order.
func readOrder(path string) (string, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, orderBytes))
	return strings.TrimSpace(string(text)), err
}
