package github

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

func (w *world) levelOf(who account) level {
	w.t.Helper()
	tgt, err := w.channel.app.target(w.request())
	must(w.t, err)
	l, err := w.channel.level(w.t.Context(), tgt, who)
	must(w.t, err)
	return l
}

func TestEffectivePermission(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, word := range []string{"admin", "maintain", "write", "triage", "read", "none"} {
		login := "user-" + word
		w.SetPermission(repoName, login, word)
		if got := w.levelOf(w.somebody(login)); got.String() != word {
			t.Errorf("%s: %s", word, got)
		}
	}
	w.SetPermission(repoName, "mona", "admin")
	w.AddComment(repoName, w.pull.Number, "evil[bot]", "hello")
	for name, who := range map[string]account{
		"deleted":                             {Login: "mona"},
		"the login belongs to another by now": {ID: 12345, Login: "mona"},
		"never heard of":                      {ID: 12345, Login: "nobody-at-all"},
		"a bot":                               w.somebody("evil[bot]"),
		"a bot that is called a person":       {ID: w.somebody("mona").ID, Login: "mona", Bot: true},
		"a login that is a path":              {ID: w.somebody("mona").ID, Login: "../../user"},
		"no login":                            {ID: w.somebody("mona").ID},
	} {
		if got := w.levelOf(who); got != levelNone {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// GitHub answers 404 for what is no person; that is an answer and no failure.
func TestBotsAreNotUsersForGitHub(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.AddComment(repoName, w.pull.Number, "odd[bot]", "hello")
	who := w.somebody("odd[bot]")
	who.Bot, who.Login = false, "odd" // an event that hides it
	if got := w.levelOf(who); got != levelNone {
		t.Errorf("got %s", got)
	}
}

func TestAMinimumThatNobodyKnowsIsTheHighest(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "none", "anyone", "owner", "Write"} {
		if got := levelOf(word); got != levelAdmin {
			t.Errorf("%q: %s", word, got)
		}
	}
}

// Permission given is seen soon, and taken away within a minute.
func TestPermissionsAreRememberedBriefly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		who := w.somebody("mona")
		set := func(word string) { w.SetPermission(repoName, "mona", word) }
		want := func(l level, requests int) {
			t.Helper()
			if got := w.levelOf(who); got != l {
				t.Errorf("got %s, want %s", got, l)
			}
			if n := w.count("GET", "/permission"); n != requests {
				t.Errorf("%d requests, want %d", n, requests)
			}
		}
		set("read")
		want(levelRead, 1)
		set("write")
		want(levelRead, 1)
		time.Sleep(deniedFor)
		want(levelWrite, 2)
		set("read")
		time.Sleep(allowedFor - time.Second)
		want(levelWrite, 2)
		time.Sleep(time.Second)
		want(levelRead, 3)
	})
}

func TestRememberedPermissionsAreBounded(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := &permissions{now: func() time.Time { return at }, known: map[person]permitted{}}
	for i := range maxPermissions {
		p.put(person{id: int64(i + 1)}, levelRead)
	}
	at = at.Add(deniedFor)
	p.put(person{id: 1, login: "new"}, levelWrite)
	if n := len(p.known); n != 1 {
		t.Errorf("%d are known once the others ran out", n)
	}
	for i := range 2 * maxPermissions {
		p.put(person{id: int64(i + 1)}, levelWrite)
	}
	if n := len(p.known); n > maxPermissions {
		t.Errorf("%d are known", n)
	}
}

func TestMayStop(t *testing.T) {
	t.Parallel()
	w := policyWorld(t, "")
	w.AddComment(repoName, w.pull.Number, "eve", "hello")
	ask := func(login, author string, change func(*sessions.StopQuestion)) (bool, error) {
		r := w.request()
		r.Actor, r.Author = w.somebody(login), w.somebody(author)
		q := sessions.StopQuestion{Key: r.key(), Principal: principal(r.Actor.ID), Request: r.encode()}
		if change != nil {
			change(&q)
		}
		return w.channel.MayStop(t.Context(), q)
	}
	for _, tt := range []struct {
		name, login, author string
		change              func(*sessions.StopQuestion)
		may                 bool
	}{
		{"writer", "mona", "eve", nil, true},
		{"reader", "rob", "mona", nil, false},
		{"author who reads", "rob", "rob", nil, true},
		{"another principal than the request's", "mona", "eve", func(q *sessions.StopQuestion) { q.Principal = "github:user:1" }, false},
		{"no principal", "mona", "eve", func(q *sessions.StopQuestion) { q.Principal = "" }, false},
		{"another pull request", "mona", "eve", func(q *sessions.StopQuestion) { q.Key = fmt.Sprintf("github:repo:%d:pull:99", w.repo.ID) }, false},
		{"a session of another surface", "mona", "eve", func(q *sessions.StopQuestion) { q.Key = "slack:x" }, false},
	} {
		if may, err := ask(tt.login, tt.author, tt.change); err != nil || may != tt.may {
			t.Errorf("%s: %t, %v", tt.name, may, err)
		}
	}
	if may, err := ask("mona", "mona", func(q *sessions.StopQuestion) { q.Request = []byte(`{`) }); err == nil || may {
		t.Errorf("without a request: %t, %v", may, err)
	}
	ghost := w.request()
	if may, _ := w.channel.MayStop(t.Context(), sessions.StopQuestion{Key: ghost.key(), Principal: principal(0), Request: ghost.encode()}); may {
		t.Error("two deleted accounts are one")
	}
	w.channel.permissions.known = map[person]permitted{}
	w.Fail(sim.Fault{PathPattern: "/repos/*/*/collaborators/*/permission", Status: http.StatusBadGateway, Times: 9})
	if may, err := ask("mona", "eve", nil); err == nil || may {
		t.Errorf("in an outage: %t, %v", may, err)
	}
}
