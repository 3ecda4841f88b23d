package rpc

import (
	"context"
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/hbase/wire"
	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// dial opens and authenticates a connection and begins to serve it.
func (c *Client) dial(ctx context.Context, key connKey) (*conn, error) {
	conn, err := c.open(ctx, key)
	if err != nil {
		return nil, &ConnectError{Address: key.address, Err: transport.CauseOf(ctx, err)}
	}
	return conn, nil
}

func (c *Client) open(ctx context.Context, key connKey) (*conn, error) {
	header, err := c.connectionHeader(key.service)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	nc, err := c.o.Dial(ctx, "tcp", key.address)
	if err != nil {
		return nil, err
	}
	conn := newConn(c, key, nc)
	first := header
	if c.o.Kerberos == nil {
		first = append(preamble(authSimple), header...)
	} else if err := c.authenticate(ctx, conn); err != nil {
		_ = nc.Close()
		return nil, err
	}
	conn.start(first)
	return conn, nil
}

// authenticate leaves the connection's source and sink such that they seal if that was agreed on.
func (c *Client) authenticate(ctx context.Context, conn *conn) error {
	sealer, err := transport.Interruptible(ctx, conn.Net, func() (*sasl.Context, error) { return c.handshake(ctx, conn) })
	if err != nil || sealer == nil {
		return err
	}
	conn.Sink = &transport.SealedWriter{To: conn.Net, Seal: sealer, Frame: appendToken}
	sealed := &transport.SealedReader{From: conn.frames, Seal: sealer, Token: func(frame []byte) ([]byte, error) { return frame, nil }}
	conn.frames = transport.NewFrameReader(sealed, c.o.MaxFrame, "")
	return nil
}

// Ways to authenticate, as the preamble says them.
const (
	authSimple   = 80
	authKerberos = 81
)

// preamble is what a connection begins with: magic, version, way to authenticate.
func preamble(auth byte) []byte { return []byte{'H', 'B', 'a', 's', 0, auth} }

// codec is the Java class of package cell's encoding.
const codec = "org.apache.hadoop.hbase.codec.KeyValueCodec"

// The version of HBase whose client we behave like. Servers send cells beside messages only to those who tell one.
const (
	version      = "2.6.4"
	versionMajor = 2
	versionMinor = 6
)

// connectionHeader says who calls which service, behind its length.
func (c *Client) connectionHeader(service Service) ([]byte, error) {
	header := wire.ConnectionHeader_builder{
		UserInfo:            wire.UserInformation_builder{EffectiveUser: proto.String(c.user)}.Build(),
		ServiceName:         proto.String(string(service)),
		CellBlockCodecClass: proto.String(codec),
		VersionInfo: wire.VersionInfo_builder{
			Version: proto.String(version), Url: proto.String(""), Revision: proto.String(""), User: proto.String("hadoop-bench"),
			Date: proto.String(""), SrcChecksum: proto.String(""),
			VersionMajor: proto.Uint32(versionMajor), VersionMinor: proto.Uint32(versionMinor),
		}.Build(),
	}.Build()
	b, err := proto.MarshalOptions{}.MarshalAppend(make([]byte, transport.LengthSize), header)
	if err != nil {
		return nil, fmt.Errorf("encode the connection's header: %w", err)
	}
	binary.BigEndian.PutUint32(b, uint32(len(b)-transport.LengthSize))
	return b, nil
}

// appendToken appends a SASL token in the form in which both sides send it.
func appendToken(b, token []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(token)))
	return append(b, token...)
}
