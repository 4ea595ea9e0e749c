package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/sessions"
)

// settle ends the threads of ours whose finding is not found any more and whose
// place has changed: they are resolved where we may, else answered once. A
// thread whose last word is a person's question stays as it is, and other
// people's threads are not looked at.
func (w *writer) settle(ctx context.Context, p resolvePayload) (sessions.Receipt, error) {
	where, err := w.stand(ctx)
	if err != nil {
		return sessions.Receipt{}, err
	}
	if why := w.passed(where); why != "" {
		return sessions.Receipt{Note: "no thread settled: " + why}, nil
	}
	threads, err := w.threads(ctx)
	if err != nil {
		return sessions.Receipt{}, err
	}
	self := w.app.self()
	changes := changesSince{w: w, since: p.Since, known: map[string][]string{}}
	var gone []thread
	for _, t := range threads {
		if slices.Contains(p.Present, t.finding) || t.asked(self) {
			continue
		}
		changed, err := changes.touch(ctx, t)
		if err != nil {
			return sessions.Receipt{}, err
		}
		if changed && len(gone) < maxSettled {
			gone = append(gone, t)
		}
	}
	if len(gone) == 0 {
		return sessions.Receipt{Note: "no thread is settled"}, nil
	}
	return w.settleAll(ctx, gone)
}

// settleAll resolves threads as far as that is allowed, and answers in the rest.
func (w *writer) settleAll(ctx context.Context, gone []thread) (sessions.Receipt, error) {
	open, err := w.unresolved(ctx)
	known := err == nil
	if err != nil && !forbidden(err) && !notFound(err) {
		return sessions.Receipt{}, err
	}
	resolving := known && w.request.settings().ResolveThreads
	resolved, answered := 0, 0
	var ungranted *NotGrantedError
	own := resolver{w: w}
	for _, t := range gone {
		id := open[t.first.ID]
		if known && id == "" {
			continue // resolved already
		}
		if resolving {
			switch err := own.resolve(ctx, id); {
			case err == nil:
				resolved++
				continue
			case forbidden(err) || errors.As(err, &ungranted):
				resolving = false
			case notFound(err):
				continue
			default:
				return sessions.Receipt{}, err
			}
		}
		done, err := w.answerGone(ctx, t)
		switch {
		case locked(err):
			return sessions.Receipt{Note: "no thread settled: the conversation is locked"}, nil
		case err != nil:
			return sessions.Receipt{}, err
		case done:
			answered++
		}
	}
	return sessions.Receipt{Note: fmt.Sprintf("%s resolved, %d answered", counted(resolved, "thread", "threads"), answered)}, nil
}

// resolver resolves threads. GitHub asks for a permission that nothing else of
// ours needs, so that only a token for these calls has it.
// https://github.com/orgs/community/discussions/44650
type resolver struct {
	w    *writer
	repo *repository
}

// resolve resolves a thread by its GraphQL id.
func (r *resolver) resolve(ctx context.Context, id string) (err error) {
	const mutation = `mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } } }`
	if r.repo == nil {
		r.repo, err = r.w.app.elevated(ctx, r.w.repo.id, map[string]string{"contents": "write", "pull_requests": "write"})
	}
	if err == nil {
		err = r.repo.graphQL(ctx, mutation, map[string]any{"id": id}, nil)
	}
	if err != nil {
		return fmt.Errorf("resolve a thread: %w", err)
	}
	return nil
}

// answerGone says in a thread that its finding is gone, and reports whether it
// had to be said: it is said once.
func (w *writer) answerGone(ctx context.Context, t thread) (bool, error) {
	mark := mark("gone", t.finding)
	if t.said(w.app.self(), mark) {
		return false, nil
	}
	var answer written
	err := w.send(ctx, http.MethodPost, w.path("pulls/%d/comments/%d/replies", w.Number, t.first.ID),
		textBody{mark + "\nNot found any more at " + code(short(w.Head)) + "."}, &answer)
	if notFound(err) {
		return false, nil // somebody deleted it
	}
	if err != nil {
		return false, fmt.Errorf("answer in a thread: %w", err)
	}
	return true, nil
}

// changesSince knows which files changed since a commit, asking once for each.
type changesSince struct {
	w *writer
	// since is the commit since which was looked at; empty when everything was.
	since string
	known map[string][]string
}

// touch reports whether the place of a thread was looked at in another state
// than the one that the thread was begun in.
func (c changesSince) touch(ctx context.Context, t thread) (bool, error) {
	if c.since == "" && t.outdated() {
		return true, nil
	}
	from := c.since
	if from == "" {
		from = t.first.OriginalCommit
	}
	files, err := c.list(ctx, from)
	return slices.Contains(files, t.first.Path), err
}

// list returns the files that changed from a commit to the head: up to 300, as
// many as GitHub says. A commit that is no ancestor, as after a force-push,
// tells of none.
func (c changesSince) list(ctx context.Context, from string) ([]string, error) {
	if !validSHA(from) || from == c.w.Head {
		return nil, nil
	}
	if files, ok := c.known[from]; ok {
		return files, nil
	}
	owner, repo := c.w.names()
	diff, _, err := c.w.repo.client.Repositories.CompareCommits(ctx, owner, repo, from, c.w.Head, &gh.ListOptions{PerPage: 1})
	if err != nil && !notFound(err) {
		return nil, fmt.Errorf("compare with %s: %w", short(from), err)
	}
	var files []string
	if err == nil && diff.GetStatus() == "ahead" { // else it is compared with another commit
		for _, f := range diff.Files {
			files = append(files, f.GetFilename())
			if f.GetPreviousFilename() != "" {
				files = append(files, f.GetPreviousFilename())
			}
		}
	}
	c.known[from] = files
	return files, nil
}
