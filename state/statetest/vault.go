package statetest

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/liaison-bot/liaison/state"
)

func secret(id, data string) state.Secret { return state.Secret{ID: id, Data: []byte(data)} }

// keep puts secrets.
func keep(t testing.TB, s state.Store, secrets ...state.Secret) {
	t.Helper()
	for _, row := range secrets {
		if err := s.PutSecret(t.Context(), row); err != nil {
			t.Fatal(err)
		}
	}
}

func runVault(t *testing.T, open Open) {
	t.Run("what was put is there, and is the caller's", func(t *testing.T) {
		s := open(t)
		for _, row := range []state.Secret{
			secret("slack:T1", "\x00\xff\n\xfe"), secret("empty", ""), {ID: "nil"},
			secret("large", strings.Repeat("x", state.MaxSecret)),
		} {
			given := state.Secret{ID: row.ID, Data: bytes.Clone(row.Data)}
			keep(t, s, given)
			clear(given.Data)
			got := must(s.Secret(t.Context(), row.ID))(t)
			if got.ID != row.ID || !bytes.Equal(got.Data, row.Data) {
				t.Errorf("%s: got %.40q", row.ID, got.Data)
			}
			clear(got.Data)
			if got := must(s.Secret(t.Context(), row.ID))(t); !bytes.Equal(got.Data, row.Data) {
				t.Errorf("%s once more: got %.40q", row.ID, got.Data)
			}
		}
		keep(t, s, secret("slack:T1", "another"))
		if got := must(s.Secret(t.Context(), "slack:T1"))(t); string(got.Data) != "another" {
			t.Errorf("after another was put: %q", got.Data)
		}
	})

	t.Run("what was deleted is gone, and nothing else", func(t *testing.T) {
		s := open(t)
		keep(t, s, secret("a", "1"), secret("ab", "2"))
		for range 2 {
			if err := s.DeleteSecret(t.Context(), "a"); err != nil {
				t.Fatal(err)
			}
		}
		_, err := s.Secret(t.Context(), "a")
		wantErr(t, err, state.ErrNotFound, "reading what was deleted")
		wantSecrets(t, s, "", 9, "ab")
		keep(t, s, secret("a", "3"))
		wantSecrets(t, s, "", 9, "a", "ab")
	})

	t.Run("lists come in order and by page", func(t *testing.T) {
		s := open(t)
		wantSecrets(t, s, "", 9)
		keep(t, s, secret("b", ""), secret("a", ""), secret("a:1", ""), secret("c", ""))
		wantSecrets(t, s, "", 9, "a", "a:1", "b", "c")
		wantSecrets(t, s, "a", 2, "a:1", "b")
		wantSecrets(t, s, "a:0", 1, "a:1")
		wantSecrets(t, s, "c", 9)
		wantSecrets(t, s, "", 0)
		wantSecrets(t, s, "", -1)
	})

	t.Run("what no store can hold is refused", func(t *testing.T) {
		s := open(t)
		const data = "planted-in-the-data"
		for name, row := range map[string]state.Secret{
			"no id":                    secret("", data),
			"an id with NUL":           secret("a\x00b", data),
			"an id of a megabyte":      secret(strings.Repeat("x", 1<<20), data),
			"one byte above the limit": secret("a", data+strings.Repeat("x", state.MaxSecret+1-len(data))),
		} {
			err := s.PutSecret(t.Context(), row)
			wantErr(t, err, state.ErrInvalid, name)
			if err != nil && strings.Contains(err.Error(), data) {
				t.Errorf("%s: the error shows the data", name)
			}
		}
		_, err := s.Secret(t.Context(), "")
		wantErr(t, err, state.ErrInvalid, "reading nothing")
		wantErr(t, s.DeleteSecret(t.Context(), ""), state.ErrInvalid, "deleting nothing")
		wantSecrets(t, s, "", 9)
	})
}

func wantSecrets(t testing.TB, s state.Store, after string, limit int, want ...string) {
	t.Helper()
	got := []string{}
	for _, row := range must(s.Secrets(t.Context(), after, limit))(t) {
		got = append(got, row.ID)
	}
	wantJSON(t, got, append([]string{}, want...), "the secrets after "+after)
}

// secret puts or removes a random secret in both stores.
func (m *model) secret(t *rapid.T) {
	row := state.Secret{ID: rapid.SampledFrom(names).Draw(t, "id"), Data: rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "data")}
	remove := rapid.Bool().Draw(t, "remove")
	change := func(s state.Store) error {
		if remove {
			return s.DeleteSecret(m.t.Context(), row.ID)
		}
		return s.PutSecret(m.t.Context(), row)
	}
	same(t, nil, nil, change(m.engine), change(m.memory))
}
