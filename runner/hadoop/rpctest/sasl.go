package rpctest

import (
	"encoding/binary"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// States of RpcSaslProto.
const (
	stateSuccess   = 0
	stateNegotiate = 1
	stateInitiate  = 2
	stateChallenge = 3
	stateResponse  = 4
	stateWrap      = 5
)

// A conversation is a connection's authentication.
type conversation struct {
	conn     *conn
	accept   *Acceptance // nil before INITIATE
	sealing  bool        // later frames are wrapped
	unsealed []byte      // bytes of frames that were sealed and are not whole yet
}

// message takes a SASL message of the client.
func (s *conversation) message(b []byte) error {
	var state uint64
	var token []byte
	if err := eachField(b, func(num protowire.Number, v uint64, bytes []byte) {
		switch num {
		case 2:
			state = v
		case 3:
			token = bytes
		}
	}); err != nil {
		return err
	}
	switch state {
	case stateNegotiate:
		s.negotiate()
		return nil
	case stateInitiate:
		if s.conn.server.o.Kerberos == nil {
			return errDrop
		}
		s.accept = s.conn.server.o.Kerberos.Accept()
		return s.step(token)
	case stateResponse:
		return s.step(token)
	case stateWrap:
		return s.open(token)
	}
	return errDrop
}

// negotiate offers what there is.
func (s *conversation) negotiate() {
	o := &s.conn.server.o
	var auths []byte
	offer := func(method, mechanism, protocol, serverID string) {
		var a []byte
		for i, v := range []string{method, mechanism, protocol, serverID} {
			a = protowire.AppendTag(a, protowire.Number(i+1), protowire.BytesType)
			a = protowire.AppendString(a, v)
		}
		auths = protowire.AppendTag(auths, 4, protowire.BytesType)
		auths = protowire.AppendBytes(auths, a)
	}
	for _, way := range o.Offers {
		method, mechanism, _ := strings.Cut(way, "/")
		offer(method, mechanism, "", "default")
	}
	if o.Kerberos != nil {
		protocol, server, _ := strings.Cut(o.Kerberos.Service, "/")
		offer("KERBEROS", "GSSAPI", protocol, server)
	}
	if auths == nil {
		s.send(stateSuccess, nil, nil)
		return
	}
	s.send(stateNegotiate, nil, auths)
}

// step answers a token.
func (s *conversation) step(token []byte) error {
	if s.accept == nil {
		return errDrop
	}
	reply, done, err := s.accept.Step(token)
	if err != nil {
		s.conn.answer(saslID, nil, &Exception{Class: "javax.security.sasl.SaslException", Message: err.Error(), Code: 15, Fatal: true})
		return errDrop
	}
	state := uint64(stateChallenge)
	if done {
		state = stateSuccess
	}
	s.send(state, reply, nil)
	if !done {
		return nil
	}
	err = s.conn.flush() // the success itself is not sealed
	s.sealing = s.accept.Chosen() != sasl.Authentication
	return err
}

// send queues a message that is never sealed.
func (s *conversation) send(state uint64, token, auths []byte) {
	s.conn.mu.Lock()
	defer s.conn.mu.Unlock()
	s.conn.out = appendSASL(s.conn.out, state, token, auths)
}

func appendSASL(b []byte, state uint64, token, auths []byte) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	header := []byte{1 << 3}
	id := int32(saslID)
	header = protowire.AppendVarint(header, uint64(uint32(id)))
	header = append(header, 2<<3, 0)
	b = protowire.AppendBytes(b, header)
	m := protowire.AppendVarint([]byte{2 << 3}, state)
	if token != nil {
		m = append(m, 3<<3|2)
		m = protowire.AppendBytes(m, token)
	}
	m = append(m, auths...)
	b = protowire.AppendBytes(b, m)
	binary.BigEndian.PutUint32(b[start:], uint32(len(b)-start-4))
	return b
}

// seal wraps what is to be sent if that was agreed on.
func (s *conversation) seal(out []byte) ([]byte, error) {
	if !s.sealing {
		return out, nil
	}
	token, err := s.accept.Wrap(out)
	if err != nil {
		return nil, err
	}
	return appendSASL(nil, stateWrap, token, nil), nil
}

// open takes the frames out of a sealed message. They need not end with it.
func (s *conversation) open(token []byte) error {
	if s.accept == nil {
		return errDrop
	}
	plain, err := s.accept.Unwrap(token)
	if err != nil {
		return err
	}
	s.unsealed = append(s.unsealed, plain...)
	for len(s.unsealed) >= 4 {
		n := 4 + int(binary.BigEndian.Uint32(s.unsealed))
		if len(s.unsealed) < n {
			return nil
		}
		if err := s.conn.handle(s.unsealed[4:n]); err != nil {
			return err
		}
		s.unsealed = s.unsealed[n:]
	}
	return nil
}
