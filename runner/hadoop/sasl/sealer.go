package sasl

import (
	"bytes"
	"crypto/hmac"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/types"
)

// Wrap tokens, RFC 4121 section 4.2.6.2.
const (
	wrapHeader = 16
	wrapFiller = 0xFF

	flagFromAcceptor   = 0x01
	flagSealed         = 0x02
	flagAcceptorSubkey = 0x04
)

// Side is who wraps.
type Side byte

// Both sides of a conversation.
const (
	Initiator Side = 0
	Acceptor  Side = flagFromAcceptor
)

func (s Side) usage() uint32 {
	if s == Acceptor {
		return keyusage.GSSAPI_ACCEPTOR_SEAL
	}
	return keyusage.GSSAPI_INITIATOR_SEAL
}

// A SealerConfig is what two sides have agreed on.
type SealerConfig struct {
	Key            types.EncryptionKey
	Side           Side   // ours
	AcceptorSubkey bool   // the key was chosen by the acceptor
	Send, Receive  uint64 // sequence numbers of the first tokens
}

// A Sealer makes and opens the Wrap tokens of one side. Wrapping and unwrapping may go on at the same time, each in one
// goroutine.
type Sealer struct {
	config       SealerConfig
	ours, theirs *crypter
}

// NewSealer refuses keys of other than the AES encryption types.
func NewSealer(c SealerConfig) (*Sealer, error) {
	ours, err := newCrypter(c.Key, c.Side.usage())
	if err != nil {
		return nil, err
	}
	theirs, err := newCrypter(c.Key, (c.Side ^ Acceptor).usage())
	if err != nil {
		return nil, err
	}
	return &Sealer{config: c, ours: ours, theirs: theirs}, nil
}

// Wrap protects data, by encryption too if sealed is set.
func (s *Sealer) Wrap(data []byte, sealed bool) ([]byte, error) {
	flags := byte(s.config.Side)
	if s.config.AcceptorSubkey {
		flags |= flagAcceptorSubkey
	}
	if sealed {
		flags |= flagSealed
	}
	header := newWrapHeader(flags, s.config.Send)
	s.config.Send++
	if sealed {
		token, err := s.ours.encrypt(bytes.Clone(header), data, header)
		if err != nil {
			return nil, fmt.Errorf("seal a GSS token: %w", err)
		}
		return token, nil
	}
	sum := s.ours.sign(data, header)
	binary.BigEndian.PutUint16(header[4:], uint16(len(sum)))
	return slices.Concat(header, data, sum), nil
}

// newWrapHeader has no extra count and no rotation, as it is when it is signed.
func newWrapHeader(flags byte, sequence uint64) []byte {
	h := make([]byte, wrapHeader)
	h[0], h[1], h[2], h[3] = 0x05, 0x04, flags, wrapFiller
	binary.BigEndian.PutUint64(h[8:], sequence)
	return h
}

// Unwrap opens the other side's next token and says whether it was sealed.
func (s *Sealer) Unwrap(token []byte) (data []byte, sealed bool, err error) {
	if len(token) < wrapHeader || token[0] != 0x05 || token[1] != 0x04 || token[3] != wrapFiller {
		return nil, false, errors.New("not a GSS Wrap token")
	}
	flags := token[2]
	if Side(flags&flagFromAcceptor) == s.config.Side {
		return nil, false, errors.New("a GSS token comes back to the side that made it")
	}
	if (flags&flagAcceptorSubkey != 0) != s.config.AcceptorSubkey {
		return nil, false, errors.New("a GSS token uses another key than was agreed on")
	}
	extra := int(binary.BigEndian.Uint16(token[4:]))
	rotation := int(binary.BigEndian.Uint16(token[6:]))
	sequence := binary.BigEndian.Uint64(token[8:])
	if sequence != s.config.Receive {
		return nil, false, fmt.Errorf("a GSS token has sequence number %d where %d must come", sequence, s.config.Receive)
	}
	body := rotateLeft(token[wrapHeader:], rotation)
	if sealed = flags&flagSealed != 0; sealed {
		data, err = s.open(token[:wrapHeader], body, extra)
	} else {
		data, err = s.verify(flags, sequence, body, extra)
	}
	if err == nil {
		s.config.Receive++
	}
	return data, sealed, err
}

// rotateLeft undoes a rotation to the right by n bytes.
func rotateLeft(b []byte, n int) []byte {
	if len(b) == 0 || n%len(b) == 0 {
		return b
	}
	n %= len(b)
	return slices.Concat(b[n:], b[:n])
}

// open decrypts data, extra filler bytes and a copy of the header.
func (s *Sealer) open(header, body []byte, extra int) ([]byte, error) {
	plain, err := s.theirs.decrypt(body)
	if err != nil {
		return nil, err
	}
	end := len(plain) - wrapHeader - extra
	if end < 0 {
		return nil, errors.New("a sealed GSS token has more filler than content")
	}
	inner := bytes.Clone(header)
	inner[6], inner[7] = 0, 0 // the rotation came after the sealing
	if !bytes.Equal(plain[len(plain)-wrapHeader:], inner) {
		return nil, errors.New("the header of a sealed GSS token was changed")
	}
	return plain[:end], nil
}

// verify checks the signature of data and header.
func (s *Sealer) verify(flags byte, sequence uint64, body []byte, sumLength int) ([]byte, error) {
	if sumLength > len(body) {
		return nil, errors.New("a signed GSS token is shorter than its signature")
	}
	data, sum := body[:len(body)-sumLength], body[len(body)-sumLength:]
	if !hmac.Equal(sum, s.theirs.sign(data, newWrapHeader(flags, sequence))) {
		return nil, errors.New("the signature of a GSS token is wrong")
	}
	return data, nil
}
