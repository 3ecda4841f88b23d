package measure

import (
	"time"

	"github.com/hadoop-bench/operator/runner/report"
)

// A ClockSample is one reading of the target's clock: at an unknown moment between Before and After, which are of the
// shard's clock, it stood somewhere in [Target, Target+resolution).
type ClockSample struct {
	Before, After time.Time
	Target        time.Time
}

// Offset estimates the target's clock minus the shard's from the sample with the smallest round trip, and how far the
// truth can be from the estimate: half the round trip and half the resolution, which is the step of the target's clock.
// Without samples it returns nil.
func Offset(samples []ClockSample, resolution time.Duration) *report.Clock {
	if len(samples) == 0 {
		return nil
	}
	best := samples[0]
	for _, s := range samples[1:] {
		if s.After.Sub(s.Before) < best.After.Sub(best.Before) {
			best = s
		}
	}
	trip := best.After.Sub(best.Before)
	middle := best.Before.Add(trip / 2)
	// Round strips the monotonic reading: the target's clock is compared with the wall clock.
	offset := best.Target.Add(resolution / 2).Sub(middle.Round(0))
	return &report.Clock{
		OffsetMicros:      offset.Round(time.Microsecond).Microseconds(),
		UncertaintyMicros: ceilMicros(trip/2 + resolution/2),
	}
}

func ceilMicros(d time.Duration) int64 {
	return int64((d + time.Microsecond - 1) / time.Microsecond)
}
