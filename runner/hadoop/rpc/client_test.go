package rpc_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/rpctest"
)

func TestConcurrentCallsGetTheirOwnAnswers(t *testing.T) {
	const callers, each = 32, 100
	tests := map[string]rpctest.Faults{"in order": {}, "out of order": {Reverse: callers}}
	for name, faults := range tests {
		t.Run(name, func(t *testing.T) {
			s := rpctest.Start(t, rpctest.Options{Handler: echo, Faults: faults})
			c := newClient(t, rpc.Options{})
			var wait sync.WaitGroup
			for i := range callers {
				wait.Add(1)
				go func() {
					defer wait.Done()
					call := newCall(c, s, "")
					for n := range each {
						path := fmt.Sprintf("/%d/%d", i, n)
						call.ID, call.Request = c.NewCallID(), request(path)
						if err := c.Do(deadline(t), call); err != nil || owner(call) != path {
							t.Errorf("%s: got %q, %v", path, owner(call), err)
							return
						}
					}
				}()
			}
			wait.Wait()
			if got := s.Connections(); got != 1 {
				t.Errorf("%d connections, want 1", got)
			}
		})
	}
}

func TestConnectionsAreChosenModulo(t *testing.T) {
	used := make(chan int, 10)
	s := rpctest.Start(t, rpctest.Options{Handler: echo, Observe: func(r rpctest.Request) { used <- r.Connection }})
	c := newClient(t, rpc.Options{Connections: 2})
	call := newCall(c, s, "/")
	var got []int
	for _, i := range []int{0, 1, 2, 3, -1} {
		call.Connection, call.ID = i, c.NewCallID()
		if err := c.Do(deadline(t), call); err != nil {
			t.Fatal(err)
		}
		got = append(got, <-used)
	}
	if diff := cmp.Diff([]int{0, 1, 0, 1, 1}, got); diff != "" {
		t.Error(diff)
	}
}

func TestRepeatedCallIsRecognizable(t *testing.T) {
	seen := make(chan rpctest.Request, 2)
	s := rpctest.Start(t, rpctest.Options{Handler: echo, Observe: func(r rpctest.Request) { seen <- r }})
	c := newClient(t, rpc.Options{ClientID: [16]byte([]byte("0123456789abcdef")), CallerContext: "a-run"})
	c.NewCallID()
	call := newCall(c, s, "/")
	for retry := range int32(2) {
		call.Retry = retry
		if err := c.Do(deadline(t), call); err != nil {
			t.Fatal(err)
		}
		want := rpctest.Request{
			User: "alice", Context: clientProtocol, Protocol: clientProtocol, Method: "getFileInfo", CallID: 1, Retry: retry,
			ClientID: "0123456789abcdef", CallerContext: "a-run", ContextFrames: 1,
		}
		if diff := cmp.Diff(want, <-seen); diff != "" {
			t.Error(diff)
		}
	}
}

func TestClientIDsDiffer(t *testing.T) {
	a, b := newClient(t, rpc.Options{}), newClient(t, rpc.Options{})
	if a.ClientID() == b.ClientID() || a.ClientID() == [16]byte{} {
		t.Errorf("got %x and %x", a.ClientID(), b.ClientID())
	}
}

func TestStateIDsComeBack(t *testing.T) {
	const (
		first  = "\x0a\x07\x0a\x03ns1\x10\x05"                            // ns1: 5
		second = "\x0a\x07\x0a\x03ns1\x10\x04\x0a\x07\x0a\x03ns2\x10\x09" // ns1: 4, ns2: 9
		merged = "\x0a\x07\x0a\x03ns1\x10\x05\x0a\x07\x0a\x03ns2\x10\x09"
	)
	tests := map[string]struct {
		observer bool
		want     []rpctest.Request
	}{
		"with observers":    {true, []rpctest.Request{{}, {StateID: 7, RouterState: first}, {StateID: 7, RouterState: merged}}},
		"without observers": {false, []rpctest.Request{{}, {}, {}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got []rpctest.Request
			answers := 0
			s := rpctest.Start(t, rpctest.Options{
				Handler: echo,
				Observe: func(r rpctest.Request) {
					got = append(got, rpctest.Request{StateID: r.StateID, RouterState: r.RouterState})
				},
				StateID:     func() int64 { return []int64{7, 6, 8}[answers] },
				RouterState: func() []byte { answers++; return []byte([]string{first, second, second}[answers-1]) },
			})
			c := newClient(t, rpc.Options{ObserverReads: tc.observer})
			for _, path := range []string{"/a", "/b", "/c"} {
				mustGet(t, c, s, path)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
			if c.LastStateID() != 8 {
				t.Errorf("the last state id is %d, want 8", c.LastStateID())
			}
		})
	}
}

func TestRefusedOptions(t *testing.T) {
	acceptor, err := rpctest.NewAcceptor("nn/localhost", "A.TEST", 18)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		options rpc.Options
		want    string
	}{
		"protection": {rpc.Options{Protection: []string{"privat"}}, `hadoop.rpc.protection "privat": it must be authentication, integrity or privacy`},
		"server": {
			rpc.Options{Kerberos: acceptor.Login("alice")},
			"the NameNode's Kerberos principal is not known: set dfs.namenode.kerberos.principal",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := rpc.New(tc.options); err == nil || err.Error() != tc.want {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestContextEndedBefore(t *testing.T) {
	s := rpctest.Start(t, rpctest.Options{Handler: echo})
	c := newClient(t, rpc.Options{})
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("the run was stopped")
	cancel(cause)
	err := c.Do(ctx, newCall(c, s, "/"))
	var lost *rpc.LostError
	if !errors.Is(err, cause) || errors.As(err, &lost) || s.Connections() != 0 {
		t.Errorf("got %v and %d connections", err, s.Connections())
	}
}
