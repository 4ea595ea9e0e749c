package github

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bradleyfalzon/ghinstallation/v2"
)

// repoTransport is the outermost transport of one repository's client. It
// turns GitHub's ways of saying "not now" into typed errors, and repeats a
// request in two cases only, in which GitHub has done nothing yet: the token
// was not accepted, or the repository has another name.
type repoTransport struct {
	app *app
	id  repoID
	// minted is when the current token was made, in Unix nanoseconds.
	minted atomic.Int64

	names names

	// only is what tokens are asked for where the work is one operation; nil
	// means what reviews need and the installation grants.
	only map[string]string

	mu    sync.Mutex
	token *ghinstallation.Transport
	// permissions are those that token was asked for.
	permissions map[string]string
	// installed is the installation that took the place of id's, once known.
	installed int64
}

// RoundTrip implements http.RoundTripper.
func (t *repoTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer func() { _ = req.Body.Close() }() // each attempt sends a copy from GetBody
		if req.GetBody == nil {
			return nil, errors.New("github: a request whose body cannot be sent twice")
		}
	}
	if err := t.app.refused(t.id.installation); err != nil {
		return nil, err
	}
	resp, err := t.exchange(req)
	if err != nil {
		t.app.circuit.note(t.id.installation, err)
		return nil, err
	}
	t.app.circuit.note(t.id.installation, nil)
	return resp, nil
}

// exchange sends req to wherever the repository is now.
func (t *repoTransport) exchange(req *http.Request) (*http.Response, error) {
	prefix := t.app.root.Path + "repos/"
	asked, ok := repoInPath(req.URL.Path, prefix)
	if !ok {
		return t.send(req, req.URL)
	}
	name := t.names.present(asked)
	resp, err := t.send(req, rename(req.URL, prefix+asked, prefix+name))
	if err != nil || !isRedirect(resp.StatusCode) {
		return resp, err
	}
	discard(resp)
	moved, err := t.resolve(req.Context(), asked, name)
	if err != nil {
		return nil, fmt.Errorf("find %s again after a redirect: %w", name, err)
	}
	if moved == name {
		return nil, fmt.Errorf("GitHub redirects %s %s although the repository is still called %s: %w", req.Method, req.URL.Path, name, errElsewhere)
	}
	return t.send(req, rename(req.URL, prefix+asked, prefix+moved))
}

// send signs and sends req once, and once more with a new token if this one
// is not accepted: a cached token outlives its revocation.
func (t *repoTransport) send(req *http.Request, to *url.URL) (*http.Response, error) {
	for again := true; ; again = false {
		attempt, err := copyRequest(req, to)
		if err != nil {
			return nil, err
		}
		token, err := t.signer()
		if err != nil {
			return nil, err
		}
		resp, err := token.RoundTrip(attempt)
		if err != nil {
			err = t.tokenError(err)
			if !again {
				return nil, err
			}
			less, err := t.narrowed(req.Context(), err)
			if less || t.reinstalled(req.Context(), to, err) {
				continue
			}
			return nil, err
		}
		if resp.StatusCode != http.StatusUnauthorized {
			t.app.quota.observe(t.id.installation, resp.Header)
			return t.judge(resp)
		}
		reason := readRefusal(resp).Message
		discard(resp)
		t.drop(token)
		if !again {
			return nil, &AuthError{After: lagWait, Reason: "GitHub does not accept the installation's new token: " + reason}
		}
	}
}

// judge turns an answer that refuses the whole installation into an error.
func (t *repoTransport) judge(resp *http.Response) (*http.Response, error) {
	if strings.HasSuffix(resp.Request.URL.Path, "/graphql") && resp.StatusCode == http.StatusOK {
		if limit, ok := limitedQuery(resp, t.app.now()); ok {
			discard(resp)
			return nil, limit
		}
		return resp, nil
	}
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return resp, nil
	}
	why := readRefusal(resp)
	if suspended(resp.StatusCode, why) {
		discard(resp)
		return nil, t.paused("is suspended; it goes on by itself once someone unsuspends it in GitHub's settings")
	}
	if limit, ok := limited(resp, why, t.app.now()); ok {
		discard(resp)
		return nil, limit
	}
	if t.app.now().Sub(time.Unix(0, t.minted.Load())) < freshToken {
		discard(resp)
		return nil, &AuthError{After: lagWait, Reason: "GitHub refuses a token that is seconds old: " + why.Message}
	}
	return resp, nil
}

// tokenError explains why no token could be had.
func (t *repoTransport) tokenError(err error) error {
	var refused *ghinstallation.HTTPError
	if !errors.As(err, &refused) || refused.Response == nil {
		return err
	}
	resp := refused.Response
	why := readRefusal(resp)
	discard(resp) // ghinstallation leaves it open for us
	if limit, ok := limited(resp, why, t.app.now()); ok && !suspended(resp.StatusCode, why) {
		return limit
	}
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return &AuthError{After: refusedFor, Reason: fmt.Sprintf("GitHub does not accept the signature of App %d (%s): "+
			"check the App's id, its private key and this machine's clock", t.app.id, why.Message)}
	case http.StatusForbidden:
		return t.paused("is suspended or closed to this App (" + why.Message + "); it goes on by itself once that changes")
	case http.StatusNotFound:
		paused := t.paused("does not exist any more; it goes on if the App is installed again")
		paused.gone = true
		return paused
	case http.StatusUnprocessableEntity:
		paused := t.paused("grants no token for the repository (" + why.Message +
			"); add the repository to the installation, or accept the App's new permissions in GitHub's settings")
		paused.ungranted = true
		return paused
	}
	return fmt.Errorf("GitHub gave no installation token: %d %s", resp.StatusCode, why.Message)
}

func (t *repoTransport) paused(reason string) *PausedError {
	return &PausedError{Installation: t.id.installation, Reason: reason, After: pausedFor}
}

// actual is the installation that reaches the repository, as far as we know.
func (t *repoTransport) actual() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.installed, t.id.installation)
}

// signer returns the transport with the current token, or with a new one where
// that would be for other permissions by now.
func (t *repoTransport) signer() (*ghinstallation.Transport, error) {
	id := t.id
	id.installation = t.actual()
	want := t.only
	if want == nil {
		want = tokenPermissions(t.app.knownGrants(id.installation))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == nil || !maps.Equal(t.permissions, want) {
		permissions, err := typedPermissions(want)
		if err != nil {
			return nil, err
		}
		t.token, t.permissions = t.app.signer(id, permissions, roundTripper(t.watchMint)), want
	}
	return t.token, nil
}

// drop forgets a token, unless another call has done so already.
func (t *repoTransport) drop(token *ghinstallation.Transport) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.token == token {
		t.token = nil
	}
}

// watchMint notes when a token was made.
func (t *repoTransport) watchMint(req *http.Request) (*http.Response, error) {
	resp, err := t.app.wire.RoundTrip(req)
	if err == nil && resp.StatusCode == http.StatusCreated && strings.HasSuffix(req.URL.Path, "/access_tokens") {
		t.minted.Store(t.app.now().UnixNano())
	}
	return resp, err
}

// roundTripper makes a function a transport.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f roundTripper) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// copyRequest returns a request that may be sent while req may be sent again.
func copyRequest(req *http.Request, to *url.URL) (*http.Request, error) {
	c := req.Clone(req.Context())
	c.URL = to
	if req.Body != nil {
		body, err := req.GetBody()
		if err != nil {
			return nil, err
		}
		c.Body = body
	}
	return c, nil
}

// discard lets the connection be used again.
func discard(resp *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxErrorBody))
	_ = resp.Body.Close()
}
