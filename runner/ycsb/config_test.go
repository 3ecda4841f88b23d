package ycsb_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hadoop-bench/operator/runner/ycsb"
	"github.com/hadoop-bench/operator/runner/ycsb/workloads"
)

const core = "workload=site.ycsb.workloads.CoreWorkload\n"

func escaped(s string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, `\u%04x`, unit)
	}
	return b.String()
}

func config(t *testing.T, text string) *ycsb.Config {
	t.Helper()
	c, err := ycsb.ParseConfig(properties(t, core+text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestConfigDefaultsAreYCSBs(t *testing.T) {
	want := &ycsb.Config{
		DoTransactions: true, RecordCount: 2147483647, InsertCount: 2147483647, ThreadCount: 1, StatusInterval: 10 * time.Second,
		Exporter: "site.ycsb.measurements.exporter.TextMeasurementsExporter", Table: "usertable",
		FieldCount: 10, FieldNamePrefix: "field", FieldLength: 100, MinFieldLength: 1, FieldLengthDistribution: "constant",
		FieldLengthHistogram: "hist.txt", ReadAllFields: true, ReadProportion: 0.95, UpdateProportion: 0.05,
		RequestDistribution: "uniform", HotspotDataFraction: 0.2, HotspotOpnFraction: 0.8, ExponentialPercentile: 95,
		ExponentialFrac: 0.8571428571, MinScanLength: 1, MaxScanLength: 1000, ScanLengthDistribution: "uniform", ZeroPadding: 1,
		RetryInterval: 3 * time.Second, Shards: 1, InsertBase: 2147483647,
		Warnings: []string{
			"property recordcount is not set: keys are chosen from 2147483647 records",
			"neither operationcount nor maxexecutiontime is set: the run goes on until it is stopped",
		},
	}
	if diff := cmp.Diff(want, config(t, ""), cmpopts.IgnoreUnexported(ycsb.Config{}), cmpopts.IgnoreFields(ycsb.Config{}, "Properties")); diff != "" {
		t.Error(diff)
	}
}

func TestConfigReadsEveryProperty(t *testing.T) {
	want := &ycsb.Config{
		OperationCount: 1, RecordCount: 10, InsertStart: 2, InsertCount: 3, ThreadCount: 4, Target: 5,
		MaxExecutionTime: 6 * time.Second, Status: true, StatusInterval: 7 * time.Second, Label: "l", ExportFile: "f", Exporter: "e",
		Table: "ns:t", FieldCount: 8, FieldNamePrefix: "c", FieldLength: 90, MinFieldLength: 9, FieldLengthDistribution: "uniform",
		FieldLengthHistogram: "h", ReadAllFieldsByName: true, WriteAllFields: true,
		ReadProportion: 0.1, UpdateProportion: 0.2, InsertProportion: 0.3, ScanProportion: 0.4, ReadModifyWriteProportion: 0.5,
		RequestDistribution: "latest", HotspotDataFraction: 0.6, HotspotOpnFraction: 0.7, ExponentialPercentile: 80,
		ExponentialFrac: 0.9, MinScanLength: 11, MaxScanLength: 12, ScanLengthDistribution: "zipfian", ZeroPadding: 13,
		OrderedInserts: true, RetryLimit: 14, RetryInterval: 15 * time.Second, KeepGoing: true,
		Seed: 18446744073709551615, SeedGiven: true, Shard: 16, Shards: 17, InsertBase: 18, ExactZipfian: true,
	}
	got := config(t, `dotransactions=false
operationcount=1
recordcount=10
insertstart=2
insertcount=3
threadcount=4
target=5
maxexecutiontime=6
status=TRUE
status.interval=7
label=l
exportfile=f
exporter=e
table=ns:t
fieldcount=8
fieldnameprefix=c
fieldlength=90
minfieldlength=9
fieldlengthdistribution=uniform
fieldlengthhistogram=h
readallfields=false
readallfieldsbyname=true
writeallfields=true
dataintegrity=false
readproportion=0.1
updateproportion=.2
insertproportion=3e-1
scanproportion=0.4
readmodifywriteproportion=0.5
requestdistribution=latest
hotspotdatafraction=0.6
hotspotopnfraction=0.7
exponential.percentile=80
exponential.frac=0.9
minscanlength=11
maxscanlength=12
scanlengthdistribution=zipfian
zeropadding=13
insertorder=ordered
core_workload_insertion_retry_limit=14
core_workload_insertion_retry_interval=15
core_workload_insertion_keep_going_on_error=true
hadoopbench.seed=18446744073709551615
hadoopbench.shard=16
hadoopbench.shards=17
hadoopbench.insertbase=18
hadoopbench.zipfian=exact
`)
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(ycsb.Config{}), cmpopts.IgnoreFields(ycsb.Config{}, "Properties")); diff != "" {
		t.Error(diff)
	}
}

func TestConfigRefusesByName(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"workload=", "property workload is missing: give -P with a workload file, or set it to site.ycsb.workloads.CoreWorkload"},
		{"workload=site.ycsb.workloads.TimeSeriesWorkload", `property workload: "site.ycsb.workloads.TimeSeriesWorkload" is not supported`},
		{"recordcount=1e6", `property recordcount: "1e6" is not a whole number from 0 to 1152921504606846976`},
		{"recordcount=-1", `property recordcount: "-1" is not`},
		{"recordcount=9223372036854775808", `property recordcount: "9223372036854775808" is not`},
		{"recordcount=", `property recordcount: "" is not`},
		{"recordcount=10\ninsertstart=5\ninsertcount=6", "properties insertstart 5 and insertcount 6: the range is to hold a record and to end at recordcount 10"},
		{"recordcount=10\ninsertstart=10", "properties insertstart 10 and insertcount 0: the range"},
		{"recordcount=10\ninsertcount=0", "properties insertstart 0 and insertcount 0: the range"},
		{"recordcount=10\ninsertstart=1152921504606846976\ninsertcount=1152921504606846976", "the range is to hold"},
		{"dotransactions=false", "property recordcount is missing: a load inserts that many records"},
		{"threadcount=0", `property threadcount: "0" is not a whole number from 1`},
		{"readallfields=yes", `property readallfields: "yes" is neither true nor false`},
		{"requestdistribution=zipf", `property requestdistribution: "zipf" is not one of uniform, zipfian, latest, hotspot, sequential, exponential`},
		{"insertorder=Hashed", `property insertorder: "Hashed" is not one of hashed, ordered`},
		{"readproportion=NaN", `property readproportion: "NaN" is not a number from 0`},
		{"readproportion=-0.1", `property readproportion: "-0.1" is not a number from 0`},
		{"readproportion=0\nupdateproportion=0", "property readproportion: all proportions are 0: set one above"},
		{"hotspotdatafraction=1.5", `property hotspotdatafraction: "1.5" is not a number from 0 to 1`},
		{"exponential.percentile=100", `property exponential.percentile: "100" is not`},
		{"fieldlengthdistribution=normal", `property fieldlengthdistribution: "normal" is not one of constant, uniform, zipfian, histogram`},
		{"fieldlengthdistribution=uniform\nminfieldlength=101", "property minfieldlength: 101 is more than fieldlength 100"},
		{"minscanlength=10\nmaxscanlength=9", "property minscanlength: 10 is more than maxscanlength 9"},
		{"dataintegrity=true\nfieldlengthdistribution=uniform", `property dataintegrity needs values of one length: set fieldlengthdistribution to constant and not to "uniform"`},
		{"dataintegrity=true\nfieldnameprefix=\\u00e9", `property dataintegrity needs ASCII names`},
		{"fieldcount=1000000\nfieldlength=2000", "property fieldlength: 1000000 fields of 2000 bytes are more than 1073741824 bytes a record"},
		{"hadoopbench.shard=2\nhadoopbench.shards=2", "property hadoopbench.shard: 2 is to be below hadoopbench.shards, 2"},
		{"hadoopbench.seed=-1", `property hadoopbench.seed: "-1" is not a whole number from 0 to 18446744073709551615`},
		{"operationcount=1152921504606846976\ninsertproportion=1", "property operationcount: 1152921504606846976 operations with insertproportion 1 are more inserts"},
		{"hadoopbench.zipfian=true", `property hadoopbench.zipfian: "true" is not one of ycsb, exact`},
	} {
		t.Run(test.text, func(t *testing.T) {
			_, err := ycsb.ParseConfig(properties(t, core+test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestConfigTellsAllThatIsWrong(t *testing.T) {
	_, err := ycsb.ParseConfig(properties(t, core+"recordcount=x\ntarget=y"))
	if err == nil || !strings.Contains(err.Error(), "recordcount") || !strings.Contains(err.Error(), "target") {
		t.Errorf("error %v", err)
	}
}

func TestConfigWarns(t *testing.T) {
	whole := core + "recordcount=1000\noperationcount=1000\n"
	for _, test := range []struct {
		text   string
		others []string
		want   []string
	}{
		{text: "recrodcount=1", want: []string{"property recrodcount is not known and has no effect; was recordcount meant?"}},
		{text: "requestDistribution=zipfian", want: []string{"property requestDistribution is not known and has no effect; was requestdistribution meant?"}},
		{text: "cassandra.readconsistencylevel=ONE", want: []string{"property cassandra.readconsistencylevel is not known and has no effect"}},
		{text: "maxscanrate=1", want: []string{"property maxscanrate has no effect"}},
		{text: "columnfamily=f\nmeasurementtype=hdrhistogram\nspin.sleep=true\nclientbuffering=true"},
		{text: "hbase.zookeeper.quorum=a\nours=1", others: []string{"hbase.*", "ours"}},
		{text: "readproportion=0.5", want: []string{
			"property updateproportion is not set: its default 0.05 applies; set it to 0 to leave the operation out",
			"the proportions' sum is 0.55 and not 1: they are taken as shares of it",
		}},
		{text: "readproportion=50\nupdateproportion=50", want: []string{"the proportions' sum is 100 and not 1: they are taken as shares of it"}},
		{text: "requestdistribution=zipfian\nreadproportion=0.5\nupdateproportion=0\ninsertproportion=0.5\noperationcount=1000000", want: []string{
			"property operationcount: 1000000 foresees so many inserts that a zipfian key is drawn about 1000 times until it is one that exists; lower it",
		}},
		{text: "clientbuffering=TRUE\nreadproportion=0.5\nupdateproportion=0\ninsertproportion=0.5", want: []string{
			"property clientbuffering: inserted records are chosen for reads before they were sent, and are then not found",
		}},
		{text: "clientbuffering=true\nreadproportion=0\nupdateproportion=0.5\ninsertproportion=0.5"},
		{text: "dotransactions=false\nreadproportion=0.5"},
	} {
		t.Run(test.text, func(t *testing.T) {
			c, err := ycsb.ParseConfig(properties(t, whole+test.text), test.others...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, c.Warnings); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The files that come with the program: the mix of each, and no warning.
func TestEmbeddedWorkloads(t *testing.T) {
	type mix struct {
		Read, Update, Insert, Scan, ReadModifyWrite float64
		Distribution                                string
		MaxScan                                     int
	}
	want := map[string]mix{
		"workloada":  {Read: 0.5, Update: 0.5, Distribution: "zipfian", MaxScan: 1000},
		"workloadb":  {Read: 0.95, Update: 0.05, Distribution: "zipfian", MaxScan: 1000},
		"workloadc":  {Read: 1, Distribution: "zipfian", MaxScan: 1000},
		"workloadd":  {Read: 0.95, Insert: 0.05, Distribution: "latest", MaxScan: 1000},
		"workloade":  {Scan: 0.95, Insert: 0.05, Distribution: "zipfian", MaxScan: 100},
		"workloadf":  {Read: 0.5, ReadModifyWrite: 0.5, Distribution: "zipfian", MaxScan: 1000},
		"updateonly": {Update: 1, Distribution: "zipfian", MaxScan: 1000},
	}
	entries, err := fs.ReadDir(workloads.Files, ".")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]mix{}
	for _, entry := range entries {
		c := embedded(t, entry.Name(), "")
		if len(c.Warnings) > 0 || c.RecordCount != 1000 || c.OperationCount != 1000 {
			t.Errorf("%s: %d records, %d operations, warnings %q", entry.Name(), c.RecordCount, c.OperationCount, c.Warnings)
		}
		got[entry.Name()] = mix{
			c.ReadProportion, c.UpdateProportion, c.InsertProportion, c.ScanProportion, c.ReadModifyWriteProportion,
			c.RequestDistribution, c.MaxScanLength,
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// embedded returns the configuration of a file that comes with the program, with further properties.
func embedded(t testing.TB, name, more string) *ycsb.Config {
	t.Helper()
	text, err := fs.ReadFile(workloads.Files, name)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ycsb.ReadProperties(strings.NewReader(string(text) + "\n" + more))
	if err != nil {
		t.Fatal(err)
	}
	c, err := ycsb.ParseConfig(p)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
