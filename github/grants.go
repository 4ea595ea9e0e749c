package github

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// grants remembers what installations grant. Somebody can accept more at any
// time, so that it is looked up again after a while.
type grants struct {
	mu    sync.Mutex
	known map[int64]grant
}

type grant struct {
	permissions map[string]string
	until       time.Time
}

// NotGrantedError says that an installation lacks a permission.
type NotGrantedError struct {
	Installation int64
	// Permissions are those that are missing, such as "contents: write".
	Permissions []string
}

// Error implements error.
func (e *NotGrantedError) Error() string {
	return fmt.Sprintf("installation %d does not grant %s; an owner can accept it in GitHub's settings, if the App asks for it",
		e.Installation, strings.Join(e.Permissions, ", "))
}

// knownGrants returns what is known of an installation's permissions, or nil.
func (a *app) knownGrants(installation int64) map[string]string {
	a.grants.mu.Lock()
	defer a.grants.mu.Unlock()
	g, known := a.grants.known[installation]
	if !known || !a.now().Before(g.until) {
		delete(a.grants.known, installation)
		return nil
	}
	return g.permissions
}

// forgetGrants has an installation's permissions looked up again, as after an
// event that tells of new ones.
func (a *app) forgetGrants(installation int64) {
	a.grants.mu.Lock()
	defer a.grants.mu.Unlock()
	delete(a.grants.known, installation)
}

// learnGrants asks what an installation grants, by the App's own signature.
func (a *app) learnGrants(ctx context.Context, installation int64) (map[string]string, error) {
	var found struct {
		ID          int64             `json:"id"`
		Permissions map[string]string `json:"permissions"`
	}
	if err := get(ctx, a.client(a.own()), fmt.Sprintf("app/installations/%d", installation), &found); err != nil {
		return nil, fmt.Errorf("look up what installation %d grants: %w", installation, err)
	}
	if found.ID != installation || len(found.Permissions) == 0 {
		return nil, fmt.Errorf("GitHub does not say what installation %d grants", installation)
	}
	if len(essentialsMissing(found.Permissions)) == 0 { // else nothing works until that changes, and we look again
		a.grants.mu.Lock()
		defer a.grants.mu.Unlock()
		a.grants.known[installation] = grant{found.Permissions, a.now().Add(grantsFor)}
	}
	return found.Permissions, nil
}

// granted reports whether an installation grants a permission, such as
// "contents" at "write".
func (a *app) granted(ctx context.Context, installation int64, name, level string) (bool, error) {
	permissions := a.knownGrants(installation)
	if permissions == nil {
		var err error
		if permissions, err = a.learnGrants(ctx, installation); err != nil {
			return false, err
		}
	}
	return atLeast(permissions[name], level), nil
}

// elevated returns a way to a repository of its own, for one operation: its
// token has the permissions in perms, such as "contents" at "write", and no
// others. It is a [*NotGrantedError] where the installation lacks one. Nobody
// keeps what is returned.
func (a *app) elevated(ctx context.Context, id repoID, perms map[string]string) (*repository, error) {
	base, err := a.repository(id.installation, id.repository)
	if err != nil {
		return nil, err
	}
	installation := base.transport.actual()
	missing := map[string]string{}
	for name, level := range perms {
		switch ok, err := a.granted(ctx, installation, name, level); {
		case err != nil:
			return nil, err
		case !ok:
			missing[name] = level
		}
	}
	if len(missing) > 0 {
		return nil, &NotGrantedError{Installation: installation, Permissions: named(missing)}
	}
	if _, err := typedPermissions(perms); err != nil {
		return nil, err
	}
	t := &repoTransport{app: a, id: id, installed: installation, only: maps.Clone(perms)}
	return &repository{id: id, transport: t, client: a.pacedClient(installation, t)}, nil
}

// narrowed looks whether GitHub refused a token because we asked for more than
// the installation grants, and reports whether asking for less can work. What
// nothing works without is named.
func (t *repoTransport) narrowed(ctx context.Context, refusal error) (bool, error) {
	var paused *PausedError
	if !errors.As(refusal, &paused) || !paused.ungranted {
		return false, refusal
	}
	installation := t.actual()
	t.app.forgetGrants(installation)
	if t.only != nil {
		return false, &NotGrantedError{Installation: installation, Permissions: named(t.only)}
	}
	granted, err := t.app.learnGrants(ctx, installation)
	if err != nil {
		t.app.log.Warn("what an installation grants cannot be looked up", "installation", installation, "error", err)
		return false, refusal
	}
	if missing := essentialsMissing(granted); len(missing) > 0 {
		return false, t.paused("does not grant " + strings.Join(named(missing), ", ") + "; accept the App's new permissions in GitHub's settings")
	}
	return !maps.Equal(tokenPermissions(nil), tokenPermissions(granted)), refusal
}

// essentialsMissing are the permissions without which nothing works, of those
// that are granted at no level.
func essentialsMissing(granted map[string]string) map[string]string {
	missing := map[string]string{}
	for _, lost := range lostWith(granted) {
		if lost.Essential && !atLeast(lost.Has, "read") {
			missing[lost.Name] = lost.Level
		}
	}
	return missing
}

// named prints permissions in order.
func named(perms map[string]string) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(perms)) {
		all = append(all, name+": "+perms[name])
	}
	return all
}
