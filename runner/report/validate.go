package report

import (
	"fmt"
)

// Validate finds figures that cannot be, whatever was measured. The error is ErrInvalid with the first of them. It does
// not judge whether the measurement was good: bytes may differ from what was planned, as upstream's reads do.
func (r *Report) Validate() error {
	for _, check := range [...]func(*Report) string{
		checkEnvelope, checkTimes, checkCounters, checkErrors, checkParts, checkMeasurements,
	} {
		if problem := check(r); problem != "" {
			return fmt.Errorf("%w: %s", ErrInvalid, problem)
		}
	}
	return nil
}

func checkEnvelope(r *Report) string {
	e := &r.Envelope
	switch {
	case e.Version != Version:
		return fmt.Sprintf("version %d", e.Version)
	case e.Index < 0 || e.Execution < 0 || e.Repeat < 0 || e.Attempt < 0:
		return "a negative number in the envelope"
	case e.Outcome != Complete && e.Outcome != Partial && e.Outcome != Failed:
		return fmt.Sprintf("outcome %q", e.Outcome)
	case (e.ExitCode == ExitDone) != (e.Outcome == Complete):
		return fmt.Sprintf("outcome %s with exit code %d", e.Outcome, e.ExitCode)
	case e.Outcome == Complete && e.Failure != nil:
		return "a failure in a complete report"
	case e.Outcome == Failed && e.Failure == nil:
		return "no failure in a failed report"
	}
	return ""
}

func checkTimes(r *Report) string {
	b := &r.Body
	for _, t := range [...]int64{b.Prepared, b.SetUp, b.Start, b.End, b.CloseMicros} {
		if t < 0 || t > maxMicros {
			return fmt.Sprintf("time %d", t)
		}
	}
	switch {
	case b.Start == 0 && b.End != 0:
		return "an end without a start"
	case b.Start != 0 && b.End < b.Start:
		return fmt.Sprintf("the end %d is before the start %d", b.End, b.Start)
	case b.CloseMicros > b.End-b.Start:
		return fmt.Sprintf("closing took %d of %d µs", b.CloseMicros, b.End-b.Start)
	}
	if c := b.Clock; c != nil &&
		(c.OffsetMicros < -maxMicros || c.OffsetMicros > maxMicros || c.UncertaintyMicros < 0 || c.UncertaintyMicros > maxMicros) {
		return fmt.Sprintf("clock offset %d ± %d µs", c.OffsetMicros, c.UncertaintyMicros)
	}
	return ""
}

func checkCounters(r *Report) string {
	b := &r.Body
	switch {
	case min(b.Operations, b.Bytes, b.Planned, b.Due, b.Tried, b.Unfinished) < 0:
		return "a negative counter"
	case b.Start == 0 && (b.Operations > 0 || b.Bytes > 0 || b.Tried > 0 || b.Unfinished > 0):
		return "operations without a start"
	case b.Operations == 0 && b.Bytes > 0:
		return "bytes without operations"
	}
	if c := b.Client; c != nil && (c.CPUMicros < 0 || c.AllowanceMilli < 0 || c.ThrottledMicros < 0) {
		return "a negative figure of the client's use"
	}
	return ""
}

func checkErrors(r *Report) string {
	seen := make(map[string]bool, len(r.Body.Errors))
	for _, e := range r.Body.Errors {
		if e.Class == "" || e.Count < 1 || seen[e.Class] {
			return fmt.Sprintf("%d errors of class %q", e.Count, e.Class)
		}
		seen[e.Class] = true
	}
	return ""
}

func checkParts(r *Report) string {
	if n := len(r.Body.Parts); n > MaxParts {
		return fmt.Sprintf("%d parts, at most %d are allowed", n, MaxParts)
	}
	seen := make(map[string]bool, len(r.Body.Parts))
	for _, p := range r.Body.Parts {
		prefix := FigurePrefix(p.Name)
		if prefix == "" || seen[prefix] {
			return fmt.Sprintf("a part named %q, without a name of its own", p.Name)
		}
		seen[prefix] = true
		statuses := make(map[string]bool, len(p.Returns))
		for _, c := range p.Returns {
			if c.Status == "" || c.Count < 0 || statuses[c.Status] {
				return fmt.Sprintf("%d operations of part %s with status %q", c.Count, p.Name, c.Status)
			}
			statuses[c.Status] = true
		}
	}
	return ""
}

// checkMeasurements compares the distribution and the series with the counters. Only a complete report must agree: one
// that was interrupted may have been taken between two counters.
func checkMeasurements(r *Report) string {
	b := &r.Body
	if r.Envelope.Outcome != Complete {
		return ""
	}
	attempted := b.Operations
	for _, e := range b.Errors {
		var ok bool
		if attempted, ok = addInt64(attempted, e.Count); !ok {
			return "more errors than can be counted"
		}
	}
	if b.Tried > 0 {
		if attempted = b.Tried; b.Operations > attempted {
			return fmt.Sprintf("%d operations succeeded of %d", b.Operations, attempted)
		}
	}
	if h := b.Latency; h != nil && h.Count() > attempted {
		return fmt.Sprintf("%d latencies of %d operations", h.Count(), attempted)
	}
	if h := b.Intended; h != nil && h.Count() > attempted {
		return fmt.Sprintf("%d intended latencies of %d operations", h.Count(), attempted)
	}
	if s := b.Series; s != nil && s.Total() > max(b.Bytes, b.Operations) {
		return fmt.Sprintf("a series of %d in total over %d bytes and %d operations", s.Total(), b.Bytes, b.Operations)
	}
	return ""
}
