package rpc

import (
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hbase/wire"
)

// Field numbers of RequestHeader.
const (
	requestCallID    = 1
	requestMethod    = 3
	requestParam     = 4
	requestCellBlock = 5
	requestPriority  = 6
	requestTimeout   = 7
)

// cellBlockLength is CellBlockMeta's only field.
const cellBlockLength = 1

// A requestHeader is RequestHeader as far as we send it.
type requestHeader struct {
	callID   uint32
	method   string
	cells    int // bytes; 0: none
	priority uint32
	timeout  uint32 // ms
}

// maxHeader is how many bytes a header takes at most beside the method's name.
const maxHeader = 1 + 5 + 1 + 5 + 2 + 1 + 1 + 1 + 5 + 1 + 5 + 1 + 5

// append appends the header without its length.
func (h *requestHeader) append(b []byte) []byte {
	b = append(b, requestCallID<<3)
	b = protowire.AppendVarint(b, uint64(h.callID))
	b = append(b, requestMethod<<3|byte(protowire.BytesType))
	b = protowire.AppendString(b, h.method)
	b = append(b, requestParam<<3, 1)
	if h.cells > 0 {
		b = append(b, requestCellBlock<<3|byte(protowire.BytesType), byte(1+protowire.SizeVarint(uint64(h.cells))), cellBlockLength<<3)
		b = protowire.AppendVarint(b, uint64(h.cells))
	}
	if h.priority > 0 {
		b = append(b, requestPriority<<3)
		b = protowire.AppendVarint(b, uint64(h.priority))
	}
	b = append(b, requestTimeout<<3)
	return protowire.AppendVarint(b, uint64(h.timeout))
}

// Field numbers of ResponseHeader.
const (
	responseCallID    = 1
	responseException = 2
	responseCellBlock = 3
)

// fatalCallID is that of a frame with which a server ends the connection.
const fatalCallID = math.MaxUint32

// A response is a frame that came. Its slices are parts of the frame.
type response struct {
	callID    uint32
	exception []byte // ExceptionResponse; nil: none
	body      []byte // message; empty with an exception
	cells     []byte // cellblock
}

var errNoCallID = errors.New("a response's header lacks its call id")

// parse cuts a frame into its parts.
func (r *response) parse(frame []byte) error {
	header, n := protowire.ConsumeBytes(frame)
	if n < 0 {
		return fmt.Errorf("read a response's header: %w", protowire.ParseError(n))
	}
	*r = response{}
	cells, err := r.parseHeader(header)
	if err != nil {
		return err
	}
	rest := frame[n:]
	if r.exception == nil {
		if r.body, n = protowire.ConsumeBytes(rest); n < 0 {
			return fmt.Errorf("read a response's message: %w", protowire.ParseError(n))
		}
		rest = rest[n:]
	}
	if uint64(len(rest)) != cells {
		return fmt.Errorf("a response has %d bytes behind its message, its header says %d", len(rest), cells)
	}
	r.cells = rest
	return nil
}

// parseHeader returns the length of the cellblock.
func (r *response) parseHeader(b []byte) (cells uint64, err error) {
	known := false
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return 0, fmt.Errorf("read a field of a response's header: %w", protowire.ParseError(n))
		}
		b = b[n:]
		var v uint64
		var bytes []byte
		switch {
		case num == responseCallID && kind == protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
			r.callID, known = uint32(v), true
		case num == responseException && kind == protowire.BytesType:
			if bytes, n = protowire.ConsumeBytes(b); n > 0 {
				r.exception = bytes
			}
		case num == responseCellBlock && kind == protowire.BytesType:
			if bytes, n = protowire.ConsumeBytes(b); n > 0 {
				cells, err = cellBlockSize(bytes)
			}
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if err == nil && n < 0 {
			err = protowire.ParseError(n)
		}
		if err != nil {
			return 0, fmt.Errorf("read field %d of a response's header: %w", num, err)
		}
		b = b[n:]
	}
	if !known {
		return 0, errNoCallID
	}
	return cells, nil
}

// cellBlockSize reads CellBlockMeta.
func cellBlockSize(b []byte) (size uint64, err error) {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		b = b[n:]
		if num == cellBlockLength && kind == protowire.VarintType {
			size, n = protowire.ConsumeVarint(b)
		} else {
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		b = b[n:]
	}
	return size, nil
}

// remote is the response's exception. It stays valid after the frame.
func (r *response) remote() (*RemoteError, error) {
	var e wire.ExceptionResponse
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(r.exception, &e); err != nil {
		return nil, fmt.Errorf("read a response's exception: %w", err)
	}
	remote := NewRemoteError(e.GetExceptionClassName(), e.GetStackTrace())
	remote.Host, remote.Port = e.GetHostname(), int(e.GetPort())
	remote.DoNotRetry, remote.Overloaded = e.GetDoNotRetry(), e.GetServerOverloaded()
	return remote, nil
}
