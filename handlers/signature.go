package handlers

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"strings"
	"sync"
)

// The prefixes of signatures: X-Hub-Signature-256 and X-Slack-Signature. SHA-1,
// which GitHub also sends, is not accepted in any form.
const (
	githubSignaturePrefix = "sha256="
	slackSignaturePrefix  = "v0="
)

// hmacSecrets verifies HMAC-SHA256 signatures against any of several secrets,
// so that a secret can be rotated without losing what is in flight.
type hmacSecrets struct {
	// pools hold a [*keyedHash] for each secret: setting a key costs two blocks of
	// SHA-256, which a 2 KB body would feel.
	pools []*sync.Pool
}

// keyedHash is a hash with its key, and room for what it works on.
type keyedHash struct {
	hash.Hash
	scratch []byte
	got     []byte
}

func newHMACSecrets(secrets []string) *hmacSecrets {
	s := &hmacSecrets{}
	for _, secret := range secrets {
		key := []byte(secret)
		s.pools = append(s.pools, &sync.Pool{New: func() any {
			return &keyedHash{Hash: hmac.New(sha256.New, key)}
		}})
	}
	return s
}

// match returns the index of the secret that signed head and body, one after the
// other, or -1. signature is prefix and a hash in hexadecimal digits. The
// comparison takes the same time wherever the first difference is.
func (s *hmacSecrets) match(signature, prefix, head string, body []byte) int {
	digits, ok := strings.CutPrefix(signature, prefix)
	if !ok || len(digits) != 2*sha256.Size {
		return -1
	}
	found := -1
	for i, pool := range s.pools {
		k := pool.Get().(*keyedHash)
		if k.signed(digits, head, body) && found < 0 {
			found = i
		}
		pool.Put(k)
	}
	return found
}

func (k *keyedHash) signed(digits, head string, body []byte) bool {
	k.scratch = append(k.scratch[:0], digits...)
	want := k.scratch[:sha256.Size]
	if _, err := hex.Decode(want, k.scratch); err != nil {
		return false
	}
	k.Reset()
	if head != "" {
		k.scratch = append(k.scratch, head...)
		_, _ = k.Write(k.scratch[len(digits):])
	}
	_, _ = k.Write(body)
	k.got = k.Sum(k.got[:0])
	return hmac.Equal(k.got, want)
}
