package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	gh "github.com/google/go-github/v66/github"
)

// names follows a repository through renames and transfers. The id is what
// stays; a former name may redirect, lead nowhere, or belong to someone else by now.
type names struct {
	mu     sync.Mutex
	now    string
	former map[string]bool
}

// present returns the name to use where a caller knows the repository as asked.
func (n *names) present(asked string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.former[asked] {
		return n.now
	}
	return asked
}

// moved records that the repository is called now, and not one of former.
func (n *names) moved(now string, former ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.former == nil {
		n.former = map[string]bool{}
	}
	for _, f := range former {
		n.former[f] = true
	}
	delete(n.former, now)
	n.now = now
}

// resolve asks for the repository's present name by its id and remembers it
// in place of former. Where there is no such repository for the token, a new
// token tells whether the installation has lost it.
func (t *repoTransport) resolve(ctx context.Context, former ...string) (string, error) {
	if err := t.app.circuit.check(t.id.installation); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	token, err := t.signer()
	if err != nil {
		return "", err
	}
	name, err := t.lookUp(ctx)
	if notFound(err) {
		t.drop(token)
		name, err = t.lookUp(ctx)
	}
	if err != nil {
		t.app.circuit.note(t.id.installation, err)
		return "", err
	}
	t.names.moved(name, former...)
	return name, nil
}

func (t *repoTransport) lookUp(ctx context.Context) (string, error) {
	u := *t.app.root
	u.Path += fmt.Sprintf("repositories/%d", t.id.repository)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", err
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	resp, err := t.send(req, req.URL)
	if err != nil {
		return "", err
	}
	defer discard(resp)
	if err := gh.CheckResponse(resp); err != nil {
		return "", err
	}
	var found struct {
		ID       int64  `json:"id"`
		FullName string `json:"full_name"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&found); err != nil {
		return "", fmt.Errorf("read repository %d: %w", t.id.repository, err)
	}
	if _, _, ok := splitName(found.FullName); !ok || found.ID != t.id.repository {
		return "", fmt.Errorf("GitHub answers for repository %d with another one", t.id.repository)
	}
	return found.FullName, nil
}

// repoInPath returns the "owner/repo" that a request's path names after prefix.
func repoInPath(path, prefix string) (string, bool) {
	rest, ok := strings.CutPrefix(path, prefix)
	if !ok {
		return "", false
	}
	owner, rest, ok := strings.Cut(rest, "/")
	repo, _, _ := strings.Cut(rest, "/")
	return owner + "/" + repo, ok
}

// rename returns u with another beginning of its path. Names have no
// characters that are escaped, so that both forms of the path change alike.
func rename(u *url.URL, from, to string) *url.URL {
	renamed := *u
	renamed.Path = to + strings.TrimPrefix(u.Path, from)
	if u.RawPath != "" {
		renamed.RawPath = to + strings.TrimPrefix(u.RawPath, from)
	}
	return &renamed
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}
