package rpc_test

// What the tests have in common.

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/rpctest"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

const clientProtocol = "org.apache.hadoop.hdfs.protocol.ClientProtocol"

// echo answers getFileInfo with the path that was asked for as the file's owner, other methods with nothing.
func echo(method string, request []byte) ([]byte, error) {
	switch method {
	case "getFileInfo":
		var r wire.GetFileInfoRequestProto
		if err := proto.Unmarshal(request, &r); err != nil {
			return nil, err
		}
		return proto.Marshal(fileInfo(r.GetSrc()))
	case "fail":
		return nil, &rpctest.Exception{Class: "org.apache.hadoop.ipc.Outer$StandbyException", Message: "not active\n\tat somewhere", Code: 1}
	case "break":
		return nil, &rpctest.Exception{Class: "org.apache.hadoop.ipc.RpcServerException", Message: "broken", Code: 10, Fatal: true}
	}
	return nil, nil
}

// fileInfo is an answer of getFileInfo.
func fileInfo(owner string) *wire.GetFileInfoResponseProto {
	return parsed(fmt.Sprintf("fs { fileType: IS_FILE path: '' length: 0 owner: %q modification_time: 1700000000000 blocksize: 134217728 fileId: 16386 }",
		owner), &wire.GetFileInfoResponseProto{})
}

// parsed fills a message from its text form, which is the same however the message's code was generated.
func parsed[M proto.Message](text string, m M) M {
	if err := prototext.Unmarshal([]byte(text), m); err != nil {
		panic(err) // the test itself is wrong
	}
	return m
}

func request(path string) *wire.GetFileInfoRequestProto {
	return parsed(fmt.Sprintf("src: %q", path), &wire.GetFileInfoRequestProto{})
}

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

// newCall makes a call of getFileInfo.
func newCall(c *rpc.Client, s *rpctest.Server, path string) *rpc.Call {
	return &rpc.Call{
		Address: s.Address(), Protocol: clientProtocol, Method: "getFileInfo", ID: c.NewCallID(),
		Request: request(path), Response: &wire.GetFileInfoResponseProto{},
	}
}

func owner(c *rpc.Call) string { return c.Response.(*wire.GetFileInfoResponseProto).GetFs().GetOwner() }

func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// get asks for a file's status and checks that the answer is for it.
func get(t testing.TB, c *rpc.Client, s *rpctest.Server, path string) error {
	t.Helper()
	call := newCall(c, s, path)
	err := c.Do(deadline(t), call)
	if got := owner(call); err == nil && got != path {
		t.Errorf("the answer is for %q, want %q", got, path)
	}
	return err
}

func mustGet(t testing.TB, c *rpc.Client, s *rpctest.Server, path string) {
	t.Helper()
	if err := get(t, c, s, path); err != nil {
		t.Fatal(err)
	}
}
