package install_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/slack/install"
	"github.com/liaison-bot/liaison/slack/workspace"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

// granted answers oauth.v2.access with a token that does not end.
func granted(token, team, enterprise, whole string) func(url.Values) string {
	return func(url.Values) string {
		return fmt.Sprintf(`{"ok":true,"access_token":%q,"token_type":"bot","scope":"chat:write","bot_user_id":"U%s","app_id":"A1",`+
			`"team":%s,"enterprise":%s,"is_enterprise_install":%s}`, token, token, team, enterprise, whole)
	}
}

// An organisation's installation says null for the team, and what is a truth may
// come as a text.
func TestOrganisationInstall(t *testing.T) {
	t.Parallel()
	for _, whole := range []string{"true", `"true"`} {
		w := newWorld(t)
		w.answer("oauth.v2.access", granted("org", "null", `{"id":"E1","name":"Corp"}`, whole))
		w.install()
		w.answer("oauth.v2.access", granted("team", `{"id":"T1","name":"Acme"}`, `{"id":"E1"}`, `"false"`))
		w.install()
		for _, tt := range []struct{ team, enterprise, token, as string }{
			{"T1", "", "team", "T1"},
			{"T1", "E1", "team", "T1"}, // its own comes first
			{"T2", "E1", "org", "T2"},
			{"", "E1", "org", ""},
		} {
			got, err := w.store.Workspace(t.Context(), tt.team, tt.enterprise)
			if err != nil || got.Token != tt.token || got.Team != tt.as || got.Enterprise != "E1" || got.BotUser != "U"+tt.token {
				t.Errorf("%+v: %#v %s, %v", tt, got, got.Token, err)
			}
		}
		for _, none := range [][2]string{{"T2", ""}, {"T2", "E2"}, {"", ""}, {"E1", ""}, {"", "T1"}} {
			if got, err := w.store.Workspace(t.Context(), none[0], none[1]); !errors.Is(err, workspace.ErrNotInstalled) {
				t.Errorf("%v: %v, %v", none, got, err)
			}
		}
	}
}

func TestUninstalled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	installed := w.now()
	w.answer("oauth.v2.access", granted("org", "null", `{"id":"E1"}`, "true"))
	w.install()
	w.answer("oauth.v2.access", granted("team", `{"id":"T1"}`, `{"id":"E1"}`, "false"))
	w.install()
	ctx := t.Context()
	is := func(when, team, token string) {
		t.Helper()
		got, err := w.store.Workspace(ctx, team, "E1")
		if token == "" && !errors.Is(err, workspace.ErrNotInstalled) || token != "" && (err != nil || got.Token != token) {
			t.Errorf("%s: %s, %v", when, got.Token, err)
		}
	}
	for when, err := range map[string]error{
		"an event from before the installation": w.store.Removed(ctx, "T1", "E1", installed.Add(-time.Second)),
		"another workspace":                     w.store.Removed(ctx, "T2", "", installed.Add(time.Hour)),
	} {
		if err != nil {
			t.Errorf("%s: %v", when, err)
		}
		is(when, "T1", "team")
	}
	for range 2 {
		if err := w.store.Removed(ctx, "T1", "E1", installed.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		is("after it was taken from a workspace", "T1", "org") // which has the organisation's still
	}
	w.answer("auth.test", func(url.Values) string { return `{"ok":false,"error":"internal_error"}` })
	if err := w.store.Removed(ctx, "T1", "E1", installed.Add(time.Hour)); err == nil {
		t.Error("whether an organisation's installation is gone was not known, and that was no error")
	}
	is("while that is not known", "T1", "org")
	w.answer("auth.test", nil)
	w.dead["org"] = true
	if err := w.store.Removed(ctx, "T1", "E1", installed.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	is("after the organisation's token was revoked", "T1", "")
	if stored := w.stored(); stored != "" {
		t.Errorf("left: %s", stored)
	}
}

// A record opens only in its own place, unchanged, and by a key that is known.
func TestRecordsAreSealed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.answer("oauth.v2.access", granted("one", `{"id":"T1"}`, "null", "false"))
	w.install()
	w.answer("oauth.v2.access", granted("two", `{"id":"T2"}`, "null", "false"))
	w.install()
	original, err := w.vault.Secret(ctx, "slack:team:T1")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty":         nil,
		"short":         original.Data[:5],
		"cut":           original.Data[:len(original.Data)-1],
		"changed":       append(bytes.Clone(original.Data[:len(original.Data)-1]), original.Data[len(original.Data)-1]^1),
		"another's":     nil,
		"another form":  append([]byte{9}, original.Data[1:]...),
		"another nonce": append([]byte{1, ^original.Data[1]}, original.Data[2:]...),
	} {
		if name == "another's" {
			other, err := w.vault.Secret(ctx, "slack:team:T2")
			if err != nil {
				t.Fatal(err)
			}
			data = other.Data
		}
		if err := w.vault.PutSecret(ctx, state.Secret{ID: "slack:team:T1", Data: data}); err != nil {
			t.Fatal(err)
		}
		if got, err := w.store.Workspace(ctx, "T1", ""); !errors.Is(err, install.ErrSealed) || got.Token != "" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		if all, err := w.store.Installations(ctx); !errors.Is(err, install.ErrSealed) || len(all) != 1 || all[0].Workspace.Team != "T2" {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
	if err := w.vault.PutSecret(ctx, original); err != nil {
		t.Fatal(err)
	}
	w.keys = [][]byte{secondKey}
	w.restart()
	if _, err := w.store.Workspace(ctx, "T1", ""); !errors.Is(err, install.ErrSealed) {
		t.Errorf("by another key: %v", err)
	}
}

// A key is replaced without a gap: the new one encrypts, both decrypt, and once
// everything is sealed anew the old one can go.
func TestKeyIsReplaced(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.answer("oauth.v2.access", granted("one", `{"id":"T1"}`, "null", "false"))
	w.install()
	w.answer("oauth.v2.access", granted("org", "null", `{"id":"E1"}`, "true"))
	w.install()
	w.keys = [][]byte{secondKey, firstKey}
	w.restart()
	if w.token("T1", "") != "one" || w.token("T9", "E1") != "org" {
		t.Error("by the older key")
	}
	w.answer("oauth.v2.access", granted("two", `{"id":"T2"}`, "null", "false"))
	w.install() // by the new one
	for _, want := range []int{2, 0} {
		if n, err := w.store.Reseal(ctx); n != want || err != nil {
			t.Errorf("sealed %d anew, %v; want %d", n, err, want)
		}
	}
	w.keys = [][]byte{secondKey}
	w.restart()
	if w.token("T1", "") != "one" || w.token("T2", "") != "two" || w.token("T9", "E1") != "org" {
		t.Error("by the new key alone")
	}
}

// Without a key nothing can be kept, and that is said at the start.
func TestNoKey(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][][]byte{"none": nil, "an empty one": {{}}, "a short one": {firstKey, firstKey[:31]}, "a long one": {append([]byte{0}, firstKey...)}} {
		_, err := install.NewStore(install.Options{
			Vault: memstore.New(memstore.Options{}), Keys: keys, HTTPClient: http.DefaultClient, Now: time.Now, Rand: rand.Reader,
			Logger: slog.New(slog.DiscardHandler),
		})
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
}

// The list goes on over pages, and over what else is in the vault.
func TestManyInstallations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{"other", "slack", "zeta"} {
		if err := w.vault.PutSecret(t.Context(), state.Secret{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 230 {
		w.answer("oauth.v2.access", granted("token", fmt.Sprintf(`{"id":"T%03d"}`, i), "null", "false"))
		w.install()
	}
	all, err := w.store.Installations(t.Context())
	if err != nil || len(all) != 230 || all[229].Workspace.Team != "T229" {
		t.Errorf("%d, %v", len(all), err)
	}
}
