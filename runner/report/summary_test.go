package report

import "testing"

func TestSummary(t *testing.T) {
	latency := &Latency{P99: 12_100_000}
	full := Merged{
		Shards: ShardCounts{Expected: 4, Started: 4}, Bytes: 8 << 30, Times: Times{WallMicros: 12_300_000},
		Rates: Rates{
			AggregateMiBps: ptr(666.02), PerStreamMiBps: ptr(170.249), MeanIOBytes: ptr(1_000_000.0),
		},
		Latency: latency,
	}
	short := full
	short.Shards.Started = 3
	short.Errors = []ErrorCount{{"A", 2, ""}, {"B", 1, ""}}
	for name, tc := range map[string]struct {
		m    Merged
		test string
		want string
	}{
		"write": {full, "write", "write: 4 files, 8.0 GiB in 12.3 s: " +
			"aggregate 666.0 MiB/s, per stream 170.2 MiB/s, p99 of one 1.0 MB write 12.1 ms"},
		"read with losses": {short, "skipRead", "skipRead: 3 of 4 files, 8.0 GiB in 12.3 s: " +
			"aggregate 666.0 MiB/s, per stream 170.2 MiB/s, p99 of one 1.0 MB read 12.1 ms, 3 failed operations"},
		"nothing moved": {
			Merged{Shards: ShardCounts{Expected: 1, Started: 1}, Times: Times{WallMicros: 999}},
			"clean", "clean: 1 file in 999.0 µs",
		},
		"operations": {
			Merged{Shards: ShardCounts{Expected: 2, Started: 2}, Times: Times{WallMicros: 90 * second}, Latency: latency},
			"truncate", "truncate: 2 files in 90.0 s: p99 of one operation 12.1 ms",
		},
		"operations that move no bytes": {
			Merged{
				Shards: ShardCounts{Expected: 4, Started: 4}, Operations: 100_000, Times: Times{WallMicros: 12_300_000},
				Rates: Rates{OpsPerSec: ptr(8130.08)}, Latency: &Latency{P50: 1_200_000, P99: 5_400_000},
			},
			"create", "create: 100000 operations on 4 shards in 12.3 s: 8130.1 ops/s, p50 1.2 ms, p99 5.4 ms",
		},
		"operations at a rate": {
			Merged{
				Shards: ShardCounts{Expected: 2, Started: 1}, Operations: 1, Times: Times{WallMicros: 1_000_000},
				Rates: Rates{OpsPerSec: ptr(1.0)}, Latency: &Latency{P50: 900, P99: 900}, Intended: &Latency{P50: 1_500, P99: 2e9},
				Errors: []ErrorCount{{"A", 2, ""}},
			},
			"append", "append: 1 operation on 1 of 2 shards in 1.0 s: " +
				"1.0 ops/s, p50 900 ns, p99 900 ns, intended p50 1.5 µs, p99 2.0 s, 2 failed operations",
		},
		"nothing started": {Merged{Shards: ShardCounts{Expected: 4}}, "write", "write: 0 of 4 files"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Summary(&tc.m, tc.test); got != tc.want {
				t.Errorf("\ngot  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestSizesAndDurations(t *testing.T) {
	for want, got := range map[string]string{
		"0 B": binarySize(0), "1023 B": binarySize(1023), "1.0 KiB": binarySize(1024), "1.0 MiB": binarySize(1<<20 - 1),
		"8.0 GiB": binarySize(8 << 30), "8192.0 PiB": binarySize(maxInt64),
		"999 B": decimalSize(999), "1.0 MB": decimalSize(999_990), "131.1 kB": decimalSize(131_072),
		"5000.0 GB": decimalSize(5e12),
		"999 ns":    duration(999), "1.0 µs": duration(1000), "59.9 s": duration(59_900_000_000), "3600.0 s": duration(3600e9),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
