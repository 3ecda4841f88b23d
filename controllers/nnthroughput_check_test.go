package controllers

import (
	"strings"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/api/v1alpha1"
)

func TestNNThroughputCheck(t *testing.T) {
	type spec = v1alpha1.NNThroughputRunSpec
	fake := func(s *spec) { s.AllowFakeDataNodes = ptr(true) }
	existing := func(s *spec) { s.UseExisting = ptr(true) }
	lasting := func(s *spec) { s.Duration = duration(time.Minute) }
	tests := map[string]struct {
		edits []nntEdit
		want  []string
	}{
		"fine": {nil, nil},
		"all":  {[]nntEdit{doing("all"), fake}, nil},
		"all and more": {
			[]nntEdit{doing("create", "all"), fake},
			[]string{"spec.operations[1]: all is invalid; let all stand alone: it names every operation already"},
		},
		"twice": {[]nntEdit{doing("open", "create", "open")}, []string{"spec.operations[2]: open is invalid; name each operation once; spec.repeats measures it more often"}},
		"clean first": {
			[]nntEdit{doing("clean", "create")},
			[]string{"spec.operations[0]: clean is invalid; make clean the last operation: it removes the run's directory"},
		},
		"replication by ourselves": {
			[]nntEdit{doing("replication")},
			[]string{"spec.operations[0]: replication is invalid; set spec.engine to Upstream and spec.target.fs to file:///: it works on the inside of a NameNode, which no other process can reach"},
		},
		"replication on a cluster": {
			[]nntEdit{doing("replication"), upstreamRun("hdfs://namenode:8020")},
			[]string{"spec.operations[0]: replication is invalid; set spec.engine to Upstream and spec.target.fs to file:///: it works on the inside of a NameNode, which no other process can reach"},
		},
		"standalone": {[]nntEdit{doing("create", "replication", "blockReport"), upstreamRun("file:///")}, nil},

		"a shard without a thread": {
			[]nntEdit{func(s *spec) { s.Shards = ptr(int32(4)) }},
			[]string{"spec.shards: 4 is invalid; raise spec.threads to as many, or use at most 3 shards: each needs a thread"},
		},
		"block reports need no thread": {[]nntEdit{doing("blockReport"), fake, func(s *spec) { s.Shards = ptr(int32(10)) }}, nil},
		"a shard without a fake DataNode": {
			[]nntEdit{doing("blockReport"), fake, func(s *spec) { s.Shards = ptr(int32(11)) }},
			[]string{"spec.shards: 11 is invalid; raise spec.datanodes to as many, or use at most 10 shards: each needs a fake DataNode"},
		},
		"as many names as there are": {[]nntEdit{func(s *spec) { s.Files, s.FilesPerDir = ptr(int64(2_097_148)), ptr(int32(2)) }}, nil},
		"more files than names": {
			[]nntEdit{func(s *spec) { s.Files, s.FilesPerDir = ptr(int64(2_097_149)), ptr(int32(2)) }},
			[]string{"spec.files: 2097149 is invalid; raise spec.filesPerDir: with 2 there are names for 2097148 files"},
		},
		"more directories than names": {
			[]nntEdit{doing("mkdirs"), func(s *spec) { s.Dirs, s.DirsPerDir = ptr(int64(20)), ptr(int32(1)) }},
			[]string{"spec.dirs: 20 is invalid; raise spec.dirsPerDir: with 1 there are names for 19 directories"},
		},
		"sizes and rates": {
			[]nntEdit{func(s *spec) { s.BlockSize, s.Rate = "16kb", "1." }},
			[]string{
				`spec.blockSize: 16kb is invalid; "16kb" is no whole number with or without one of k, m, g, t, p, e`,
				`spec.rate: 1. is invalid; "1." is no decimal with at most three places`,
			},
		},
		"nothing": {
			[]nntEdit{func(s *spec) { s.BlockSize, s.Rate = "0k", "0.000" }},
			[]string{"spec.blockSize: 0k is invalid; give a size above zero", "spec.rate: 0.000 is invalid; give a rate above zero, or remove it"},
		},
		"threads for what has none": {
			[]nntEdit{doing("blockReport", "clean"), fake, func(s *spec) { s.Threads, s.Shards = ptr(int32(64)), ptr(int32(4)) }},
			[]string{"spec.threads: an option of create, mkdirs, open, delete, append, fileStatus, rename is invalid; remove it, or add such an operation to spec.operations"},
		},
		"options that nothing takes": {
			[]nntEdit{doing("mkdirs"), func(s *spec) { s.Files, s.Reports = ptr(int64(1)), ptr(int64(1)) }},
			[]string{
				"spec.files: an option of create, open, delete, append, fileStatus, rename is invalid; remove it, or add such an operation to spec.operations",
				"spec.reports: an option of blockReport is invalid; remove it, or add such an operation to spec.operations",
			},
		},

		"existing files":             {[]nntEdit{doing("open", "fileStatus", "rename"), existing}, nil},
		"existing files, more often": {[]nntEdit{doing("open"), existing, func(s *spec) { s.Repeats = ptr(int32(3)) }}, nil},
		"used up, then directories":  {[]nntEdit{doing("delete", "mkdirs"), existing}, nil},
		"used up before they are read": {
			[]nntEdit{doing("append", "open"), existing},
			[]string{"spec.useExisting: true with operation append before others is invalid; make it the last one that works on files: it uses them up"},
		},
		"used up twice": {
			[]nntEdit{doing("delete"), existing, func(s *spec) { s.Repeats = ptr(int32(2)) }},
			[]string{"spec.useExisting: true with operation delete and 2 repeats is invalid; measure it once: it uses the files up"},
		},
		"made although they are there": {
			[]nntEdit{doing("create", "open", "clean"), existing},
			[]string{
				"spec.useExisting: true with operation create is invalid; remove one of the two: the files are there already, and not this run's to make or remove",
				"spec.useExisting: true with operation clean is invalid; remove one of the two: the files are there already, and not this run's to make or remove",
			},
		},

		"duration": {[]nntEdit{doing("create", "mkdirs", "fileStatus", "blockReport"), fake, lasting, func(s *spec) { s.Files = ptr(int64(1000)) }}, nil},
		"duration of what ends": {
			[]nntEdit{doing("delete", "clean"), lasting},
			[]string{
				"spec.duration: 1m0s with operation delete is invalid; remove one of the two: it cannot go on for as long as one likes",
				"spec.duration: 1m0s with operation clean is invalid; remove one of the two: it cannot go on for as long as one likes",
			},
		},
		"duration and numbers": {
			[]nntEdit{doing("create", "mkdirs", "blockReport"), fake, lasting, func(s *spec) { s.Files, s.Dirs, s.Reports = ptr(int64(9)), ptr(int64(9)), ptr(int64(9)) }},
			[]string{
				"spec.duration: 1m0s with files is invalid; remove one of the two: either decides how much create does",
				"spec.duration: 1m0s with dirs is invalid; remove one of the two: either decides how much mkdirs does",
				"spec.duration: 1m0s with reports is invalid; remove one of the two: either decides how much blockReport does",
			},
		},
		"no duration": {[]nntEdit{func(s *spec) { s.Duration = duration(time.Microsecond) }}, []string{"spec.duration: 1µs is invalid; give a duration above zero, or remove it"}},

		"fake DataNodes that nobody agreed to": {
			[]nntEdit{doing("all")},
			[]string{"spec.allowFakeDataNodes: false with operation blockReport is invalid; set it to true if the target serves nobody else: the NameNode may send other clients' blocks to DataNodes that do not exist"},
		},
		"safe mode": {
			[]nntEdit{func(s *spec) { s.ManageSafeMode, s.NonSuperUser, s.KeepResults = ptr(true), ptr(true), ptr(true) }},
			[]string{
				"spec.manageSafeMode: true with nonSuperUser is invalid; remove one of the two: only a superuser can change the safe mode",
				"spec.manageSafeMode: true with keepResults is invalid; remove one of the two: it is the cleanup that enters safe mode again",
			},
		},

		"log level": {
			[]nntEdit{func(s *spec) { s.LogLevel = "INFO" }},
			[]string{"spec.logLevel: INFO is invalid; remove it: only the original tool, engine Upstream, has one"},
		},
		"standalone by ourselves": {
			[]nntEdit{func(s *spec) { s.Target.FS = "file:///" }},
			[]string{"spec.target.fs: file:/// is invalid; name a NameNode, hdfs://host:port, or set spec.engine to Upstream, which brings its own"},
		},
		"upstream on a cluster": {[]nntEdit{doing("all"), fake, upstreamRun("hdfs://namenode:8020")}, nil},
		"upstream without an image": {
			[]nntEdit{upstreamRun("file:///"), func(s *spec) { s.PodTemplate = nil }},
			[]string{"spec.podTemplate.image: no image is invalid; name a Hadoop image: engine Upstream runs the Java class that is in it"},
		},
		"upstream's clean": {
			[]nntEdit{doing("clean"), upstreamRun("hdfs://namenode:8020")},
			[]string{"spec.operations[0]: clean is invalid; remove it: the original tool's clean deletes /nnThroughputBenchmark, whatever baseDirName says"},
		},
		"upstream would use the files up": {
			[]nntEdit{doing("open"), upstreamRun("hdfs://namenode:8020"), existing},
			[]string{"spec.useExisting: true with engine Upstream is invalid; use engine Native: the original tool moves the files away and deletes them"},
		},
		"nothing stays of a standalone NameNode": {
			[]nntEdit{doing("open"), upstreamRun("file:///"), func(s *spec) { s.KeepResults = ptr(true) }},
			[]string{"spec.keepResults: something for a NameNode that stays is invalid; remove it: each step of a standalone run has a NameNode of its own, which goes with its pod"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range check(NNThroughput{}, nntRun(tc.edits...)) {
				if p.Reason != v1alpha1.ReasonInvalidSpec {
					t.Errorf("reason %s", p.Reason)
				}
				got = append(got, p.Message)
			}
			wantSlice(t, "problems", tc.want, got)
		})
	}
}

// TestUpstreamIsRefusedWhatGoesBeyondIt names every field that the original tool has nothing for.
func TestUpstreamIsRefusedWhatGoesBeyondIt(t *testing.T) {
	run := nntRun(doing("append"), upstreamRun("hdfs://namenode:8020"), func(s *v1alpha1.NNThroughputRunSpec) {
		s.Shards, s.Rate, s.Duration, s.Warmup, s.ConnectionsPerShard = ptr(int32(2)), "1", duration(time.Minute), duration(time.Second), ptr(int32(2))
		s.BaseDirNames, s.AppendNewBlk, s.Client = []string{"/a", "/b"}, ptr(true), v1alpha1.ClientNative
		s.Target.Kerberos = &v1alpha1.Kerberos{Principal: "bench@EXAMPLE.COM"}
	})
	var got []string
	for _, p := range checkEngine(&run.Spec) {
		field, message, _ := strings.Cut(strings.TrimPrefix(p.Message, "spec."), ": ")
		if message != "what goes beyond the original tool is invalid; remove it, or use engine Native" {
			t.Errorf("message %q", p.Message)
		}
		got = append(got, field)
	}
	wantSlice(t, "fields", []string{"shards", "rate", "duration", "warmup", "connectionsPerShard", "baseDirNames", "appendNewBlk", "client", "target.kerberos"}, got)
}

func TestBaseDirs(t *testing.T) {
	long := "/" + strings.Repeat("x", 4000)
	tests := map[string]struct {
		one  string
		many []string
		want []string
	}{
		"one":              {"/bench", nil, nil},
		"several":          {"", []string{"/a/bench", "/b/bench", "/a/bench2"}, nil},
		"one and several":  {"/bench", []string{"/a"}, []string{"spec.baseDirNames: [/a] is invalid; remove it or spec.baseDirName"}},
		"relative":         {"bench", nil, []string{"spec.baseDirName: bench is invalid; write an absolute path, with a slash in front"}},
		"root":             {"/", nil, []string{"spec.baseDirName: / is invalid; name a directory: the root belongs to everybody"}},
		"dots":             {"/a/../b", nil, []string{"spec.baseDirName: /a/../b is invalid; write it in its shortest form, /b"}},
		"slash at the end": {"/a/", nil, []string{"spec.baseDirName: /a/ is invalid; write it in its shortest form, /a"}},
		"colon":            {"/a:b", nil, []string{"spec.baseDirName: /a:b is invalid; choose another: HDFS allows neither colons nor zero bytes in names"}},
		"long":             {long, nil, []string{"spec.baseDirName: " + long + " is invalid; choose a shorter one, of at most 4000 bytes"}},
		"odd ones":         {"", []string{"/a", "//b"}, []string{"spec.baseDirNames[1]: //b is invalid; write it in its shortest form, /b"}},
		"the same twice":   {"", []string{"/a", "/a"}, []string{"spec.baseDirNames[1]: /a is invalid; choose one outside /a: threads in the two would meet"}},
		"one in another":   {"", []string{"/a/b", "/a"}, []string{"spec.baseDirNames[0]: /a/b is invalid; choose one outside /a: threads in the two would meet"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, p := range checkBaseDirs(&v1alpha1.NNThroughputRunSpec{BaseDirName: tc.one, BaseDirNames: tc.many}) {
				got = append(got, p.Message)
			}
			wantSlice(t, "problems", tc.want, got)
		})
	}
}
