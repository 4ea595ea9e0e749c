package state

import "context"

// Secret is one thing that is kept for the process itself and shown to nobody,
// such as the tokens of one installation. Whoever puts it encrypts it: the store
// sees bytes, and so does whoever reads the file or a backup of it.
type Secret struct {
	ID string
	// Data is at most [MaxSecret] bytes.
	Data []byte
}

// MaxSecret is the most bytes of one secret: an installation's tokens and scopes
// take some 4 KB.
const MaxSecret = 64 << 10

// Vault keeps secrets. A change that returned nil survives a crash. Besides those
// named below, the errors are [ErrInvalid] (an id that no store can hold, or data
// above [MaxSecret]) and [ErrUnavailable], also when what is left of a limited
// file is kept for decisions.
type Vault interface {
	// Secret returns a secret, or [ErrNotFound].
	Secret(ctx context.Context, id string) (Secret, error)
	// PutSecret stores a secret, in the place of one with the same id.
	PutSecret(ctx context.Context, s Secret) error
	// DeleteSecret removes a secret. What is not there is no error.
	DeleteSecret(ctx context.Context, id string) error
	// Secrets returns up to limit secrets with ID > after, in order of ID.
	Secrets(ctx context.Context, after string, limit int) ([]Secret, error)
}
