package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// A handshake is the SASL conversation at a connection's beginning.
type handshake struct {
	client *Client
	conn   *conn
	begun  *sasl.Context // nil until a way to authenticate was chosen
}

// handshake authenticates. It returns what seals all later frames, nil if they are not sealed.
func (c *Client) handshake(ctx context.Context, conn *conn) (*sasl.Context, error) {
	h := handshake{client: c, conn: conn}
	hello := append(connectionHeader(authSASL), saslFrame(saslMessage{state: saslNegotiate})...)
	if _, err := conn.Net.Write(hello); err != nil {
		return nil, fmt.Errorf("begin to authenticate: %w", err)
	}
	for {
		m, err := h.receive()
		if err != nil {
			return nil, fmt.Errorf("authenticate as %s: %w", c.user, err)
		}
		reply, done, err := h.answer(ctx, m)
		if err != nil {
			return nil, fmt.Errorf("authenticate as %s: %w", c.user, err)
		}
		if reply != nil {
			if _, err := conn.Net.Write(saslFrame(*reply)); err != nil {
				return nil, fmt.Errorf("authenticate as %s: %w", c.user, err)
			}
		}
		if done {
			break
		}
	}
	if h.begun == nil || h.begun.Protection() == sasl.Authentication {
		return nil, nil
	}
	return h.begun, nil
}

// receive reads the server's next message.
func (h *handshake) receive() (saslMessage, error) {
	frame, err := h.conn.frames.Next()
	if err != nil {
		return saslMessage{}, err
	}
	var header responseHeader
	body, err := parseResponse(frame, &header)
	if err != nil {
		return saslMessage{}, err
	}
	if header.status != statusSuccess {
		return saslMessage{}, header.remote()
	}
	return saslBody(&header, body)
}

// saslBody is the SASL message of a response.
func saslBody(h *responseHeader, body []byte) (saslMessage, error) {
	if h.callID != saslCallID {
		return saslMessage{}, fmt.Errorf("the server answered call %d where a SASL message must come", h.callID)
	}
	message, err := parseBody(body)
	if err != nil {
		return saslMessage{}, err
	}
	return parseSASL(message)
}

// answer is the reply to a message, nil if there is none, and whether the conversation is over.
func (h *handshake) answer(ctx context.Context, m saslMessage) (reply *saslMessage, done bool, err error) {
	switch {
	case m.state == saslNegotiate && h.begun == nil:
		return h.negotiate(ctx, m.auths)
	case m.state == saslChallenge && h.begun != nil:
		token, err := h.begun.Step(m.token)
		if err != nil {
			return nil, false, err
		}
		return &saslMessage{state: saslResponse, token: notNil(token)}, false, nil
	case m.state == saslSuccess && h.begun == nil:
		return nil, true, h.simple("the server does not ask for authentication")
	case m.state == saslSuccess:
		return nil, true, h.finish(m.token)
	}
	return nil, false, fmt.Errorf("the server's %v does not belong here", m.state)
}

// negotiate chooses a way to authenticate among the server's.
func (h *handshake) negotiate(ctx context.Context, auths []saslAuth) (*saslMessage, bool, error) {
	simple := false
	var names []string
	for _, a := range auths {
		if a.method == "KERBEROS" && a.mechanism == "GSSAPI" {
			token, err := h.initiate(ctx, a)
			if err != nil {
				return nil, false, err
			}
			return &saslMessage{state: saslInitiate, token: notNil(token), auths: []saslAuth{a}}, false, nil
		}
		simple = simple || a.method == "SIMPLE"
		names = append(names, a.String())
	}
	if simple {
		return nil, true, h.simple("the server offers no Kerberos, only " + strings.Join(names, ", "))
	}
	return nil, false, fmt.Errorf("the server offers no Kerberos, only %s", strings.Join(names, ", "))
}

// simple goes on unauthenticated, if that is allowed.
func (h *handshake) simple(why string) error {
	if h.client.o.AllowSimpleFallback {
		return nil
	}
	return errors.New(why + ", so anybody could be that server: if it shall be trusted all the same, " +
		"set ipc.client.fallback-to-simple-auth-allowed to true, or hadoop.security.authentication to simple")
}

// initiate begins to authenticate with the service that the server says it is, if that is the one we mean.
func (h *handshake) initiate(ctx context.Context, a saslAuth) ([]byte, error) {
	host, _, err := net.SplitHostPort(h.conn.key.address)
	if err != nil {
		return nil, err
	}
	expected, err := h.client.o.ServerPrincipal(host)
	if err != nil {
		return nil, err
	}
	service, _, _ := strings.Cut(expected, "@")
	if offered := a.protocol + "/" + a.serverID; offered != service {
		return nil, fmt.Errorf("the server says it is %s, but dfs.namenode.kerberos.principal says %s", offered, expected)
	}
	h.begun, err = sasl.NewContext(ctx, h.client.o.Kerberos, expected, h.client.o.Protection)
	if err != nil {
		return nil, err
	}
	return h.begun.Start()
}

// finish looks at the token that may come with the server's success.
func (h *handshake) finish(token []byte) error {
	if len(token) > 0 {
		if _, err := h.begun.Step(token); err != nil {
			return err
		}
	}
	if !h.begun.Established() {
		return errors.New("the server says that we are authenticated before it proved who it is")
	}
	return nil
}

// saslFrame is a frame with a SASL message.
func saslFrame(m saslMessage) []byte {
	return controlFrame(saslCallID, nil, protowire.AppendBytes(nil, m.encode()))
}

// notNil makes an empty token one that is sent.
func notNil(token []byte) []byte {
	if token == nil {
		return []byte{}
	}
	return token
}
