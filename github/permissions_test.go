package github

import (
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
)

func TestTokenPermissionsFollowTheGrants(t *testing.T) {
	t.Parallel()
	full := map[string]string{"checks": "write", "contents": "read", "issues": "write", "metadata": "read",
		"pull_requests": "write", "statuses": "read"}
	with := func(changes map[string]string) map[string]string {
		m := maps.Clone(full)
		for k, v := range changes {
			if m[k] = v; v == "" {
				delete(m, k)
			}
		}
		return m
	}
	for name, tt := range map[string]struct{ granted, want map[string]string }{
		"not known":             {nil, full},
		"as the manifest asks":  {full, full},
		"more than is needed":   {with(map[string]string{"contents": "write", "administration": "write", "statuses": "write"}), full},
		"no checks":             {with(map[string]string{"checks": ""}), with(map[string]string{"checks": ""})},
		"statuses for checks":   {with(map[string]string{"checks": "", "statuses": "write"}), with(map[string]string{"checks": "", "statuses": "write"})},
		"checks to read":        {with(map[string]string{"checks": "read"}), with(map[string]string{"checks": "read"})},
		"a level nobody knows":  {with(map[string]string{"issues": "perhaps"}), with(map[string]string{"issues": ""})},
		"older set, no issues":  {with(map[string]string{"issues": "", "statuses": ""}), with(map[string]string{"issues": "", "statuses": ""})},
		"admin counts as write": {with(map[string]string{"checks": "admin"}), full},
	} {
		if got := tokenPermissions(tt.granted); !maps.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// A token that is asked for with no permission that GitHub knows gets all of them.
func TestUnknownPermissionNeverWidensAToken(t *testing.T) {
	t.Parallel()
	for _, perms := range []map[string]string{nil, {}, {"no_such_thing": "write"}, {"checks": "write", "no_such_thing": "read"}} {
		if _, err := typedPermissions(perms); err == nil {
			t.Errorf("%v was accepted", perms)
		}
	}
	for _, p := range Permissions() {
		if _, err := typedPermissions(map[string]string{p.Name: p.Level}); err != nil && p.use != events {
			t.Errorf("%s: %s cannot be asked for: %v", p.Name, p.Level, err)
		}
	}
}

func TestLostSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	granted := map[string]string{}
	for _, p := range Permissions() {
		if !p.Optional {
			granted[p.Name] = p.Level
		}
	}
	names := func(granted map[string]string) string {
		var all []string
		for _, l := range lostWith(granted) {
			if l.Feature == "" || l.Lost == "" {
				t.Errorf("%s: %s does not say what it is for", l.Name, l.Level)
			}
			all = append(all, l.Name+":"+l.Level)
		}
		return strings.Join(all, " ")
	}
	if got := names(granted); got != "contents:write members:read" {
		t.Errorf("with the manifest's: %s", got)
	}
	granted["checks"] = "read"
	if got := names(granted); got != "checks:write statuses:write contents:write members:read" {
		t.Errorf("without writing checks: %s", got)
	}
}

// tokens are the permissions of the tokens that were minted, in order.
func (w *world) tokens() []map[string]string {
	var all []map[string]string
	for _, r := range w.Requests() {
		if strings.HasSuffix(r.Path, "/access_tokens") && r.Status == http.StatusCreated {
			all = append(all, readPermissions(w.t, r.Body))
		}
	}
	return all
}

// Asking for what was not granted is refused as a whole, so that less is asked for.
func TestTokenLeavesOutWhatIsNotGranted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetInstallationPermissions(installation, map[string]string{"contents": "read", "pull_requests": "write", "checks": "write"})
	w.review("trn_1", "Fine.")
	if got := w.checks(); len(got) != 1 || got[0].Conclusion != "success" {
		t.Errorf("checks: %+v", got)
	}
	tokens := w.tokens()
	if len(tokens) != 1 || tokens[0]["issues"] != "" || tokens[0]["checks"] != "write" {
		t.Errorf("tokens: %v", tokens)
	}
	if n := w.count(http.MethodGet, "/app/installations/31"); n != 1 {
		t.Errorf("the grants were looked up %d times", n)
	}
}

// Whoever accepts new permissions is heard of by the event, or after an hour.
func TestAcceptedPermissionsAreUsed(t *testing.T) {
	t.Parallel()
	clock := &shifted{}
	for name, learn := range map[string]func(*world){
		"by the event":  func(w *world) { w.channel.app.forgetGrants(installation) },
		"after an hour": func(*world) { clock.advance(grantsFor) },
	} {
		w := newWorld(t, func(_ *sim.GitHubOptions, o *Options) { o.Now = clock.now })
		w.SetInstallationPermissions(installation, map[string]string{"contents": "read", "pull_requests": "write"})
		must(t, w.getPull())
		w.SetInstallationPermissions(installation, map[string]string{"contents": "read", "pull_requests": "write", "checks": "write", "issues": "write", "statuses": "read"})
		must(t, w.getPull())
		learn(w)
		must(t, w.getPull())
		tokens := w.tokens()
		if len(tokens) != 2 || tokens[0]["checks"] != "" || tokens[1]["checks"] != "write" {
			t.Errorf("%s: tokens: %v", name, tokens)
		}
	}
}

func TestElevatedTokenIsForOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := repoID{installation, w.repo.ID}
	perms := map[string]string{"contents": "write"}
	_, err := w.channel.app.elevated(t.Context(), id, perms)
	var missing *NotGrantedError
	if !errors.As(err, &missing) || missing.Installation != installation || strings.Join(missing.Permissions, "") != "contents: write" {
		t.Fatalf("not granted: %v", err)
	}
	if ok, err := w.channel.app.granted(t.Context(), installation, "contents", "write"); ok || err != nil {
		t.Errorf("granted: %v, %v", ok, err)
	}
	granted := map[string]string{"contents": "write", "pull_requests": "write", "checks": "write", "issues": "write", "statuses": "read"}
	w.SetInstallationPermissions(installation, granted)
	w.channel.app.forgetGrants(installation)
	r, err := w.channel.app.elevated(t.Context(), id, perms)
	must(t, err)
	must(t, r.graphQL(t.Context(), askName, map[string]string{"owner": "octo", "name": "shop"}, nil))
	must(t, w.getPull())
	tokens := w.tokens()
	if len(tokens) != 2 || !maps.Equal(tokens[0], perms) || tokens[1]["contents"] != "read" {
		t.Errorf("tokens: %v", tokens)
	}
	// Taken back meanwhile: only this operation is refused.
	granted["contents"] = "read"
	w.SetInstallationPermissions(installation, granted)
	r, err = w.channel.app.elevated(t.Context(), id, perms)
	must(t, err)
	if err = r.graphQL(t.Context(), askName, nil, nil); !errors.As(err, &missing) {
		t.Errorf("taken back: %v", err)
	}
	if _, err = w.channel.app.elevated(t.Context(), id, perms); !errors.As(err, &missing) {
		t.Errorf("asked again: %v", err)
	}
	must(t, w.getPull())
}

// Where the grants cannot be looked up, the first refusal stands.
func TestGrantsThatCannotBeReadWidenNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.SetInstallationPermissions(installation, map[string]string{"contents": "read", "pull_requests": "write"})
	w.Fail(sim.Fault{PathPattern: "/app/installations/*", Method: http.MethodGet, Status: http.StatusInternalServerError, Times: -1})
	if retry := wantRetry(t, retryable(w.getPull(), time.Now())); !retry.Paused {
		t.Errorf("%+v", retry)
	}
	if got := w.tokens(); len(got) != 0 {
		t.Errorf("tokens: %v", got)
	}
	if _, err := w.channel.app.elevated(t.Context(), repoID{installation, w.repo.ID}, map[string]string{"contents": "write"}); err == nil {
		t.Error("permissions that could not be read were taken as granted")
	}
}
