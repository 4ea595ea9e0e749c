package web

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Our messages are found by their markers over all pages, whatever else is in the
// thread; what others wrote under our marker does not count.
func TestOwn(t *testing.T) {
	t.Parallel()
	own := func(ts, key string) string {
		return fmt.Sprintf(`{"ts":%q,"user":"UBOT","metadata":{"event_type":"liaison_post","event_payload":{"key":%q}}}`, ts, key)
	}
	pages := []string{
		`{"ok":true,"messages":[{"ts":"1.1","user":"U1","text":"hi"},null,7,{"ts":5},` +
			`{"ts":"1.2","user":"U2","metadata":{"event_type":"liaison_post","event_payload":{"key":"a"}}},` +
			`{"ts":"1.3","user":"UBOT","metadata":{"event_type":"liaison_post","event_payload":[]}},` +
			`{"ts":"1.4","user":"UBOT","blocks":[{"type":"actions","elements":[{"type":"from_2030"}]}],"files":[{"size":"12","name":"answer.md"},null,{"name":7}]},` + own("1.5", "a") +
			`],"has_more":true,"response_metadata":{"next_cursor":"more"}}`,
		`{"ok":true,"messages":[` + own("1.6", "b") + `,` + own("1.7", "other") + `,{"ts":"1.9","bot_id":"B1","metadata":{"event_type":"liaison_post","event_payload":{"key":"c"}}}]}`,
	}
	c, f := newFake(t, func(n int, _ asked) reply { return reply{body: pages[n]} })
	var found []string
	for r, err := range c.Own(t.Context(), place, "1.1") {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, r.TS+r.Key+strings.Join(r.FileNames, ","))
	}
	if want := []string{"1.3", "1.4answer.md", "1.5a", "1.6b", "1.7other", "1.9c"}; !slices.Equal(found, want) {
		t.Errorf("got %q; want %q", found, want)
	}
	calls := f.of("conversations.replies")
	if len(calls) != 2 || calls[0].form.Get("oldest") != "1.1" || calls[0].form.Get("include_all_metadata") != "1" || calls[1].form.Get("cursor") != "more" {
		t.Errorf("asked %v", calls)
	}
}

// What cannot be read is not taken for a thread without our message.
func TestOwnFails(t *testing.T) {
	t.Parallel()
	for body, fails := range map[string]bool{
		`{"ok":false,"error":"thread_not_found"}`:  false,
		`{"ok":false,"error":"channel_not_found"}`: true,
		`{"ok":false,"error":"fatal_error"}`:       true,
		`{"ok":true,"messages":{}}`:                true,
	} {
		c, _ := newFake(t, func(int, asked) reply { return reply{body: body} })
		for r, err := range c.Own(t.Context(), place, "") {
			if !fails || err == nil {
				t.Errorf("%s: got %v, %v", body, r, err)
			}
			fails = false
		}
		if fails {
			t.Errorf("%s: no error", body)
		}
	}
}

// People are asked for once an hour, and those who are refused more often.
func TestPeopleAreRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, f := newFake(t, func(_ int, call asked) reply {
			switch id := call.form.Get("user"); id {
			case "U1":
				return reply{body: `{"ok":true,"user":{"id":"U1","team_id":"T1","name":"ada","profile":{"display_name":"Ada"}}}`}
			case "U2":
				return reply{body: `{"ok":true,"user":{"id":"U2","is_stranger":true}}`}
			case "U3":
				return reply{body: `{"ok":true,"user":{"id":"U3","is_restricted":"no"}}`}
			case "U4":
				return reply{body: `{"ok":true,"user":{"id":"U1"}}`}
			}
			return reply{body: `{"ok":false,"error":"user_not_found"}`}
		})
		ask := func(id string) (User, error) { return c.User(t.Context(), place, id) }
		for range 3 {
			if u, err := ask("U1"); err != nil || u.Name != "Ada" || u.refusable() {
				t.Errorf("got %+v, %v", u, err)
			}
			if u, err := ask("U2"); err != nil || !u.Stranger {
				t.Errorf("got %+v, %v", u, err)
			}
			if _, err := ask("U9"); !errors.Is(err, ErrGone) {
				t.Errorf("got %v", err)
			}
		}
		for _, id := range []string{"U3", "U4"} {
			if u, err := ask(id); err == nil { // nobody is let in by what cannot be read
				t.Errorf("%s: got %+v", id, u)
			}
		}
		if n := len(f.of("users.info")); n != 5 {
			t.Errorf("asked %d times", n)
		}
		time.Sleep(refusedFor)
		for _, id := range []string{"U1", "U2", "U9"} {
			_, _ = ask(id)
		}
		if n := len(f.of("users.info")); n != 7 {
			t.Errorf("asked %d times after a while", n)
		}
	})
}

// Memory stays bounded whoever writes.
func TestKnownIsBounded(t *testing.T) {
	t.Parallel()
	k := newKnown[User](time.Now)
	for i := range 3 * maxKnown {
		k.put(knownKey{"T1", fmt.Sprint(i)}, User{}, nil, knownFor)
	}
	if _, ok := k.get(knownKey{"T1", fmt.Sprint(3*maxKnown - 1)}); !ok || len(k.all) > maxKnown {
		t.Errorf("%d known, the last: %v", len(k.all), ok)
	}
}
