package github

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/github/evidence"
)

// person says who decides, as far as GitHub vouches for them: nothing of it comes
// from a text. What cannot be found out counts against them.
func (w *weighing) person(ctx context.Context, v approvals.View) approvals.Person {
	p := approvals.Person{Identity: w.identity(account{ID: w.Actor.ID})}
	var login string
	if login, p.Standing = w.standingOf(ctx, w.Actor); login == "" {
		return p
	}
	p.Identity = w.identity(account{ID: w.Actor.ID, Login: login})
	if p.Standing == approvals.Member {
		p.Groups = w.groupsOf(ctx, login, v.Deciders)
	}
	return p
}

// identity is who an account is on every surface.
func (c *Channel) identity(a account) approvals.Identity {
	if a.ID <= 0 {
		return approvals.Identity{}
	}
	return approvals.Identity{Principal: principal(a.ID), GitHub: a.Login, Slack: c.inSlack[strings.ToLower(a.Login)]}
}

// standingOf asks GitHub what an account is, and what it may do in the repository.
// The login is GitHub's own word, and empty where it has none for the account.
func (w *weighing) standingOf(ctx context.Context, who account) (login string, s approvals.Standing) {
	switch {
	case who.ID <= 0:
		return "", approvals.Gone
	case who.Bot:
		return "", approvals.Bot
	case !validName(who.Login):
		return "", ""
	}
	var user struct {
		ID    int64  `json:"id"`
		Login string `json:"login"`
		Type  string `json:"type"`
	}
	err := get(ctx, w.repo.client, "users/"+url.PathEscape(who.Login), &user)
	switch {
	case notFound(err):
		return "", approvals.Gone
	case err != nil:
		w.unsure("who somebody is", err)
		return "", ""
	case user.ID != who.ID || !validName(user.Login):
		return "", "" // the name is another account's by now
	case user.Type != "User":
		return "", approvals.Bot
	}
	has, err := w.level(ctx, w.target, account{ID: user.ID, Login: user.Login})
	named := has > levelRead
	if err == nil && has == levelRead { // which everybody has where the repository is public
		named, err = w.collaborates(ctx, user.Login)
	}
	switch {
	case err != nil:
		w.unsure("what somebody may do in a repository", err)
		return user.Login, ""
	case !named:
		return user.Login, approvals.Stranger
	}
	return user.Login, approvals.Member
}

// collaborates reports whether a repository names somebody: itself, or by a team or
// the base permission of its organisation. Whoever took over a login that somebody
// else has left may read a public repository, but is not named there.
func (t target) collaborates(ctx context.Context, login string) (bool, error) {
	err := get(ctx, t.repo.client, t.path("collaborators/%s", url.PathEscape(login)), nil)
	if notFound(err) {
		return false, nil
	}
	return err == nil, err
}

// groupsOf are the groups of a policy in which somebody is.
func (w *weighing) groupsOf(ctx context.Context, login string, deciders []approvals.Approvers) []approvals.Group {
	var all []approvals.Group
	add := func(g approvals.Group) {
		if !slices.Contains(all, g) {
			all = append(all, g)
		}
	}
	for _, a := range deciders {
		for _, team := range a.GitHubTeams {
			if w.member(ctx, team, login) {
				add(approvals.Group{Kind: approvals.GitHubTeam, Name: team})
			}
		}
		if a.CodeOwners && !w.Issue && w.owns(ctx, login) {
			add(approvals.Group{Kind: approvals.CodeOwner})
		}
	}
	return all
}

// owns reports whether the base branch's CODEOWNERS names somebody, or a team of
// theirs, for a file that the pull request changes. Who may not write to the
// repository owns nothing in it.
// https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners
func (w *weighing) owns(ctx context.Context, login string) bool {
	if has, err := w.level(ctx, w.target, account{ID: w.Actor.ID, Login: login}); err != nil || has < levelWrite {
		return false
	}
	owner, repo := w.names()
	owners, err := evidence.ChangedOwners(ctx, w.repo.client, owner, repo, w.Number)
	if err != nil {
		w.unsure("whose files a pull request changes", err)
		return false
	}
	return slices.ContainsFunc(owners, func(name string) bool {
		name, named := strings.CutPrefix(name, "@")
		if strings.Contains(name, "/") {
			return named && w.member(ctx, name, login)
		}
		return named && strings.EqualFold(name, login)
	})
}

// unsure tells the operator why somebody was not let decide.
func (w *weighing) unsure(what string, err error) {
	w.app.log.Warn("a decision does not count, because something could not be found out",
		"what", what, "repository", w.FullName, "approval", w.Decision.Approval, "error", err)
}
