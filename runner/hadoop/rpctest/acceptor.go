package rpctest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jcmturner/gofork/encoding/asn1"
	"github.com/jcmturner/gokrb5/v8/asn1tools"
	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/asnAppTag"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/iana/msgtype"
	"github.com/jcmturner/gokrb5/v8/iana/nametype"
	"github.com/jcmturner/gokrb5/v8/keytab"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// An Acceptor is a service with a Kerberos key, and the KDC that its clients need.
type Acceptor struct {
	Service     string // such as nn/localhost
	Realm       string
	Protections []sasl.Protection // that are offered
	Buffer      int               // the largest token that is taken, in bytes
	EncType     int32             // of tickets
	Subkey      bool              // choose the key, instead of the client's

	keytab *keytab.Keytab
}

// NewAcceptor makes a service with a key of its own. It offers the protections.
func NewAcceptor(service, realm string, encType int32, protections ...sasl.Protection) (*Acceptor, error) {
	kt := keytab.New()
	if err := kt.AddEntry(service, realm, "a test's password", time.Unix(1, 0), 1, encType); err != nil {
		return nil, err
	}
	return &Acceptor{Service: service, Realm: realm, Protections: protections, Buffer: 65536, EncType: encType, keytab: kt}, nil
}

// Login is a client's identity whose tickets for this service the server accepts.
func (a *Acceptor) Login(user string) sasl.Login { return &login{acceptor: a, user: user} }

type login struct {
	acceptor *Acceptor
	user     string
}

func (l *login) Principal() string { return l.user + "@" + l.acceptor.Realm }

func (l *login) Close() error { return nil }

// Ticket makes a ticket as a KDC would.
func (l *login) Ticket(_ context.Context, service string) (sasl.Ticket, error) {
	a := l.acceptor
	if service != a.Service+"@"+a.Realm {
		return sasl.Ticket{}, &sasl.LoginError{Principal: l.Principal(), Service: service, Err: errors.New("no such service")}
	}
	client := types.NewPrincipalName(nametype.KRB_NT_PRINCIPAL, l.user)
	now := time.Now().UTC()
	t, key, err := messages.NewTicket(client, a.Realm, types.NewPrincipalName(nametype.KRB_NT_SRV_INST, a.Service), a.Realm,
		types.NewKrbFlags(), a.keytab, a.EncType, 1, now, now, now.Add(time.Hour), now.Add(time.Hour))
	return sasl.Ticket{Ticket: t, Key: key, Client: client, Realm: a.Realm}, err
}

// Accept begins a conversation with a client.
func (a *Acceptor) Accept() *Acceptance { return &Acceptance{acceptor: a} }

// An Acceptance is the service's side of a conversation.
type Acceptance struct {
	acceptor *Acceptor
	stage    int
	sealer   *sasl.Sealer
	chosen   sasl.Protection
}

// Chosen is the protection that the client chose; empty before it did.
func (a *Acceptance) Chosen() sasl.Protection { return a.chosen }

// Step answers a token of the client. When it is done there is no answer.
func (a *Acceptance) Step(token []byte) (reply []byte, done bool, err error) {
	a.stage++
	switch a.stage {
	case 1:
		reply, err = a.prove(token)
	case 2:
		if len(token) > 0 {
			return nil, false, errors.New("the client's answer to the proof is not empty")
		}
		reply, err = a.offer()
	case 3:
		err = a.settle(token)
		done = true
	default:
		err = errors.New("the conversation is over")
	}
	return reply, done, err
}

var framing = []byte{0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02}

// prove reads the client's ticket and answers with the proof that we could.
func (a *Acceptance) prove(token []byte) ([]byte, error) {
	var outer asn1.RawValue
	if _, err := asn1.Unmarshal(token, &outer); err != nil {
		return nil, err
	}
	message, ok := bytes.CutPrefix(outer.Bytes, append(bytes.Clone(framing), 1, 0))
	if !ok {
		return nil, errors.New("no AP-REQ")
	}
	var req messages.APReq
	if err := req.Unmarshal(message); err != nil {
		return nil, err
	}
	if ok, err := req.Verify(a.acceptor.keytab, 5*time.Minute, types.HostAddress{}, nil); !ok {
		return nil, err
	}
	auth := req.Authenticator
	if sum := auth.Cksum; sum.CksumType != 0x8003 || len(sum.Checksum) != 24 || binary.LittleEndian.Uint32(sum.Checksum[20:]) != 62 {
		return nil, fmt.Errorf("the authenticator's checksum is %+v", sum)
	}
	part := messages.EncAPRepPart{CTime: auth.CTime.Truncate(time.Second), Cusec: auth.Cusec, SequenceNumber: 4711}
	config := sasl.SealerConfig{Key: auth.SubKey, Side: sasl.Acceptor, Send: 4711, Receive: uint64(auth.SeqNumber)}
	if a.acceptor.Subkey {
		etype, err := crypto.GetEtype(a.acceptor.EncType)
		if err != nil {
			return nil, err
		}
		if part.Subkey, err = types.GenerateEncryptionKey(etype); err != nil {
			return nil, err
		}
		config.Key, config.AcceptorSubkey = part.Subkey, true
	}
	var err error
	if a.sealer, err = sasl.NewSealer(config); err != nil {
		return nil, err
	}
	return proof(part, req.Ticket.DecryptedEncPart.Key)
}

// proof is AP-REP in its framing.
func proof(part messages.EncAPRepPart, key types.EncryptionKey) ([]byte, error) {
	b, err := asn1.Marshal(part)
	if err != nil {
		return nil, err
	}
	sealed, err := crypto.GetEncryptedData(asn1tools.AddASNAppTag(b, asnAppTag.EncAPRepPart), key, keyusage.AP_REP_ENCPART, 0)
	if err != nil {
		return nil, err
	}
	rep, err := asn1.Marshal(messages.APRep{PVNO: 5, MsgType: msgtype.KRB_AP_REP, EncPart: sealed})
	if err != nil {
		return nil, err
	}
	rep = asn1tools.AddASNAppTag(rep, asnAppTag.APREP)
	inner := append(append(bytes.Clone(framing), 2, 0), rep...)
	return asn1.Marshal(asn1.RawValue{Class: asn1.ClassApplication, Tag: 0, IsCompound: true, Bytes: inner})
}

// offer sends the protections and the size of tokens.
func (a *Acceptance) offer() ([]byte, error) {
	var bits uint32
	for _, p := range a.acceptor.Protections {
		bits |= map[sasl.Protection]uint32{sasl.Authentication: 1, sasl.Integrity: 2, sasl.Privacy: 4}[p]
	}
	return a.sealer.Wrap(binary.BigEndian.AppendUint32(nil, bits<<24|uint32(a.acceptor.Buffer)), false)
}

// settle reads the client's choice.
func (a *Acceptance) settle(token []byte) error {
	choice, _, err := a.sealer.Unwrap(token)
	if err != nil {
		return err
	}
	if len(choice) != 4 {
		return fmt.Errorf("the client's choice is %x", choice)
	}
	a.chosen = map[byte]sasl.Protection{1: sasl.Authentication, 2: sasl.Integrity, 4: sasl.Privacy}[choice[0]]
	if !strings.Contains(fmt.Sprint(a.acceptor.Protections), string(a.chosen)) || a.chosen == "" {
		return fmt.Errorf("the client chose %x, which was not offered", choice[0])
	}
	return nil
}

// Wrap protects bytes as the client chose.
func (a *Acceptance) Wrap(b []byte) ([]byte, error) {
	return a.sealer.Wrap(b, a.chosen == sasl.Privacy)
}

// Unwrap opens a token, which must be protected as the client chose and no larger than the Acceptor's Buffer.
func (a *Acceptance) Unwrap(token []byte) ([]byte, error) {
	if len(token) > a.acceptor.Buffer {
		return nil, fmt.Errorf("a token of %d bytes, though %d was the most", len(token), a.acceptor.Buffer)
	}
	plain, sealed, err := a.sealer.Unwrap(token)
	if err == nil && sealed != (a.chosen == sasl.Privacy) {
		err = errors.New("the client did not seal as agreed on")
	}
	return plain, err
}
