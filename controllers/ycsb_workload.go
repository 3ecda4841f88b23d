package controllers

import (
	"strconv"
	"strings"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

// Properties that say what a workload consists of.
const (
	propertyRead   = "readproportion"
	propertyUpdate = "updateproportion"
	propertyInsert = "insertproportion"
	propertyScan   = "scanproportion"
	propertyRMW    = "readmodifywriteproportion"
)

// Distributions of the records that operations choose.
const (
	distributionUniform     = "uniform"
	distributionZipfian     = "zipfian"
	distributionLatest      = "latest"
	distributionHotspot     = "hotspot"
	distributionExponential = "exponential"
	distributionConstant    = "constant" // of lengths
)

// ycsbWorkload is a workload of the spec with the defaults of its preset.
type ycsbWorkload struct {
	*v1alpha1.YCSBWorkload

	name         string
	proportions  map[string]string // of all five sorts of operations, by property
	distribution string
	maxScan      int32
}

// preset is one of YCSB's own workloads.
type preset struct {
	name         string
	proportions  map[string]string
	distribution string
	maxScan      int32
}

// presets are YCSB's workloads A to F, and the one of updates alone that comparisons of HBase use beside them.
func presets() map[string]preset {
	return map[string]preset{
		"A":          {"workload-a", map[string]string{propertyRead: "0.5", propertyUpdate: "0.5"}, distributionZipfian, 0},
		"B":          {"workload-b", map[string]string{propertyRead: "0.95", propertyUpdate: "0.05"}, distributionZipfian, 0},
		"C":          {"workload-c", map[string]string{propertyRead: "1"}, distributionZipfian, 0},
		"D":          {"workload-d", map[string]string{propertyRead: "0.95", propertyInsert: "0.05"}, distributionLatest, 0},
		"E":          {"workload-e", map[string]string{propertyScan: "0.95", propertyInsert: "0.05"}, distributionZipfian, 100},
		"F":          {"workload-f", map[string]string{propertyRead: "0.5", propertyRMW: "0.5"}, distributionZipfian, 0},
		"UpdateOnly": {"update-only", map[string]string{propertyUpdate: "1"}, distributionZipfian, 0},
	}
}

// ycsbWorkloads are the run's workloads, in order.
func ycsbWorkloads(s *v1alpha1.YCSBRunSpec) []ycsbWorkload {
	known := presets()
	out := make([]ycsbWorkload, len(s.Workloads))
	for i := range s.Workloads {
		w := &s.Workloads[i]
		p := known[w.Preset]
		out[i] = ycsbWorkload{
			YCSBWorkload: w, name: orDefault(w.Name, p.name), proportions: map[string]string{},
			distribution: orDefault(w.RequestDistribution, orDefault(p.distribution, distributionUniform)), maxScan: 1000,
		}
		own := ownProportions(&w.YCSBMix)
		for property, proportion := range own {
			out[i].proportions[property] = orDefault(proportion, "0")
			if !anySet(own) {
				out[i].proportions[property] = orDefault(p.proportions[property], "0")
			}
		}
		if p.maxScan > 0 {
			out[i].maxScan = p.maxScan
		}
		out[i].maxScan = value(w.MaxScanLength, out[i].maxScan)
	}
	return out
}

// ownProportions are the five proportions as the spec has them, by property.
func ownProportions(m *v1alpha1.YCSBMix) map[string]string {
	return map[string]string{
		propertyRead: m.ReadProportion, propertyUpdate: m.UpdateProportion, propertyInsert: m.InsertProportion,
		propertyScan: m.ScanProportion, propertyRMW: m.ReadModifyWriteProportion,
	}
}

func anySet(values map[string]string) bool {
	for _, v := range values {
		if v != "" {
			return true
		}
	}
	return false
}

// does says whether some of the workload's operations are of one of the sorts.
func (w ycsbWorkload) does(properties ...string) bool {
	for _, p := range properties {
		if strings.Trim(w.proportions[p], "0.") != "" {
			return true
		}
	}
	return false
}

// properties are YCSB's, of the mix of operations and the records they choose: those that this workload makes use of.
func (w ycsbWorkload) properties(s *v1alpha1.YCSBRunSpec) map[string]string {
	out := map[string]string{"requestdistribution": w.distribution}
	for property, proportion := range w.proportions {
		out[property] = proportion
	}
	if w.does(propertyScan) {
		out["minscanlength"] = strconv.Itoa(int(value(w.MinScanLength, 1)))
		out["maxscanlength"] = strconv.Itoa(int(w.maxScan))
		out["scanlengthdistribution"] = orDefault(w.ScanLengthDistribution, distributionUniform)
		out["hbase.usepagefilter"] = strconv.FormatBool(value(s.UsePageFilter, true))
	}
	switch w.distribution {
	case distributionZipfian:
		if s.ZipfianScrambling == zipfianExact {
			out["hadoopbench.zipfian"] = "exact"
		}
	case distributionHotspot:
		out["hotspotdatafraction"] = orDefault(w.HotspotDataFraction, "0.2")
		out["hotspotopnfraction"] = orDefault(w.HotspotOpnFraction, "0.8")
	case distributionExponential:
		out["exponential.percentile"] = orDefault(w.ExponentialPercentile, "95")
		out["exponential.frac"] = orDefault(w.ExponentialFrac, "0.8571428571")
	}
	return out
}

// zipfianExact is the value of zipfianScrambling that goes beyond YCSB.
const zipfianExact = "Exact"
