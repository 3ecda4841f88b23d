package rpc

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Call ids of frames that are no calls.
const (
	contextCallID = -3
	pingCallID    = -4
	saslCallID    = -33
)

// Field numbers of RpcRequestHeaderProto.
const (
	requestKind        = 1
	requestOp          = 2
	requestCallID      = 3
	requestClientID    = 4
	requestRetry       = 5
	requestContext     = 7
	requestStateID     = 8
	requestRouterState = 9
)

const (
	kindProtobuf = 2 // RPC_PROTOCOL_BUFFER
	opFinal      = 0 // RPC_FINAL_PACKET
	controlRetry = -1
)

// A requestHeader is RpcRequestHeaderProto as far as we send it.
type requestHeader struct {
	callID, retry int32
	clientID      []byte
	callerContext string // empty: none
	stateID       int64  // 0: none
	routerState   []byte // nil: none
}

// size is the encoded length.
func (h *requestHeader) size() int {
	n := 4 + 1 + sizeSint32(h.callID) + 1 + protowire.SizeBytes(len(h.clientID)) + 1 + sizeSint32(h.retry)
	if h.callerContext != "" {
		n += 1 + protowire.SizeBytes(1+protowire.SizeBytes(len(h.callerContext)))
	}
	if h.stateID != 0 {
		n += 1 + protowire.SizeVarint(uint64(h.stateID))
	}
	if h.routerState != nil {
		n += 1 + protowire.SizeBytes(len(h.routerState))
	}
	return n
}

// appendDelimited appends the header behind its length.
func (h *requestHeader) appendDelimited(b []byte) []byte {
	b = protowire.AppendVarint(b, uint64(h.size()))
	b = append(b, requestKind<<3, kindProtobuf, requestOp<<3, opFinal)
	b = append(b, requestCallID<<3)
	b = appendSint32(b, h.callID)
	b = append(b, requestClientID<<3|byte(protowire.BytesType))
	b = protowire.AppendBytes(b, h.clientID)
	b = append(b, requestRetry<<3)
	b = appendSint32(b, h.retry)
	if h.callerContext != "" {
		b = append(b, requestContext<<3|byte(protowire.BytesType))
		b = protowire.AppendVarint(b, uint64(1+protowire.SizeBytes(len(h.callerContext))))
		b = append(b, 1<<3|byte(protowire.BytesType))
		b = protowire.AppendString(b, h.callerContext)
	}
	if h.stateID != 0 {
		b = append(b, requestStateID<<3)
		b = protowire.AppendVarint(b, uint64(h.stateID))
	}
	if h.routerState != nil {
		b = append(b, requestRouterState<<3|byte(protowire.BytesType))
		b = protowire.AppendBytes(b, h.routerState)
	}
	return b
}

func sizeSint32(v int32) int { return protowire.SizeVarint(protowire.EncodeZigZag(int64(v))) }

func appendSint32(b []byte, v int32) []byte {
	return protowire.AppendVarint(b, protowire.EncodeZigZag(int64(v)))
}

// Statuses of a response.
const (
	statusSuccess = 0
	statusError   = 1
	statusFatal   = 2
)

// Field numbers of RpcResponseHeaderProto.
const (
	responseCallID      = 1
	responseStatus      = 2
	responseClass       = 4
	responseMessage     = 5
	responseDetail      = 6
	responseStateID     = 9
	responseRouterState = 10
)

// A responseHeader is RpcResponseHeaderProto as far as we look at it. Its slices are parts of the frame.
type responseHeader struct {
	callID         int32
	status         uint64
	class, message []byte
	detail         int32
	stateID        int64
	routerState    []byte
}

// remote is the exception that the header tells of.
func (h *responseHeader) remote() *RemoteError {
	return &RemoteError{Class: string(h.class), Message: string(h.message), Fatal: h.status == statusFatal, Code: h.detail}
}

var errNoHeader = errors.New("a response's header lacks its call id or status")

// parseResponse splits a frame into its header and what follows it.
func parseResponse(frame []byte, h *responseHeader) (body []byte, err error) {
	b, headerEnd := protowire.ConsumeBytes(frame)
	if headerEnd < 0 {
		return nil, fmt.Errorf("read a response's header: %w", protowire.ParseError(headerEnd))
	}
	*h = responseHeader{}
	seen := 0
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return nil, fmt.Errorf("read a field of a response's header: %w", protowire.ParseError(n))
		}
		b = b[n:]
		switch kind {
		case protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(b); n > 0 {
				seen |= h.setNumber(num, v)
			}
		case protowire.BytesType:
			var v []byte
			if v, n = protowire.ConsumeBytes(b); n > 0 {
				h.setBytes(num, v)
			}
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return nil, fmt.Errorf("read field %d of a response's header: %w", num, protowire.ParseError(n))
		}
		b = b[n:]
	}
	if seen != 1|2 || h.status > statusFatal {
		return nil, errNoHeader
	}
	return frame[headerEnd:], nil
}

// setNumber returns 1 for the call id, 2 for the status, 0 for the others.
func (h *responseHeader) setNumber(num protowire.Number, v uint64) int {
	switch num {
	case responseCallID:
		h.callID = int32(uint32(v))
		return 1
	case responseStatus:
		h.status = v
		return 2
	case responseDetail:
		h.detail = int32(v)
	case responseStateID:
		h.stateID = int64(v)
	}
	return 0
}

func (h *responseHeader) setBytes(num protowire.Number, v []byte) {
	switch num {
	case responseClass:
		h.class = v
	case responseMessage:
		h.message = v
	case responseRouterState:
		h.routerState = v
	}
}

// parseBody takes a response's message out of what follows its header.
func parseBody(body []byte) ([]byte, error) {
	message, n := protowire.ConsumeBytes(body)
	if n < 0 {
		return nil, fmt.Errorf("read a response's message: %w", protowire.ParseError(n))
	}
	if n != len(body) {
		return nil, fmt.Errorf("a response has %d bytes behind its message", len(body)-n)
	}
	return message, nil
}
