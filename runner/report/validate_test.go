package report

import (
	"errors"
	"testing"
)

func TestValidate(t *testing.T) {
	for name, spoil := range map[string]func(*Report){
		"version":                   func(r *Report) { r.Envelope.Version = 1 },
		"negative index":            func(r *Report) { r.Envelope.Index = -1 },
		"negative execution":        func(r *Report) { r.Envelope.Execution = -1 },
		"negative repeat":           func(r *Report) { r.Envelope.Repeat = -1 },
		"negative attempt":          func(r *Report) { r.Envelope.Attempt = -1 },
		"no outcome":                func(r *Report) { r.Envelope.Outcome = "" },
		"unknown outcome":           func(r *Report) { r.Envelope.Outcome = "Fine" },
		"complete, not exit 0":      func(r *Report) { r.Envelope.ExitCode = 1 },
		"partial, exit 0":           func(r *Report) { r.Envelope.Outcome = Partial },
		"complete with failure":     func(r *Report) { r.Envelope.Failure = &Failure{Reason: "X"} },
		"failed without failure":    func(r *Report) { r.Envelope.Outcome, r.Envelope.ExitCode = Failed, 1 },
		"negative start":            func(r *Report) { r.Body.Start = -1 },
		"far end":                   func(r *Report) { r.Body.End = maxMicros + 1 },
		"negative preparation":      func(r *Report) { r.Body.Prepared = -1 },
		"negative closing":          func(r *Report) { r.Body.CloseMicros = -1 },
		"end without start":         func(r *Report) { r.Body.Start = 0 },
		"start without end":         func(r *Report) { r.Body.End = 0 },
		"end before start":          func(r *Report) { r.Body.End = r.Body.Start - 1 },
		"closing longer than all":   func(r *Report) { r.Body.CloseMicros = r.Body.End - r.Body.Start + 1 },
		"closing without start":     func(r *Report) { r.Body = Body{CloseMicros: 1} },
		"offset":                    func(r *Report) { r.Body.Clock.OffsetMicros = -maxMicros - 1 },
		"negative uncertainty":      func(r *Report) { r.Body.Clock.UncertaintyMicros = -1 },
		"negative operations":       func(r *Report) { r.Body.Operations = -1 },
		"negative bytes":            func(r *Report) { r.Body.Bytes = -1 },
		"negative plan":             func(r *Report) { r.Body.Planned = -1 },
		"operations without start":  func(r *Report) { r.Body = Body{Operations: 1} },
		"bytes without start":       func(r *Report) { r.Body = Body{Bytes: 1} },
		"bytes without operations":  func(r *Report) { r.Body.Operations = 0 },
		"negative CPU":              func(r *Report) { r.Body.Client.CPUMicros = -1 },
		"negative allowance":        func(r *Report) { r.Body.Client.AllowanceMilli = -1 },
		"negative throttling":       func(r *Report) { r.Body.Client.ThrottledMicros = -1 },
		"error without class":       func(r *Report) { r.Body.Errors[0].Class = "" },
		"no error of a class":       func(r *Report) { r.Body.Errors[0].Count = 0 },
		"a class twice":             func(r *Report) { r.Body.Errors = append(r.Body.Errors, r.Body.Errors[0]) },
		"errors beyond counting":    func(r *Report) { r.Body.Errors[0].Count = maxInt64 },
		"more latencies than tries": func(r *Report) { r.Body.Errors, r.Body.Operations = nil, 1999 },
		"negative set-up":           func(r *Report) { r.Body.SetUp = -1 },
		"negative arrivals":         func(r *Report) { r.Body.Due = -1 },
		"more intended than tries": func(r *Report) {
			r.Body.Intended = r.Body.Latency.Clone()
			r.Body.Intended.Record(1)
			r.Body.Intended.Record(1)
			r.Body.Intended.Record(1)
		},
		"negative tries":        func(r *Report) { r.Body.Tried = -1 },
		"negative unfinished":   func(r *Report) { r.Body.Unfinished = -1 },
		"more done than tried":  func(r *Report) { r.Body.Tried = 1999 },
		"tries without start":   func(r *Report) { r.Body = Body{Tried: 1} },
		"cut off without start": func(r *Report) { r.Body = Body{Unfinished: 1} },
		"too many parts":        func(r *Report) { r.Body.Parts = make([]Part, MaxParts+1) },
		"part without name":     func(r *Report) { r.Body.Parts = []Part{{Name: "--"}} },
		"parts of one name":     func(r *Report) { r.Body.Parts = []Part{{Name: "READ-NOT_FOUND"}, {Name: "READ-NOT-FOUND"}} },
		"return without status": func(r *Report) { r.Body.Parts = []Part{{Name: "READ", Returns: Returns{{"", 1}}}} },
		"negative return":       func(r *Report) { r.Body.Parts = []Part{{Name: "READ", Returns: Returns{{"OK", -1}}}} },
		"a status twice":        func(r *Report) { r.Body.Parts = []Part{{Name: "READ", Returns: Returns{{"OK", 1}, {"OK", 1}}}} },
		"series of more bytes":  func(r *Report) { r.Body.Bytes-- },
	} {
		t.Run(name, func(t *testing.T) {
			r := fullReport()
			if err := r.Validate(); err != nil {
				t.Fatalf("before: %v", err)
			}
			spoil(r)
			if err := r.Validate(); !errors.Is(err, ErrInvalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestValidateAllows(t *testing.T) {
	for name, change := range map[string]func(*Report){
		"more bytes than planned": func(r *Report) { r.Body.Planned = 5 },
		"failed operations timed": func(r *Report) { r.Body.Operations -= 2 },
		"an interrupted count": func(r *Report) {
			r.Envelope.Outcome, r.Envelope.ExitCode = Partial, ExitInterrupted
			r.Body.Operations, r.Body.Bytes = 1, 1
		},
		"tried more than counted": func(r *Report) { r.Body.Tried = 5000 },
		"a part that only failed": func(r *Report) { r.Body.Parts = []Part{{Name: "READ", Returns: Returns{{"ERROR", 3}}}} },
		"nothing measured":        func(r *Report) { r.Body = Body{} },
		"no time at all":          func(r *Report) { r.Body.End, r.Body.CloseMicros = r.Body.Start, 0 },
	} {
		t.Run(name, func(t *testing.T) {
			r := fullReport()
			change(r)
			if err := r.Validate(); err != nil {
				t.Error(err)
			}
		})
	}
}
