package controllers

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
	"github.com/hadoop-bench/operator/runner/report"
)

func TestParseSize(t *testing.T) {
	const unit = "MB"
	tests := map[string]struct {
		in   string
		unit string
		want int64
		err  string
	}{
		"default unit":              {"1", unit, 1 << 20, ""},
		"other default unit":        {"1048576", "B", 1 << 20, ""},
		"bytes":                     {"1B", unit, 1, ""},
		"kilobytes":                 {"1KB", unit, 1 << 10, ""},
		"megabytes":                 {"3MB", unit, 3 << 20, ""},
		"gigabytes":                 {"2GB", unit, 2 << 30, ""},
		"terabytes":                 {"1TB", unit, 1 << 40, ""},
		"lower case":                {"10gb", unit, 10 << 30, ""},
		"mixed case":                {"10Gb", unit, 10 << 30, ""},
		"zero":                      {"0", unit, 0, ""},
		"leading zeros":             {"007KB", unit, 7 << 10, ""},
		"largest bytes":             {"9223372036854775807B", unit, math.MaxInt64, ""},
		"largest terabytes":         {"8388607TB", unit, 8388607 << 40, ""},
		"one terabyte too many":     {"8388608TB", unit, 0, `"8388608TB" is more than an int64 holds`},
		"too many digits":           {"9223372036854775808B", unit, 0, `"9223372036854775808B" does not begin with a whole number`},
		"too large by the default":  {"8796093022208", unit, 0, `"8796093022208" is more than an int64 holds`},
		"nothing":                   {"", unit, 0, `"" does not begin with a whole number`},
		"only a unit":               {"MB", unit, 0, `"MB" does not begin with a whole number`},
		"negative":                  {"-1MB", unit, 0, `"-1MB" does not begin with a whole number`},
		"fraction":                  {"1.5GB", unit, 0, `"1.5GB" does not begin with a whole number`},
		"space":                     {"1 GB", unit, 0, `"1 GB" does not begin with a whole number`},
		"unit of one letter":        {"1G", unit, 0, `unit "G" is none of B, KB, MB, GB, TB`},
		"unit twice":                {"1GBGB", unit, 0, `unit "GBGB" is none of B, KB, MB, GB, TB`},
		"binary unit of Kubernetes": {"1Gi", unit, 0, `"1Gi" does not begin with a whole number`},
		"petabytes":                 {"1PB", unit, 0, `"1PB" does not begin with a whole number`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseSize(tc.in, tc.unit)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != tc.want || text != tc.err {
				t.Errorf("parseSize(%q) = %d, error %q; want %d, error %q", tc.in, got, text, tc.want, tc.err)
			}
		})
	}
}

func FuzzParseSize(f *testing.F) {
	for _, s := range []string{"1", "10GB", "8388608TB", "", "-1", "1kb", "0B"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := parseSize(s, "MB")
		if n < 0 || err != nil && n != 0 {
			t.Errorf("parseSize(%q) = %d, error %v", s, n, err)
		}
	})
}

func TestDFSIOCheck(t *testing.T) {
	tests := map[string]struct {
		edit func(*v1alpha1.DFSIORun)
		want []string
	}{
		"fine":             {func(*v1alpha1.DFSIORun) {}, nil},
		"read only":        {func(r *v1alpha1.DFSIORun) { r.Spec.Tests = []v1alpha1.DFSIOTest{"read"} }, nil},
		"clean only":       {func(r *v1alpha1.DFSIORun) { r.Spec.Tests = []v1alpha1.DFSIOTest{"clean"} }, nil},
		"all supported":    {func(r *v1alpha1.DFSIORun) { r.Spec.Tests = []v1alpha1.DFSIOTest{"write", "read", "clean"} }, nil},
		"full parallelism": {func(r *v1alpha1.DFSIORun) { r.Spec.Parallelism = ptr(int32(2)) }, nil},
		"no sync":          {func(r *v1alpha1.DFSIORun) { r.Spec.Sync = v1alpha1.SyncNone }, nil},
		"incompressible":   {func(r *v1alpha1.DFSIORun) { r.Spec.Data = &v1alpha1.DFSIOData{CompressRatioPercent: ptr(int32(100))} }, nil},
		"not compatible":   {func(r *v1alpha1.DFSIORun) { r.Spec.UpstreamCompatible = ptr(false) }, nil},
		"other tests": {
			func(r *v1alpha1.DFSIORun) { r.Spec.Tests = []v1alpha1.DFSIOTest{"write", "randomRead", "truncate"} },
			[]string{"NotSupported spec.tests[1]: randomRead is not supported yet; use write, read or clean", "NotSupported spec.tests[2]: truncate is not supported yet; use write, read or clean"},
		},
		"read before write": {
			func(r *v1alpha1.DFSIORun) { r.Spec.Tests = []v1alpha1.DFSIOTest{"read", "write"} },
			[]string{"InvalidSpec spec.tests: [read write] is invalid; make write the first test: the others need its files"},
		},
		"clean before read": {
			func(r *v1alpha1.DFSIORun) { r.Spec.Tests = []v1alpha1.DFSIOTest{"write", "clean", "read"} },
			[]string{"InvalidSpec spec.tests[1]: clean is invalid; make clean the last test: it removes the files"},
		},
		"twice": {
			func(r *v1alpha1.DFSIORun) { r.Spec.Tests = []v1alpha1.DFSIOTest{"write", "read", "read"} },
			[]string{"InvalidSpec spec.tests[2]: read is invalid; name each test once; spec.repeats measures it more often"},
		},
		"unreadable size": {
			func(r *v1alpha1.DFSIORun) { r.Spec.Size = "1GiB" },
			[]string{`InvalidSpec spec.size: 1GiB is invalid; "1GiB" does not begin with a whole number`},
		},
		"base directory": {
			func(r *v1alpha1.DFSIORun) { r.Spec.BaseDir = "/a//b" },
			[]string{"InvalidSpec spec.baseDir: /a//b is invalid; write it in its shortest form, /a/b"},
		},
		"size of zero":        {func(r *v1alpha1.DFSIORun) { r.Spec.Size = "0GB" }, []string{"InvalidSpec spec.size: 0GB is invalid; give a size above zero"}},
		"block size":          {func(r *v1alpha1.DFSIORun) { r.Spec.BlockSize = "1MB" }, nil},
		"block size in bytes": {func(r *v1alpha1.DFSIORun) { r.Spec.BlockSize = "512" }, nil},
		"odd block size": {
			func(r *v1alpha1.DFSIORun) { r.Spec.BlockSize = "1000" },
			[]string{"InvalidSpec spec.blockSize: 1000 is invalid; give a multiple of 512 bytes, the checksum's chunk"},
		},
		"no block size": {
			func(r *v1alpha1.DFSIORun) { r.Spec.BlockSize = "0" },
			[]string{"InvalidSpec spec.blockSize: 0 is invalid; give a multiple of 512 bytes, the checksum's chunk"},
		},
		"unreadable block size": {
			func(r *v1alpha1.DFSIORun) { r.Spec.BlockSize = "9999999999TB" },
			[]string{`InvalidSpec spec.blockSize: 9999999999TB is invalid; "9999999999TB" is more than an int64 holds`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			wantSlice(t, "problems", tc.want, problems(DFSIO{}.Check(newRun(tc.edit))))
		})
	}
}

func problems(in []Problem) []string {
	var out []string
	for _, p := range in {
		out = append(out, p.Reason+" "+p.Message)
	}
	return out
}

func TestDFSIOPlan(t *testing.T) {
	tests := map[string]struct {
		edit func(*v1alpha1.DFSIORun)
		want plan.DFSIO
	}{
		"defaults are TestDFSIO's": {
			func(r *v1alpha1.DFSIORun) { r.Spec.NrFiles = nil },
			plan.DFSIO{
				Tests: []string{"write", "read"}, BaseDir: "/benchmarks/TestDFSIO/bench/nightly", NrFiles: 1, Size: 1 << 20, BufferSize: 1_000_000,
				Pattern: "Random", Client: "Colinmarc",
			},
		},
		"everything set": {
			func(r *v1alpha1.DFSIORun) {
				r.Spec.Tests, r.Spec.Size, r.Spec.BufferSize = []v1alpha1.DFSIOTest{"write"}, "128", ptr(int32(65536))
				r.Spec.Replication, r.Spec.BlockSize, r.Spec.BaseDir = ptr(int32(2)), "64mb", "/data"
				r.Spec.Data = &v1alpha1.DFSIOData{Pattern: v1alpha1.PatternZero, Seed: ptr(int64(-7))}
				r.Spec.Client = v1alpha1.ClientColinmarc
			},
			plan.DFSIO{
				Tests: []string{"write"}, BaseDir: "/data", NrFiles: 2, Size: 128 << 20, BufferSize: 65536, Replication: 2, BlockSize: 64 << 20,
				Pattern: "Zero", Seed: -7, Client: "Colinmarc",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var p plan.Plan
			DFSIO{}.Fill(newRun(tc.edit), &p)
			if diff := cmp.Diff(&tc.want, p.DFSIO); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDFSIOText(t *testing.T) {
	in := report.MergeInput{Expected: 2, Reports: []*report.Report{completeReport(testID(), 0, testNow), completeReport(testID(), 1, testNow)}}
	m, err := report.Merge(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := DFSIO{}.Text(newRun(), Step{Name: "write"}, in, m)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Join([]string{
		"----- TestDFSIO ----- : write",
		"            Date & time: Tue Dec 01 12:00:10 UTC 2026",
		"        Number of files: 2",
		" Total MBytes processed: 2048",
		"      Throughput mb/sec: 102.4",
		" Average IO rate mb/sec: 102.4",
		"  IO rate std deviation: 0.02", // of equal rates: the rest that TestDFSIO's float32 sums leave
		"     Test exec time sec: 10",
		"", "",
	}, "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if _, err := (DFSIO{}).Text(newRun(), Step{Name: "verify"}, in, m); err == nil {
		t.Error("a step that TestDFSIO has no text for is rendered")
	}
}

func TestDFSIOOfAnotherKind(t *testing.T) {
	if got := dfsioSpec(nil); got == nil || len(got.Tests) != 0 {
		t.Errorf("spec %+v", got)
	}
	if _, ok := (DFSIO{}).New().(*v1alpha1.DFSIORun); !ok || (DFSIO{}).Kind() != "DFSIORun" || (DFSIO{}).TextFile() != "TestDFSIO_results.log" {
		t.Error("DFSIO is not the benchmark of DFSIORun")
	}
}
