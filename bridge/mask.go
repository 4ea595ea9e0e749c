package bridge

import (
	"slices"
	"strings"
	"sync"
)

// masker hides the bridge's own secrets and then whatever the caller's Redact
// knows. The token is learned while the bridge starts.
type masker struct {
	redact func(string) string

	mu      sync.RWMutex
	secrets []string
}

func newMasker(redact func(string) string, secrets ...string) *masker {
	m := &masker{redact: redact}
	for _, s := range secrets {
		m.learn(s)
	}
	return m
}

// learn adds a secret. Very short ones are left: masking every "a" helps nobody.
func (m *masker) learn(secret string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(secret) >= 6 && !slices.Contains(m.secrets, secret) {
		m.secrets = append(m.secrets, secret)
	}
}

func (m *masker) mask(s string) string {
	m.mu.RLock()
	for _, secret := range m.secrets {
		s = strings.ReplaceAll(s, secret, "[redacted]")
	}
	m.mu.RUnlock()
	if m.redact != nil {
		s = m.redact(s)
	}
	return s
}
