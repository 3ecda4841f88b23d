package rpc_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"testing/iotest"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/rpc"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// FuzzParseResponse: what is read out of a frame is what the generated code reads.
func FuzzParseResponse(f *testing.F) {
	f.Add([]byte("\x02\x08\x00\x00"))
	f.Add([]byte("\x06\x08\x01\x1a\x02\x08\x02\x01mcc"))
	f.Add([]byte("\x0e\x08\xff\xff\xff\xff\x0f\x12\x06\x0a\x01A\x12\x01B"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		id, exception, body, cells, err := rpc.ParseResponse(frame)
		if err != nil {
			return
		}
		header, n := protowire.ConsumeBytes(frame)
		var want wire.ResponseHeader
		if n < 0 || proto.Unmarshal(header, &want) != nil {
			return // stricter than we need to be, in fields that we do not look at
		}
		if id != want.GetCallId() || (exception != nil) != want.HasException() {
			t.Errorf("call %d, exception %x, want %v", id, exception, &want)
		}
		rest := len(frame) - n
		if exception == nil {
			message, m := protowire.ConsumeBytes(frame[n:])
			if rest -= m; !bytes.Equal(message, body) {
				t.Errorf("the message is %x, want %x", body, message)
			}
		}
		if len(cells) != rest || (len(cells) > 0) != (want.GetCellBlockMeta().GetLength() > 0) {
			t.Errorf("a cellblock of %d bytes, %d are left, the header says %d", len(cells), rest, want.GetCellBlockMeta().GetLength())
		}
	})
}

// FuzzSASLTurns: a stream is read to its end or to an error, and what was read encodes to the same bytes.
func FuzzSASLTurns(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x00\x00\x01x\x00\x00\x00\x00\xff\xff\xff\xa8"))
	f.Add([]byte("\x00\x00\x00\x01\x00\x00\x00\x01A\x00\x00\x00\x01B"))
	f.Add([]byte("\x00\x00\x00\x0f\x0e\x08\xff\xff\xff\xff\x0f\x12\x06\x0a\x01A\x12\x01B"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		tokens, simple, err := rpc.SASLTurns(iotest.OneByteReader(bytes.NewReader(stream)))
		var again []byte
		for _, token := range tokens {
			again = append(binary.BigEndian.AppendUint32(append(again, 0, 0, 0, 0), uint32(len(token))), token...)
		}
		if simple {
			again = append(again, "\x00\x00\x00\x00\xff\xff\xff\xa8"...)
		}
		if simple == (err != nil) || !bytes.HasPrefix(stream, again) {
			t.Errorf("%x became %x, simple %v (%v)", stream, again, simple, err)
		}
	})
}
