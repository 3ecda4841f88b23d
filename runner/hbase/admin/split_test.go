package admin_test

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
)

func TestSplitKeys(t *testing.T) {
	tests := []struct {
		name string
		n    int
		keys admin.Keys
		want []string
	}{
		{name: "one region needs no key", n: 1, want: nil},
		{name: "ordered, every second of ten", n: 5, keys: admin.Keys{Ordered: true, Records: 10}, want: []string{"user2", "user4", "user6", "user8"}},
		// In the order of strings: 0, 1, 10, 11, 2, 3, ..., 9.
		{name: "ordered, a prefix of others first", n: 4, keys: admin.Keys{Ordered: true, Records: 12}, want: []string{"user11", "user4", "user7"}},
		{name: "ordered, a region for each", n: 12, keys: admin.Keys{Ordered: true, Records: 12}, want: []string{
			"user1", "user10", "user11", "user2", "user3", "user4", "user5", "user6", "user7", "user8", "user9",
		}},
		{name: "ordered with zeros", n: 4, keys: admin.Keys{Ordered: true, ZeroPadding: 3, Records: 400}, want: []string{"user1", "user2", "user3"}},
		{name: "ordered beyond 19 digits", n: 2, keys: admin.Keys{Ordered: true, ZeroPadding: 24, Records: 20}, want: []string{"user00000000000000000000001"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := admin.SplitKeys(test.n, test.keys)
			if err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, key := range got {
				texts = append(texts, string(key))
			}
			if diff := gocmp.Diff(test.want, texts); diff != "" {
				t.Errorf("split keys (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSplitKeysRefuses(t *testing.T) {
	tests := []struct {
		name string
		n    int
		keys admin.Keys
		want string
	}{
		{name: "no region", n: 0, want: "0 regions"},
		{name: "too many regions", n: admin.MaxSplitRegions + 1, want: "choose 1 to 100000"},
		{name: "more regions than ordered keys", n: 3, keys: admin.Keys{Ordered: true, Records: 2}, want: "3 regions for 2 ordered keys"},
		{name: "negative padding", n: 3, keys: admin.Keys{ZeroPadding: -1}, want: "zeropadding=-1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := admin.SplitKeys(test.n, test.keys)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("SplitKeys: error %v, want one with %q", err, test.want)
			}
		})
	}
}

// TestSplitKeysShare counts a million of YCSB's keys in each region.
func TestSplitKeysShare(t *testing.T) {
	const records = 1_000_000
	tests := []struct {
		name string
		n    int
		keys admin.Keys
		off  float64 // of a share, how much a region may be off
	}{
		// Hashes are random: 5 standard deviations of a region's count are 5*sqrt(share).
		{name: "2 regions", n: 2, off: 0.008},
		{name: "7 regions", n: 7, off: 0.015},
		{name: "40 regions", n: 40, off: 0.033},
		{name: "40 regions, 12 digits at least", n: 40, keys: admin.Keys{ZeroPadding: 12}, off: 0.033},
		{name: "40 regions, 19 digits", n: 40, keys: admin.Keys{ZeroPadding: 19}, off: 0.033},
		{name: "40 regions, 30 digits", n: 40, keys: admin.Keys{ZeroPadding: 30}, off: 0.033},
		{name: "ordered", n: 40, keys: admin.Keys{Ordered: true, Records: records}, off: 0.001},
		{name: "ordered, 7 digits", n: 40, keys: admin.Keys{Ordered: true, ZeroPadding: 7, Records: records}, off: 0.001},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			splits, err := admin.SplitKeys(test.n, test.keys)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSortedFunc(splits, bytes.Compare) {
				t.Fatalf("split keys are not ascending: %q", splits)
			}
			counts := make([]int, test.n)
			for record := range int64(records) {
				key := ycsbKey(record, test.keys)
				region, found := slices.BinarySearchFunc(splits, key, bytes.Compare)
				if found {
					region++ // a split key is its region's first
				}
				counts[region]++
			}
			share := float64(records) / float64(test.n)
			for region, count := range counts {
				if off := float64(count)/share - 1; max(off, -off) > test.off {
					t.Errorf("region %d has %d keys, %.2f %% off %g", region, count, 100*off, share)
				}
			}
		})
	}
}

// ycsbKey is written apart from our own workload's code, after reference facts: FNV-1a over a number's eight octets.
func ycsbKey(record int64, keys admin.Keys) []byte {
	number := record
	if !keys.Ordered {
		hash := uint64(0xCBF29CE484222325)
		for octet := range 8 {
			hash = (hash ^ uint64(record)>>(8*octet)&0xff) * 1099511628211
		}
		if number = int64(hash); number < 0 {
			number = -number
		}
	}
	return fmt.Appendf(nil, "user%0*d", max(1, keys.ZeroPadding), number)
}

func TestYCSBKey(t *testing.T) {
	if got, want := string(ycsbKey(999, admin.Keys{})), "user2071219101098386137"; got != want {
		t.Errorf("key of record 999: %s, want %s", got, want)
	}
}

// TestSplitKeysExact compares small key sets with what sorting them gives.
func TestSplitKeysExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		keys := admin.Keys{Ordered: true, ZeroPadding: random.IntN(6), Records: 1 + random.Int64N(3000)}
		n := 1 + random.IntN(int(min(keys.Records, 50)))
		all := make([]string, keys.Records)
		for record := range keys.Records {
			all[record] = string(ycsbKey(record, keys))
		}
		slices.SortFunc(all, cmp.Compare)
		splits, err := admin.SplitKeys(n, keys)
		if err != nil {
			t.Fatal(err)
		}
		for i, split := range splits {
			before, _ := slices.BinarySearch(all, string(split))
			if want := (i + 1) * len(all) / n; before != want {
				t.Fatalf("%+v, %d regions: %d keys before %s, want %d", keys, n, before, split, want)
			}
		}
	}
}
