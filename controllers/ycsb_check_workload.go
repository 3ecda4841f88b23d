package controllers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// checkWorkloads looks at each workload.
func checkWorkloads(s *v1alpha1.YCSBRunSpec) []Problem {
	var out []Problem
	reserved := []string{plan.StepPreflight, plan.StepCreate, plan.StepLoad, plan.StepCompact, plan.StepVerify, plan.StepCleanup, plan.OpClean}
	workloads := ycsbWorkloads(s)
	for i, w := range workloads {
		at := fmt.Sprintf("workloads[%d].", i)
		refuse := func(field string, v any, remedy string) { out = append(out, invalid(at+field, v, remedy)) }
		switch {
		case w.name == "":
			refuse("name", "no name", "name the workload, or choose a preset")
		case slices.Contains(reserved, w.name):
			refuse("name", w.name, "choose another: a step of the operator's own has this one")
		case slices.ContainsFunc(workloads[:i], func(o ycsbWorkload) bool { return o.name == w.name }):
			refuse("name", w.name, "give each workload a name of its own; repeats measures one more often")
		}
		out = append(out, checkExtent(s, at, w)...)
		out = append(out, checkMix(at, w)...)
		out = append(out, checkChoice(s, at, w)...)
	}
	return out
}

// checkExtent looks at how much a workload does, and how fast.
func checkExtent(s *v1alpha1.YCSBRunSpec, at string, w ycsbWorkload) []Problem {
	var out []Problem
	refuse := func(field string, v any, remedy string) { out = append(out, invalid(at+field, v, remedy)) }
	threads := value(s.Threads, 1)
	if w.OperationCount == nil && w.Duration == nil {
		refuse("operationCount", "neither operationCount nor duration", "set one of the two: the workload would never end")
	}
	if w.OperationCount != nil && *w.OperationCount < int64(threads) {
		refuse("operationCount", *w.OperationCount, fmt.Sprintf("raise it, or use fewer than %d threads: each needs an operation", threads))
	}
	if d := durationOr(w.Duration, time.Second); d < time.Millisecond {
		refuse("duration", d, "give a duration above zero, or remove it")
	}
	if d := durationOr(w.Warmup, 0); d < 0 {
		refuse("warmup", d, "give a duration of zero or more")
	}
	return append(out, checkOffered(at+"target", w.Target, threads)...)
}

// checkMix looks at the operations of a workload.
func checkMix(at string, w ycsbWorkload) []Problem {
	var out []Problem
	refuse := func(field string, v any, remedy string) { out = append(out, invalid(at+field, v, remedy)) }
	if !w.does(propertyRead, propertyUpdate, propertyInsert, propertyScan, propertyRMW) {
		refuse("readProportion", "no operations", "set a proportion above zero, or choose a preset")
	}
	if least := value(w.MinScanLength, 1); w.does(propertyScan) && least > w.maxScan {
		refuse("minScanLength", least, fmt.Sprintf("give at most maxScanLength, which is %d", w.maxScan))
	}
	if w.does(propertyScan) {
		return out
	}
	for _, f := range []struct {
		field string
		set   bool
	}{
		{"minScanLength", w.MinScanLength != nil}, {"maxScanLength", w.MaxScanLength != nil}, {"scanLengthDistribution", w.ScanLengthDistribution != ""},
	} {
		if f.set {
			refuse(f.field, "an option of scans", "remove it, or set scanProportion")
		}
	}
	return out
}

// checkChoice looks at which records the operations are on.
func checkChoice(s *v1alpha1.YCSBRunSpec, at string, w ycsbWorkload) []Problem {
	var out []Problem
	refuse := func(field string, v any, remedy string) { out = append(out, invalid(at+field, v, remedy)) }
	for _, f := range []struct{ field, v, distribution string }{
		{"hotspotDataFraction", w.HotspotDataFraction, distributionHotspot},
		{"hotspotOpnFraction", w.HotspotOpnFraction, distributionHotspot},
		{"exponentialPercentile", w.ExponentialPercentile, distributionExponential},
		{"exponentialFrac", w.ExponentialFrac, distributionExponential},
	} {
		switch {
		case f.v == "":
		case w.distribution != f.distribution:
			refuse(f.field, "an option of requestDistribution "+f.distribution, "remove it, or choose that distribution")
		case strings.HasPrefix(f.field, "exponential") && strings.Trim(f.v, "0.") == "":
			refuse(f.field, f.v, "give a number above zero")
		}
	}
	if w.distribution == distributionHotspot {
		fraction, err := strconv.ParseFloat(orDefault(w.HotspotDataFraction, "0.2"), 64)
		if hot := int64(float64(s.RecordCount) * fraction); err != nil || hot < 1 || hot >= s.RecordCount {
			refuse("hotspotDataFraction", orDefault(w.HotspotDataFraction, "0.2"), fmt.Sprintf("choose it so that some of the %d records are hot and others are not", s.RecordCount))
		}
	}
	return out
}
