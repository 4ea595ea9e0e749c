package local

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// tokenBytes is the entropy of the bearer token.
const tokenBytes = 32

// token is the bearer of this process, in a file that only its owner reads.
type token struct {
	value string
	path  string
}

// newToken makes a token and writes it to a fresh directory below parent, the
// system's temporary directory when empty. The file is 0600, the directory 0700.
func newToken(parent string) (token, error) {
	raw := make([]byte, tokenBytes)
	if _, err := rand.Read(raw); err != nil {
		return token{}, fmt.Errorf("make the bridge token: %w", err)
	}
	dir, err := os.MkdirTemp(parent, "liaison-bridge-*")
	if err != nil {
		return token{}, fmt.Errorf("make a directory for the bridge token: %w", err)
	}
	t := token{value: base64.RawURLEncoding.EncodeToString(raw), path: filepath.Join(dir, "auth-token")}
	f, err := os.OpenFile(t.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		_, err = f.WriteString(t.value + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return token{}, errors.Join(fmt.Errorf("write the bridge token: %w", err), t.remove())
	}
	return t, nil
}

// remove deletes the file and its directory.
func (t token) remove() error {
	if err := os.RemoveAll(filepath.Dir(t.path)); err != nil {
		return fmt.Errorf("remove the bridge token: %w", err)
	}
	return nil
}
