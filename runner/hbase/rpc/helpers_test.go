package rpc_test

// What the tests have in common.

import (
	"context"
	"testing"
	"time"

	"github.com/hadoop-bench/operator/runner/hbase/rpc"
)

// newClient makes a client that is closed when the test ends.
func newClient(t testing.TB, o rpc.Options) *rpc.Client {
	t.Helper()
	if o.User == "" {
		o.User = "alice"
	}
	c, err := rpc.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}
