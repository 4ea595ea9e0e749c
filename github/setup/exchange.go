package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// Credentials are what GitHub hands out for a new App, once.
type Credentials struct {
	ID            int64
	Slug          string
	Name          string
	Owner         string
	URL           string
	PrivateKey    string
	WebhookSecret string
}

// InstallURL is the page on which the App is given repositories.
func (c Credentials) InstallURL() string { return c.URL + "/installations/new" }

// ErrCodeRefused says that GitHub knows no such code: it is an hour old, or was
// used before.
var ErrCodeRefused = errors.New("GitHub does not know the code: it lasts an hour and works once. Run the command again")

// maxAnswer bounds GitHub's answer in bytes; a private key takes 2 KB of it.
const maxAnswer = 1 << 20

// codePattern is what a code may look like, and maxCode its most bytes: it
// becomes part of a URL.
var codePattern = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

const maxCode = 255

// Exchange turns the code that GitHub sent the browser back with into the App's
// credentials. It works once: what is lost afterwards is lost. Errors:
// [ErrCodeRefused] and those of the connection; none holds a secret.
// https://docs.github.com/rest/apps/apps#create-a-github-app-from-a-manifest
func Exchange(ctx context.Context, client *http.Client, site Site, code, userAgent string) (Credentials, error) {
	if len(code) > maxCode || !codePattern.MatchString(code) {
		return Credentials{}, ErrCodeRefused
	}
	to := site.API.JoinPath("app-manifests", code, "conversions")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.String(), http.NoBody)
	if err != nil {
		return Credentials{}, fmt.Errorf("exchange the code: %w", err)
	}
	req.Header.Set("Accept", "application/vnd.github+json")
	req.Header.Set("User-Agent", userAgent)
	resp, err := client.Do(req)
	if err != nil {
		return Credentials{}, fmt.Errorf("exchange the code at %s: %w", site.API.Host, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusCreated:
	case http.StatusNotFound, http.StatusUnprocessableEntity:
		return Credentials{}, ErrCodeRefused
	default:
		return Credentials{}, fmt.Errorf("exchange the code at %s: GitHub answers %s", site.API.Host, resp.Status)
	}
	var app struct {
		ID      int64  `json:"id"`
		Slug    string `json:"slug"`
		Name    string `json:"name"`
		HTMLURL string `json:"html_url"`
		Owner   struct {
			Login string `json:"login"`
		} `json:"owner"`
		PEM           string `json:"pem"`
		WebhookSecret string `json:"webhook_secret"`
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&app); err != nil {
		return Credentials{}, fmt.Errorf("exchange the code: GitHub's answer is cut or no JSON; "+
			"the App exists by now, so make a new private key on its settings page: %T", err)
	}
	if app.ID <= 0 || app.PEM == "" || app.WebhookSecret == "" {
		return Credentials{}, errors.New("exchange the code: GitHub's answer lacks the App's id, key or webhook secret; " +
			"the App exists by now, so make them on its settings page")
	}
	return Credentials{
		ID: app.ID, Slug: app.Slug, Name: app.Name, Owner: app.Owner.Login, URL: app.HTMLURL,
		PrivateKey: app.PEM, WebhookSecret: app.WebhookSecret,
	}, nil
}
