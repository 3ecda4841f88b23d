package main

import (
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/hbasetest"
)

// The fake server takes the bare exchange for a client's, and answers each request.
func TestBare(t *testing.T) {
	server := hbasetest.Start(t, hbasetest.Options{Delay: nullDelay, Null: true, NullColumns: 10, NullValue: 100})
	got, err := bare(t.Context(), server.Address(0), 64, time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) < 64 || got[0] < nullDelay {
		t.Errorf("%d answers, the first after %v; want at least 64, none before %v", len(got), got[0], nullDelay)
	}
}
