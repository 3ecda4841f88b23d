package sasl

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"errors"
	"fmt"
	"hash"

	"github.com/jcmturner/gokrb5/v8/crypto"
	"github.com/jcmturner/gokrb5/v8/crypto/common"
	"github.com/jcmturner/gokrb5/v8/types"
)

const blockSize = aes.BlockSize

// encTypes are the AES encryption types, RFC 3962 and RFC 8009.
var encTypes = map[int32]struct {
	keySize, macSize int
	macOfCipher      bool // the signature is made of the encrypted bytes, else of the plain ones
}{
	17: {keySize: 16, macSize: 12},
	18: {keySize: 32, macSize: 12},
	19: {keySize: 16, macSize: 16, macOfCipher: true},
	20: {keySize: 32, macSize: 24, macOfCipher: true},
}

// checkKey refuses keys of other types. Older types have tokens of another form.
func checkKey(key types.EncryptionKey) error {
	e, ok := encTypes[key.KeyType]
	if !ok {
		return fmt.Errorf("the KDC chose encryption type %d, only AES (17 to 20) is supported: see default_tgs_enctypes in krb5.conf", key.KeyType)
	}
	if len(key.KeyValue) != e.keySize {
		return fmt.Errorf("a key of encryption type %d has %d bytes, it must have %d", key.KeyType, len(key.KeyValue), e.keySize)
	}
	return nil
}

// A crypter encrypts and signs, or decrypts and verifies, what goes in one direction. It does what gokrb5 does, but
// derives its keys from the protocol's only once, which else is most of the work. It is used by one goroutine.
type crypter struct {
	block       cipher.Block
	sealMAC     hash.Hash // of what is encrypted
	signMAC     hash.Hash // of what is only signed
	macSize     int
	macOfCipher bool
}

func newCrypter(key types.EncryptionKey, usage uint32) (*crypter, error) {
	if err := checkKey(key); err != nil {
		return nil, err
	}
	e, err := crypto.GetEtype(key.KeyType)
	if err != nil {
		return nil, err
	}
	var derived [3][]byte
	for i, label := range [][]byte{common.GetUsageKe(usage), common.GetUsageKi(usage), common.GetUsageKc(usage)} {
		if derived[i], err = e.DeriveKey(key.KeyValue, label); err != nil {
			return nil, fmt.Errorf("derive a key: %w", err)
		}
	}
	c := &crypter{macSize: encTypes[key.KeyType].macSize, macOfCipher: encTypes[key.KeyType].macOfCipher}
	c.sealMAC, c.signMAC = hmac.New(e.GetHashFunc(), derived[1]), hmac.New(e.GetHashFunc(), derived[2])
	c.block, err = aes.NewCipher(derived[0])
	return c, err
}

// sign is the signature of the parts.
func (c *crypter) sign(parts ...[]byte) []byte { return c.mac(c.signMAC, parts...) }

func (c *crypter) mac(h hash.Hash, parts ...[]byte) []byte {
	h.Reset()
	for _, p := range parts {
		h.Write(p)
	}
	return h.Sum(nil)[:c.macSize]
}

// macOf is the signature of what is encrypted.
func (c *crypter) macOf(plain, encrypted []byte) []byte {
	if c.macOfCipher {
		return c.mac(c.sealMAC, make([]byte, blockSize), encrypted)
	}
	return c.mac(c.sealMAC, plain)
}

// encrypt appends to b the parts, encrypted behind a confounder, and their signature.
func (c *crypter) encrypt(b []byte, parts ...[]byte) ([]byte, error) {
	plain := make([]byte, blockSize)
	if _, err := rand.Read(plain); err != nil {
		return nil, err
	}
	for _, p := range parts {
		plain = append(plain, p...)
	}
	start := len(b)
	b = c.appendCTS(b, plain)
	return append(b, c.macOf(plain, b[start:])...), nil
}

var errSeal = errors.New("the seal of a GSS token is broken")

// decrypt undoes encrypt.
func (c *crypter) decrypt(sealed []byte) ([]byte, error) {
	if len(sealed) < blockSize+c.macSize {
		return nil, errors.New("a sealed GSS token is too short")
	}
	encrypted, mac := sealed[:len(sealed)-c.macSize], sealed[len(sealed)-c.macSize:]
	plain := c.openCTS(encrypted)
	if !hmac.Equal(mac, c.macOf(plain, encrypted)) {
		return nil, errSeal
	}
	return plain[blockSize:], nil
}

// appendCTS appends plain, of at least a block, encrypted by CBC with ciphertext stealing (CS3) and no initial vector: the
// last two blocks change places, and what was filled up is cut off.
func (c *crypter) appendCTS(b, plain []byte) []byte {
	padded := make([]byte, (len(plain)+blockSize-1)/blockSize*blockSize)
	copy(padded, plain)
	cipher.NewCBCEncrypter(c.block, make([]byte, blockSize)).CryptBlocks(padded, padded)
	if len(padded) == blockSize {
		return append(b, padded...)
	}
	end := len(padded) - 2*blockSize
	b = append(b, padded[:end]...)
	b = append(b, padded[end+blockSize:]...)
	return append(b, padded[end:end+len(plain)-end-blockSize]...)
}

// openCTS undoes appendCTS. The text has at least a block.
func (c *crypter) openCTS(encrypted []byte) []byte {
	n := len(encrypted)
	padded := make([]byte, (n+blockSize-1)/blockSize*blockSize)
	if n > blockSize {
		end := len(padded) - 2*blockSize
		stolen := n - end - blockSize
		last := encrypted[end : end+blockSize]
		// The part of the last block but one that was cut off is what the last one decrypts to behind its own text.
		c.block.Decrypt(padded[end:end+blockSize], last)
		copy(padded, encrypted[:end])
		copy(padded[end:], encrypted[end+blockSize:end+blockSize+stolen])
		copy(padded[end+blockSize:], last)
	} else {
		copy(padded, encrypted)
	}
	cipher.NewCBCDecrypter(c.block, make([]byte, blockSize)).CryptBlocks(padded, padded)
	return padded[:n]
}
