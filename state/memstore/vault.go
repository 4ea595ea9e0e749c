package memstore

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

func cloneSecret(s state.Secret) state.Secret {
	s.Data = bytes.Clone(s.Data)
	return s
}

// Secret implements [state.Vault].
func (s *Store) Secret(ctx context.Context, id string) (state.Secret, error) {
	if err := rules.SecretID(id); err != nil {
		return state.Secret{}, err
	}
	return get(ctx, s, "secret "+id, func(d *data) (state.Secret, bool) {
		row, ok := d.vault[id]
		return row, ok
	}, cloneSecret)
}

// Secrets implements [state.Vault].
func (s *Store) Secrets(ctx context.Context, after string, limit int) ([]state.Secret, error) {
	return list(ctx, s, max(limit, 0), func(d *data) []state.Secret {
		return sorted(d.vault, func(r state.Secret) bool { return r.ID > after },
			func(a, b state.Secret) int { return strings.Compare(a.ID, b.ID) })
	}, cloneSecret)
}

// PutSecret implements [state.Vault].
func (s *Store) PutSecret(ctx context.Context, secret state.Secret) error {
	err := rules.Secret(secret)
	if err == nil {
		err = s.write(ctx, func() error {
			secret.Data = append([]byte{}, secret.Data...) // empty is not nil, as from a file
			s.data.vault[secret.ID] = secret
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("put secret %.100s: %w", secret.ID, err)
	}
	return nil
}

// DeleteSecret implements [state.Vault].
func (s *Store) DeleteSecret(ctx context.Context, id string) error {
	err := rules.SecretID(id)
	if err == nil {
		err = s.write(ctx, func() error {
			delete(s.data.vault, id)
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("delete secret %.100s: %w", id, err)
	}
	return nil
}
