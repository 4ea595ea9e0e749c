package github

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"
)

// level is what somebody may do in a repository, least first.
type level int

// The levels, as GitHub orders its roles.
// https://docs.github.com/organizations/managing-user-access-to-your-organizations-repositories/managing-repository-roles/repository-roles-for-an-organization
const (
	levelNone level = iota
	levelRead
	levelTriage
	levelWrite
	levelMaintain
	levelAdmin
)

var levelWords = []string{"none", "read", "triage", "write", "maintain", "admin"}

// String returns GitHub's word.
func (l level) String() string { return levelWords[l] }

// levelOf reads a word; what is none of ours is the highest level, as a minimum
// that nobody reaches by mistake.
func levelOf(word string) level {
	if i := slices.Index(levelWords, word); i > 0 {
		return level(i)
	}
	return levelAdmin
}

// How long an answer about a person counts. Who was let in a moment ago should
// not wait; who was shut out should not go on for long.
const (
	allowedFor = time.Minute
	deniedFor  = 10 * time.Second
	// maxPermissions bounds the remembered answers.
	maxPermissions = 4096
)

// permissions remembers for a short while what people may do.
type permissions struct {
	now func() time.Time

	mu    sync.Mutex
	known map[person]permitted
}

// person is an account in a repository. A login changes hands, and so is part of
// the question only.
type person struct {
	repository, id int64
	login          string
}

type permitted struct {
	level level
	until time.Time
}

func (p *permissions) get(who person) (level, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	got, ok := p.known[who]
	return got.level, ok && p.now().Before(got.until)
}

func (p *permissions) put(who person, l level) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if len(p.known) >= maxPermissions {
		for k, v := range p.known {
			if !now.Before(v.until) {
				delete(p.known, k)
			}
		}
		if len(p.known) >= maxPermissions {
			clear(p.known)
		}
	}
	until := now.Add(allowedFor)
	if l < levelWrite {
		until = now.Add(deniedFor)
	}
	p.known[who] = permitted{level: l, until: until}
}

// level returns the effective permission of an account in the target's
// repository. Deleted accounts have none, and bots only what the operator's list
// gives: a name that ends in "[bot]" proves nothing. What the payload says of an
// association with the repository is not looked at: it is wrong for private members
// (https://github.com/databricks/databricks-sql-python/pull/869).
func (c *Channel) level(ctx context.Context, t target, who account) (level, error) {
	switch {
	case who.ID <= 0:
		return levelNone, nil
	case who.Bot && c.bots[who.ID]:
		return levelWrite, nil
	case who.Bot, !validName(who.Login):
		return levelNone, nil
	}
	asked := person{repository: t.Repository, id: who.ID, login: who.Login}
	if l, ok := c.permissions.get(asked); ok {
		return l, nil
	}
	l, err := t.permission(ctx, who)
	if err != nil {
		return levelNone, fmt.Errorf("ask what %s may do in %s: %w", who.Login, t.FullName, err)
	}
	c.permissions.put(asked, l)
	return l, nil
}

// permission asks GitHub. Its answer is about a login; the id says whether that
// is still the same account.
func (t target) permission(ctx context.Context, who account) (level, error) {
	var answer struct {
		Permission string `json:"permission"`
		User       struct {
			ID          int64 `json:"id"`
			Permissions struct {
				Maintain bool `json:"maintain"`
				Triage   bool `json:"triage"`
			} `json:"permissions"`
		} `json:"user"`
	}
	err := get(ctx, t.repo.client, t.path("collaborators/%s/permission", url.PathEscape(who.Login)), &answer)
	switch {
	case notFound(err):
		// "is not a user", or nobody of that name any more.
		return levelNone, nil
	case err != nil:
		return levelNone, err
	case answer.User.ID != who.ID:
		return levelNone, nil
	}
	// The old field maps the roles that are newer than it to their neighbours.
	finer := answer.User.Permissions
	switch answer.Permission {
	case "admin":
		return levelAdmin, nil
	case "write":
		if finer.Maintain {
			return levelMaintain, nil
		}
		return levelWrite, nil
	case "read":
		if finer.Triage {
			return levelTriage, nil
		}
		return levelRead, nil
	}
	return levelNone, nil
}
