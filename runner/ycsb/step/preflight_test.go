package step_test

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/conf"
	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase"
	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/steps"
)

// madeBy are the attributes of a table that a run made.
func madeBy(uid string, execution int, state string) map[string]string {
	return map[string]string{
		"hadoopbench.run": "bench/" + uid + " " + uid + " 2026-11-30T10:00:00Z", "hadoopbench.execution": fmt.Sprint(execution), "hadoopbench.state": state,
	}
}

// existing has the plan measure what is there already.
func existing(planned *plan.Plan) {
	planned.YCSB.UseExisting, planned.YCSB.CreatePolicy = true, plan.CreateNever
}

func TestPreflight(t *testing.T) {
	tests := map[string]struct {
		change  func(f *fakeHBase, planned *plan.Plan, p *pods)
		exit    int
		reason  string // empty: it passes
		message string
	}{
		"no table":    {change: func(*fakeHBase, *plan.Plan, *pods) {}},
		"its own one": {change: func(f *fakeHBase, _ *plan.Plan, _ *pods) { f.make(madeBy("uid", 1, "loading")) }},
		"if missing": {change: func(f *fakeHBase, planned *plan.Plan, _ *pods) {
			f.make(nil)
			planned.YCSB.CreatePolicy = plan.CreateIfMissing
		}},
		"a namespace": {change: func(f *fakeHBase, planned *plan.Plan, _ *pods) {
			f.namespaces, planned.YCSB.Table = []string{"ns"}, "ns:t"
		}},
		"not to be seen, namespace": {change: func(f *fakeHBase, planned *plan.Plan, _ *pods) {
			f.errors["NamespaceExists"], planned.YCSB.Table = denied(), "ns:t"
		}},
		"another namespace": {
			func(f *fakeHBase, planned *plan.Plan, _ *pods) {
				f.namespaces, planned.YCSB.Table = []string{"ns"}, "nz:t"
			},
			report.ExitTarget, steps.ReasonNamespaceNotFound, "there is no namespace nz",
		},
		"another run's": {
			func(f *fakeHBase, _ *plan.Plan, _ *pods) { f.make(madeBy("other", 3, "loading")) },
			report.ExitTarget, steps.ReasonLeftoversFound, "table t was made by run bench/other (UID other, execution 3) since 2026-11-30T10:00:00Z, and is not loaded to its end",
		},
		"another execution's": {
			func(f *fakeHBase, _ *plan.Plan, _ *pods) { f.make(madeBy("uid", 2, "loaded 5 1x1")) },
			report.ExitTarget, steps.ReasonLeftoversFound, "(UID uid, execution 2) since 2026-11-30T10:00:00Z, and is loaded 5 1x1",
		},
		"nobody's": {
			func(f *fakeHBase, _ *plan.Plan, _ *pods) { f.make(map[string]string{"hadoopbench.run": "odd"}) },
			report.ExitTarget, steps.ReasonTableExists, "table t exists, and no run made it",
		},
		"to be there": {
			func(_ *fakeHBase, planned *plan.Plan, _ *pods) { planned.YCSB.CreatePolicy = plan.CreateNever },
			report.ExitTarget, steps.ReasonTableNotFound, "there is no table t",
		},
		"not writable": {func(f *fakeHBase, planned *plan.Plan, _ *pods) {
			f.make(nil)
			f.errors["Mutate"], planned.YCSB.CreatePolicy = denied(), plan.CreateNever
		}, report.ExitTarget, steps.ReasonPermissionDenied, `write row hadoopbench-clock/0 of table t as user "alice"`},
		"not usable": {func(f *fakeHBase, planned *plan.Plan, _ *pods) {
			f.make(nil)
			f.errors["Open"], planned.YCSB.CreatePolicy = fmt.Errorf("open: %w", hbase.ErrTableDisabled), plan.CreateNever
		}, report.ExitTarget, steps.ReasonTableDisabled, "the table is disabled"},
		"not to be seen, table": {
			func(f *fakeHBase, _ *plan.Plan, _ *pods) { f.errors["Descriptor"] = denied() },
			report.ExitTarget, steps.ReasonTableExists, "table t exists, and no run made it",
		},
		"not loaded to its end": {
			func(f *fakeHBase, planned *plan.Plan, _ *pods) {
				f.make(madeBy("other", 1, "loading"))
				existing(planned)
			},
			report.ExitTarget, steps.ReasonLoadIncomplete, `its attribute hadoopbench.state says "loading"`,
		},
		"loaded with less": {
			func(f *fakeHBase, planned *plan.Plan, _ *pods) {
				f.make(madeBy("other", 1, "loaded 3999 3x20"))
				existing(planned)
			},
			report.ExitTarget, steps.ReasonDataMissing, "table t was loaded with 3999 records, fewer than recordCount 4000",
		},
		"loaded with others": {
			func(f *fakeHBase, planned *plan.Plan, _ *pods) {
				f.make(madeBy("other", 1, "loaded 4000 3x21"))
				existing(planned)
			},
			report.ExitTarget, steps.ReasonDataMismatch, "with 3 fields of 21 bytes, not with 3 of 20",
		},
		"more regions than records": {func(_ *fakeHBase, planned *plan.Plan, _ *pods) {
			planned.YCSB.RecordCount, planned.YCSB.Properties["insertorder"] = 5, "ordered"
		}, report.ExitPlan, steps.ReasonPlanInvalid, "6 regions for 5 ordered keys"},
		"no RegionServers": {
			func(f *fakeHBase, _ *plan.Plan, _ *pods) { f.status.Servers, f.status.Dead = nil, 2 },
			report.ExitTarget, steps.ReasonNoRegionServers, "no RegionServer lives (2 are dead)",
		},
		"no master": {
			func(f *fakeHBase, _ *plan.Plan, _ *pods) {
				f.errors["Status"] = &rpc.ConnectError{Address: "m:1", Err: errors.New("refused")}
			},
			report.ExitTarget, steps.ReasonHBaseUnreachable, "connect to m:1: refused",
		},
		"unknown names": {func(f *fakeHBase, _ *plan.Plan, _ *pods) {
			dns := &rpc.ConnectError{Address: "a:1", Err: &net.DNSError{Err: "no such host", Name: "a", IsNotFound: true}}
			f.errors["Reach"] = &steps.Error{Exit: report.ExitTarget, Cause: dns, Failure: report.Failure{Reason: steps.ReasonHBaseUnreachable, Message: dns.Error()}}
		}, report.ExitTarget, steps.ReasonUnknownHost, "lookup a: no such host"},
		"no ticket": {
			func(f *fakeHBase, _ *plan.Plan, _ *pods) {
				f.errors["connect"] = &sasl.LoginError{Err: errors.New("no KDC")}
			},
			report.ExitTarget, steps.ReasonLoginFailed, "no KDC",
		},
		"no address": {
			func(_ *fakeHBase, _ *plan.Plan, p *pods) { p.conf, _ = conf.Load(nil, conf.Options{}) },
			report.ExitPlan, steps.ReasonConfigInvalid, "the configuration does not say where HBase is",
		},
		"odd": {
			func(f *fakeHBase, _ *plan.Plan, _ *pods) {
				f.errors["Status"] = &admin.Error{Op: "ask", Err: errors.New("odd")}
			},
			report.ExitTarget, steps.ReasonHBaseRefused, "ask HBase's master for the cluster's status as user \"alice\": ask: odd",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
				planned := newPlan("uid", "t", plan.StepPreflight, 1)
				tt.change(f, planned, p)
				if tt.reason == "" {
					p.complete(planned)
					return
				}
				r := p.carry(planned)[0].Envelope
				if r.ExitCode != tt.exit || r.Failure.Reason != tt.reason || !strings.Contains(r.Failure.Message, tt.message) || tt.reason != steps.ReasonPlanInvalid && r.Failure.Remedy == "" {
					t.Errorf("exit %d, %+v, want %d %s with %q", r.ExitCode, r.Failure, tt.exit, tt.reason, tt.message)
				}
				if len(f.calls) > 0 || len(f.rows) > 1 {
					t.Errorf("changed: %v, rows %v", f.calls, f.rows)
				}
			})
		})
	}
}

// TestSample: useExisting looks at records, whoever loaded them.
func TestSample(t *testing.T) {
	tests := map[string]struct {
		change  func(f *fakeHBase, planned *plan.Plan)
		reason  string
		message string
	}{
		"as loaded":       {func(*fakeHBase, *plan.Plan) {}, "", ""},
		"with its checks": {func(_ *fakeHBase, planned *plan.Plan) { planned.YCSB.Properties["dataintegrity"] = "true" }, "", ""},
		"of lengths": {func(f *fakeHBase, planned *plan.Plan) {
			planned.YCSB.Properties["fieldlengthdistribution"], planned.YCSB.Properties["minfieldlength"] = "uniform", "20"
		}, "", ""},
		"without the last one": {
			func(f *fakeHBase, _ *plan.Plan) { delete(f.rows, "user3999") },
			steps.ReasonDataMissing, "1 of 1002 records of a sample are not in table t; the first is number 3999, user3999",
		},
		"under other keys": {
			func(_ *fakeHBase, planned *plan.Plan) { planned.YCSB.Properties["zeropadding"] = "9" },
			steps.ReasonDataMissing, "1002 of 1002 records of a sample are not in table t; the first is number 0, user000000000",
		},
		"with fewer fields": {
			func(_ *fakeHBase, planned *plan.Plan) { planned.YCSB.Properties["fieldcount"] = "4" },
			steps.ReasonDataMismatch, "the first is number 0: user0 has 3 fields, not 4",
		},
		"with other names": {
			func(_ *fakeHBase, planned *plan.Plan) { planned.YCSB.Properties["fieldnameprefix"] = "f" },
			steps.ReasonDataMismatch, `user0 has a field "field0", which none of the plan's is`,
		},
		"with shorter fields": {
			func(_ *fakeHBase, planned *plan.Plan) { planned.YCSB.Properties["fieldlength"] = "21" },
			steps.ReasonDataMismatch, "field field0 of user0 has 20 bytes, not 21",
		},
		"with other bytes": {func(f *fakeHBase, planned *plan.Plan) {
			planned.YCSB.Properties["dataintegrity"] = "true"
			f.rows["user3999"]["field1"] = strings.Repeat("x", 20)
		}, steps.ReasonDataMismatch, "1 of 1002 records of a sample in table t are not as planned; the first is number 3999: field field1 of user3999 does not hold what dataIntegrity writes"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
				f.make(nil)
				load := newPlan("uid", "t", plan.StepLoad, 1)
				load.YCSB.Properties["dataintegrity"], load.YCSB.Properties["insertorder"] = "true", "ordered"
				p.complete(load)
				planned := newPlan("uid", "t", plan.StepPreflight, 1)
				planned.YCSB.Properties["insertorder"] = "ordered"
				existing(planned)
				tt.change(f, planned)
				if tt.reason == "" {
					p.complete(planned)
				} else if failure := p.failed(planned, tt.reason); !strings.Contains(failure.Message, tt.message) {
					t.Errorf("%+v, want %q", failure, tt.message)
				}
			})
		})
	}
}

// TestCreate: a table is made once, and one that somebody else makes at the same time is not taken for it.
func TestCreate(t *testing.T) {
	inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
		planned := newPlan("uid", "t", plan.StepCreate, 1)
		p.complete(planned)
		p.complete(planned)
		if diff := cmp.Diff([]string{"CreateTable", "AwaitOnline"}, f.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		planned.Identity.Execution = 2
		p.failed(planned, steps.ReasonLeftoversFound)
		f.table, f.errors["CreateTable"] = nil, fmt.Errorf("create: %w", admin.ErrTableExists)
		p.failed(planned, steps.ReasonTableExists)
		f.errors["CreateTable"] = denied()
		p.failed(planned, steps.ReasonPermissionDenied)
	})
}

// TestCleanup drops only what the run made.
func TestCleanup(t *testing.T) {
	tests := map[string]struct {
		change func(f *fakeHBase)
		calls  []string
		facts  map[string]string
	}{
		"none":             {func(*fakeHBase) {}, nil, nil},
		"its own":          {func(f *fakeHBase) { f.make(madeBy("uid", 1, "loading")) }, []string{"Drop"}, map[string]string{"dropped": "table t"}},
		"of its execution": {func(f *fakeHBase) { f.make(madeBy("uid", 7, "loading")) }, []string{"Drop"}, map[string]string{"dropped": "table t"}},
		"another run's":    {func(f *fakeHBase) { f.make(madeBy("other", 1, "loading")) }, nil, map[string]string{"left": "table t, which this run did not make"}},
		"nobody's":         {func(f *fakeHBase) { f.make(nil) }, nil, map[string]string{"left": "table t, which this run did not make"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, f *fakeHBase, p *pods) {
				tt.change(f)
				body := p.complete(newPlan("uid", "t", plan.StepCleanup, 1))[0].Body
				if diff := cmp.Diff([]any{tt.calls, tt.facts}, []any{f.calls, body.Facts}); diff != "" {
					t.Errorf("calls and facts (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// TestNobodyThere: that nobody listens where the configuration says is known at once.
func TestNobodyThere(t *testing.T) {
	c, err := conf.Load(nil, conf.Options{Overrides: map[string]string{"hbase.zookeeper.quorum": "127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	p := &pods{t: t, conf: c}
	f := p.failed(newPlan("uid", "t", plan.StepPreflight, 1), steps.ReasonHBaseUnreachable)
	if !strings.Contains(f.Message, "127.0.0.1:1") || !strings.HasSuffix(f.Remedy, "and that network policies let this namespace reach them") {
		t.Errorf("failure %+v", f)
	}
}
