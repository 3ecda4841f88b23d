package step

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// Attributes by which a table that a run made tells its story.
const (
	attributeRun       = "hadoopbench.run"       // <namespace>/<name> <UID> <when it was made>
	attributeExecution = "hadoopbench.execution" // of the run
	attributeState     = "hadoopbench.state"     // stateLoading, or loaded <records> <fields>x<length>
)

const stateLoading = "loading"

// An owner is who made a table.
type owner struct {
	run       string // namespace/name
	uid       string
	since     string // RFC 3339
	execution int32  // 0: not known
}

// ownerOf reads a table's attributes; ok is false if no run made it.
func ownerOf(values map[string]string) (o owner, ok bool) {
	words := strings.Fields(values[attributeRun])
	if len(words) != 3 {
		return owner{}, false
	}
	execution, _ := strconv.ParseInt(values[attributeExecution], 10, 32) // what is no number is not known
	return owner{run: words[0], uid: words[1], since: words[2], execution: int32(execution)}, true
}

func (o owner) String() string {
	return fmt.Sprintf("run %s (UID %s, execution %d) since %s", o.run, o.uid, o.execution, o.since)
}

// same tells that this very execution made the table.
func (o owner) same(id report.Identity) bool {
	return o.uid == id.RunUID && o.execution == id.Execution
}

// ownAttributes are those of a table that the run makes now.
func ownAttributes(p *plan.Plan, now time.Time) map[string]string {
	return map[string]string{
		attributeRun:       fmt.Sprintf("%s %s %s", p.Run, p.Identity.RunUID, now.UTC().Format(time.RFC3339)),
		attributeExecution: strconv.Itoa(int(p.Identity.Execution)),
		attributeState:     stateLoading,
	}
}

// A state is what a table's attribute says about its records.
type state struct {
	loaded         bool
	records        int64
	fields, length int
}

func (s state) String() string {
	if !s.loaded {
		return stateLoading
	}
	return fmt.Sprintf("loaded %d %dx%d", s.records, s.fields, s.length)
}

// parseState reads a state; ok is false if the attribute is not there, or says nothing that is known here.
func parseState(text string) (s state, ok bool) {
	if text == stateLoading {
		return state{}, true
	}
	n, err := fmt.Sscanf(text, "loaded %d %dx%d", &s.records, &s.fields, &s.length)
	return state{true, s.records, s.fields, s.length}, err == nil && n == 3
}

// loadedState is the state once all records are there.
func (s *step) loadedState() state {
	return state{loaded: true, records: s.y.RecordCount, fields: s.config.FieldCount, length: s.config.FieldLength}
}

// checkNew tells whether a run that makes its table can go on where there is one already.
func checkNew(p *plan.Plan, t admin.Table) error {
	name := p.YCSB.Table
	o, owned := ownerOf(t.Values)
	switch {
	case owned && o.same(p.Identity):
		return nil
	case owned:
		return steps.Fail(report.ExitTarget, steps.ReasonLeftoversFound,
			fmt.Sprintf("if nobody needs it, and that run has ended: disable '%s'; drop '%s' in the HBase shell; else set spec.useExisting, or another spec.table.name", name, name),
			"table %s was made by %s, and is %s", name, o, stateOf(t))
	}
	return steps.Fail(report.ExitTarget, steps.ReasonTableExists,
		"set another spec.table.name; or spec.table.createPolicy IfMissing to load into this table; or drop it by hand",
		"table %s exists, and no run made it", name)
}

// stateOf is a table's state for people.
func stateOf(t admin.Table) string {
	switch s, ok := parseState(t.Values[attributeState]); {
	case !ok:
		return "in a state that is not known"
	case !s.loaded:
		return "not loaded to its end"
	default:
		return s.String()
	}
}

// checkLoaded tells whether what the table says of its records is what the plan wants.
func (s *step) checkLoaded(t admin.Table) error {
	have, known := parseState(t.Values[attributeState])
	want := s.loadedState()
	switch {
	case !known:
		return nil
	case !have.loaded:
		return steps.Fail(report.ExitTarget, steps.ReasonLoadIncomplete,
			"load the table to its end by a run without spec.useExisting, or use another one",
			"table %s is not loaded to its end: its attribute %s says %q", s.y.Table, attributeState, stateLoading)
	case have.records < want.records:
		return steps.Fail(report.ExitTarget, steps.ReasonDataMissing, fmt.Sprintf("set spec.recordCount to %d at most, or use another table", have.records),
			"table %s was loaded with %d records, fewer than recordCount %d", s.y.Table, have.records, want.records)
	case have.fields != want.fields || have.length != want.length:
		return steps.Fail(report.ExitTarget, steps.ReasonDataMismatch, fmt.Sprintf("set spec.fieldCount to %d and spec.fieldLength to %d, or use another table", have.fields, have.length),
			"table %s was loaded with %d fields of %d bytes, not with %d of %d", s.y.Table, have.fields, have.length, want.fields, want.length)
	}
	return nil
}

// mark has a table that a run made say what state its records are in, whichever run made it. Where the user may not do
// that, the table goes on to say what it said.
func (s *step) mark(ctx context.Context, now state) error {
	t, err := s.target.Descriptor(ctx)
	if err == nil {
		if before := t.Values[attributeState]; before == "" || before == now.String() {
			return nil
		}
		err = s.target.SetValues(ctx, map[string]string{attributeState: now.String()})
	}
	if rpc.Is(err, "AccessDeniedException") {
		s.log().Warn("The state of the records cannot be noted in the table", "state", now.String(), "error", err)
		return nil
	}
	if err != nil {
		return s.refused(fmt.Sprintf("set attribute %s of table %s", attributeState, s.y.Table), err)
	}
	return nil
}
