package rpc

import (
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// A saslState is RpcSaslProto.SaslState.
type saslState uint64

const (
	saslSuccess   saslState = 0
	saslNegotiate saslState = 1
	saslInitiate  saslState = 2
	saslChallenge saslState = 3
	saslResponse  saslState = 4
	saslWrap      saslState = 5
)

// String is the state's name.
func (s saslState) String() string {
	names := [...]string{"SUCCESS", "NEGOTIATE", "INITIATE", "CHALLENGE", "RESPONSE", "WRAP"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("state %d", uint64(s))
}

// A saslMessage is RpcSaslProto.
type saslMessage struct {
	state saslState
	token []byte // nil: none
	auths []saslAuth
}

// A saslAuth is a way to authenticate that a server offers.
type saslAuth struct{ method, mechanism, protocol, serverID string }

// String is the way's name.
func (a saslAuth) String() string {
	if a.mechanism == "" {
		return a.method
	}
	return a.method + "/" + a.mechanism
}

// Field numbers of RpcSaslProto and SaslAuth.
const (
	saslFieldState = 2
	saslFieldToken = 3
	saslFieldAuths = 4

	authMethod    = 1
	authMechanism = 2
	authProtocol  = 3
	authServerID  = 4
)

// encode returns the message without its length.
func (m saslMessage) encode() []byte {
	var b []byte
	b = protowire.AppendTag(b, saslFieldState, protowire.VarintType)
	b = protowire.AppendVarint(b, uint64(m.state))
	if m.token != nil {
		b = protowire.AppendTag(b, saslFieldToken, protowire.BytesType)
		b = protowire.AppendBytes(b, m.token)
	}
	for _, a := range m.auths {
		b = protowire.AppendTag(b, saslFieldAuths, protowire.BytesType)
		b = protowire.AppendBytes(b, a.encode())
	}
	return b
}

func (a saslAuth) encode() []byte {
	var b []byte
	for i, s := range []string{a.method, a.mechanism, a.protocol, a.serverID} {
		if s == "" && i >= authMechanism {
			continue // optional
		}
		b = protowire.AppendTag(b, protowire.Number(i+1), protowire.BytesType)
		b = protowire.AppendString(b, s)
	}
	return b
}

var errNoState = errors.New("a SASL message lacks its state")

// parseSASL reads a message. Its token is a part of b.
func parseSASL(b []byte) (m saslMessage, err error) {
	hasState := false
	err = eachField(b, func(num protowire.Number, v uint64, bytes []byte) error {
		switch {
		case num == saslFieldState && bytes == nil:
			m.state, hasState = saslState(v), true
		case num == saslFieldToken && bytes != nil:
			m.token = bytes
		case num == saslFieldAuths && bytes != nil:
			a, err := parseAuth(bytes)
			if err != nil {
				return err
			}
			m.auths = append(m.auths, a)
		}
		return nil
	})
	if err == nil && !hasState {
		err = errNoState
	}
	if err != nil {
		return saslMessage{}, fmt.Errorf("read a SASL message: %w", err)
	}
	return m, nil
}

func parseAuth(b []byte) (a saslAuth, err error) {
	err = eachField(b, func(num protowire.Number, _ uint64, bytes []byte) error {
		if bytes == nil {
			return nil
		}
		switch num {
		case authMethod:
			a.method = string(bytes)
		case authMechanism:
			a.mechanism = string(bytes)
		case authProtocol:
			a.protocol = string(bytes)
		case authServerID:
			a.serverID = string(bytes)
		}
		return nil
	})
	return a, err
}

// eachField calls f with each field of a message that is a number (bytes is nil) or a string (bytes is not nil).
func eachField(b []byte, f func(num protowire.Number, v uint64, bytes []byte) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return protowire.ParseError(n)
		}
		b = b[n:]
		var v uint64
		var bytes []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			bytes, n = protowire.ConsumeBytes(b)
		default:
			n = protowire.ConsumeFieldValue(num, kind, b)
		}
		if n < 0 {
			return protowire.ParseError(n)
		}
		if kind == protowire.VarintType || kind == protowire.BytesType {
			if err := f(num, v, bytes); err != nil {
				return err
			}
		}
		b = b[n:]
	}
	return nil
}
