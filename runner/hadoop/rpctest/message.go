package rpctest

import (
	"encoding/binary"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
)

// eachField calls f with each field of a message that is a number or a string of bytes.
func eachField(b []byte, f func(num protowire.Number, v uint64, bytes []byte)) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(b); n > 0 {
				f(num, v, nil)
			}
		case protowire.BytesType:
			var v []byte
			if v, n = protowire.ConsumeBytes(b); n > 0 {
				f(num, 0, v)
			}
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
	}
	return nil
}

// setHeader takes a field of RpcRequestHeaderProto.
func (r *Request) setHeader(num protowire.Number, v uint64, b []byte) {
	switch num {
	case 3:
		r.CallID = int32(protowire.DecodeZigZag(v))
	case 4:
		if r.ClientID != string(b) {
			r.ClientID = string(b)
		}
	case 5:
		r.Retry = int32(protowire.DecodeZigZag(v))
	case 7:
		_ = eachField(b, func(num protowire.Number, _ uint64, b []byte) {
			if num == 1 && r.CallerContext != string(b) {
				r.CallerContext = string(b)
			}
		})
	case 8:
		r.StateID = int64(v)
	case 9:
		r.RouterState = string(b)
	}
}

// answer appends a response to what is waiting.
func (c *conn) answer(callID int32, response []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.out = appendResponse(c.out, callID, response, err, &c.server.o)
}

// appendResponse appends a response behind its length.
func appendResponse(b []byte, callID int32, response []byte, err error, o *Options) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0, 0, 0) // two bytes for the header's length, which is then less than 16 KiB
	header := len(b)
	b = append(b, 1<<3)
	b = protowire.AppendVarint(b, uint64(uint32(callID)))
	if err == nil {
		b = append(b, 2<<3, 0)
	} else {
		b = appendException(b, err)
	}
	if o.StateID != nil {
		b = append(b, 9<<3)
		b = protowire.AppendVarint(b, uint64(o.StateID()))
	}
	if o.RouterState != nil {
		b = append(b, 10<<3|2)
		b = protowire.AppendBytes(b, o.RouterState())
	}
	n := len(b) - header
	b[header-2], b[header-1] = byte(n)|0x80, byte(n>>7)
	if err == nil {
		b = protowire.AppendBytes(b, response)
	}
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// appendException appends status, class, text and code of an error.
func appendException(b []byte, err error) []byte {
	e := &Exception{Class: "java.io.IOException", Message: err.Error()}
	errors.As(err, &e)
	status := byte(1)
	if e.Fatal {
		status = 2
	}
	b = append(b, 2<<3, status, 4<<3|2)
	b = protowire.AppendString(b, e.Class)
	b = append(b, 5<<3|2)
	b = protowire.AppendString(b, e.Message)
	if e.Code != 0 {
		b = append(b, 6<<3)
		b = protowire.AppendVarint(b, uint64(e.Code))
	}
	return b
}
