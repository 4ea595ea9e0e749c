package config

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// encryptionKeyBytes is the length of a key of AES-256.
const encryptionKeyBytes = 32

// encryptionKeys reads the keys that encrypt what is kept. No problem quotes one.
func encryptionKeys(v *values, p *problems) [][]byte {
	texts, set := v.list(EnvEncryptionKey)
	if set && len(texts) == 0 {
		p.add(EnvEncryptionKey, `is set but empty; "openssl rand -base64 32" makes one`)
	}
	keys := make([][]byte, 0, len(texts))
	for i, text := range texts {
		key, ok := decodeKey(text)
		if !ok {
			p.add(EnvEncryptionKey, `number %d is not 32 bytes as base64 or hexadecimal digits; "openssl rand -base64 32" makes one`, i+1)
			continue
		}
		keys = append(keys, key)
	}
	return keys
}

// decodeKey reads one key, with or without the padding of base64, and in either
// of its alphabets.
func decodeKey(text string) ([]byte, bool) {
	if key, err := hex.DecodeString(text); err == nil && len(key) == encryptionKeyBytes {
		return key, true
	}
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text, "="))
	key, err := base64.RawStdEncoding.DecodeString(text)
	return key, err == nil && len(key) == encryptionKeyBytes
}
