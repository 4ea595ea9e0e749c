package evidence

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-github/v66/github"
)

// PullRequest is the pull request's own facts, as in pull_request.json. Title,
// Body and Ref are the words of strangers.
type PullRequest struct {
	Number       int        `json:"number"`
	Repository   Repository `json:"repository"`
	Title        string     `json:"title"`
	Body         string     `json:"body"`
	State        string     `json:"state"`
	Draft        bool       `json:"draft"`
	Merged       bool       `json:"merged"`
	Author       Actor      `json:"author"`
	Head         Head       `json:"head"`
	Base         Base       `json:"base"`
	Labels       []string   `json:"labels"`
	Commits      int        `json:"commits"`
	ChangedFiles int        `json:"changed_files"`
	Additions    int        `json:"additions"`
	Deletions    int        `json:"deletions"`
	CreatedAt    time.Time  `json:"created_at,omitzero"`
	UpdatedAt    time.Time  `json:"updated_at,omitzero"`
	URL          string     `json:"url"`
}

// Repository is the repository that the pull request belongs to.
type Repository struct {
	ID            int64  `json:"id"`
	FullName      string `json:"full_name"`
	Private       bool   `json:"private"`
	DefaultBranch string `json:"default_branch"`
}

// Head is the proposed side. Repository is empty, and Fork true, when the
// repository that it came from is gone.
type Head struct {
	SHA        string `json:"sha"`
	Ref        string `json:"ref"`
	Repository string `json:"repository"`
	// RepositoryID is 0 when it is gone.
	RepositoryID int64 `json:"-"`
	Fork         bool  `json:"fork"`
}

// Base is the side that the proposal is for.
type Base struct {
	SHA string `json:"sha"`
	Ref string `json:"ref"`
}

// Actor is an account. One that was deleted is the login "ghost" and nothing else.
type Actor struct {
	Login string `json:"login"`
	ID    int64  `json:"id,omitempty"`
	Type  string `json:"type,omitempty"`
}

// ghost is the name that GitHub shows for accounts that are gone.
const ghost = "ghost"

func actor(u *github.User) Actor {
	if u.GetLogin() == "" {
		return Actor{Login: ghost}
	}
	return Actor{Login: u.GetLogin(), ID: u.GetID(), Type: u.GetType()}
}

// ErrNoAnswer is returned for an answer that says it is one and is not: GitHub
// and what stands before it do that in times of trouble.
var ErrNoAnswer = errors.New("GitHub's answer is not what was asked for")

// LivePull reads a pull request as it is now. Errors of the client can be found
// in the chain with errors.As.
func LivePull(ctx context.Context, client *github.Client, owner, repo string, number int) (PullRequest, error) {
	if err := checkName(owner, repo); err != nil {
		return PullRequest{}, err
	}
	return newFetcher(client, owner, repo, number, Budget{}.orDefault()).pull(ctx)
}

func (f *fetcher) pull(ctx context.Context) (PullRequest, error) {
	var pr *github.PullRequest
	op := fmt.Sprintf("read pull request %s/%s#%d", f.owner, f.repo, f.number)
	err := f.call(ctx, needAlways, op, func(ctx context.Context) (resp *github.Response, err error) {
		pr, resp, err = f.client.PullRequests.Get(ctx, f.owner, f.repo, f.number)
		return resp, err
	})
	if err != nil {
		return PullRequest{}, err
	}
	p := facts(pr)
	// Everything is pinned to these two; they also go into paths of the API.
	if !isWord(p.Head.SHA) || !isWord(p.Base.SHA) {
		return PullRequest{}, fmt.Errorf("%s: %w: it lacks the SHA of head or base", op, ErrNoAnswer)
	}
	return p, nil
}

// facts takes from GitHub's answer what the evidence holds. Any part of the
// answer may be null.
func facts(pr *github.PullRequest) PullRequest {
	head, base := pr.GetHead(), pr.GetBase()
	p := PullRequest{
		Number: pr.GetNumber(),
		Repository: Repository{
			ID:            base.GetRepo().GetID(),
			FullName:      base.GetRepo().GetFullName(),
			Private:       base.GetRepo().GetPrivate(),
			DefaultBranch: base.GetRepo().GetDefaultBranch(),
		},
		Title:  pr.GetTitle(),
		Body:   pr.GetBody(),
		State:  pr.GetState(),
		Draft:  pr.GetDraft(),
		Merged: pr.GetMerged(),
		Author: actor(pr.GetUser()),
		Head: Head{
			SHA:        head.GetSHA(),
			Ref:        head.GetRef(),
			Repository: head.GetRepo().GetFullName(), RepositoryID: head.GetRepo().GetID(),
			Fork: head.GetRepo().GetID() == 0 || head.GetRepo().GetID() != base.GetRepo().GetID(),
		},
		Base:         Base{SHA: base.GetSHA(), Ref: base.GetRef()},
		Labels:       []string{},
		Commits:      pr.GetCommits(),
		ChangedFiles: pr.GetChangedFiles(),
		Additions:    pr.GetAdditions(),
		Deletions:    pr.GetDeletions(),
		CreatedAt:    pr.GetCreatedAt().UTC(),
		UpdatedAt:    pr.GetUpdatedAt().UTC(),
		URL:          pr.GetHTMLURL(),
	}
	for _, l := range pr.Labels {
		if name := l.GetName(); name != "" {
			p.Labels = append(p.Labels, name)
		}
	}
	return p
}

// isWord tells whether s can stand in a path of the API as it is.
func isWord(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			return false
		}
	}
	return s != ""
}

// isObjectID tells whether s is a full git object id, SHA-1 or SHA-256, in lower-case hex.
func isObjectID(s string) bool {
	if len(s) != 40 && len(s) != 64 {
		return false
	}
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
