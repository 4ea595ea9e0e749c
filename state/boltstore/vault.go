package boltstore

import (
	"bytes"
	"context"
	"fmt"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/rules"
)

// Secret implements [state.Vault].
func (s *Store) Secret(ctx context.Context, id string) (state.Secret, error) {
	secret := state.Secret{ID: id}
	if err := rules.SecretID(id); err != nil {
		return secret, err
	}
	err := s.view(ctx, func(r *reader) error {
		data := r.table(tableVault).Get([]byte(id))
		if data == nil {
			return fmt.Errorf("secret %s: %w", id, state.ErrNotFound)
		}
		secret.Data = bytes.Clone(data)
		return nil
	})
	return secret, err
}

// Secrets implements [state.Vault].
func (s *Store) Secrets(ctx context.Context, after string, limit int) ([]state.Secret, error) {
	if limit <= 0 {
		return nil, s.open()
	}
	var out []state.Secret
	err := s.view(ctx, func(r *reader) error {
		out = nil
		return r.after(tableVault, []byte(after), func(id, data []byte) (bool, error) {
			out = append(out, state.Secret{ID: string(id), Data: bytes.Clone(data)})
			return len(out) < limit, nil
		})
	})
	return out, err
}

// PutSecret implements [state.Vault].
func (s *Store) PutSecret(ctx context.Context, secret state.Secret) error {
	err := rules.Secret(secret)
	if err == nil {
		err = s.submit(ctx, &secretOp{id: []byte(secret.ID), data: append([]byte{}, secret.Data...)}, len(secret.Data))
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
		err = s.submit(ctx, &secretOp{id: []byte(id)}, 0)
	}
	if err != nil {
		return fmt.Errorf("delete secret %.100s: %w", id, err)
	}
	return nil
}

// secretOp puts one secret, or removes it where data is nil.
type secretOp struct {
	id, data []byte
}

func (o *secretOp) check(b *batch) (bool, error) {
	if o.data == nil {
		return b.table(tableVault).Get(o.id) != nil, nil
	}
	return true, b.store.roomFor(b, len(o.data))
}

func (o *secretOp) write(b *batch) error {
	if o.data == nil {
		return b.table(tableVault).Delete(o.id)
	}
	return b.table(tableVault).Put(o.id, o.data)
}

func (*secretOp) done(*Store) {}
