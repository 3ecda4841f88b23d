package nnthroughput_test

import (
	"context"
	"strings"
	"testing"

	"github.com/hadoop-bench/operator/runner/nnthroughput"
	"github.com/hadoop-bench/operator/runner/plan"
)

// turning is a name service whose active NameNode changes now and then.
type turning struct {
	*fakeNameNode
	turned int64
}

func (t *turning) Failovers() int64 { return t.turned }
func (t *turning) Address() string  { return "nn2:8020" }

// TestFailoverIsAFact: failovers of set-up are none of the measurement's.
func TestFailoverIsAFact(t *testing.T) {
	for name, tt := range map[string]struct {
		when map[string]string // the call at whose path another NameNode becomes active
		want string
	}{
		"none":         {nil, ""},
		"in set-up":    {map[string]string{"create": "/ThroughputBench2"}, ""},
		"while timing": {map[string]string{"create": "/ThroughputBench2", "rename": "/ThroughputBench7"}, "1 (the last to nn2:8020)"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, newPlan(plan.OpRename, func(n *plan.NNThroughput) { n.Threads = 1 }))
			service := &turning{fakeNameNode: b.nn}
			b.nn.fail = func(call, path string) error {
				if end := tt.when[call]; end != "" && strings.HasSuffix(path, end) {
					service.turned++
				}
				return nil
			}
			b.env.Connect = func(context.Context, *nnthroughput.Env, int) (nnthroughput.Target, error) { return service, nil }
			b.mustRun(t)
			if got := b.body.Facts["failovers"]; got != tt.want {
				t.Errorf("fact failovers is %q, want %q", got, tt.want)
			}
		})
	}
}
