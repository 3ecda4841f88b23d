package rpc_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// newCall makes a call of an echoing method.
func newCall(address, param string) *rpc.Call {
	return &rpc.Call{Address: address, Service: rpc.ClientService, Method: "Get", Param: []byte(param)}
}

// do makes a call and checks that its answer is its parameter.
func do(t testing.TB, c *rpc.Client, call *rpc.Call) error {
	t.Helper()
	err := c.Do(deadline(t), call)
	if err == nil && string(call.Body) != string(call.Param) {
		t.Errorf("the answer is %.40q, want %.40q", call.Body, call.Param)
	}
	return err
}

func mustDo(t testing.TB, c *rpc.Client, call *rpc.Call) {
	t.Helper()
	if err := do(t, c, call); err != nil {
		t.Fatal(err)
	}
}

// who is what the server knows of the connection of a call.
func who(t testing.TB, c *rpc.Client, call rpc.Call) string {
	t.Helper()
	call.Method = "Who"
	if err := c.Do(deadline(t), &call); err != nil {
		t.Fatal(err)
	}
	return string(call.Body)
}

func TestAnswers(t *testing.T) {
	address := serve(t, nil, echo)
	c := newClient(t, rpc.Options{})
	large := strings.Repeat("large ", 500<<10)
	tests := map[string]struct{ param, cells string }{
		"nothing":       {},
		"a message":     {param: "message"},
		"cells":         {cells: "cells"},
		"both":          {param: "message", cells: "cells"},
		"large message": {param: large},
		"large cells":   {param: "message", cells: large},
	}
	// One call is used for all, so that its buffers are used again.
	call := newCall(address, "")
	for range 2 {
		for name, tt := range tests {
			call.Param, call.Cells = []byte(tt.param), []byte(tt.cells)
			mustDo(t, c, call)
			if string(call.Answer) != tt.cells {
				t.Errorf("%s: got %d bytes of cells, want %d", name, len(call.Answer), len(tt.cells))
			}
		}
	}
}

// TestFirstBytes compares what is sent with what the generated messages encode to.
func TestFirstBytes(t *testing.T) {
	tests := map[string]struct {
		call rpc.Call
		want *wire.RequestHeader
	}{
		"smallest": {
			rpc.Call{Method: "Get", Timeout: time.Microsecond},
			wire.RequestHeader_builder{MethodName: proto.String("Get"), Timeout: proto.Uint32(1)}.Build(),
		},
		"all fields": {
			rpc.Call{Method: "Multi", Param: []byte("param"), Cells: make([]byte, 70000), Priority: 300, Timeout: 20500 * time.Microsecond},
			wire.RequestHeader_builder{
				MethodName: proto.String("Multi"), Timeout: proto.Uint32(20), Priority: proto.Uint32(300),
				CellBlockMeta: wire.CellBlockMeta_builder{Length: proto.Uint32(70000)}.Build(),
			}.Build(),
		},
		"a long name": {
			rpc.Call{Method: strings.Repeat("Get", 100), Timeout: math.MaxInt64},
			wire.RequestHeader_builder{MethodName: proto.String(strings.Repeat("Get", 100)), Timeout: proto.Uint32(1<<31 - 1)}.Build(),
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var wiretap tap
			came := make(chan struct{})
			tt.call.Service = rpc.AdminService
			tt.call.Address = serve(t, nil, func(p *peer) {
				_, _ = p.next()
				close(came)
				p.readAll()
			})
			tt.want.SetCallId(0)
			tt.want.SetRequestParam(true)
			c := newClient(t, rpc.Options{Dial: wiretap.dial})
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- c.Do(ctx, &tt.call) }()
			<-came
			cancel()
			if err := <-done; outcome(err) == "other" {
				t.Error(err)
			}
			want := firstBytes(t, tt.want, tt.call.Param, tt.call.Cells)
			if !wiretap.has(want) {
				t.Errorf("what was sent does not hold %.200x", want)
			}
		})
	}
}

// firstBytes are preamble, connection header and first request of a client of AdminService.
func firstBytes(t *testing.T, h *wire.RequestHeader, param, cells []byte) string {
	t.Helper()
	connection := encoded(t, wire.ConnectionHeader_builder{
		UserInfo:            wire.UserInformation_builder{EffectiveUser: proto.String("alice")}.Build(),
		ServiceName:         proto.String("AdminService"),
		CellBlockCodecClass: proto.String("org.apache.hadoop.hbase.codec.KeyValueCodec"),
		VersionInfo: wire.VersionInfo_builder{
			Version: proto.String("2.6.4"), Url: proto.String(""), Revision: proto.String(""), User: proto.String("hadoop-bench"),
			Date: proto.String(""), SrcChecksum: proto.String(""), VersionMajor: proto.Uint32(2), VersionMinor: proto.Uint32(6),
		}.Build(),
	}.Build())
	header := encoded(t, h)
	frame := append(binary.AppendUvarint(nil, uint64(len(header))), header...)
	frame = append(append(binary.AppendUvarint(frame, uint64(len(param))), param...), cells...)
	return "HBas\x00\x50" + string(counted(connection)) + string(counted(frame))
}

func encoded(t *testing.T, m proto.Message) []byte {
	t.Helper()
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAnswersInAnyOrder: each of many callers on one connection gets its own answer.
func TestAnswersInAnyOrder(t *testing.T) {
	const callers = 20
	address := serve(t, nil, func(p *peer) {
		var held []request
		for {
			r, ok := p.next()
			if !ok {
				return
			}
			if held = append(held, r); len(held) < callers {
				continue
			}
			for i := range held {
				r := held[len(held)-1-i]
				p.answer(r, r.param, r.cells)
			}
			held = held[:0]
		}
	})
	c := newClient(t, rpc.Options{})
	var wait sync.WaitGroup
	for i := range callers {
		wait.Go(func() {
			call := newCall(address, fmt.Sprint("caller ", i))
			for range 50 {
				if err := do(t, c, call); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wait.Wait()
}

func TestConnections(t *testing.T) {
	address, other := serve(t, nil, echo), serve(t, nil, echo)
	c := newClient(t, rpc.Options{Connections: 2})
	call := func(address string, service rpc.Service, connection int) rpc.Call {
		return rpc.Call{Address: address, Service: service, Connection: connection}
	}
	calls := []rpc.Call{
		call(address, rpc.ClientService, 0), call(address, rpc.ClientService, 1), call(address, rpc.ClientService, 2),
		call(address, rpc.ClientService, -1), call(address, rpc.AdminService, 0), call(other, rpc.ClientService, 1),
	}
	var got []string
	for _, x := range calls {
		got = append(got, who(t, c, x))
	}
	want := []string{
		"alice on connection 0 for ClientService", "alice on connection 1 for ClientService", "alice on connection 0 for ClientService",
		"alice on connection 1 for ClientService", "alice on connection 2 for AdminService", "alice on connection 0 for ClientService",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("connections (-want +got):\n%s", diff)
	}
}

func TestInvoke(t *testing.T) {
	address := serve(t, nil, func(p *peer) {
		for {
			r, ok := p.next()
			if !ok {
				return
			}
			p.answer(r, map[string]string{"GetClusterId": "\x0a\x02id", "GetMasters": "\x0a"}[r.header.GetMethodName()], "")
		}
	})
	c := newClient(t, rpc.Options{})
	answer := wire.GetClusterIdResponse_builder{ClusterId: proto.String("of before")}.Build()
	for range 2 {
		if err := c.Invoke(deadline(t), address, rpc.ClientMetaService, "GetClusterId", &wire.GetClusterIdRequest{}, answer, 0); err != nil || answer.GetClusterId() != "id" {
			t.Errorf("got %q and error %v, want id", answer.GetClusterId(), err)
		}
	}
	err := c.Invoke(deadline(t), address, rpc.ClientMetaService, "GetMasters", &wire.GetMastersRequest{}, &wire.GetMastersResponse{}, 0)
	if lost := new(rpc.LostError); !errors.As(err, &lost) || !strings.Contains(err.Error(), "decode the response") {
		t.Errorf("got %v for an answer that cannot be decoded", err)
	}
	err = c.Invoke(deadline(t), address, rpc.ClientMetaService, "Get", &wire.GetRequest{}, &wire.GetResponse{}, 0)
	if err == nil || !strings.Contains(err.Error(), "encode the request of Get") {
		t.Errorf("got %v for a request that lacks a required field", err)
	}
}

func TestOptionsRefused(t *testing.T) {
	tests := map[string]struct {
		options rpc.Options
		want    string
	}{
		"protection":           {rpc.Options{Protection: []string{"privat"}}, `hbase.rpc.protection "privat": it must be authentication, integrity or privacy`},
		"principal of servers": {rpc.Options{Kerberos: newAcceptor(t).Login("alice")}, "set hbase.master.kerberos.principal and hbase.regionserver.kerberos.principal"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := rpc.New(tt.options); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestRemoteError: texts of exceptions as servers send them.
func TestRemoteError(t *testing.T) {
	const class = "org.apache.hadoop.hbase.ipc.Outer$TooBusyException"
	tests := map[string]struct{ trace, message, text string }{
		"class and message": {class + ": full\n\tat a.b.C", "full\n\tat a.b.C", "TooBusyException: full"},
		"message alone":     {"full", "full", "TooBusyException: full"},
		"class alone":       {class, "", "TooBusyException"},
		"nothing":           {"", "", "TooBusyException"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			e := rpc.NewRemoteError(class, tt.trace)
			if e.Class != class || e.Message != tt.message || e.Error() != tt.text {
				t.Errorf("got class %s, message %q, text %q", e.Class, e.Message, e.Error())
			}
		})
	}
	err := fmt.Errorf("wrapped: %w", rpc.NewRemoteError(class, ""))
	for name, want := range map[string]bool{"TooBusyException": true, class: true, "BusyException": false, "Outer$TooBusyException": false} {
		if rpc.Is(err, name) != want {
			t.Errorf("Is(%s) is %v", name, !want)
		}
	}
	if rpc.Is(context.Canceled, "TooBusyException") {
		t.Error("another error is an exception")
	}
}
