package install

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// The paths of the two pages, below the public URL.
const (
	PathInstall = "/slack/install"
	PathOAuth   = "/slack/oauth"
)

// HandlerOptions is what the pages need. All are required.
type HandlerOptions struct {
	Store *Store
	// PublicURL is where the service is reached from outside.
	PublicURL *url.URL
	// Scopes are what the app's bot asks for.
	Scopes []string
}

// Handler serves the pages of an installation: [PathInstall] sends a browser to
// Slack, and [PathOAuth] takes it when it comes back. No page, no log and no
// error shows a secret.
type Handler struct {
	store     *Store
	tickets   *tickets
	scopes    string
	authorize string // Slack's page, without a query
	home      string // Slack's front, for links
	redirect  string
	secure    bool
}

// NewHandler returns the pages of a store.
func NewHandler(o HandlerOptions) (*Handler, error) {
	api, err := url.Parse(o.Store.slack.apiURL)
	if err != nil {
		return nil, fmt.Errorf("slack: the root of the Web API: %w", err)
	}
	front := &url.URL{Scheme: api.Scheme, Host: api.Host}
	return &Handler{
		store:     o.Store,
		tickets:   newTickets(o.Store.sealer, o.Store.now, o.Store.sealer.rand),
		scopes:    strings.Join(o.Scopes, ","),
		authorize: front.JoinPath("oauth", "v2", "authorize").String(),
		home:      front.String(),
		redirect:  o.PublicURL.JoinPath(PathOAuth).String(),
		secure:    o.PublicURL.Scheme == "https",
	}, nil
}

// ServeHTTP implements [http.Handler].
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		// A preview of a link must not use it up.
		w.Header().Set("Allow", http.MethodGet)
		pageWrongMethod.write(w, nil)
		return
	}
	switch r.URL.Path {
	case PathInstall:
		h.begin(w, r)
	case PathOAuth:
		h.finish(w, r)
	default:
		pageNotFound.write(w, nil)
	}
}

// cookieName is that of the cookie with the browser's half of a ticket. The prefix
// makes browsers refuse one that another host or an open connection has set.
func (h *Handler) cookieName() string {
	if h.secure {
		return "__Host-liaison-install"
	}
	return "liaison-install" // on the loopback interface only, where there is no TLS
}

func (h *Handler) cookie(value string, life time.Duration) *http.Cookie {
	return &http.Cookie{
		Name: h.cookieName(), Value: value, Path: "/", MaxAge: int(life / time.Second),
		Secure: h.secure, HttpOnly: true, SameSite: http.SameSiteLaxMode,
	}
}

// begin sends the browser to Slack.
func (h *Handler) begin(w http.ResponseWriter, r *http.Request) {
	nonce, cookie, err := h.tickets.issue()
	if err != nil {
		h.store.log.Error("an installation of the Slack app could not begin", "error", err)
		pageUnavailable.write(w, nil)
		return
	}
	query := url.Values{
		"client_id": {h.store.slack.id}, "scope": {h.scopes}, "state": {nonce}, "redirect_uri": {h.redirect},
	}
	secured(w.Header())
	http.SetCookie(w, h.cookie(cookie, ticketLife))
	http.Redirect(w, r, h.authorize+"?"+query.Encode(), http.StatusFound)
}

// maxCode bounds the code that Slack gives in bytes; it has some 100.
const maxCode = 1 << 10

// finish takes the browser when it comes back from Slack.
func (h *Handler) finish(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	var kept string
	if cookie, err := r.Cookie(h.cookieName()); err == nil {
		kept = cookie.Value
	}
	http.SetCookie(w, h.cookie("", -time.Second)) // it is used up, or of no use
	if !h.tickets.redeem(query.Get("state"), kept) {
		h.store.log.Warn("somebody came back from Slack without having been sent there, or too late")
		pageStale.write(w, nil)
		return
	}
	code := query.Get("code")
	switch refusal := query.Get("error"); {
	case refusal == "access_denied":
		pageDenied.write(w, nil)
		return
	case refusal != "" || code == "" || len(code) > maxCode:
		h.store.log.Warn("Slack did not let the app be installed", "reason", word(refusal))
		pageRefused.write(w, []string{word(refusal)})
		return
	}
	// The code works once: a browser that leaves must not undo what it began.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), installBudget)
	defer cancel()
	installed, err := h.store.install(ctx, code, h.redirect)
	if err != nil {
		h.store.log.Error("the Slack app could not be installed", "error", err)
		if errors.Is(err, errNotAllowed) {
			pageForeign.write(w, nil)
			return
		}
		if e, ok := errors.AsType[*slackError](err); ok {
			pageRefused.write(w, []string{e.code})
			return
		}
		pageUnavailable.write(w, nil)
		return
	}
	open := h.home + "/app_redirect?" + url.Values{"app": {installed.App}, "team": {installed.Team}}.Encode()
	pageInstalled.write(w, []string{installed.Name}, open)
}

// installBudget bounds an installation after the browser came back.
const installBudget = 25 * time.Second

// install exchanges a code and stores what it grants.
func (s *Store) install(ctx context.Context, code, redirect string) (record, error) {
	g, err := s.slack.exchange(ctx, code, redirect)
	if err != nil {
		return record{}, err
	}
	if !s.allows(g) {
		// The token is of no use to us, and should be of none to anybody else.
		if _, err := s.slack.call(ctx, "auth.revoke", g.token, url.Values{}, &struct{}{}); err != nil {
			s.log.Warn("a token that is not wanted could not be revoked", "error", err)
		}
		return record{}, fmt.Errorf("%w: team %q, organisation %q", errNotAllowed, g.team, g.enterprise)
	}
	now := s.now()
	r := record{
		Team: g.team, Enterprise: g.enterprise, Whole: g.whole, BotUser: g.botUser, App: g.app, Name: g.name,
		Scopes: g.scopes, Token: g.token, Refresh: g.refresh, Expires: g.expires(now), Installer: g.installer, InstalledAt: now,
	}
	if r.Whole {
		r.Team = ""
	}
	// What only auth.test tells makes our own messages known, and is no condition.
	if who, err := s.slack.test(ctx, g.token); err != nil {
		s.log.Warn("Slack did not say who the bot is", "installation", r.id(), "error", err)
	} else {
		r.BotID, r.URL = who.bot, who.url
	}
	if err := s.add(ctx, r); err != nil {
		return record{}, err
	}
	s.log.Info("the Slack app was installed", "installation", r.id(), "installer", r.Installer)
	return r, nil
}
