package rpc_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/hadoop-bench/operator/runner/hadoop/rpc"
	"github.com/hadoop-bench/operator/runner/hadoop/rpctest"
	"github.com/hadoop-bench/operator/runner/hadoop/wire"
)

// takeFrame cuts a frame off a stream of requests.
func takeFrame(t *testing.T, stream []byte) (frame, rest []byte) {
	t.Helper()
	if len(stream) < 4 || len(stream)-4 < int(binary.BigEndian.Uint32(stream)) {
		t.Fatalf("no whole frame in %x", stream)
	}
	end := 4 + binary.BigEndian.Uint32(stream)
	return stream[4:end], stream[end:]
}

// take decodes a delimited message, which must be encoded as the generated code would.
func take[M proto.Message](t *testing.T, b []byte, m M) (M, []byte) {
	t.Helper()
	encoded, n := protowire.ConsumeBytes(b)
	if n < 0 {
		t.Fatal(protowire.ParseError(n))
	}
	if err := proto.Unmarshal(encoded, m); err != nil {
		t.Fatal(err)
	}
	again, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil || !bytes.Equal(again, encoded) {
		t.Errorf("%T is encoded as %x, want %x (%v)", m, encoded, again, err)
	}
	return m, b[n:]
}

func TestFirstBytesAreThoseOfGeneratedMessages(t *testing.T) {
	const id = "0123456789abcdef"
	long := strings.Repeat("a context of more than 127 bytes ", 5)
	tests := map[string]struct {
		options       rpc.Options
		callID, retry int32
		stateID       int64
		header        string
	}{
		"plain":   {callID: 0, header: `callId: 0 retryCount: 0`},
		"largest": {callID: math.MaxInt32, retry: 3, header: `callId: 2147483647 retryCount: 3`},
		"all fields": {
			options: rpc.Options{CallerContext: long, ObserverReads: true}, callID: 300, retry: 1, stateID: math.MaxInt64,
			header: `callId: 300 retryCount: 1 callerContext { context: "` + long + `" } stateId: 9223372036854775807 routerFederatedState: "\n\x07\n\x03ns1\x10\x05"`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			so := rpctest.Options{Handler: echo}
			if tc.stateID != 0 {
				so.StateID = func() int64 { return tc.stateID }
				so.RouterState = func() []byte { return []byte("\x0a\x07\x0a\x03ns1\x10\x05") }
			}
			s := rpctest.Start(t, so)
			var wiretap tap
			tc.options.ClientID, tc.options.Dial = [16]byte([]byte(id)), wiretap.dial
			c := newClient(t, tc.options)
			if tc.stateID != 0 {
				mustGet(t, c, s, "/before")
				s.DropAll()
				eventually(t, c, s)
			}
			wiretap.sent.Reset()
			call := newCall(c, s, "/a")
			call.ID, call.Retry, call.Connection = tc.callID, tc.retry, 0
			call.Protocol = "org.apache.hadoop.hdfs.protocol.AnotherProtocol" // a connection of its own
			if err := c.Do(deadline(t), call); err != nil {
				t.Fatal(err)
			}
			checkFirstBytes(t, wiretap.sent.Bytes(), id, tc.header)
		})
	}
}

func checkFirstBytes(t *testing.T, sent []byte, id, wantHeader string) {
	t.Helper()
	opening, ok := bytes.CutPrefix(sent, []byte("hrpc\x09\x00\x00"))
	if !ok {
		t.Fatalf("the connection begins with %q", sent)
	}
	frame, rest := takeFrame(t, opening)
	header, body := take(t, frame, &wire.RpcRequestHeaderProto{})
	same(t, header, parsed(`rpcKind: RPC_PROTOCOL_BUFFER rpcOp: RPC_FINAL_PACKET callId: -3 clientId: "`+id+`" retryCount: -1`, &wire.RpcRequestHeaderProto{}))
	context, body := take(t, body, &wire.IpcConnectionContextProto{})
	same(t, context, parsed(`userInfo { effectiveUser: "alice" } protocol: "org.apache.hadoop.hdfs.protocol.AnotherProtocol"`, &wire.IpcConnectionContextProto{}))
	if len(body) > 0 {
		t.Errorf("%d bytes behind the context", len(body))
	}
	frame, rest = takeFrame(t, rest)
	header, body = take(t, frame, &wire.RpcRequestHeaderProto{})
	same(t, header, parsed(`rpcKind: RPC_PROTOCOL_BUFFER rpcOp: RPC_FINAL_PACKET clientId: "`+id+`" `+wantHeader, &wire.RpcRequestHeaderProto{}))
	target, body := take(t, body, &wire.RequestHeaderProto{})
	same(t, target, parsed(`methodName: "getFileInfo" declaringClassProtocolName: "org.apache.hadoop.hdfs.protocol.AnotherProtocol" clientProtocolVersion: 1`, &wire.RequestHeaderProto{}))
	message, body := take(t, body, &wire.GetFileInfoRequestProto{})
	same(t, message, request("/a"))
	if len(body)+len(rest) > 0 {
		t.Errorf("%d bytes behind the call", len(body)+len(rest))
	}
}

func same[M proto.Message](t *testing.T, got, want M) {
	t.Helper()
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func FuzzParseResponse(f *testing.F) {
	f.Add([]byte("\x04\x08\x00\x10\x00\x00"))
	f.Add([]byte("\x0b\x08\xfd\xff\xff\xff\x0f\x10\x02\x22\x01A"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		id, status, class, text, message, err := rpc.ParseResponse(frame)
		if err != nil {
			return
		}
		encoded, n := protowire.ConsumeBytes(frame)
		var want wire.RpcResponseHeaderProto
		if n < 0 || proto.Unmarshal(encoded, &want) != nil {
			return // stricter than we need to be, in fields that we do not look at
		}
		if id != int32(want.GetCallId()) || status != uint64(want.GetStatus()) {
			t.Errorf("call %d, status %d, want %d and %d", id, status, want.GetCallId(), want.GetStatus())
		}
		if string(class) != want.GetExceptionClassName() || string(text) != want.GetErrorMsg() {
			t.Errorf("exception %q %q, want %q %q", class, text, want.GetExceptionClassName(), want.GetErrorMsg())
		}
		if status == 0 && n+protowire.SizeBytes(len(message)) > len(frame) {
			t.Errorf("a message of %d bytes in a frame of %d", len(message), len(frame))
		}
	})
}

func FuzzParseSASL(f *testing.F) {
	f.Add([]byte("\x10\x01\x22\x13\x0a\x08KERBEROS\x12\x06GSSAPI"))
	f.Add([]byte("\x10\x05\x1a\x01a"))
	f.Fuzz(func(t *testing.T, b []byte) {
		once, err := rpc.ParseSASL(b)
		if err != nil {
			return
		}
		twice, err := rpc.ParseSASL(once)
		if err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%x became %x, then %x (%v)", b, once, twice, err)
		}
	})
}

func FuzzRouterState(f *testing.F) {
	f.Add([]byte("\x0a\x07\x0a\x03ns1\x10\x05"), []byte("\x0a\x07\x0a\x03ns2\x10\x09"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		merged := rpc.MergeRouterStates(a, b)
		if again := rpc.MergeRouterStates(merged); len(merged) > 0 && !bytes.Equal(again, merged) {
			t.Errorf("%x and %x became %x, which reads as %x", a, b, merged, again)
		}
	})
}
