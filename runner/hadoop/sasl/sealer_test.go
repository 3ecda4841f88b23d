package sasl_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/gssapi"
	"github.com/jcmturner/gokrb5/v8/iana/keyusage"
	"github.com/jcmturner/gokrb5/v8/types"

	"github.com/hadoop-bench/operator/runner/hadoop/sasl"
)

// keySizes are those of the AES encryption types, in bytes.
var keySizes = map[int32]int{17: 16, 18: 32, 19: 16, 20: 32}

func key(encType int32) types.EncryptionKey {
	return types.EncryptionKey{KeyType: encType, KeyValue: bytes.Repeat([]byte{7}, keySizes[encType])}
}

func newSealer(t testing.TB, c sasl.SealerConfig) *sasl.Sealer {
	t.Helper()
	s, err := sasl.NewSealer(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pair is both sides of a conversation.
func pair(t testing.TB, encType int32) (initiator, acceptor *sasl.Sealer) {
	t.Helper()
	return newSealer(t, sasl.SealerConfig{Key: key(encType), Side: sasl.Initiator, Send: 5, Receive: 9}),
		newSealer(t, sasl.SealerConfig{Key: key(encType), Side: sasl.Acceptor, Send: 9, Receive: 5})
}

func TestTokensGoBothWays(t *testing.T) {
	for encType := range keySizes {
		for _, sealed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d/sealed=%v", encType, sealed), func(t *testing.T) {
				a, b := pair(t, encType)
				for _, text := range []string{"", "x", strings.Repeat("long", 1000)} {
					for from, to := range map[*sasl.Sealer]*sasl.Sealer{a: b, b: a} {
						token, err := from.Wrap([]byte(text), sealed)
						if err != nil {
							t.Fatal(err)
						}
						if sealed && len(text) > 10 && bytes.Contains(token, []byte("longlong")) {
							t.Error("the text can be read")
						}
						got, gotSealed, err := to.Unwrap(token)
						if err != nil || string(got) != text || gotSealed != sealed {
							t.Errorf("got %q, sealed %v, %v", got, gotSealed, err)
						}
					}
				}
			})
		}
	}
}

// TestSignedTokenIsThatOfGokrb5 compares with another implementation of the same RFC.
func TestSignedTokenIsThatOfGokrb5(t *testing.T) {
	for encType := range keySizes {
		a, _ := pair(t, encType)
		token, err := a.Wrap([]byte("text"), false)
		if err != nil {
			t.Fatal(err)
		}
		var theirs gssapi.WrapToken
		if err := theirs.Unmarshal(token, false); err != nil {
			t.Fatal(err)
		}
		if ok, err := theirs.Verify(key(encType), keyusage.GSSAPI_INITIATOR_SEAL); !ok || string(theirs.Payload) != "text" || theirs.SndSeqNum != 5 {
			t.Errorf("type %d: payload %q, number %d, %v", encType, theirs.Payload, theirs.SndSeqNum, err)
		}
	}
}

// TestSealedTokenIsThatOfTheRFC opens and makes tokens step by step as RFC 4121 section 4.2.4 says, by gokrb5's ciphers.
func TestSealedTokenIsThatOfTheRFC(t *testing.T) {
	for encType := range keySizes {
		e, err := crypto.GetEtype(encType)
		if err != nil {
			t.Fatal(err)
		}
		for length := range 70 {
			text := bytes.Repeat([]byte{'x'}, length)
			a, _ := pair(t, encType)
			token, err := a.Wrap(text, true)
			if err != nil {
				t.Fatal(err)
			}
			header := []byte{5, 4, 2, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5}
			if !bytes.Equal(token[:16], header) {
				t.Errorf("type %d: the header is %x, want %x", encType, token[:16], header)
			}
			plain, err := e.DecryptMessage(key(encType).KeyValue, token[16:], keyusage.GSSAPI_INITIATOR_SEAL)
			if want := slices.Concat(text, header); err != nil || !bytes.Equal(plain, want) {
				t.Errorf("type %d: inside is %q, want %q (%v)", encType, plain, want, err)
			}
			header[2], header[15] = 3, 9
			_, body, err := e.EncryptMessage(key(encType).KeyValue, slices.Concat(text, header), keyusage.GSSAPI_ACCEPTOR_SEAL)
			if err != nil {
				t.Fatal(err)
			}
			if got, sealed, err := a.Unwrap(slices.Concat(header, body)); err != nil || !sealed || !bytes.Equal(got, text) {
				t.Errorf("type %d: got %q, want %q (%v)", encType, got, text, err)
			}
		}
	}
}

// TestRotationAndFillerAreUndone opens tokens of the forms that other implementations send.
func TestRotationAndFillerAreUndone(t *testing.T) {
	for _, sealed := range []bool{false, true} {
		for _, rotation := range []int{0, 1, 12, 28, 1000, 65535} {
			t.Run(fmt.Sprintf("sealed=%v/%d", sealed, rotation), func(t *testing.T) {
				a, b := pair(t, 18)
				token, err := b.Wrap([]byte("text"), sealed)
				if err != nil {
					t.Fatal(err)
				}
				got, _, err := a.Unwrap(rotate(token, rotation))
				if err != nil || string(got) != "text" {
					t.Errorf("got %q, %v", got, err)
				}
			})
		}
	}
	header := []byte{5, 4, 3, 0xff, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9}
	e, err := crypto.GetEtype(18)
	if err != nil {
		t.Fatal(err)
	}
	_, body, err := e.EncryptMessage(key(18).KeyValue, slices.Concat([]byte("text\xff\xff\xff"), header), keyusage.GSSAPI_ACCEPTOR_SEAL)
	if err != nil {
		t.Fatal(err)
	}
	a, _ := pair(t, 18)
	if got, _, err := a.Unwrap(slices.Concat(header, body)); err != nil || string(got) != "text" {
		t.Errorf("with filler: got %q, %v", got, err)
	}
}

// rotate turns a token's body to the right.
func rotate(token []byte, n int) []byte {
	header, body := bytes.Clone(token[:16]), token[16:]
	binary.BigEndian.PutUint16(header[6:], uint16(n))
	n %= len(body)
	return slices.Concat(header, body[len(body)-n:], body[:len(body)-n])
}

func TestChangedTokensAreRefused(t *testing.T) {
	set := func(i int, v byte) func([]byte) []byte { return func(b []byte) []byte { b[i] = v; return b } }
	last := func(b []byte) []byte { b[len(b)-1] ^= 1; return b }
	tests := map[string]struct {
		sealed bool
		change func([]byte) []byte
		want   string
	}{
		"empty":                 {false, func([]byte) []byte { return nil }, "not a GSS Wrap token"},
		"another kind":          {false, set(1, 5), "not a GSS Wrap token"},
		"our own":               {false, set(2, 0), "comes back to the side that made it"},
		"another key":           {false, set(2, 5), "uses another key"},
		"another number":        {false, set(15, 10), "has sequence number 10 where 9 must come"},
		"signature changed":     {false, last, "the signature of a GSS token is wrong"},
		"text changed":          {false, set(16, 'T'), "the signature of a GSS token is wrong"},
		"signature too long":    {false, set(4, 1), "shorter than its signature"},
		"signature missing":     {false, set(5, 0), "the signature of a GSS token is wrong"},
		"seal changed":          {true, last, "the seal of a GSS token is broken"},
		"seal cut":              {true, func(b []byte) []byte { return b[:43] }, "too short"},
		"seal cut less":         {true, func(b []byte) []byte { return b[:50] }, "the seal of a GSS token is broken"},
		"filler too long":       {true, set(5, 5), "more filler than content"},
		"filler not in copy":    {true, set(5, 4), "the header of a sealed GSS token was changed"},
		"signed, said sealed":   {false, set(2, 3), "too short"},
		"sealed, said unsealed": {true, set(2, 1), "the signature of a GSS token is wrong"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			a, b := pair(t, 18)
			token, err := b.Wrap([]byte("text"), tc.sealed)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := a.Unwrap(tc.change(bytes.Clone(token))); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
			if got, _, err := a.Unwrap(token); err != nil || string(got) != "text" {
				t.Errorf("the true token afterwards: %q, %v", got, err)
			}
		})
	}
}

func TestTokenIsNotTakenTwice(t *testing.T) {
	a, b := pair(t, 17)
	token, err := b.Wrap([]byte("text"), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Unwrap(token); err != nil {
		t.Fatal(err)
	}
	if _, _, err := a.Unwrap(token); err == nil || !strings.Contains(err.Error(), "has sequence number 9 where 10 must come") {
		t.Errorf("got %v", err)
	}
}

func TestOtherKeysAreRefused(t *testing.T) {
	tests := map[string]struct {
		key  types.EncryptionKey
		want string
	}{
		"rc4":   {types.EncryptionKey{KeyType: 23, KeyValue: make([]byte, 16)}, "the KDC chose encryption type 23, only AES (17 to 20) is supported"},
		"short": {types.EncryptionKey{KeyType: 18, KeyValue: make([]byte, 16)}, "a key of encryption type 18 has 16 bytes, it must have 32"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := sasl.NewSealer(sasl.SealerConfig{Key: tc.key}); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func FuzzUnwrap(f *testing.F) {
	for _, sealed := range []bool{false, true} {
		_, b := pair(f, 18)
		token, err := b.Wrap([]byte("text"), sealed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(token)
		f.Add(rotate(token, 28))
	}
	f.Fuzz(func(t *testing.T, token []byte) {
		a, _ := pair(t, 18)
		data, _, err := a.Unwrap(token)
		if err == nil && string(data) != "text" {
			t.Errorf("a forged token was taken: %q", data)
		}
	})
}
