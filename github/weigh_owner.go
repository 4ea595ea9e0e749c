package github

import (
	"errors"
	"net/http"
	"sync"

	"github.com/bradleyfalzon/ghinstallation/v2"
	gh "github.com/google/go-github/v66/github"
)

// errNotInstalled says that an account has no repository .github, or that the
// App is not installed there: there is no token for it.
var errNotInstalled = errors.New("the App is not installed on the owner's repository .github")

// owners reaches the repository .github of the account of each installation, by
// a token of its own that can read nothing else. It has no circuit in common with
// the repositories: that an account has no such repository is no refusal.
type owners struct {
	app *app

	mu      sync.Mutex
	clients map[int64]*gh.Client
}

func (o *owners) client(installation int64) *gh.Client {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c := o.clients[installation]; c != nil {
		return c
	}
	t := &ownerTransport{app: o.app, installation: installation}
	c := o.app.client(t)
	o.clients[installation] = c
	return c
}

// ownerTransport signs reads of one account's repository .github.
type ownerTransport struct {
	app          *app
	installation int64

	mu    sync.Mutex
	token *ghinstallation.Transport
}

// RoundTrip implements http.RoundTripper.
func (t *ownerTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := t.app.refused(t.installation); err != nil {
		return nil, err
	}
	token := t.signer()
	resp, err := token.RoundTrip(req)
	if err != nil {
		return nil, ownerTokenError(err)
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		t.drop(token)
	case http.StatusForbidden, http.StatusTooManyRequests:
		if limit, ok := limited(resp, readRefusal(resp), t.app.now()); ok {
			discard(resp)
			return nil, limit
		}
	}
	return resp, nil
}

// ownerTokenError tells that there is nothing to reach from that it cannot be
// reached now. GitHub answers 422 where a token is wanted for a repository that
// the installation does not have.
func ownerTokenError(err error) error {
	var refused *ghinstallation.HTTPError
	if !errors.As(err, &refused) || refused.Response == nil {
		return err
	}
	discard(refused.Response) // ghinstallation leaves it open for us
	if refused.Response.StatusCode == http.StatusUnprocessableEntity {
		return errNotInstalled
	}
	return err
}

func (t *ownerTransport) signer() *ghinstallation.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == nil {
		t.token = ghinstallation.NewFromAppsTransport(t.app.own(), t.installation)
		t.token.InstallationTokenOptions = &gh.InstallationTokenOptions{
			Repositories: []string{ownerRepository},
			Permissions:  &gh.InstallationPermissions{Contents: gh.String("read"), Metadata: gh.String("read")},
		}
	}
	return t.token
}

// drop forgets a token that is not accepted any more; the next reading makes one.
func (t *ownerTransport) drop(token *ghinstallation.Transport) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = nil
	}
}
