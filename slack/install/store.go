package install

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/slack/workspace"
	"github.com/liaison-bot/liaison/state"
)

// Options is what a store needs. All are required.
type Options struct {
	Vault state.Vault
	// Keys have 32 bytes each: the first encrypts, each decrypts.
	Keys         [][]byte
	ClientID     string
	ClientSecret string
	// APIURL is the root of the Web API, with a trailing slash.
	APIURL string
	// HTTPClient asks Slack. It is copied, and follows no redirect, so that secrets
	// stay where they are sent.
	HTTPClient *http.Client
	// Allowed are the ids of the only workspaces and organisations that may install
	// the app; empty lets all that Slack lets.
	Allowed []string
	Now     func() time.Time
	Rand    io.Reader
	Logger  *slog.Logger
}

// Store keeps the installations. It implements [workspace.Source].
type Store struct {
	vault  state.Vault
	sealer *sealer
	slack  *client
	// allowed may install the app; empty means all.
	allowed []string
	now     func() time.Time
	log     *slog.Logger

	mu sync.Mutex
	// busy holds a lock for each record that is being changed.
	busy map[string]*lock
	// unsaved are records with tokens that Slack gave and the vault did not take yet,
	// and later is until when the refresh of a record is left alone.
	unsaved map[string]record
	later   map[string]time.Time
}

var _ workspace.Source = (*Store)(nil)

// NewStore returns a store over a vault.
func NewStore(o Options) (*Store, error) {
	sealer, err := newSealer(o.Keys, o.Rand)
	if err != nil {
		return nil, err
	}
	return &Store{
		vault: o.Vault, sealer: sealer, allowed: o.Allowed, now: o.Now, log: o.Logger,
		slack:   newClient(o.APIURL, o.HTTPClient, o.ClientID, o.ClientSecret),
		busy:    map[string]*lock{},
		unsaved: map[string]record{},
		later:   map[string]time.Time{},
	}, nil
}

// errNotAllowed says that the operator's list does not have a workspace.
var errNotAllowed = errors.New("slack: the workspace is not among those that may install the app")

// allows reports whether a grant is for one of the operator's workspaces.
func (s *Store) allows(g grant) bool {
	within := func(id string) bool { return id != "" && slices.Contains(s.allowed, id) }
	return len(s.allowed) == 0 || within(g.team) || within(g.enterprise)
}

var errBusy = errors.New("slack: another is changing the installation")

// lock is one that is forgotten when nobody waits for it.
type lock struct {
	held    chan struct{} // holds a value while it is held
	waiting int
}

// lock takes the lock of a record; where it is held, only by waiting for it.
func (s *Store) lock(ctx context.Context, id string, wait bool) (unlock func(), err error) {
	s.mu.Lock()
	l := s.busy[id]
	if l == nil {
		l = &lock{held: make(chan struct{}, 1)}
		s.busy[id] = l
	}
	l.waiting++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if l.waiting--; l.waiting == 0 {
			delete(s.busy, id)
		}
	}
	unlock = func() { <-l.held; leave() }
	select {
	case l.held <- struct{}{}:
		return unlock, nil
	default:
	}
	if !wait {
		leave()
		return nil, errBusy
	}
	select {
	case l.held <- struct{}{}:
		return unlock, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}

// get returns the record of an id, or an error wrapping [state.ErrNotFound].
func (s *Store) get(ctx context.Context, id string) (record, error) {
	secret, err := s.vault.Secret(ctx, id)
	if err != nil {
		return record{}, fmt.Errorf("slack: read the installation %s: %w", id, err)
	}
	data, err := s.sealer.open(id, secret.Data)
	if err != nil {
		return record{}, err
	}
	return decode(id, data)
}

// put stores a record.
func (s *Store) put(ctx context.Context, r record) error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	sealed, err := s.sealer.seal(r.id(), data)
	if err != nil {
		return err
	}
	if err := s.vault.PutSecret(ctx, state.Secret{ID: r.id(), Data: sealed}); err != nil {
		return fmt.Errorf("slack: store the installation %s: %w", r.id(), err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unsaved, r.id())
	return nil
}

// add stores a new installation in the place of an earlier one.
func (s *Store) add(ctx context.Context, r record) error {
	unlock, err := s.lock(ctx, r.id(), true)
	if err != nil {
		return err
	}
	defer unlock()
	if err := s.put(ctx, r); err != nil {
		return err
	}
	s.forget(r.id())
	return nil
}

// forget drops what is remembered of a record besides what is stored.
func (s *Store) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unsaved, id)
	delete(s.later, id)
}

// pageSize is how many records are read at once.
const pageSize = 100

// Installations returns what is installed, in order of id, without tokens. One
// that does not open is left out and is among the errors.
func (s *Store) Installations(ctx context.Context) ([]Installation, error) {
	var found []Installation
	var problems []error
	for after := prefix; ; {
		page, err := s.vault.Secrets(ctx, after, pageSize)
		if err != nil {
			return found, fmt.Errorf("slack: list the installations: %w", err)
		}
		for _, secret := range page {
			after = secret.ID
			if len(secret.ID) < len(prefix) || secret.ID[:len(prefix)] != prefix {
				return found, errors.Join(problems...) // what follows is not ours
			}
			r, err := s.get(ctx, secret.ID)
			if err != nil {
				problems = append(problems, err)
				continue
			}
			found = append(found, r.installation())
		}
		if len(page) < pageSize {
			return found, errors.Join(problems...)
		}
	}
}

// Reseal encrypts every record anew that is not sealed with the first key, so
// that the other keys can be thrown away. It returns how many it sealed.
func (s *Store) Reseal(ctx context.Context) (int, error) {
	all, err := s.Installations(ctx)
	problems := []error{err}
	sealed := 0
	for _, i := range all {
		r := record{Team: i.Workspace.Team, Enterprise: i.Workspace.Enterprise, Whole: i.Whole}
		done, err := s.reseal(ctx, r.id())
		if err != nil {
			problems = append(problems, err)
		}
		if done {
			sealed++
		}
	}
	return sealed, errors.Join(problems...)
}

func (s *Store) reseal(ctx context.Context, id string) (bool, error) {
	unlock, err := s.lock(ctx, id, true)
	if err != nil {
		return false, err
	}
	defer unlock()
	secret, err := s.vault.Secret(ctx, id)
	if err != nil {
		return false, fmt.Errorf("slack: read the installation %s: %w", id, err)
	}
	first := *s.sealer
	first.aeads = first.aeads[:1]
	if _, err := first.open(id, secret.Data); err == nil {
		return false, nil
	}
	r, err := s.get(ctx, id)
	if err != nil {
		return false, err
	}
	return true, s.put(ctx, r)
}
