package measure_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
)

func TestOffset(t *testing.T) {
	sample := func(before, after, target time.Duration) measure.ClockSample {
		return measure.ClockSample{Before: epoch.Add(before), After: epoch.Add(after), Target: epoch.Add(target)}
	}
	const ms = time.Millisecond
	tests := map[string]struct {
		samples    []measure.ClockSample
		resolution time.Duration
		want       *report.Clock
	}{
		"none": {nil, ms, nil},
		"same clock": {
			[]measure.ClockSample{sample(0, 10*ms, 5*ms)},
			0,
			&report.Clock{OffsetMicros: 0, UncertaintyMicros: 5000},
		},
		"target ahead": {
			[]measure.ClockSample{sample(0, 10*ms, 105*ms)},
			0,
			&report.Clock{OffsetMicros: 100_000, UncertaintyMicros: 5000},
		},
		"target behind": {
			[]measure.ClockSample{sample(0, 2*ms, -time.Second)},
			0,
			&report.Clock{OffsetMicros: -1_001_000, UncertaintyMicros: 1000},
		},
		"half a step of the target's clock is added to both": {
			[]measure.ClockSample{sample(0, 2*ms, 1*ms)},
			ms,
			&report.Clock{OffsetMicros: 500, UncertaintyMicros: 1500},
		},
		"smallest round trip wins": {
			[]measure.ClockSample{sample(0, 10*ms, 100*ms), sample(20*ms, 22*ms, 31*ms), sample(30*ms, 35*ms, 0)},
			0,
			&report.Clock{OffsetMicros: 10_000, UncertaintyMicros: 1000},
		},
		"uncertainty rounds up": {
			[]measure.ClockSample{sample(0, 3*time.Nanosecond, 0)},
			0,
			&report.Clock{OffsetMicros: 0, UncertaintyMicros: 1},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, measure.Offset(tt.samples, tt.resolution)); diff != "" {
				t.Errorf("Offset (-want +got):\n%s", diff)
			}
		})
	}
}
