package controllers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

// fieldsOfProperties are the properties of YCSB and its HBase binding that have a field of the spec, by that field.
func fieldsOfProperties() map[string]string {
	return map[string]string{
		"table": "table.name", "columnfamily": "table.columnFamily", "recordcount": "recordCount", "threadcount": "threads",
		"operationcount": "workloads[].operationCount", "maxexecutiontime": "workloads[].duration", "target": "workloads[].target",
		"principal": "target.kerberos.principal", "keytab": "target.kerberos.keytabSecretRef", "hadoopbench.seed": "seed", "seed": "seed",

		"fieldcount": "fieldCount", "fieldlength": "fieldLength", "minfieldlength": "minFieldLength",
		"fieldlengthdistribution": "fieldLengthDistribution", "fieldnameprefix": "fieldNamePrefix",
		"readallfields": "readAllFields", "readallfieldsbyname": "readAllFieldsByName", "writeallfields": "writeAllFields",
		"dataintegrity": "dataIntegrity", "insertorder": "insertOrder", "zeropadding": "zeroPadding",
		"core_workload_insertion_retry_limit": "insertionRetryLimit", "core_workload_insertion_retry_interval": "insertionRetryInterval",
		"durability": "durability", "clientbuffering": "clientBuffering", "writebuffersize": "writeBufferSize",
		"hbase.usepagefilter": "usePageFilter", "hadoopbench.zipfian": "zipfianScrambling",

		propertyRead: "workloads[].readProportion", propertyUpdate: "workloads[].updateProportion", propertyInsert: "workloads[].insertProportion",
		propertyScan: "workloads[].scanProportion", propertyRMW: "workloads[].readModifyWriteProportion",
		"requestdistribution": "workloads[].requestDistribution", "minscanlength": "workloads[].minScanLength",
		"maxscanlength": "workloads[].maxScanLength", "scanlengthdistribution": "workloads[].scanLengthDistribution",
		"hotspotdatafraction": "workloads[].hotspotDataFraction", "hotspotopnfraction": "workloads[].hotspotOpnFraction",
		"exponential.percentile": "workloads[].exponentialPercentile", "exponential.frac": "workloads[].exponentialFrac",
	}
}

// ownProperties are those that a run of many pods decides itself, or that mean nothing there, with the remedy.
func ownProperties() map[string]string {
	const (
		report  = "remove it: a run records histograms of every operation, and ycsb.txt of its report has the percentiles that YCSB prints by default"
		process = "remove it: it is about the process that YCSB runs in, not about the workload"
		dead    = "remove it: YCSB itself does not read it"
		filter  = "remove it: scans are not filtered by values yet"
		counted = "remove it: a run counts operations by every status that they returned"
		spread  = "remove it: the operator spreads records and operations over the shards"
	)
	return map[string]string{
		"insertstart": spread, "insertcount": spread, "hadoopbench.shard": spread, "hadoopbench.shards": spread, "hadoopbench.insertbase": spread,
		"fieldlengthhistogram": "remove it: a pod has no such file; use spec.fieldLengthDistribution",
		"workload":             "remove it: the workload is always YCSB's CoreWorkload", "db": "remove it: a YCSBRun always works on HBase",
		"dotransactions":  "remove it: the run loads first, unless spec.useExisting is true",
		"measurementtype": report, "measurement.interval": report, "measurement.histogram.verbose": report, "measurement.raw.output_file": report,
		"measurement.raw.no_summary": report, "hdrhistogram.percentiles": report, "hdrhistogram.fileoutput": report,
		"hdrhistogram.output.path": report, "histogram.buckets": report, "timeseries.granularity": report, "exporter": report, "exportfile": report,
		"status": process, "status.interval": process, "label": process, "spin.sleep": process, "measurement.trackjvm": process,
		"hbase.usescanvaluefiltering": filter, "hbase.scanfilteroperator": filter, "hbase.scanfiltervalue": filter,
		"reportlatencyforeacherror": counted, "latencytrackederrors": counted,
		"maxscanrate": dead, "scanoptimelimit": dead, "discardscannedrecord": dead,
	}
}

// passedProperties are those that spec.properties is for. Each is true or false.
func passedProperties() []string {
	return []string{"core_workload_insertion_keep_going_on_error", "debug"}
}

// checkYCSBProperties refuses properties that have a field, that a run decides itself, and that nobody knows.
func checkYCSBProperties(s *v1alpha1.YCSBRunSpec) []Problem {
	var out []Problem
	fields, own, passed := fieldsOfProperties(), ownProperties(), passedProperties()
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		at := fmt.Sprintf("properties[%s]", name)
		v := string(s.Properties[name])
		switch {
		case slices.Contains(passed, name) && v != "true" && v != "false":
			out = append(out, invalid(at, v, "write true or false"))
		case slices.Contains(passed, name):
		case fields[name] != "":
			out = append(out, invalid(at, v, "use spec."+fields[name]))
		case own[name] != "":
			out = append(out, invalid(at, v, own[name]))
		case strings.HasPrefix(name, "htrace."):
			out = append(out, invalid(at, v, "remove it: calls are not traced"))
		case strings.HasPrefix(name, "hbase.") || strings.HasPrefix(name, "zookeeper.") || strings.HasPrefix(name, "hadoop."):
			out = append(out, invalid(at, v, "write it in spec.target.properties: it is a property of the client's configuration, not of YCSB"))
		default:
			near, _ := plan.Nearest(name, slices.Concat(slices.Sorted(maps.Keys(fields)), slices.Sorted(maps.Keys(own)), passed))
			out = append(out, invalid(at, v, "remove it, or correct its name: neither YCSB nor its HBase binding has such a property; the nearest is "+near))
		}
	}
	return out
}
