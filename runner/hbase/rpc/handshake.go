package rpc

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
	"github.com/hadoop-bench/operator/runner/internal/transport"
)

// What a server's turn of the SASL exchange begins with.
const (
	saslSuccess = 0
	saslError   = 1
)

// switchToSimple stands in place of a token's length if the server wants no authentication.
const switchToSimple = -88

// maxToken bounds the server's tokens and texts in the exchange, in bytes.
const maxToken = 1 << 20

// handshake authenticates. It returns what seals all later frames, nil if they are not sealed.
func (c *Client) handshake(ctx context.Context, conn *conn) (*sasl.Context, error) {
	host, _, err := net.SplitHostPort(conn.key.address)
	if err != nil {
		return nil, err
	}
	server, err := c.o.ServerPrincipal(conn.key.service, host)
	if err != nil {
		return nil, err
	}
	begun, err := sasl.NewContext(ctx, c.o.Kerberos, server, c.o.Protection)
	if err != nil {
		return nil, err
	}
	authenticated, err := conn.converse(begun)
	if mismatch := new(sasl.ProtectionError); errors.As(err, &mismatch) {
		mismatch.Key = "hbase.rpc.protection"
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("authenticate as %s with %s: %w", c.user, server, err)
	case !authenticated:
		return nil, c.simple()
	case begun.Protection() == sasl.Authentication:
		return nil, nil
	}
	return begun, nil
}

// converse sends the preamble and exchanges tokens until the conversation is established; false means that the server
// wants no authentication.
func (c *conn) converse(begun *sasl.Context) (bool, error) {
	token, err := begun.Start()
	if err != nil {
		return false, err
	}
	out := preamble(authKerberos)
	for {
		if _, err := c.Net.Write(appendToken(out, token)); err != nil {
			return false, err
		}
		if begun.Established() {
			return true, nil
		}
		simple, answer, err := c.saslTurn()
		if err != nil || simple {
			return false, err
		}
		if token, err = begun.Step(answer); err != nil {
			return false, err
		}
		out = out[:0]
	}
}

// saslTurn reads the server's token, or that it wants none.
func (c *conn) saslTurn() (simple bool, token []byte, err error) {
	status, err := c.int32()
	if err != nil {
		return false, nil, err
	}
	switch status {
	case saslSuccess:
	case saslError:
		return false, nil, c.saslRefusal()
	default:
		return false, nil, c.noSASL(status)
	}
	size, err := c.frames.PeekInt32()
	if err != nil {
		return false, nil, err
	}
	if size == switchToSimple {
		_, err := c.int32()
		return true, nil, err
	}
	if size > maxToken {
		return false, nil, fmt.Errorf("the server's token has %d bytes, the limit is %d", size, maxToken)
	}
	token, err = c.frames.Next()
	return false, token, err
}

// int32 takes a number out of the stream.
func (c *conn) int32() (int32, error) {
	v, err := c.frames.PeekInt32()
	if err == nil {
		_, err = c.frames.Bytes(transport.LengthSize)
	}
	return v, err
}

// saslRefusal is the exception behind an error's status: class and message, each behind its length.
func (c *conn) saslRefusal() error {
	var texts [2]string
	for i := range texts {
		size, err := c.frames.PeekInt32()
		if err != nil {
			return fmt.Errorf("read why the server refused: %w", err)
		}
		if size > maxToken {
			return fmt.Errorf("read why the server refused: a text of %d bytes, the limit is %d", size, maxToken)
		}
		text, err := c.frames.Next()
		if err != nil {
			return fmt.Errorf("read why the server refused: %w", err)
		}
		texts[i] = string(text)
	}
	return NewRemoteError(texts[0], texts[1])
}

// noSASL judges an answer that is no turn of the exchange: size is its length if it is a response's frame, with which a
// server refuses the preamble.
func (c *conn) noSASL(size int32) error {
	frame := binary.BigEndian.AppendUint32(nil, uint32(size))
	if size < 0 || size > maxToken {
		return fmt.Errorf("the server's answer begins with %x, which is no status of SASL", frame)
	}
	rest, err := c.frames.Bytes(int(size))
	if err != nil {
		return err
	}
	var r response
	if err := r.parse(rest); err != nil {
		return err
	}
	if r.exception == nil {
		return errors.New("the server answered a call where a SASL message must come")
	}
	remote, err := r.remote()
	if err != nil {
		return err
	}
	return remote
}

// simple goes on unauthenticated, if that is allowed.
func (c *Client) simple() error {
	if c.o.AllowSimpleFallback {
		return nil
	}
	return errors.New("the server does not ask for authentication, so anybody could be that server: if it shall be trusted " +
		"all the same, set hbase.ipc.client.fallback-to-simple-auth-allowed to true, or hbase.security.authentication to simple")
}
