package handlers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
	"sync"
)

// hmacSecrets verifies HMAC-SHA256 signatures against any of several secrets,
// so that a secret can be rotated without losing what is in flight.
type hmacSecrets struct {
	// pools hold keyed hashes: setting a key costs two blocks of SHA-256, which
	// a 2 KB body would feel.
	pools []*sync.Pool
}

func newHMACSecrets(secrets []string) *hmacSecrets {
	s := &hmacSecrets{}
	for _, secret := range secrets {
		key := []byte(secret)
		s.pools = append(s.pools, &sync.Pool{New: func() any { return hmac.New(sha256.New, key) }})
	}
	return s
}

// githubSignaturePrefix begins X-Hub-Signature-256. SHA-1, which GitHub also
// sends, is not accepted in any form.
const githubSignaturePrefix = "sha256="

// match returns the index of the secret that signed body, or -1. header is the
// value of X-Hub-Signature-256. The comparison takes the same time wherever the
// first difference is.
func (s *hmacSecrets) match(header string, body []byte) int {
	hexMAC, ok := strings.CutPrefix(header, githubSignaturePrefix)
	if !ok || len(hexMAC) != 2*sha256.Size {
		return -1
	}
	var want, got [sha256.Size]byte
	if _, err := hex.Decode(want[:], []byte(hexMAC)); err != nil {
		return -1
	}
	found := -1
	for i, pool := range s.pools {
		mac := pool.Get().(hash.Hash)
		mac.Reset()
		mac.Write(body)
		if hmac.Equal(mac.Sum(got[:0]), want[:]) && found < 0 {
			found = i
		}
		pool.Put(mac)
	}
	return found
}
