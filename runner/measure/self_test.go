package measure_test

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/measure"
	"github.com/hadoop-bench/operator/runner/report"
)

func files(pairs ...string) fstest.MapFS {
	m := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
	}
	return m
}

func TestSelfControlGroups(t *testing.T) {
	tests := map[string]struct {
		root      fs.FS
		allowance int64
		throttled time.Duration
	}{
		"no groups":           {files(), 4000, 0},
		"not looked at":       {nil, 4000, 0},
		"version 2, no limit": {files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/cpu.max", "max 100000\n", "sys/fs/cgroup/cpu.stat", "usage_usec 9\nthrottled_usec 0\n"), 4000, 0},
		"version 2, container's own view": {
			files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/cpu.max", "150000 100000\n",
				"sys/fs/cgroup/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec 1234\n"), 1500, 1234 * time.Microsecond,
		},
		"version 2, path of the node, top of the mount": {
			files("proc/self/cgroup", "0::/kubepods/pod1/c1\n", "sys/fs/cgroup/cpu.max", "50000 100000"), 500, 0,
		},
		"version 2, limit of the pod": {
			files("proc/self/cgroup", "0::/pod1/c1\n", "sys/fs/cgroup/pod1/c1/cpu.max", "max 100000",
				"sys/fs/cgroup/pod1/cpu.max", "200000 100000", "sys/fs/cgroup/pod1/cpu.stat", "throttled_usec 5\n"), 2000, 5 * time.Microsecond,
		},
		"version 1": {
			files("proc/self/cgroup", "4:memory:/x\n3:cpu,cpuacct:/kubepods/c1\n0::/\n",
				"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n",
				"sys/fs/cgroup/cpu/cpu.stat", "nr_periods 1\nnr_throttled 1\nthrottled_time 7000\n"), 250, 7 * time.Microsecond,
		},
		"version 1, no limit": {
			files("proc/self/cgroup", "1:cpu:/\n", "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"), 4000, 0,
		},
		"version 1, path below the mount": {
			files("proc/self/cgroup", "1:cpu:/a/b\n", "sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us", "300000", "sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us", "100000",
				"sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1", "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000"), 3000, 0,
		},
		"a limit above the cores": {files("proc/self/cgroup", "0::/\n", "sys/fs/cgroup/cpu.max", "900000 100000"), 4000, 0},
		"a path out of the mount": {files("proc/self/cgroup", "0::/../../x\n", "sys/fs/cgroup/x/cpu.max", "100000 100000"), 1000, 0},
		"unreadable texts":        {files("proc/self/cgroup", "x\n0::/\n", "sys/fs/cgroup/cpu.max", "much", "sys/fs/cgroup/cpu.stat", "throttled_usec many\n"), 4000, 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			self := measure.Self{Root: tt.root, Cores: 4}
			usage, err := self.Read()
			if err != nil {
				t.Fatalf("Read: %v", err)
			}
			if usage.Throttled != tt.throttled {
				t.Errorf("throttled %s, want %s", usage.Throttled, tt.throttled)
			}
			got := self.Between(measure.Usage{CPU: time.Second}, measure.Usage{CPU: 3 * time.Second, Throttled: time.Millisecond})
			want := &report.ClientUse{CPUMicros: 2_000_000, AllowanceMilli: tt.allowance, ThrottledMicros: 1000}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("Between (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSelfOfThisProcess(t *testing.T) {
	self := measure.Self{Root: os.DirFS("/")}
	before, err := self.Read()
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	for after := before; after.CPU == before.CPU; {
		if after, err = self.Read(); err != nil {
			t.Fatalf("Read: %v", err)
		}
	}
	after, err := self.Read()
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	use := self.Between(before, after)
	if use.CPUMicros <= 0 || use.AllowanceMilli <= 0 || use.ThrottledMicros < 0 {
		t.Errorf("use %+v, want CPU time and an allowance", use)
	}
}
