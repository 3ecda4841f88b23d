package upstream

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// A Call is a run of the class from a command line, whose output is passed on.
type Call struct {
	Installation *Installation
	Place        Place // for what has to be written on this machine
	// OwnNameNode has a new, empty namespace in Place; else it is where the configuration says, and must be formatted.
	OwnNameNode bool
	Generic     []string // Hadoop's generic options
	Arguments   []string // from -op on
	Clock       measure.Clock
	Log         *slog.Logger
	// Out gets the reports, as the class prints them at its end, and Errors all else.
	Out, Errors io.Writer
}

// usageCode is the class's exit code for a command line it does not understand: -1.
const usageCode = 255

// Run runs the class to its end. Its error is nil only if the class ended well and with a report; else it is an
// *steps.Error, or the context's cause.
func (c *Call) Run(ctx context.Context) error {
	if err := c.Place.make(); err != nil {
		return fmt.Errorf("prepare a directory for Hadoop: %w", err)
	}
	own := []string(nil)
	if c.OwnNameNode {
		own = generic(standaloneFS, localProperties(c.Place))
		w := &watcher{}
		code, err := c.java(ctx, nameNodeClass, append(own[:len(own):len(own)], "-format", "-force", "-nonInteractive"), w)
		if err == nil && code != 0 {
			err = failed("formatting the NameNode's directory ended with exit code %d: %s", code, w.words())
		}
		if err != nil {
			return err
		}
	}
	w := &watcher{}
	args := append(append(own[:len(own):len(own)], c.Generic...), c.Arguments...)
	code, err := c.java(ctx, benchmarkClass, args, w)
	switch {
	case err != nil:
		return err
	case w.failed != "":
		return failed("a thread failed, for which the class would have waited for ever, so it was killed: %s", w.failed)
	case code == usageCode:
		return steps.Fail(report.ExitPlan, steps.ReasonUpstreamFailed, "see above how to call it", "the class did not understand its command line")
	case code != 0:
		return failed("the class ended with exit code %d: %s", code, w.words())
	case len(w.report) == 0:
		return failed("the class ended without a report: %s", w.words())
	}
	return nil
}

func (c *Call) java(ctx context.Context, class string, args []string, w *watcher) (int, error) {
	p := &process{clock: c.Clock, line: append(c.Installation.java(c.Place, class), args...), see: func(l Line) verdict {
		before := len(w.report)
		next := w.see(l)
		switch {
		case l.Errors || len(w.report) == 0:
			fmt.Fprintln(c.Errors, l.Text)
		case before == 0:
			// An empty line goes before each report; that of the first one was not yet known to be it.
			fmt.Fprintf(c.Out, "\n%s\n", l.Text)
		default:
			fmt.Fprintln(c.Out, l.Text)
		}
		return next
	}}
	c.Log.Info("Running Hadoop's own class", "class", class, "hadoop", c.Installation.Version, "java", c.Installation.JavaVersion)
	code, err := p.run(ctx)
	if err != nil && context.Cause(ctx) == nil {
		err = failed("%v", err)
	}
	return code, err
}
