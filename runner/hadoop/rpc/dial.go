package rpc

import (
	"context"
	"encoding/binary"
	"net"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// dial opens and authenticates a connection and begins to serve it.
func (c *Client) dial(ctx context.Context, key connKey) (*conn, error) {
	if ctx.Err() != nil {
		return nil, &ConnectError{Address: key.address, Err: context.Cause(ctx)}
	}
	nc, err := c.o.Dial(ctx, "tcp", key.address)
	if err != nil {
		return nil, &ConnectError{Address: key.address, Err: transport.CauseOf(ctx, err)}
	}
	conn, err := c.open(ctx, nc, key)
	if err != nil {
		_ = nc.Close()
		return nil, &ConnectError{Address: key.address, Err: transport.CauseOf(ctx, err)}
	}
	return conn, nil
}

func (c *Client) open(ctx context.Context, nc net.Conn, key connKey) (*conn, error) {
	conn := &conn{
		Link: transport.NewLink(nc, c.o.CallTimeout), client: c, key: key,
		frames: transport.NewFrameReader(nc, c.o.MaxFrame, limitKey), pending: map[int32]*waiting{},
	}
	first := connectionHeader(authNone)
	if c.o.Kerberos != nil {
		if err := c.authenticate(ctx, conn); err != nil {
			return nil, err
		}
		first = nil
	}
	conn.start(append(first, c.contextFrame(key.protocol)...))
	return conn, nil
}

// authenticate leaves the connection's source and sink such that they seal if that was agreed on.
func (c *Client) authenticate(ctx context.Context, conn *conn) error {
	sealer, err := transport.Interruptible(ctx, conn.Net, func() (*sasl.Context, error) { return c.handshake(ctx, conn) })
	if err != nil || sealer == nil {
		return err
	}
	conn.Sink = &transport.SealedWriter{To: conn.Net, Seal: sealer, Frame: appendSealed}
	sealed := &transport.SealedReader{From: conn.frames, Seal: sealer, Token: sealedToken}
	conn.frames = transport.NewFrameReader(sealed, c.o.MaxFrame, limitKey)
	return nil
}

// limitKey is the configuration key that bounds what a server may send.
const limitKey = "ipc.maximum.response.length"

// Authentication protocols of the connection header.
const (
	authNone = 0
	authSASL = 0xDF
)

// connectionHeader is what a connection begins with: magic, version, service class, authentication protocol.
func connectionHeader(auth byte) []byte { return []byte{'h', 'r', 'p', 'c', 9, 0, auth} }

// Field numbers of IpcConnectionContextProto and UserInformationProto.
const (
	contextUser     = 2
	contextProtocol = 3
	effectiveUser   = 1
)

// contextFrame says who calls which protocol.
func (c *Client) contextFrame(protocol string) []byte {
	var user, context []byte
	user = protowire.AppendTag(user, effectiveUser, protowire.BytesType)
	user = protowire.AppendString(user, c.user)
	context = protowire.AppendTag(context, contextUser, protowire.BytesType)
	context = protowire.AppendBytes(context, user)
	context = protowire.AppendTag(context, contextProtocol, protowire.BytesType)
	context = protowire.AppendString(context, protocol)
	return controlFrame(contextCallID, c.clientID, protowire.AppendBytes(nil, context))
}

// controlFrame is a frame that is no call.
func controlFrame(callID int32, clientID, delimitedBody []byte) []byte {
	h := requestHeader{callID: callID, retry: controlRetry, clientID: clientID}
	b := h.appendDelimited(make([]byte, transport.LengthSize))
	b = append(b, delimitedBody...)
	binary.BigEndian.PutUint32(b, uint32(len(b)-transport.LengthSize))
	return b
}
