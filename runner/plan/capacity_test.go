package plan_test

import (
	"math"
	"testing"

	"github.com/hadoop-bench/operator/runner/plan"
)

// TestCapacity holds the figures at which the original tool gives up: 19 files for one per directory, 2,097,148 for two.
func TestCapacity(t *testing.T) {
	for perDir, want := range map[int64]int64{
		-1: 0, 0: 0, 1: 19, 2: 2_097_148, 3: 5_230_176_597, 4: 1_466_015_503_696, 9: math.MaxInt64, 100: math.MaxInt64, math.MaxInt32: math.MaxInt64, math.MaxInt64: math.MaxInt64,
	} {
		if got := plan.Capacity(perDir); got != want {
			t.Errorf("Capacity(%d) = %d, want %d", perDir, got, want)
		}
	}
}
