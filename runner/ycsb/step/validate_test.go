package step_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/ycsb/step"
)

func TestValidate(t *testing.T) {
	tests := map[string]struct {
		step   string
		change func(*plan.Plan)
		want   string // empty: it is valid
	}{
		"a workload":                  {"workload-d", func(*plan.Plan) {}, ""},
		"one of ten thousand million": {"load", func(p *plan.Plan) { p.Shards, p.YCSB.RecordCount, p.YCSB.Threads = 64, 10_000_000_000, 640 }, ""},
		"by time":                     {"workload-d", func(p *plan.Plan) { p.YCSB.Operations, p.YCSB.DurationMillis = 0, 1 }, ""},
		"nothing":                     {"load", func(p *plan.Plan) { p.YCSB = nil }, "ycsb is missing"},
		"no UID":                      {"load", func(p *plan.Plan) { p.Identity.RunUID = "" }, `uid "" of run`},
		"a space":                     {"load", func(p *plan.Plan) { p.Run = "a b" }, `of run "a b"`},
		"index":                       {"load", func(p *plan.Plan) { p.Shards = 0 }, "shards 0: not between 1 and 1000000"},
		"records":                     {"load", func(p *plan.Plan) { p.YCSB.RecordCount = 0 }, "recordCount 0: not between"},
		"seed":                        {"load", func(p *plan.Plan) { p.YCSB.Seed = 0 }, "seed 0: not between"},
		"family":                      {"load", func(p *plan.Plan) { p.YCSB.ColumnFamily = "" }, `table "t" with columnFamily "": both must be named`},
		"policy":                      {"create", func(p *plan.Plan) { p.YCSB.CreatePolicy = "Maybe" }, `createPolicy "Maybe": not known`},
		"step":                        {"workload-z", func(*plan.Plan) {}, `step "workload-z": none of the run's, load, workload-a`},
		"address":                     {"preflight", func(p *plan.Plan) { p.YCSB.HTTP = []string{"ftp://a"} }, `"ftp://a" is no web address`},
		"a preflight of two":          {"preflight", func(p *plan.Plan) { p.Shards = 2 }, "2 shards: step preflight is done by one"},
		"shards of threads":           {"workload-a", func(p *plan.Plan) { p.Shards = 9 }, "9 shards for 8 threads"},
		"shards of records":           {"load", func(p *plan.Plan) { p.Shards, p.YCSB.RecordCount = 8, 7 }, "8 shards for 7 records"},
		"no end":                      {"workload-a", func(p *plan.Plan) { p.YCSB.Operations = 0 }, "step workload-a has no end"},
		"threads of operations":       {"workload-a", func(p *plan.Plan) { p.YCSB.Operations = 7 }, "operations 7 for 8 threads"},
		"no place for inserts":        {"workload-d", func(p *plan.Plan) { p.YCSB.InsertBase = 0 }, "step workload-d inserts records, and no number is left for them"},
		"inserts into records":        {"workload-d", func(p *plan.Plan) { p.YCSB.InsertBase = testRecords - 1 }, `property hadoopbench.insertbase: "3999" is not`},
		"without effect":              {"preflight", func(p *plan.Plan) { p.YCSB.Properties["latencytrackederrors"] = "ERROR" }, "property latencytrackederrors=ERROR: not supported"},
		"a property":                  {"workload-a", func(p *plan.Plan) { p.YCSB.Properties["fieldcount"] = "x" }, `property fieldcount: "x" is not`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlan("uid", "t", tt.step, 1)
			tt.change(p)
			err := step.Validate(p, 0)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

func FuzzState(f *testing.F) {
	for _, text := range []string{"loading", "loaded 4000 3x20", "loaded 4000 3x", "loaded -1 1x1", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		again, ok := step.ParseState(text)
		if twice, still := step.ParseState(again); ok && (!still || twice != again) {
			t.Errorf("%q reads as %q, and that as %q", text, again, twice)
		}
		if owned := step.Owned(map[string]string{"hadoopbench.run": text}); owned != (len(strings.Fields(text)) == 3) {
			t.Errorf("%q names an owner: %v", text, owned)
		}
	})
}

func FuzzPages(f *testing.F) {
	for _, page := range []string{jvmPage, memoryPage, serverPage, confPage, `{"beans":[]}`, `{"beans":[3]}`, "<configuration>"} {
		f.Add([]byte(page))
	}
	f.Fuzz(func(_ *testing.T, page []byte) { step.ReadPage(page) })
}

// FuzzEarlier: whatever an earlier slice is said to have told, a rest is never negative, and goes on from what is told next.
func FuzzEarlier(f *testing.F) {
	f.Add("946684800000000", "true", "946684800000000", "a1", "")
	f.Add("x", "", "-9223372036854775808", "ffffffffffffffffff", "e")
	f.Fuzz(func(t *testing.T, began, asked, since, files, blind string) {
		earlier := map[string]string{"began": began, "asked": asked, "restSince": since, "restFiles": files, "restBlind": blind}
		now := time.Unix(1_800_000_000, 0)
		rest, facts := step.Rest(earlier, now, look(0, 6))
		later, _ := step.Rest(facts, now.Add(time.Minute), look(0, 6))
		if rest < 0 || facts["restSince"] != "" && later < time.Minute {
			t.Errorf("rest %v, then %v", rest, later)
		}
	})
}
