package install

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// ErrSealed says that a record cannot be opened: none of the keys is the one that
// it was sealed with, or it is not what was sealed.
var ErrSealed = errors.New("slack: the record of an installation does not open with any key in LIAISON_ENCRYPTION_KEY; add the key that it was sealed with, or install the app anew")

// sealVersion begins everything that is sealed.
const sealVersion = 1

// sealer encrypts with AES-256-GCM.
type sealer struct {
	aeads []cipher.AEAD
	keys  [][]byte
	rand  io.Reader
}

// newSealer takes keys of 32 bytes: the first seals, each opens.
func newSealer(keys [][]byte, rand io.Reader) (*sealer, error) {
	if len(keys) == 0 {
		return nil, errors.New("slack: no key to encrypt tokens with")
	}
	s := &sealer{keys: keys, rand: rand}
	for _, key := range keys {
		if len(key) != sha256.Size {
			return nil, fmt.Errorf("slack: a key of %d bytes to encrypt tokens with; it must have %d", len(key), sha256.Size)
		}
		block, err := aes.NewCipher(key)
		if err != nil {
			return nil, fmt.Errorf("slack: key to encrypt tokens with: %w", err)
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, fmt.Errorf("slack: key to encrypt tokens with: %w", err)
		}
		s.aeads = append(s.aeads, aead)
	}
	return s, nil
}

// seal encrypts data for one id.
func (s *sealer) seal(id string, data []byte) ([]byte, error) {
	nonce := make([]byte, s.aeads[0].NonceSize())
	if _, err := io.ReadFull(s.rand, nonce); err != nil {
		return nil, fmt.Errorf("slack: seal the record of %s: %w", id, err)
	}
	return s.aeads[0].Seal(append([]byte{sealVersion}, nonce...), nonce, data, []byte(id)), nil
}

// open decrypts what was sealed for an id.
func (s *sealer) open(id string, sealed []byte) ([]byte, error) {
	n := s.aeads[0].NonceSize()
	if len(sealed) < 1+n || sealed[0] != sealVersion {
		return nil, fmt.Errorf("%s: %w", id, ErrSealed)
	}
	for _, aead := range s.aeads {
		if data, err := aead.Open(nil, sealed[1:1+n], sealed[1+n:], []byte(id)); err == nil {
			return data, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", id, ErrSealed)
}

// sign returns the authentication code of a text by the i-th key. It is of no
// other use: the purpose is part of what is signed.
func (s *sealer) sign(i int, text string) []byte {
	mac := hmac.New(sha256.New, s.keys[i])
	mac.Write([]byte("liaison slack install\x00" + text))
	return mac.Sum(nil)
}

// signed reports whether a code is that of a text by any key.
func (s *sealer) signed(text string, code []byte) bool {
	found := false
	for i := range s.keys {
		if hmac.Equal(code, s.sign(i, text)) {
			found = true
		}
	}
	return found
}
