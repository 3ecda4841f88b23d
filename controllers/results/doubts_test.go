package results

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/report"
)

// flawless is the merged result of two shards of 100 s that nobody can doubt; limits are at their defaults.
func flawless() (Input, *report.Merged) {
	in := Input{Step: "write", Repeat: 1, Expected: 2, Limits: Limits{MinDuration: 5 * time.Second, ConfigHash: "sha256:a"}}
	for i := range int32(2) {
		in.Shards = append(in.Shards, Shard{Index: i, Report: &report.Report{Body: report.Body{ConfHash: "sha256:a"}}})
	}
	return in, &report.Merged{
		Shards: report.ShardCounts{Expected: 2, Complete: 2, Started: 2},
		Times:  report.Times{WallMicros: 100 * second, MinExecMicros: 100 * second},
		Use:    &report.Use{},
	}
}

func one(reason, message string) []v1alpha1.Doubt {
	return []v1alpha1.Doubt{{Reason: reason, Message: message}}
}

// TestDoubts takes each reason to its limit and over it.
func TestDoubts(t *testing.T) {
	tests := map[string]struct {
		spoil func(*Input, *report.Merged)
		want  []v1alpha1.Doubt
	}{
		"flawless": {func(*Input, *report.Merged) {}, nil},

		"shard missing": {
			func(_ *Input, m *report.Merged) { m.Shards.Complete = 1 },
			one(v1alpha1.ReasonShardsMissing, "1 of 2 shards have a complete report"),
		},

		"one error": {
			func(_ *Input, m *report.Merged) {
				m.Errors = []report.ErrorCount{{Class: "java.io.IOException", Count: 2}, {Class: "EOF", Count: 1}}
			},
			one(v1alpha1.ReasonOperationErrors, "3 operations failed; the most frequent error: java.io.IOException"),
		},

		"rate reached but for 1 %": {func(_ *Input, m *report.Merged) { m.Due, m.Operations = 1050, 1040 }, nil},
		"rate not reached": {
			func(_ *Input, m *report.Merged) { m.Due, m.Operations = 1050, 1039 },
			one(v1alpha1.ReasonRateNotReached, "1039 operations were tried in a time for which the rate asked for 1050; lower the rate, or use more threads"),
		},
		"some tried in vain": {
			func(_ *Input, m *report.Merged) { m.Operations, m.Tried, m.Due = 90, 100, 100 },
			one(v1alpha1.ReasonOperationErrors, "10 operations failed"),
		},
		"two errors of one operation": {
			func(_ *Input, m *report.Merged) {
				m.Operations, m.Tried, m.Errors = 99, 100, []report.ErrorCount{{Class: "EOF", Count: 2}}
			},
			one(v1alpha1.ReasonOperationErrors, "1 operations failed; the most frequent error: EOF"),
		},
		"cut off": {
			func(_ *Input, m *report.Merged) { m.Operations, m.Tried, m.Unfinished = 100, 100, 2 },
			one(v1alpha1.ReasonOperationErrors, "2 operations were cut off before they ended"),
		},
		"done before it was due": {func(_ *Input, m *report.Merged) { m.Due, m.Operations = 1000, 1100 }, nil},
		"what failed was begun in time": {
			func(_ *Input, m *report.Merged) {
				m.Due, m.Operations, m.Errors = 1000, 900, []report.ErrorCount{{Class: "EOF", Count: 100}}
			},
			one(v1alpha1.ReasonOperationErrors, "100 operations failed; the most frequent error: EOF"),
		},

		"other configuration": {
			func(in *Input, _ *report.Merged) { in.Shards[1].Report.Body.ConfHash = "sha256:b" },
			one(v1alpha1.ReasonConfigChanged, "shard 1 read a Hadoop configuration with hash sha256:b, the run began with sha256:a"),
		},
		"configuration unknown to the shard": {func(in *Input, _ *report.Merged) { in.Shards[1].Report.Body.ConfHash = "" }, nil},
		"run without configuration":          {func(in *Input, _ *report.Merged) { in.Limits.ConfigHash = "" }, nil},
		"lost shard read nothing":            {func(in *Input, _ *report.Merged) { in.Shards[0].Report = nil }, nil},

		"long enough": {func(_ *Input, m *report.Merged) { m.Times.WallMicros = 5 * second }, nil},
		"a microsecond too short": {
			func(_ *Input, m *report.Merged) { m.Times.WallMicros = 5*second - 1 },
			one(v1alpha1.ReasonTooShort, "it took 4.999999s, less than spec.minDuration of 5s; give it more to do"),
		},
		"no minimum": {func(in *Input, m *report.Merged) { in.Limits.MinDuration, m.Times.WallMicros = 0, 1 }, nil},
		"never began": {
			func(_ *Input, m *report.Merged) { m.Shards.Started, m.Times = 0, report.Times{} },
			nil,
		},

		"starts a second apart": {func(_ *Input, m *report.Merged) { m.Times.StartSpreadMicros = second }, nil},
		"starts more than a second apart": {
			func(_ *Input, m *report.Merged) { m.Times.StartSpreadMicros = second + 1 },
			one(v1alpha1.ReasonStartSpread, "the shards' starts lie 1.000001s apart, the limit is 1s"),
		},
		"starts 5 % of the shortest apart": {
			func(_ *Input, m *report.Merged) { m.Times.MinExecMicros, m.Times.StartSpreadMicros = 6*second, 300_000 }, nil,
		},
		"starts over 5 % of the shortest apart": {
			func(_ *Input, m *report.Merged) { m.Times.MinExecMicros, m.Times.StartSpreadMicros = 6*second, 300_001 },
			one(v1alpha1.ReasonStartSpread, "the shards' starts lie 300.001ms apart, the limit is 300ms"),
		},
		"own limit of the spread": {
			func(in *Input, m *report.Merged) {
				in.Limits.MaxStartSpread, m.Times.StartSpreadMicros = 2*time.Second, 2*second
			}, nil,
		},
		"over the own limit of the spread": {
			func(in *Input, m *report.Merged) {
				in.Limits.MaxStartSpread, m.Times.StartSpreadMicros = time.Millisecond, 1001
			},
			one(v1alpha1.ReasonStartSpread, "the shards' starts lie 1.001ms apart, the limit is 1ms"),
		},

		"clock unknown": {
			func(_ *Input, m *report.Merged) { m.Clock.Unknown = 1 },
			one(v1alpha1.ReasonClockSkew, "1 shards do not know how far their clock is from the target's"),
		},
		"clock known just well enough": {func(_ *Input, m *report.Merged) { m.Clock.MaxUncertaintyMicros = second }, nil},
		"clock not known well enough": {
			func(_ *Input, m *report.Merged) { m.Clock.MaxUncertaintyMicros = second + 1 },
			one(v1alpha1.ReasonClockSkew, "the shards' clocks are known to ± 1.000001s only, the limit is 1s"),
		},
		"clock of a single shard": {
			func(in *Input, m *report.Merged) {
				in.Expected, in.Shards, m.Shards.Expected, m.Shards.Complete = 1, in.Shards[:1], 1, 1
				m.Clock.MaxUncertaintyMicros = 2 * second
			},
			nil,
		},
		"unknown clock of a single shard": {
			func(in *Input, m *report.Merged) {
				in.Expected, in.Shards, m.Shards.Expected, m.Shards.Complete = 1, in.Shards[:1], 1, 1
				m.Clock.Unknown = 1
			},
			nil,
		},
		"a large offset that is known": {func(_ *Input, m *report.Merged) { m.Clock.MaxOffsetMicros = 3600 * second }, nil},

		"throttled for 1 %": {func(_ *Input, m *report.Merged) { m.Use.MaxThrottledRatio = 0.01 }, nil},
		"throttled for more": {
			func(_ *Input, m *report.Merged) { m.Use.MaxThrottledRatio, m.Use.MaxThrottledIndex = 0.0101, 7 },
			one(v1alpha1.ReasonClientSaturated, "shard 7 was throttled for 1.0 % of its time; raise its CPU limit, or remove it"),
		},
		"90 % of the CPU": {func(_ *Input, m *report.Merged) { m.Use.MaxCPURatio = 0.90 }, nil},
		"over 90 % of the CPU": {
			func(_ *Input, m *report.Merged) { m.Use.MaxCPURatio, m.Use.MaxCPUIndex = 0.906, 9 },
			one(v1alpha1.ReasonClientSaturated, "shard 9 used 91 % of the CPU it may use; spread the load over more pods or nodes"),
		},
		"shards that did not watch themselves": {func(_ *Input, m *report.Merged) { m.Use = nil }, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			in, m := flawless()
			tc.spoil(&in, m)
			if diff := cmp.Diff(tc.want, doubts(in, m)); diff != "" {
				t.Errorf("doubts (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGravestDoubtComesFirst: condition Valid shows the first one.
func TestGravestDoubtComesFirst(t *testing.T) {
	in, m := flawless()
	in.Shards[0].Report.Body.ConfHash = "sha256:b"
	m.Shards.Complete, m.Errors = 1, []report.ErrorCount{{Class: "EOF", Count: 1}}
	m.Times = report.Times{WallMicros: 1, StartSpreadMicros: 1}
	m.Due = 100
	m.Clock.Unknown, m.Use.MaxThrottledRatio, m.Use.MaxCPURatio = 2, 1, 1
	var got []string
	for _, d := range doubts(in, m) {
		got = append(got, d.Reason)
	}
	want := []string{
		v1alpha1.ReasonShardsMissing, v1alpha1.ReasonOperationErrors, v1alpha1.ReasonRateNotReached, v1alpha1.ReasonConfigChanged, v1alpha1.ReasonTooShort,
		v1alpha1.ReasonStartSpread, v1alpha1.ReasonClockSkew, v1alpha1.ReasonClientSaturated, v1alpha1.ReasonClientSaturated,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
}
