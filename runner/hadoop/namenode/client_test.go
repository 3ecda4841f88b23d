package namenode_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/namenode"
	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

func TestConnect(t *testing.T) {
	denied := &rpc.ConnectError{Address: "a", Err: remote("org.apache.hadoop.security.AccessControlException")}
	standby, observer := inState(wire.HAServiceStateProto_STANDBY), inState(wire.HAServiceStateProto_OBSERVER)
	unknown := &rpc.RemoteError{Class: "org.apache.hadoop.ipc.RpcNoSuchMethodException", Code: 2}
	type answer struct {
		message proto.Message
		err     error
	}
	tests := map[string]struct {
		answers map[string][]answer // by address and method, the last one again and again
		want    string              // the active one
		waits   int
		err     string
	}{
		"the first is active":          {map[string][]answer{"a getHAServiceState": {{active(), nil}}, "b getHAServiceState": {{standby, nil}}}, "a", 0, ""},
		"the second is active":         {map[string][]answer{"a getHAServiceState": {{standby, nil}}, "b getHAServiceState": {{active(), nil}}}, "b", 0, ""},
		"the first is away":            {map[string][]answer{"a getHAServiceState": {{nil, refusedDial()}}, "b getHAServiceState": {{active(), nil}}}, "b", 0, ""},
		"the first refuses":            {map[string][]answer{"a getHAServiceState": {{nil, denied}}, "a getFileInfo": {{nil, denied}}, "b getHAServiceState": {{active(), nil}}}, "b", 0, ""},
		"becoming active":              {map[string][]answer{"a getHAServiceState": {{standby, nil}}, "b getHAServiceState": {{observer, nil}, {observer, nil}, {active(), nil}}}, "b", 1, ""},
		"an old one, active":           {map[string][]answer{"a getHAServiceState": {{nil, unknown}}, "a getFileInfo": {{nil, nil}}, "b getHAServiceState": {{nil, unknown}}, "b getFileInfo": {{nil, remote(standbyException)}}}, "a", 0, ""},
		"one that stands alone":        {map[string][]answer{"a getHAServiceState": {{nil, remote("org.apache.hadoop.ha.ServiceFailedException")}}, "a getFileInfo": {{nil, nil}}, "b getHAServiceState": {{nil, refusedDial()}}}, "a", 0, ""},
		"none is active":               {map[string][]answer{"a getHAServiceState": {{standby, nil}}, "b getHAServiceState": {{nil, refusedDial()}}}, "", 3, "getHAServiceState: no NameNode answers after 5 attempts, 7s after the first one failed: a: the NameNode is not active but STANDBY; b: connect to x: connection refused"},
		"refused, nothing to wait for": {map[string][]answer{"a getHAServiceState": {{nil, denied}}, "a getFileInfo": {{nil, denied}}, "b getHAServiceState": {{standby, nil}}}, "", 0, "after 1 attempt, 0s after the first one failed: a: connect to a: AccessControlException: said so; b: the NameNode is not active but STANDBY"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f, c := &transport{}, &clock{now: time.Unix(1, 0)}
			counts := map[string]int{}
			f.answer = func(a attempt) (proto.Message, error) {
				key := a.Address + " " + a.Method
				f.mu.Lock()
				n := counts[key]
				counts[key]++
				f.mu.Unlock()
				if len(tt.answers[key]) == 0 {
					return nil, errors.New("not expected: " + key)
				}
				chosen := tt.answers[key][min(n, len(tt.answers[key])-1)]
				return chosen.message, chosen.err
			}
			client, err := namenode.Connect(t.Context(), namenode.Options{
				Addresses: []string{"a", "b"}, Caller: f, Clock: c, Random: func() float64 { return 0.5 },
				Failover: namenode.Failover{MaxAttempts: 4},
			})
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatalf("error %v, want %q", err, tt.err)
			}
			if err != nil && !errors.Is(err, namenode.ErrUnreachable) {
				t.Errorf("error %v is not ErrUnreachable", err)
			}
			if err == nil && client.Address() != tt.want {
				t.Errorf("active is %q, want %q", client.Address(), tt.want)
			}
			if len(c.waits) < tt.waits || tt.waits == 0 && len(c.waits) > 0 {
				t.Errorf("waits %v, want %d", c.waits, tt.waits)
			}
		})
	}
}

func TestConnectNeedsAnAddress(t *testing.T) {
	if _, err := namenode.Connect(t.Context(), namenode.Options{}); err == nil || !strings.Contains(err.Error(), "no address") {
		t.Errorf("error %v", err)
	}
}

// TestDataNodeSides: each speaks to its own NameNode, whichever is active, and never to another.
func TestDataNodeSides(t *testing.T) {
	client, f, _ := connected(t, nil, []string{"a", "b"}, func(a attempt) (proto.Message, error) {
		if a.Retry < 2 {
			return nil, lost()
		}
		return nil, nil
	})
	before := len(f.attempts)
	var got []string
	for _, side := range client.DataNodeSides() {
		got = append(got, side.Address())
		if _, err := side.Heartbeat(t.Context(), fakeNode(), "DS-1", 1, false); err != nil {
			t.Errorf("Heartbeat at %s: %v", side.Address(), err)
		}
	}
	for _, a := range f.since(before) {
		got = append(got, a.Address)
	}
	if diff := cmp.Diff([]string{"a", "b", "a", "a", "a", "b", "b", "b"}, got); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	if client.Address() != "a" {
		t.Errorf("active is %q now", client.Address())
	}
}
