package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/plan"
)

// carryOut runs the operations and ends the session. After a signal that takes as long as removing what was made; a second
// signal ends it at once and leaves all as it is.
func (s *session) carryOut(ctx context.Context, ops []string) error {
	done := make(chan error, 1)
	go func() {
		err := s.run(ctx, ops)
		s.close()
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	first := new(measure.Stopped)
	if !errors.As(context.Cause(ctx), &first) || !first.Signal {
		return <-done
	}
	doing := "Stopping, and removing what was made; a second signal ends this at once and leaves it"
	if s.command.Options.KeepResults {
		doing = "Stopping; a second signal ends this at once"
	}
	s.log.Warn(doing, "signal", first.Reason)
	select {
	case err := <-done:
		return err
	case second := <-s.process.Signals:
		facts := []any{"directories", strings.Join(s.command.Options.BaseDirs, " ")}
		if op := s.command.Op; op == plan.OpBlockReport || op == plan.OpAll {
			facts = append(facts, "dataNodes", "fake ones stay listed until they expire")
		}
		s.log.Error("A second signal: what was made is left", facts...)
		os.RemoveAll(s.work)
		return &measure.Stopped{Reason: second.String(), Signal: true}
	}
}

// lockedWriter lets the log and a report of what is incomplete share a stream.
type lockedWriter struct {
	mu sync.Mutex
	to io.Writer
}

func (w *lockedWriter) Write(text []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.to.Write(text)
}
