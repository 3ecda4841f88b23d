package ycsb_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/report"
	"github.com/hadoop-bench/operator/runner/ycsb"
)

// hdr counts values.
func hdr(values ...int64) *ycsb.HDRCounts {
	h, c := new(ycsb.HDR), new(ycsb.HDRCounts)
	for _, v := range values {
		h.Record(v)
	}
	c.Add(h)
	return c
}

// Values that YCSB 0.17.0 printed are the greatest of those that are counted together.
func TestHDRKeepsThreeDigits(t *testing.T) {
	for name, tc := range map[string]struct{ value, low, high int64 }{
		"none below zero":    {-1, 0, 0},
		"zero":               {0, 0, 0},
		"one":                {1, 1, 1},
		"the last exact one": {2047, 2047, 2047},
		"the first pair":     {2048, 2048, 2049},
		"of a pair":          {4095, 4094, 4095},
		"of four":            {4096, 4096, 4099},
		"63807":              {63780, 63776, 63807},
		"85375":              {85375, 85312, 85375},
		"15839":              {15839, 15832, 15839},
		"2795519":            {2794000, 2793472, 2795519},
		"1703935":            {1703000, 1702912, 1703935},
		"the greatest":       {math.MaxInt64, math.MaxInt64 - 1<<52 + 1, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			c := hdr(tc.value)
			if c.Min() != tc.low || c.Max() != tc.high || c.Percentile(50) != tc.high || c.Percentile(0) != tc.low || c.Count() != 1 {
				t.Errorf("%d to %d, median %d, want %d to %d", c.Min(), c.Max(), c.Percentile(50), tc.low, tc.high)
			}
		})
	}
}

// Each value lies where it was counted, and is less than a thousandth off.
func TestHDRRanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		v := int64(random.Uint64() >> (1 + random.IntN(63)))
		c := hdr(v)
		if low, high := c.Min(), c.Max(); low > v || high < v || float64(high-low) > float64(v)/1000 {
			t.Fatalf("%d is counted from %d to %d", v, low, high)
		}
		if mean := c.Mean(); math.Abs(mean-float64(v)) > float64(v)/1000 {
			t.Fatalf("the mean of %d is %v", v, mean)
		}
	}
}

func TestHDRPercentiles(t *testing.T) {
	var values []int64
	for v := range int64(1000) {
		values = append(values, v+1)
	}
	c := hdr(values...)
	for percent, want := range map[float64]int64{0: 1, 0.1: 1, 50: 500, 95: 950, 99: 990, 99.9: 999, 99.99: 1000, 100: 1000, 200: 1000} {
		if got := c.Percentile(percent); got != want {
			t.Errorf("%v: %d, want %d", percent, got, want)
		}
	}
	if c.Mean() != 500.5 || c.Count() != 1000 {
		t.Errorf("mean %v of %d", c.Mean(), c.Count())
	}
	if mean := hdr(2048, 2048, 4096).Mean(); mean != (2049+2049+4098)/3.0 {
		t.Errorf("mean %v, want that of the middles", mean)
	}
	if none := hdr(); none.Count() != 0 || none.Min() != 0 || none.Max() != 0 || none.Mean() != 0 || none.Percentile(99) != 0 {
		t.Errorf("of nothing: %d from %d to %d, %v, %d", none.Count(), none.Min(), none.Max(), none.Mean(), none.Percentile(99))
	}
	since := hdr(1, 2, 3000, 3000).Since(hdr(1, 3000))
	if since.Count() != 2 || since.Min() != 2 || since.Max() != 3001 {
		t.Errorf("since then %d from %d to %d", since.Count(), since.Min(), since.Max())
	}
}

// Readers see what a thread counts while it does, without stopping it.
func TestHDRIsReadWhileItCounts(t *testing.T) {
	h := new(ycsb.HDR)
	const n = 200_000
	var all sync.WaitGroup
	all.Go(func() {
		for v := range int64(n) {
			h.Record(v * v)
		}
	})
	var seen int64
	for seen < n {
		c := new(ycsb.HDRCounts)
		c.Add(h)
		now := c.Count()
		if now < seen {
			t.Fatalf("%d after %d", now, seen)
		}
		seen = now
	}
	all.Wait()
}

// measured is the report of ten reads of which the k-th takes k ms, from 0.
func measured(t *testing.T, words string) *ycsb.Result {
	t.Helper()
	n := 0
	r := newRun(t, &fakeDB{do: func(_ context.Context, c call) (ycsb.Status, error) {
		if c.what == "read" {
			n++
			time.Sleep(time.Duration(n-1) * ms)
		}
		return ycsb.OK, nil
	}}, reads+" "+words)
	r.Operations = 10
	return do(t, r)
}

// figures are the lines of a metric, and of CLEANUP none.
func figures(t *testing.T, r *ycsb.Result) string {
	t.Helper()
	var text report.YCSBText
	for _, l := range r.Text() {
		if strings.Contains(l.Metric, "READ") {
			text = append(text, l)
		}
	}
	var b strings.Builder
	if err := report.RenderYCSB(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMeasurementTypes(t *testing.T) {
	const (
		hdr = `[READ], Operations, 10
[READ], AverageLatency(us), 4501.4
[READ], MinLatency(us), 0
[READ], MaxLatency(us), 9007
[READ], 50thPercentileLatency(us), 4001
[READ], 95thPercentileLatency(us), 9007
[READ], 99thPercentileLatency(us), 9007
`
		returns = "[READ], Return=OK, 10\n"
		buckets = `[READ], Operations, 10
[READ], AverageLatency(us), 4500.0
[READ], LatencyVariance(us), 8250000.0
[READ], MinLatency(us), 0
[READ], MaxLatency(us), 9000
[READ], 95thPercentileLatency(us), 9000
[READ], 99thPercentileLatency(us), 9000
`
		raw = `[READ], Total Operations, 10
[READ], Below is a summary of latency in microseconds:, -1
[READ], Average, 4500.0
[READ], Min, 0
[READ], Max, 9000
[READ], p1, 0
[READ], p5, 0
[READ], p50, 5000
[READ], p90, 9000
[READ], p95, 9000
[READ], p99, 9000
[READ], p99.9, 9000
[READ], p99.99, 9000
`
		series = `[READ], Operations, 10
[READ], AverageLatency(us), 4500.0
[READ], MinLatency(us), 0
[READ], MaxLatency(us), 9000
[READ], Return=OK, 10
[READ], 0, 1500.0
[READ], 10, 4500.0
[READ], 20, 6500.0
[READ], 30, 8000.0
[READ], 40, 9000.0
`
	)
	named := func(prefix, text string) string { return strings.ReplaceAll(text, "[READ]", "["+prefix+"READ]") }
	for name, tc := range map[string]struct{ words, want string }{
		"hdrhistogram": {"", hdr + returns},
		"percentiles":  {"hdrhistogram.percentiles=99.9", strings.Join(strings.SplitAfter(hdr, "\n")[:4], "") + "[READ], 99.9PercentileLatency(us), 9007\n" + returns},
		"both":         {"measurement.interval=both", hdr + returns + named("Intended-", hdr)},
		"intended":     {"measurement.interval=intended", hdr + returns},
		"verbose": {
			"measurement.histogram.verbose=true", hdr + returns + "[READ], 0, 1.0\n[READ], 1000, 1.0\n[READ], 2000, 1.0\n[READ], 3001, 1.0\n" +
				"[READ], 4001, 1.0\n[READ], 5003, 1.0\n[READ], 6003, 1.0\n[READ], 7003, 1.0\n[READ], 8003, 1.0\n[READ], 9007, 1.0\n",
		},
		"histogram": {"measurementtype=histogram", buckets + returns},
		"histogram with an overflow": {
			"measurementtype=histogram histogram.buckets=3 measurement.histogram.verbose=true",
			strings.Join(strings.SplitAfter(buckets, "\n")[:5], "") + returns + "[READ], 0, 1\n[READ], 1, 1\n[READ], 2, 1\n[READ], >3, 7\n",
		},
		"hdrhistogram and histogram": {"measurementtype=hdrhistogram+histogram", named("Hdr", hdr+returns) + named("Bucket", buckets)},
		"raw":                        {"measurementtype=raw", raw + returns},
		"raw without a summary":      {"measurementtype=raw measurement.raw.no_summary=true", "[READ], Total Operations, 10\n" + returns},
		"hdrhistogram and raw":       {"measurementtype=hdrhistogram+raw", named("Hdr", hdr+returns) + named("Raw", raw)},
		"timeseries":                 {"measurementtype=timeseries timeseries.granularity=10", series},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if diff := cmp.Diff(tc.want, figures(t, measured(t, tc.words))); diff != "" {
					t.Errorf("report (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestRawLatencies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		if err := measured(t, "measurementtype=hdrhistogram+raw").WriteRaw(&b); err != nil {
			t.Fatal(err)
		}
		// A bubble's time begins with the year 2000.
		lines := strings.Split(b.String(), "\n")
		want := []string{"RawREAD latency raw data: op, timestamp(ms), latency(us)", "RawREAD,946684800000,0", "RawREAD,946684800001,1000", "RawREAD,946684800003,2000"}
		if diff := cmp.Diff(want, lines[:4]); diff != "" || len(lines) != 14 {
			t.Errorf("%d lines (-want +got):\n%s", len(lines), diff)
		}
	})
}

func TestStatusOfMeasurementTypes(t *testing.T) {
	const hdr = "[READ: Count=3, Max=30015, Min=30000, Avg=30008, 50=30015, 90=30015, 99=30015, 99.9=30015, 99.99=30015]"
	for name, tc := range map[string]struct{ words, want string }{
		"hdrhistogram":               {"", hdr},
		"histogram":                  {"measurementtype=histogram", "[READ AverageLatency(us)=30000]"},
		"timeseries":                 {"measurementtype=timeseries", "[READ AverageLatency(us)=30000]"},
		"raw":                        {"measurementtype=raw", "READ count: 3, average latency(us): 30000.00"},
		"hdrhistogram and histogram": {"measurementtype=hdrhistogram+histogram", strings.Replace(hdr, "READ", "HdrREAD", 1) + "\n[BucketREAD AverageLatency(us)=30000]"},
		"intended":                   {"measurement.interval=intended", hdr},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRun(t, &fakeDB{do: takes(30 * ms)}, reads+" "+tc.words)
				r.Operations, r.StatusInterval = 9, 100*ms
				var summaries []string
				r.OnStatus = func(s report.YCSBStatus) { summaries = append(summaries, s.Summaries...) }
				do(t, r)
				if len(summaries) < 2 || summaries[1] != tc.want {
					t.Errorf("summaries %q, want the second %q", summaries, tc.want)
				}
			})
		})
	}
}

func TestTextOptionErrors(t *testing.T) {
	for name, tc := range map[string]struct{ words, want string }{
		"type":               {"measurementtype=hdr", `property measurementtype: "hdr" is not one of hdrhistogram, histogram, timeseries`},
		"interval":           {"measurement.interval=ops", `property measurement.interval: "ops" is not one of op, intended, both`},
		"percentiles":        {"hdrhistogram.percentiles=95,", `property hdrhistogram.percentiles: "" is not a number from 0 to 100; write for example 50,95,99`},
		"percentile of more": {"hdrhistogram.percentiles=101", `"101" is not a number from 0 to 100`},
		"buckets":            {"histogram.buckets=0", `property histogram.buckets: "0" is not a whole number from 1`},
		"granularity":        {"timeseries.granularity=x", `property timeseries.granularity: "x"`},
		"statuses":           {"latencytrackederrors=NOT_FOUND,GONE", `property latencytrackederrors: "GONE" is not one of OK, BATCHED_OK, ERROR`},
		"log files of what":  {"hdrhistogram.fileoutput=true measurementtype=raw", "property hdrhistogram.fileoutput: true needs a measurementtype with hdrhistogram"},
	} {
		t.Run(name, func(t *testing.T) {
			_, p := runWorkload(t, reads+" "+tc.words)
			if _, _, err := ycsb.NewTextOptions(p); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	_, p := runWorkload(t, reads+" measurement.trackjvm=true reportlatencyforeacherror=true")
	o, warnings, err := ycsb.NewTextOptions(p)
	if err != nil || len(warnings) != 1 || !o.Track[ycsb.NotFound] || o.Track[ycsb.OK] {
		t.Errorf("%v, warnings %q, %+v", err, warnings, o)
	}
}

func TestErrorClass(t *testing.T) {
	for want, got := range map[string]string{
		"NOT_FOUND":                 ycsb.ErrorClass(ycsb.NotFound, nil),
		"NotServingRegionException": ycsb.ErrorClass(ycsb.ErrorStatus, classedError{context.Canceled}),
		"DeadlineExceeded":          ycsb.ErrorClass(ycsb.ErrorStatus, context.DeadlineExceeded),
		"Canceled":                  ycsb.ErrorClass(ycsb.ErrorStatus, context.Canceled),
		"Error":                     ycsb.ErrorClass(ycsb.ErrorStatus, errors.New("no")),
		ycsb.MetricCleanup.String(): "CLEANUP",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
