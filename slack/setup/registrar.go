package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/slack-go/slack"
)

// Registrar makes and changes apps by their manifest, with a configuration token
// (https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests). The
// token is good for every app of its owner for 12 hours, and is kept nowhere.
type Registrar struct {
	api   *slack.Client
	token string
}

// NewRegistrar returns a registrar at a site. The client follows no redirect.
func NewRegistrar(site Site, client *http.Client, token string) *Registrar {
	return &Registrar{api: newAPI(site, client, "", ""), token: token}
}

// newAPI is a client of the Web API that follows no redirect: a token would go
// where the answer says.
func newAPI(site Site, client *http.Client, bot, app string) *slack.Client {
	own := *client
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return slack.New(bot, slack.OptionAPIURL(site.API), slack.OptionHTTPClient(&own), slack.OptionAppLevelToken(app))
}

// App is what Slack hands out for a new app, once.
type App struct {
	ID string
	// ClientID and ClientSecret are for installations by OAuth.
	ClientID, ClientSecret string
	SigningSecret          string
	// InstallURL is the page that installs it into a workspace.
	InstallURL string
}

// ErrConfigToken says that Slack does not take the configuration token.
var ErrConfigToken = errors.New("the configuration token is not taken by Slack: it lasts 12 hours; make a new one at the end of the page with your apps, https://api.slack.com/apps")

// ManifestError says what Slack does not take in a manifest.
type ManifestError struct {
	// Problems are Slack's words, each behind the place that it is about.
	Problems []string
}

// Error implements error.
func (e *ManifestError) Error() string {
	return "Slack does not take the manifest:\n  " + strings.Join(e.Problems, "\n  ")
}

// Create makes an app from a manifest that Slack finds valid. What it returns is
// lost if it is not kept. Errors: [ErrConfigToken], [*ManifestError], and those of
// the connection; none holds a secret.
func (r *Registrar) Create(ctx context.Context, m Manifest) (App, error) {
	if err := r.validate(ctx, m.JSON(), ""); err != nil {
		return App{}, err
	}
	got, err := r.api.CreateManifestRawContext(ctx, m.JSON(), r.token)
	if err != nil {
		return App{}, failure("apps.manifest.create", got, err)
	}
	app := App{ID: got.AppId, InstallURL: got.OAuthAuthorizeUrl}
	if c := got.Credentials; c != nil {
		app.ClientID, app.ClientSecret, app.SigningSecret = c.ClientId, c.ClientSecret, c.SigningSecret
	}
	if app.ID == "" || app.SigningSecret == "" {
		return app, errors.New("apps.manifest.create: Slack's answer lacks the app's id or signing secret; the app exists by now, so look on its page")
	}
	return app, nil
}

// Export returns the manifest that an app has.
func (r *Registrar) Export(ctx context.Context, app string) (json.RawMessage, error) {
	raw, err := r.api.ExportManifestRawContext(ctx, r.token, app)
	if err != nil {
		return nil, failure("apps.manifest.export", nil, err)
	}
	return raw, nil
}

// Update gives an app a manifest that Slack finds valid, and reports whether it
// has to be installed again because it asks for other scopes.
func (r *Registrar) Update(ctx context.Context, app string, manifest json.RawMessage) (reinstall bool, err error) {
	if err := r.validate(ctx, manifest, app); err != nil {
		return false, err
	}
	got, err := r.api.UpdateManifestRawContext(ctx, manifest, r.token, app)
	if err != nil {
		return false, failure("apps.manifest.update", nil, err)
	}
	return got.PermissionsUpdated, nil
}

func (r *Registrar) validate(ctx context.Context, manifest json.RawMessage, app string) error {
	got, err := r.api.ValidateManifestRawContext(ctx, manifest, r.token, app)
	if err != nil {
		return failure("apps.manifest.validate", got, err)
	}
	return nil
}

// failure is the error of a call. got may have what is wrong with the manifest.
func failure(method string, got *slack.ManifestResponse, err error) error {
	said, ok := errors.AsType[slack.SlackErrorResponse](err)
	switch {
	case !ok:
		return fmt.Errorf("%s: %w", method, err)
	case said.Err == "invalid_manifest":
		problems := &ManifestError{}
		if got != nil {
			for _, e := range got.Errors {
				problems.Problems = append(problems.Problems, strings.TrimPrefix(e.Pointer, "/")+": "+e.Message)
			}
		}
		return problems
	case said.Err == "invalid_auth" || said.Err == "not_authed" || said.Err == "token_expired" || said.Err == "token_revoked" || said.Err == "not_allowed_token_type":
		return fmt.Errorf("%s: %w", method, ErrConfigToken)
	case said.Err == "invalid_app_id" || said.Err == "app_not_found" || said.Err == "no_permission":
		return fmt.Errorf("%s: the owner of the configuration token has no such app (%s)", method, said.Err)
	}
	return fmt.Errorf("%s: Slack answers %q", method, said.Err)
}
