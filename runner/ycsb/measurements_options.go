package ycsb

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TextOptions is what YCSB's own reports need to have measured, beside what a shard's report is made of.
type TextOptions struct {
	// At least one of them is set: what is kept of each metric.
	HDR, Buckets, Series, Raw bool
	// Measured and Intended tell which latencies are kept: from an operation's begin, from when it was to begin, or both.
	Measured, Intended bool
	// Track lists statuses whose operations get a metric of their own, as READ-NOT_FOUND; the other failures share READ-FAILED.
	Track [statuses]bool
	// Log has HDR histograms written to files named LogPrefix, the metric and ".hdr".
	Log       bool
	LogPrefix string
	// Percentiles of HDR histograms.
	Percentiles []float64
	// Verbose prints all that is counted in a histogram.
	Verbose bool
	// BucketCount is how many buckets of a millisecond Buckets has.
	BucketCount int
	// Granularity is the width of a bucket of Series.
	Granularity time.Duration
	// RawFile is where raw latencies go; empty: to standard output. RawOnly leaves their summary out.
	RawFile string
	RawOnly bool
}

// The most that is taken of what would be kept in memory.
const (
	maxBuckets     = 10_000_000
	maxPercentiles = 1000
)

// NewTextOptions reads the properties measurementtype, measurement.*, hdrhistogram.*, histogram.buckets,
// timeseries.granularity, reportlatencyforeacherror and latencytrackederrors. The error tells every property that is wrong;
// warnings are sentences.
func NewTextOptions(p *Properties) (o *TextOptions, warnings []string, err error) {
	r := &reader{properties: p, known: map[string]bool{}}
	o = &TextOptions{
		Verbose:     r.boolean("measurement.histogram.verbose", false),
		BucketCount: int(r.integer("histogram.buckets", 1000, 1, maxBuckets)),
		Granularity: time.Duration(r.integer("timeseries.granularity", 1000, 1, 86_400_000)) * time.Millisecond,
		RawFile:     r.text("measurement.raw.output_file", ""),
		RawOnly:     r.boolean("measurement.raw.no_summary", false),
		LogPrefix:   r.text("hdrhistogram.output.path", ""),
		Percentiles: r.percentiles("hdrhistogram.percentiles", "50,95,99"),
	}
	switch r.word("measurementtype", "hdrhistogram", "histogram", "timeseries", "raw", "hdrhistogram+histogram", "hdrhistogram+raw") {
	case "hdrhistogram":
		o.HDR = true
	case "histogram":
		o.Buckets = true
	case "timeseries":
		o.Series = true
	case "raw":
		o.Raw = true
	case "hdrhistogram+histogram":
		o.HDR, o.Buckets = true, true
	case "hdrhistogram+raw":
		o.HDR, o.Raw = true, true
	}
	interval := r.word("measurement.interval", "op", "intended", "both")
	o.Measured, o.Intended = interval != "intended", interval != "op"
	r.track(o)
	if r.boolean("hdrhistogram.fileoutput", false) {
		o.Log = o.HDR
		if !o.HDR {
			r.wrong("property hdrhistogram.fileoutput: true needs a measurementtype with hdrhistogram")
		}
	}
	if r.boolean("spin.sleep", false) {
		warnings = append(warnings, "property spin.sleep has no effect: threads wait by precise timers")
	}
	if r.boolean("measurement.trackjvm", false) {
		warnings = append(warnings, "property measurement.trackjvm has no effect: there is no Java virtual machine to track")
	}
	return o, warnings, errors.Join(r.errors...)
}

// track reads which statuses have metrics of their own: all, or some by name. YCSB looks at reportlatencyforeacherror first.
func (r *reader) track(o *TextOptions) {
	if r.boolean("reportlatencyforeacherror", false) {
		for s := range statuses {
			o.Track[s] = !s.Success()
		}
		return
	}
	text := r.text("latencytrackederrors", "")
	if text == "" {
		return
	}
	for word := range strings.SplitSeq(text, ",") {
		s, ok := statusOf(strings.TrimSpace(word))
		if !ok {
			r.wrong("property latencytrackederrors: %q is not one of %s", word, strings.Join(statusNames(), ", "))
			continue
		}
		o.Track[s] = !s.Success()
	}
}

func statusNames() []string {
	names := make([]string, statuses)
	for s := range statuses {
		names[s] = s.String()
	}
	return names
}

func statusOf(name string) (Status, bool) {
	k := slices.Index(statusNames(), name)
	return Status(max(k, 0)), k >= 0
}

func (r *reader) percentiles(name, standard string) (percentiles []float64) {
	for word := range strings.SplitSeq(r.text(name, standard), ",") {
		p, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil || !(p >= 0 && p <= 100) { // what is no number is in no range
			r.wrong("property %s: %q is not a number from 0 to 100; write for example %s", name, word, standard)
			return nil
		}
		percentiles = append(percentiles, p)
	}
	if len(percentiles) > maxPercentiles {
		r.wrong("property %s: %d numbers are more than %d", name, len(percentiles), maxPercentiles)
	}
	return percentiles
}
