package admin_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hbase/admin"
	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

func TestCompaction(t *testing.T) {
	f := newFake(t, twoRegions...)
	f.on("GetRegionInfo "+encodedFrom("a"), info(wire.GetRegionInfoResponse_MAJOR))
	f.on("GetStoreFile "+encodedFrom("a"), files(3))
	f.on("GetRegionInfo "+encodedFrom("b"), exception("NotServingRegionException"))
	a, _ := newAdmin(f)
	got, err := a.Compaction(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	want := []admin.RegionCompaction{
		{Region: encodedFrom("a"), Server: "a:1", State: admin.CompactionMajor, StoreFiles: 3, SizeMB: 12},
		{Region: encodedFrom("b"), Server: "b:1", Unknown: "NotServingRegionException: the server says so"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("compaction (-want +got):\n%s", diff)
	}
}

// webServer answers with the given queue lengths, one after the other; the last one stays.
func webServer(t *testing.T, lengths ...int) string {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"beans":[{"compactionQueueLength":%d,"flushQueueLength":0}]}`, lengths[min(asked, len(lengths)-1)])
		asked++
	}))
	t.Cleanup(server.Close)
	return strings.TrimPrefix(server.URL, "http://")
}

func TestWaitForCompaction(t *testing.T) {
	f := newFake(t, twoRegions...)
	major, none := info(wire.GetRegionInfoResponse_MAJOR), info(wire.GetRegionInfoResponse_NONE)
	f.on("GetRegionInfo "+encodedFrom("a"), none, major, major, none)
	f.on("GetStoreFile "+encodedFrom("a"), files(5), files(5), files(5), files(1))
	a, clock := newAdmin(f)
	began := clock.Now()
	type seen struct {
		At, Rest time.Duration
		Why      string
	}
	var got []seen
	settled, err := a.WaitForCompaction(t.Context(), "t", admin.WaitOptions{
		Settle: 6 * time.Second, Web: []string{webServer(t, 0, 0, 0, 2, 0)},
		Progress: func(_ admin.Look, rest time.Duration, why string) {
			got = append(got, seen{clock.Now().Sub(began), rest, why})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	const s = time.Second
	want := []seen{
		{0, 0, ""},
		{2 * s, 0, "MAJOR in 1 of 2 regions"},
		{4 * s, 0, "MAJOR in 1 of 2 regions"},
		{6 * s, 0, "2 compactions wait in the RegionServers"},
		{8 * s, 0, ""},
		{10 * s, 2 * s, ""},
		{12 * s, 4 * s, ""},
		{14 * s, 6 * s, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("progress (-want +got):\n%s", diff)
	}
	if settled.QueuesError != nil || settled.Took != 14*s || settled.Regions[0].StoreFiles != 1 {
		t.Errorf("settled: %+v, want 14 s, queues seen, one store file", settled)
	}
}

func TestWaitWithoutQueues(t *testing.T) {
	f := newFake(t, twoRegions...) // server b has no web server
	a, _ := newAdmin(f)
	settled, err := a.WaitForCompaction(t.Context(), "t", admin.WaitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if settled.QueuesError == nil || settled.Took != admin.DefaultSettle {
		t.Errorf("settled: %+v, want %v and the queues unseen, with an error", settled, admin.DefaultSettle)
	}
}

func TestWaitEnds(t *testing.T) {
	t.Run("at the deadline", func(t *testing.T) {
		f := newFake(t, twoRegions...)
		f.on("GetRegionInfo", info(wire.GetRegionInfoResponse_MINOR))
		a, clock := newAdmin(f)
		began := clock.Now()
		_, err := a.WaitForCompaction(t.Context(), "t", admin.WaitOptions{Deadline: 5 * time.Second})
		want := "wait for compactions of table t: not at rest after 5s: MINOR in 2 of 2 regions"
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		var notSettled *admin.NotSettledError
		if !errors.As(err, &notSettled) || len(notSettled.Last.Regions) != 2 {
			t.Errorf("error %v does not tell of the two regions", err)
		}
		if took := clock.Now().Sub(began); took != 5*time.Second {
			t.Errorf("took %v, want 5 s", took)
		}
	})
	t.Run("with an error that stays", func(t *testing.T) {
		f := newFake(t, twoRegions...)
		f.on("GetStoreFile", exception("security.AccessDeniedException"))
		a, _ := newAdmin(f)
		_, err := a.WaitForCompaction(t.Context(), "t", admin.WaitOptions{})
		if !rpc.Is(err, "AccessDeniedException") {
			t.Errorf("error %v, want AccessDeniedException", err)
		}
	})
	t.Run("without the table", func(t *testing.T) {
		a, _ := newAdmin(newFake(t))
		_, err := a.WaitForCompaction(t.Context(), "t", admin.WaitOptions{})
		if err == nil || !strings.Contains(err.Error(), "does not exist") {
			t.Errorf("error %v, want one that says that there is no such table", err)
		}
	})
}
