package measure_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
)

func TestPacerArrivals(t *testing.T) {
	const half = 1 << 63 // of all random values
	for name, tc := range map[string]struct {
		rate   measure.Rate
		random uint64
		want   []time.Duration
	}{
		"one a second":          {measure.Rate{Milli: 1000, Part: 1, Whole: 1}, 0, []time.Duration{0, time.Second, 2 * time.Second}},
		"half an interval late": {measure.Rate{Milli: 1000, Part: 1, Whole: 1}, half, []time.Duration{500e6, 1500e6, 2500e6}},
		"a part":                {measure.Rate{Milli: 1000, Part: 3, Whole: 12}, 0, []time.Duration{0, 4 * time.Second, 8 * time.Second}},
		"three a second":        {measure.Rate{Milli: 3000, Part: 1, Whole: 1}, 0, []time.Duration{0, 333_333_333, 666_666_666, 1e9, 1_333_333_333}},
		"a thousandth a second": {measure.Rate{Milli: 1, Part: 1, Whole: 1}, 0, []time.Duration{0, 1000 * time.Second}},
		"many a nanosecond":     {measure.Rate{Milli: 4e12, Part: 1, Whole: 1}, 0, []time.Duration{0, 0, 0, 0, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			p := measure.NewPacer(epoch, tc.rate, tc.random)
			var got []time.Duration
			for range tc.want {
				got = append(got, p.At(p.Claim()).Sub(epoch))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("arrivals (-want +got):\n%s", diff)
			}
		})
	}
}

// No error adds up: an arrival far away is where exact arithmetic puts it, and is due from then on, not before.
func TestPacerDoesNotDrift(t *testing.T) {
	for _, rate := range []measure.Rate{
		{Milli: 7, Part: 1, Whole: 3},
		{Milli: 33_333, Part: 5, Whole: 7},
		{Milli: 1_000_003, Part: 999_983, Whole: 1_000_000},
		{Milli: 1e12, Part: 1, Whole: 1_000_000},
	} {
		for _, random := range []uint64{0, 1, 1 << 40, math.MaxUint64} {
			p := measure.NewPacer(epoch, rate, random)
			interval := new(big.Rat).SetFrac(
				new(big.Int).Mul(big.NewInt(1e12), big.NewInt(rate.Whole)), new(big.Int).Mul(big.NewInt(rate.Milli), big.NewInt(rate.Part)))
			for _, k := range []int64{0, 1, 2, 999, 123_456_789} {
				at := p.At(k).Sub(epoch)
				if at == math.MaxInt64 {
					continue
				}
				// k intervals and a phase below one, less what is rounded away.
				least := new(big.Rat).Mul(interval, big.NewRat(k, 1))
				exact := new(big.Rat).SetInt64(int64(at) + 1)
				if exact.Cmp(least) <= 0 || new(big.Rat).SetInt64(int64(at)).Cmp(least.Add(least, interval)) >= 0 {
					t.Errorf("%+v: arrival %d at %s", rate, k, at)
				}
				if due := p.Due(epoch.Add(at)); due < k+1 {
					t.Errorf("%+v: %d due when arrival %d is", rate, due, k)
				}
				if due := p.Due(epoch.Add(at - 1)); due > k {
					t.Errorf("%+v: %d due before arrival %d is", rate, due, k)
				}
			}
		}
	}
}

func TestPacerAtTheEndOfTime(t *testing.T) {
	p := measure.NewPacer(epoch, measure.Rate{Milli: 1, Part: 1, Whole: 1_000_000}, 0)
	if got := p.At(math.MaxInt64); got.Sub(epoch) != math.MaxInt64 {
		t.Errorf("the last arrival is due %s after the origin", got.Sub(epoch))
	}
	if got := p.Due(epoch.Add(-time.Hour)); got != 0 {
		t.Errorf("%d due before the origin", got)
	}
}

func TestPacerClaimsOnce(t *testing.T) {
	p := measure.NewPacer(epoch, measure.Rate{Milli: 1, Part: 1, Whole: 1}, 0)
	var all sync.WaitGroup
	var mu sync.Mutex
	seen := map[int64]bool{}
	for range 8 {
		all.Go(func() {
			for range 100 {
				k := p.Claim()
				mu.Lock()
				seen[k] = true
				mu.Unlock()
			}
		})
	}
	all.Wait()
	if len(seen) != 800 || !seen[0] || !seen[799] {
		t.Errorf("%d different arrivals of 800", len(seen))
	}
}

func TestPacerWait(t *testing.T) {
	p := measure.NewPacer(epoch, measure.Rate{Milli: 1000, Part: 1, Whole: 1}, 0)
	clock := newFakeClock()
	if err := p.Wait(t.Context(), clock, epoch.Add(time.Minute)); err != nil || clock.Now().Sub(epoch) != time.Minute {
		t.Errorf("returned at %s: %v", clock.Now().Sub(epoch), err)
	}
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	clock.hooks[2*time.Minute] = func() { cancel(cause) }
	if err := p.Wait(ctx, clock, epoch.Add(3*time.Minute)); !errors.Is(err, cause) {
		t.Errorf("Wait: %v, want the context's cause", err)
	}
}

// simulate has threads carry out arrivals, each call in 1 ms but arrival slow in stall, and returns the intended latencies
// by arrival. Threads take turns by who is free first, as they would on a machine.
func simulate(p *measure.Pacer, r *measure.Recorder, threads, arrivals int, slow int64, stall time.Duration) []time.Duration {
	free := make([]time.Time, threads)
	for i := range free {
		free[i] = epoch
	}
	intended := make([]time.Duration, arrivals)
	for range arrivals {
		first := 0
		for i := range free {
			if free[i].Before(free[first]) {
				first = i
			}
		}
		k := p.Claim()
		scheduled := p.At(k)
		began := scheduled
		if free[first].After(began) {
			began = free[first]
		}
		took := time.Millisecond
		if k == slow {
			took = stall
		}
		ended := began.Add(took)
		r.Paced(scheduled, began, ended)
		intended[k], free[first] = ended.Sub(scheduled), ended
	}
	return intended
}

// A single thread that hangs for 500 ms delays what is due meanwhile, and the intended latencies say exactly how long;
// service times do not show it. With a second thread nothing is delayed.
func TestIntendedLatencyUnderAStall(t *testing.T) {
	const ms = time.Millisecond
	for name, tc := range map[string]struct {
		threads int
		want    []time.Duration
	}{
		// Arrivals are 100 ms apart; the third hangs from 200 to 700.
		"one thread":  {1, []time.Duration{ms, ms, 500 * ms, 401 * ms, 302 * ms, 203 * ms, 104 * ms, 5 * ms, ms, ms}},
		"two threads": {2, []time.Duration{ms, ms, 500 * ms, ms, ms, ms, ms, ms, ms, ms}},
	} {
		t.Run(name, func(t *testing.T) {
			p := measure.NewPacer(epoch, measure.Rate{Milli: 10_000, Part: 1, Whole: 1}, 0)
			r := measure.NewRecorder(epoch, 100*ms, 0)
			r.KeepIntended()
			got := simulate(p, r, tc.threads, len(tc.want), 2, 500*ms)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("intended latencies (-want +got):\n%s", diff)
			}
			var body report.Body
			r.Fill(&body)
			sum := time.Duration(0)
			for _, d := range tc.want {
				sum += d
			}
			if body.Intended.Sum() != int64(sum) || body.Latency.Sum() != int64(509*ms) || body.Operations != 10 || body.Series.Total() != 10 {
				t.Errorf("intended sum %d, service sum %d, %d operations, %d in the series",
					body.Intended.Sum(), body.Latency.Sum(), body.Operations, body.Series.Total())
			}
		})
	}
}

func TestRecordersOfThreadsAddUp(t *testing.T) {
	record := func(r *measure.Recorder, n int) {
		for i := range n {
			at := epoch.Add(time.Duration(i) * time.Millisecond)
			r.Paced(at, at.Add(time.Microsecond), at.Add(time.Millisecond))
		}
		r.Error("A", "first of "+string(rune('0'+n)))
	}
	newRecorder := func() *measure.Recorder {
		r := measure.NewRecorder(time.Time{}, time.Millisecond, 0)
		r.KeepIntended()
		r.Begin(epoch)
		return r
	}
	total, one, two := newRecorder(), newRecorder(), newRecorder()
	record(one, 3)
	record(two, 5)
	two.Error("B", "b")
	if err := errors.Join(total.Add(one), total.Add(two)); err != nil {
		t.Fatal(err)
	}
	var body report.Body
	total.Fill(&body)
	want := []report.ErrorCount{{Class: "A", Count: 2, First: "first of 3"}, {Class: "B", Count: 1, First: "b"}}
	if diff := cmp.Diff(want, body.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{0, 2, 2, 2, 1, 1}, body.Series.Amounts()); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	if body.Operations != 8 || body.Latency.Count() != 8 || body.Intended.Sum() != 8e6 || body.Series.Origin() != epoch.UnixMicro() {
		t.Errorf("%d operations, %d latencies, intended sum %d", body.Operations, body.Latency.Count(), body.Intended.Sum())
	}
}

func TestPacedDoesNotAllocate(t *testing.T) {
	r := measure.NewRecorder(epoch, time.Millisecond, 0)
	r.KeepIntended()
	p := measure.NewPacer(epoch, measure.Rate{Milli: 1e6, Part: 1, Whole: 1}, 0)
	if allocs := testing.AllocsPerRun(1000, func() {
		at := p.At(p.Claim())
		r.Paced(at, at, at.Add(time.Millisecond))
	}); allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}
