package rules

import (
	"fmt"

	"github.com/liaison-bot/liaison/state"
)

// Secret checks what no store can hold of a secret. Its errors tell nothing of
// the data.
func Secret(s state.Secret) error {
	if err := SecretID(s.ID); err != nil {
		return err
	}
	if len(s.Data) > state.MaxSecret {
		return fmt.Errorf("secret %q has %d bytes, and %d are the most: %w", s.ID, len(s.Data), state.MaxSecret, state.ErrInvalid)
	}
	return nil
}

// SecretID checks what names a secret.
func SecretID(id string) error {
	if !state.ValidID(id) {
		return fmt.Errorf("secret id %.100q: %w", id, state.ErrInvalid)
	}
	return nil
}
