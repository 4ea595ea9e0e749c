package github

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"time"
)

// members remembers for a short while who is in a team.
type members struct {
	now func() time.Time

	mu    sync.Mutex
	known map[membership]belongs
}

// membership is the question whether somebody is in a team, in small letters, as an
// installation can see it.
type membership struct {
	installation int64
	team, login  string
}

type belongs struct {
	in    bool
	until time.Time
}

func (m *members) get(q membership) (in, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	got, ok := m.known[q]
	return got.in, ok && m.now().Before(got.until)
}

func (m *members) put(q membership, in bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.known) >= maxPermissions {
		clear(m.known)
	}
	until := m.now().Add(deniedFor)
	if in {
		until = m.now().Add(allowedFor)
	}
	m.known[q] = belongs{in: in, until: until}
}

// member reports whether somebody is in a team such as "octo/security". Where that
// cannot be found out they are not.
// https://docs.github.com/rest/teams/members#get-team-membership-for-a-user
func (w *weighing) member(ctx context.Context, team, login string) bool {
	org, slug, named := splitName(team)
	if !named {
		return false
	}
	q := membership{w.repo.id.installation, strings.ToLower(team), strings.ToLower(login)}
	if in, known := w.members.get(q); known {
		return in
	}
	repo, err := w.app.elevated(ctx, w.repo.id, map[string]string{"members": "read"})
	if err != nil {
		w.unsure("who is in the team "+team, err)
		return false
	}
	var answer struct {
		State string `json:"state"`
	}
	err = get(ctx, repo.client, "orgs/"+url.PathEscape(org)+"/teams/"+url.PathEscape(slug)+"/memberships/"+url.PathEscape(login), &answer)
	if err != nil && !notFound(err) {
		w.unsure("who is in the team "+team, err)
		return false
	}
	in := err == nil && answer.State == "active" // an invitation is none
	w.members.put(q, in)
	return in
}
