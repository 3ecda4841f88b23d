package sasl

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/iana/flags"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/messages"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Context establishment, RFC 4121 section 4.1 inside the framing of RFC 2743 section 3.1.
var (
	mechanism   = []byte{0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x12, 0x01, 0x02, 0x02} // OID 1.2.840.113554.1.2.2
	tokenAPReq  = [2]byte{0x01, 0x00}
	tokenAPRep  = [2]byte{0x02, 0x00}
	tokenKRBErr = [2]byte{0x03, 0x00}
)

const (
	framingTag      = 0x60
	checksumGSS     = 0x8003 // RFC 4121 section 4.1.1
	contextFlags    = 2 | 4 | 8 | 16 | 32
	minSealedLength = 28 // confounder and signature; shorter texts cannot be decrypted
)

// frameToken puts the mechanism's framing around a Kerberos message.
func frameToken(id [2]byte, message []byte) []byte {
	inner := len(mechanism) + len(id) + len(message)
	b := append([]byte{framingTag}, derLength(inner)...)
	b = append(b, mechanism...)
	b = append(b, id[:]...)
	return append(b, message...)
}

func derLength(n int) []byte {
	if n < 0x80 {
		return []byte{byte(n)}
	}
	b := bytes.TrimLeft(binary.BigEndian.AppendUint32(nil, uint32(n)), "\x00")
	return append([]byte{0x80 | byte(len(b))}, b...)
}

// unframeToken takes the framing off.
func unframeToken(token []byte) (id [2]byte, message []byte, err error) {
	bad := errors.New("not a token of the Kerberos mechanism")
	if len(token) < 2 || token[0] != framingTag {
		return id, nil, bad
	}
	n, b := int(token[1]), token[2:]
	if n >= 0x80 {
		size := n & 0x7f
		if size > 4 || size > len(b) {
			return id, nil, bad
		}
		n = 0
		for _, d := range b[:size] {
			n = n<<8 | int(d)
		}
		b = b[size:]
	}
	if n != len(b) || !bytes.HasPrefix(b, mechanism) || len(b) < len(mechanism)+len(id) {
		return id, nil, bad
	}
	copy(id[:], b[len(mechanism):])
	return id, b[len(mechanism)+len(id):], nil
}

// A request is what we sent to the server to begin with.
type request struct {
	token  []byte
	auth   types.Authenticator
	subkey types.EncryptionKey
}

// newRequest makes the first token: AP-REQ with mutual authentication and a key of our own.
func newRequest(t Ticket) (request, error) {
	auth, err := types.NewAuthenticator(t.Realm, t.Client)
	if err != nil {
		return request{}, err
	}
	if err := auth.GenerateSeqNumberAndSubKey(t.Key.KeyType, len(t.Key.KeyValue)); err != nil {
		return request{}, err
	}
	sum := make([]byte, 24) // length of the channel bindings, none of them, flags
	binary.LittleEndian.PutUint32(sum, 16)
	binary.LittleEndian.PutUint32(sum[20:], contextFlags)
	auth.Cksum = types.Checksum{CksumType: checksumGSS, Checksum: sum}
	req, err := messages.NewAPReq(t.Ticket, t.Key, auth)
	if err != nil {
		return request{}, err
	}
	types.SetFlag(&req.APOptions, flags.APOptionMutualRequired)
	b, err := req.Marshal()
	if err != nil {
		return request{}, err
	}
	return request{token: frameToken(tokenAPReq, b), auth: auth, subkey: auth.SubKey}, nil
}

// parseReply opens the server's answer to the request, which proves that the server has the service's key.
func (r request) parseReply(token []byte, sessionKey types.EncryptionKey) (SealerConfig, error) {
	id, b, err := unframeToken(token)
	if err != nil {
		return SealerConfig{}, err
	}
	switch id {
	case tokenKRBErr:
		return SealerConfig{}, serverError(b)
	case tokenAPRep:
	default:
		return SealerConfig{}, fmt.Errorf("the server answered with a Kerberos token of type %x", id)
	}
	part, err := openReply(b, sessionKey)
	if err != nil {
		return SealerConfig{}, fmt.Errorf("read the server's proof: %w", err)
	}
	if part.CTime.Unix() != r.auth.CTime.Unix() || part.Cusec != r.auth.Cusec {
		return SealerConfig{}, errors.New("the server's proof is not for our request")
	}
	c := SealerConfig{Key: r.subkey, Side: Initiator, Send: uint64(r.auth.SeqNumber), Receive: uint64(uint32(part.SequenceNumber))}
	if len(part.Subkey.KeyValue) > 0 {
		c.Key, c.AcceptorSubkey = part.Subkey, true
	}
	return c, nil
}

// openReply decrypts an AP-REP.
func openReply(b []byte, key types.EncryptionKey) (part messages.EncAPRepPart, err error) {
	var rep messages.APRep
	if err := rep.Unmarshal(b); err != nil {
		return part, err
	}
	if len(rep.EncPart.Cipher) < minSealedLength+4 {
		return part, errors.New("its sealed part is too short")
	}
	plain, err := crypto.DecryptEncPart(rep.EncPart, key, keyusage.AP_REP_ENCPART)
	if err != nil {
		return part, err
	}
	return part, part.Unmarshal(plain)
}

func serverError(b []byte) error {
	var e messages.KRBError
	if err := e.Unmarshal(b); err != nil {
		return fmt.Errorf("read the server's Kerberos error: %w", err)
	}
	return fmt.Errorf("the server refused the ticket: %w", explain(e))
}
