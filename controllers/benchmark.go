package controllers

import (
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

// Run is an object of one of the kinds.
type Run interface {
	client.Object
	// RunObject returns what all kinds have in common; both point into the object.
	RunObject() (*v1alpha1.RunSpec, *v1alpha1.RunStatus)
}

// Step is one step of an execution, or one repeat of a measured one.
type Step struct {
	Name     string
	Repeat   int32 // from 1
	Shards   int32
	Gated    bool // all shards start together
	Measured bool // its result counts

	Repeats int32         // how often it is measured; 0: as often as the run says
	Rest    time.Duration // nothing is done for so long before each repeat
	// Sliced: the step goes on in further attempts until a report of its only shard no longer says plan.FactUnfinished. It
	// is neither gated nor measured.
	Sliced bool
}

func (s Step) String() string {
	if s.Measured {
		return fmt.Sprintf("%s, repeat %d", s.Name, s.Repeat)
	}
	return s.Name
}

// Benchmark is what the reconciler must know about a kind. All methods are pure.
type Benchmark interface {
	// Kind is the kind's name, such as DFSIORun.
	Kind() string
	// New returns an empty object of the kind.
	New() Run
	// Supports says which of the shared fields the kind can carry out.
	Supports() Support
	// Check returns what is wrong with the kind's own fields, alone or together with others: values that are impossible or
	// not supported yet.
	Check(run Run) []Problem
	// Options are the kind's options by field name with their defaults filled in.
	Options(run Run) map[string]string
	// Steps are the steps after preflight, in order, without their repeats and without the cleanup of Support.KeepResults.
	Steps(run Run) []Step
	// Fill adds the kind's part to a plan.
	Fill(run Run, p *plan.Plan)
	// Headlines are the names of the figures to quote of a step, the best first; a measurement that lacks it is quoted by
	// the next.
	Headlines(run Run, step string) []string
	// Text returns one measurement in the upstream tool's own format.
	Text(run Run, step Step, in report.MergeInput, merged *report.Merged) (string, error)
	// TextFile is the name of the file with such texts.
	TextFile() string
}

// Benchmarks are those of all kinds that the operator carries out.
func Benchmarks() []Benchmark { return []Benchmark{DFSIO{}, NNThroughput{}, YCSB{}} }

// Problem is why a spec cannot be carried out.
type Problem struct {
	Reason  string // InvalidSpec or NotSupported
	Message string // names field, value and remedy
}

func notSupported(field, value, remedy string) Problem {
	return Problem{v1alpha1.ReasonNotSupported, fmt.Sprintf("spec.%s: %s is not supported yet; %s", field, value, remedy)}
}

func invalid(field string, value any, remedy string) Problem {
	return Problem{v1alpha1.ReasonInvalidSpec, fmt.Sprintf("spec.%s: %v is invalid; %s", field, value, remedy)}
}
