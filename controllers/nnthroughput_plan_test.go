package controllers

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/api/v1alpha1"
	"github.com/hadoop-bench/operator/runner/plan"
)

func TestParseBlockSize(t *testing.T) {
	const junk = " is no whole number with or without one of k, m, g, t, p, e"
	tests := map[string]struct {
		want int64
		err  string
	}{
		"16": {16, ""}, "0": {0, ""}, "007": {7, ""}, "1k": {1 << 10, ""}, "3M": {3 << 20, ""}, "2g": {2 << 30, ""}, "1T": {1 << 40, ""},
		"1p": {1 << 50, ""}, "7e": {7 << 60, ""}, "9223372036854775807": {math.MaxInt64, ""},
		"8e":                  {0, `"8e" is more than an int64 holds`},
		"9223372036854775808": {0, `"9223372036854775808" is more than an int64 holds`},
		"9007199254740992k":   {0, `"9007199254740992k" is more than an int64 holds`},
		"":                    {0, `""` + junk}, "k": {0, `"k"` + junk}, "1kb": {0, `"1kb"` + junk}, "-1": {0, `"-1"` + junk}, "1.5m": {0, `"1.5m"` + junk},
		"+1": {0, `"+1"` + junk}, "1 k": {0, `"1 k"` + junk}, "1x": {0, `"1x"` + junk},
	}
	for in, tc := range tests {
		got, err := parseBlockSize(in)
		wantParsed(t, in, tc.want, got, tc.err, err)
	}
}

func TestParseRate(t *testing.T) {
	const junk = " is no decimal with at most three places"
	tests := map[string]struct {
		want int64
		err  string
	}{
		"1": {1000, ""}, "0": {0, ""}, "0.001": {1, ""}, "0.5": {500, ""}, "12.34": {12340, ""}, "0000000000001": {1000, ""},
		"999999999.999": {999_999_999_999, ""}, "1000000000": {0, `"1000000000" is more than 999999999 operations per second`},
		"99999999999999999999": {0, `"99999999999999999999" is more than 999999999 operations per second`},
		"":                     {0, `""` + junk}, ".": {0, `"."` + junk}, ".5": {0, `".5"` + junk}, "1.": {0, `"1."` + junk}, "1.0000": {0, `"1.0000"` + junk},
		"-1": {0, `"-1"` + junk}, "1e3": {0, `"1e3"` + junk}, "1.2.3": {0, `"1.2.3"` + junk}, "1.-5": {0, `"1.-5"` + junk},
	}
	for in, tc := range tests {
		got, err := parseRate(in)
		wantParsed(t, in, tc.want, got, tc.err, err)
	}
}

func wantParsed(t *testing.T, in string, want, got int64, wantErr string, err error) {
	t.Helper()
	text := ""
	if err != nil {
		text = err.Error()
	}
	if got != want || text != wantErr {
		t.Errorf("%q is %d, error %q; want %d, error %q", in, got, text, want, wantErr)
	}
}

func FuzzParseNNThroughput(f *testing.F) {
	for _, s := range []string{"1", "16k", "8e", "", "-1", "0.5", "1.0000", "999999999.999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if n, err := parseBlockSize(s); n < 0 || err != nil && n != 0 {
			t.Errorf("parseBlockSize(%q) = %d, error %v", s, n, err)
		}
		if n, err := parseRate(s); n < 0 || err != nil && n != 0 || n > (maxRate+1)*1000 {
			t.Errorf("parseRate(%q) = %d, error %v", s, n, err)
		}
	})
}

func TestNNThroughputPlan(t *testing.T) {
	tests := map[string]struct {
		edits []nntEdit
		want  plan.NNThroughput
	}{
		"defaults are NNThroughputBenchmark's": {
			[]nntEdit{doing("all")},
			plan.NNThroughput{
				Engine: "Native", Operations: []string{"create", "mkdirs", "open", "delete", "append", "fileStatus", "rename", "blockReport"},
				BaseDirs: []string{"/nnThroughputBenchmark/bench/nightly"}, Threads: 3, Connections: 1, Files: 10, FilesPerDir: 4, Dirs: 10, DirsPerDir: 2,
				DataNodes: 10, Reports: 30, BlocksPerReport: 100, BlocksPerFile: 10, NodesToDecommission: 1, NodeReplicationLimit: 100, TotalBlocks: 100,
			},
		},
		"everything set": {
			[]nntEdit{doing("create", "open", "clean"), func(s *v1alpha1.NNThroughputRunSpec) {
				s.Threads, s.ConnectionsPerShard, s.Files, s.FilesPerDir, s.Dirs, s.DirsPerDir = ptr(int32(1000)), ptr(int32(8)), ptr(int64(1e9)), ptr(int32(100)), ptr(int64(5)), ptr(int32(6))
				s.Close, s.UseExisting, s.AppendNewBlk, s.Replication, s.BlockSize = ptr(true), ptr(true), ptr(true), ptr(int32(2)), "1m"
				s.DataNodes, s.Reports, s.BlocksPerReport, s.BlocksPerFile = ptr(int32(11)), ptr(int64(12)), ptr(int32(13)), ptr(int32(14))
				s.NodesToDecommission, s.NodeReplicationLimit, s.TotalBlocks = ptr(int32(15)), ptr(int32(16)), ptr(int32(17))
				s.UGCacheRefreshCount, s.ManageSafeMode, s.AllowFakeDataNodes, s.KeepResults = ptr(int32(18)), ptr(true), ptr(true), ptr(true)
				s.Rate, s.Duration, s.Warmup, s.BaseDirNames = "1.5", duration(time.Minute), duration(1500*time.Millisecond), []string{"/a", "/b"}
				s.Target.HTTP = &v1alpha1.HTTPAddresses{NameNodes: []string{"http://nn:9870"}}
			}},
			plan.NNThroughput{
				Engine: "Native", Operations: []string{"create", "open"}, BaseDirs: []string{"/a", "/b"}, Threads: 1000, Connections: 8,
				Files: 1e9, FilesPerDir: 100, Dirs: 5, DirsPerDir: 6, Close: true, UseExisting: true, AppendNewBlk: true, Replication: 2, BlockSize: 1 << 20,
				DataNodes: 11, Reports: 12, BlocksPerReport: 13, BlocksPerFile: 14, NodesToDecommission: 15, NodeReplicationLimit: 16, TotalBlocks: 17,
				UGCacheRefreshCount: 18, ManageSafeMode: true, AllowFakeDataNodes: true, KeepResults: true,
				RateMilli: 1500, DurationMillis: 60_000, WarmupMillis: 1500, HTTP: []string{"http://nn:9870"},
			},
		},
		"upstream": {
			[]nntEdit{doing("all"), upstreamRun("file:///"), func(s *v1alpha1.NNThroughputRunSpec) { s.BaseDirName = "/x" }},
			plan.NNThroughput{
				Engine: "Upstream", Operations: []string{"create", "mkdirs", "open", "delete", "append", "fileStatus", "rename", "blockReport", "replication"},
				BaseDirs: []string{"/x"}, Threads: 3, Connections: 1, Files: 10, FilesPerDir: 4, Dirs: 10, DirsPerDir: 2, LogLevel: "ERROR",
				DataNodes: 10, Reports: 30, BlocksPerReport: 100, BlocksPerFile: 10, NodesToDecommission: 1, NodeReplicationLimit: 100, TotalBlocks: 100,
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var p plan.Plan
			NNThroughput{}.Fill(nntRun(tc.edits...), &p)
			if diff := cmp.Diff(&tc.want, p.NNThroughput); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		})
	}
}
