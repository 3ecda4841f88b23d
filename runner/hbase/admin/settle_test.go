package admin_test

import (
	"errors"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
)

// regions makes two regions with the given states and store files.
func regions(first, second admin.CompactionState, files ...int64) []admin.RegionCompaction {
	return []admin.RegionCompaction{
		{Region: "aa", Server: "h:1", State: first, StoreFiles: files[0]},
		{Region: "bb", Server: "h:2", State: second, StoreFiles: files[1]},
	}
}

func TestSettling(t *testing.T) {
	const none, minor, major = admin.CompactionNone, admin.CompactionMinor, admin.CompactionMajor
	empty := []admin.Queues{{Address: "h:1"}, {Address: "h:2"}}
	unreadable := errors.New("refused")
	quiet := admin.Look{Regions: regions(none, none, 1, 1), Queues: empty}
	blind := admin.Look{Regions: regions(none, none, 1, 1), QueuesError: unreadable}
	moving := quiet
	moving.InTransition = []string{"aa"}
	unknown := regions(none, none, 1, 1)
	unknown[1].Unknown = "NotServingRegionException"

	type seen struct {
		Rest  time.Duration
		Blind bool
		Why   string
	}
	tests := []struct {
		name  string
		looks []admin.Look // one each 2 s
		want  []seen
	}{
		{
			name: "at rest from the start", looks: []admin.Look{quiet, quiet, quiet},
			want: []seen{{0, false, ""}, {2 * time.Second, false, ""}, {4 * time.Second, false, ""}},
		},
		{
			name:  "a compaction starts the count anew",
			looks: []admin.Look{quiet, quiet, {Regions: regions(major, minor, 1, 1), Queues: empty}, quiet, quiet},
			want: []seen{
				{0, false, ""},
				{2 * time.Second, false, ""},
				{0, false, "MINOR in 1 of 2 regions, MAJOR in 1 of 2 regions"},
				{0, false, ""},
				{2 * time.Second, false, ""},
			},
		},
		{
			name:  "a compaction between two looks shows in the store files",
			looks: []admin.Look{{Regions: regions(none, none, 4, 1), Queues: empty}, quiet, quiet},
			want:  []seen{{0, false, ""}, {0, false, "the store files changed"}, {2 * time.Second, false, ""}},
		},
		{
			name: "a split shows in the regions",
			looks: []admin.Look{quiet, {
				Regions: append(regions(none, none, 1, 1)[:1], admin.RegionCompaction{Region: "cc", StoreFiles: 1}), Queues: empty,
			}},
			want: []seen{{0, false, ""}, {0, false, "the store files changed"}},
		},
		{
			name:  "waiting work that the states do not show",
			looks: []admin.Look{quiet, {Regions: quiet.Regions, Queues: []admin.Queues{{Compaction: 2}, {Compaction: 1}}}, quiet},
			want: []seen{
				{0, false, ""},
				{0, false, "3 compactions wait in the RegionServers"},
				{0, false, ""},
			},
		},
		{
			name: "queues that cannot be read all the time", looks: []admin.Look{quiet, blind, quiet},
			want: []seen{{0, false, ""}, {2 * time.Second, true, ""}, {4 * time.Second, true, ""}},
		},
		{name: "a region in transition", looks: []admin.Look{moving}, want: []seen{{0, false, "1 regions in transition"}}},
		{
			name: "a region that does not answer", looks: []admin.Look{{Regions: unknown, Queues: empty}},
			want: []seen{{0, false, "1 regions do not answer, the first bb: NotServingRegionException"}},
		},
		{name: "no region", looks: []admin.Look{{Queues: empty}}, want: []seen{{0, false, "no region is online"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var s admin.Settling
			var got []seen
			at := time.Unix(1000, 0)
			for _, look := range test.looks {
				rest, why := s.Add(at, look)
				got = append(got, seen{rest, s.Blind() != nil, why})
				at = at.Add(2 * time.Second)
			}
			if diff := gocmp.Diff(test.want, got); diff != "" {
				t.Errorf("settling (-want +got):\n%s", diff)
			}
		})
	}
}
