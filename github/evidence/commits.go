package evidence

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/go-github/v66/github"
)

// Commits is commits.json.
type Commits struct {
	// Total is how many the pull request has, and Missing says why not all are listed.
	Total   int      `json:"total"`
	Missing string   `json:"missing"`
	Commits []Commit `json:"commits"`
}

// Commit is one commit. Author is the account that GitHub found, if any;
// AuthorName is what the commit says of itself, which anybody can write.
type Commit struct {
	SHA        string    `json:"sha"`
	Parents    []string  `json:"parents"`
	Author     Actor     `json:"author"`
	AuthorName string    `json:"author_name"`
	Date       time.Time `json:"date,omitzero"`
	Verified   bool      `json:"verified"`
	Message    string    `json:"message"`
}

// commits lists the commits of a pull request, oldest first. A second result
// that is not empty says why there is nothing.
func (f *fetcher) commits(ctx context.Context, total int) (*Commits, string, error) {
	l, err := pages(ctx, f, needFull, "list the commits", maxCommits,
		func(ctx context.Context, o github.ListOptions) ([]*github.RepositoryCommit, *github.Response, error) {
			return f.client.PullRequests.ListCommits(ctx, f.owner, f.repo, f.number, &o)
		})
	if err != nil {
		return nil, "", err
	}
	if l.items == nil && l.cut != "" {
		return nil, l.cut, nil
	}
	c := &Commits{Total: max(total, len(l.items)), Commits: make([]Commit, 0, len(l.items))}
	for _, rc := range l.items {
		c.Commits = append(c.Commits, commit(rc))
	}
	if n := len(c.Commits); n < c.Total || l.cut != "" {
		why := l.cut
		if n >= maxCommits {
			why = fmt.Sprintf("GitHub lists at most %d", maxCommits)
		}
		c.Missing = strings.TrimSuffix(fmt.Sprintf("the first %d of %d are listed: %s", n, c.Total, why), ": ")
	}
	return c, "", nil
}

func commit(rc *github.RepositoryCommit) Commit {
	c := rc.GetCommit()
	message, _ := Reveal(cut(c.GetMessage(), maxMessage))
	name, _ := Reveal(c.GetAuthor().GetName())
	out := Commit{
		SHA:        rc.GetSHA(),
		Parents:    []string{},
		AuthorName: name,
		Date:       c.GetCommitter().GetDate().UTC(),
		Verified:   c.GetVerification().GetVerified(),
		Message:    message,
	}
	// Null means that no account belongs to the commit's e-mail address, not that one is gone.
	if rc.Author != nil {
		out.Author = actor(rc.Author)
	}
	for _, p := range rc.Parents {
		if p.GetSHA() != "" {
			out.Parents = append(out.Parents, p.GetSHA())
		}
	}
	return out
}

// cut shortens text to limit bytes, between characters, and says so.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s\n[cut: %d more bytes]", text[:end], len(text)-end)
}
