package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/slack/workspace"
)

// Options configure a [Client]. Workspaces is needed.
type Options struct {
	// Workspaces has the tokens.
	Workspaces workspace.Source
	// APIURL is the root of the Web API; a slash at its end makes no difference.
	// Empty means https://slack.com/api/.
	APIURL string
	// Transport carries the requests; nil means one of our own with Go's defaults.
	Transport http.RoundTripper
	// Logger receives what an operator should know. Nil discards it.
	Logger *slog.Logger
	// Now and Random are the clock and a source of numbers in [0,1); nil means the real ones.
	Now    func() time.Time
	Random func() float64
}

// Client calls Slack for every workspace. Its methods may be called by many
// goroutines; their errors are [*Error], but for [ErrLate].
type Client struct {
	workspaces workspace.Source
	apiURL     string
	host       *url.URL
	reader     *reader
	log        *slog.Logger
	now        func() time.Time

	lanes    *lanes
	closed   *closed
	people   *known[User]
	channels *known[Channel]
	members  *known[[]string]          // of user groups
	handles  *known[map[string]string] // of all user groups of a workspace
}

// New returns a client. It calls nobody.
func New(o Options) (*Client, error) {
	if o.Workspaces == nil {
		return nil, errors.New("slack: a client needs a source of workspaces")
	}
	if o.APIURL == "" {
		o.APIURL = slack.APIURL
	}
	host, err := url.Parse(strings.TrimRight(o.APIURL, "/") + "/")
	if err != nil || host.Host == "" {
		return nil, fmt.Errorf("slack: %q is no address of an API", o.APIURL)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Transport == nil {
		o.Transport = http.DefaultTransport.(*http.Transport).Clone()
	}
	return &Client{
		workspaces: o.Workspaces, apiURL: host.String(), host: host, log: o.Logger, now: o.Now,
		reader: &reader{random: o.Random, http: &http.Client{
			Transport: o.Transport,
			// The token would go where the answer says.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}},
		lanes: newLanes(o.Now), closed: newClosed(o.Now),
		people: newKnown[User](o.Now), channels: newKnown[Channel](o.Now),
		members: newKnown[[]string](o.Now), handles: newKnown[map[string]string](o.Now),
	}, nil
}

// Place is where in Slack something is written or read.
type Place struct {
	Team       string
	Enterprise string
	Channel    string
	// Thread is the ts of a thread's root, or empty.
	Thread string
}

// Workspace returns the app's installation in a place's workspace.
func (c *Client) Workspace(ctx context.Context, at Place) (workspace.Workspace, error) {
	return c.workspaces.Workspace(ctx, at.Team, at.Enterprise)
}

// call is one call of a method.
type call struct {
	method string
	at     Place
	// write is how it stands in the line of at.Channel; nil for what changes nothing there.
	write *write
	// into takes the answer, unless nil.
	into any
}

// do makes a call: request builds it with slack-go.
func (c *Client) do(ctx context.Context, what call, request func(context.Context, *slack.Client) error) error {
	w, err := c.Workspace(ctx, what.at)
	if err != nil {
		return withoutWorkspace(what.method, err)
	}
	if what.write != nil {
		leave, err := c.lanes.enter(ctx, channelKey{what.at.Team, what.at.Channel}, *what.write)
		if err != nil {
			return fmt.Errorf("%s: %w", what.method, err)
		}
		defer leave()
	}
	key := methodKey{team: what.at.Team, method: what.method}
	if what.method == methodPost {
		key.channel = what.at.Channel
	}
	if err := c.closed.check(key); err != nil {
		return err
	}
	a := &answer{method: what.method}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	api := slack.New(w.Token, slack.OptionAPIURL(c.apiURL), slack.OptionHTTPClient(c.reader))
	if err := request(withAnswer(ctx, a), api); err != nil {
		var failure *Error
		if !errors.As(err, &failure) {
			return &Error{Class: ErrRefused, Method: what.method, Err: err} // slack-go would not build it
		}
		if errors.Is(failure, ErrLimited) {
			c.closed.close(key, failure.After)
		}
		return failure
	}
	if what.into == nil {
		return nil
	}
	if err := json.Unmarshal(a.body, what.into); err != nil {
		return &Error{Class: ErrAmbiguous, Method: what.method, Err: fmt.Errorf("the answer is not as documented: %w", err)}
	}
	return nil
}

// withoutWorkspace is the failure of a call for which there is no token.
func withoutWorkspace(method string, err error) error {
	var failure *Error
	switch {
	case errors.As(err, &failure):
		return err
	case errors.Is(err, workspace.ErrNotInstalled) || errors.Is(err, workspace.ErrRefused):
		return &Error{Class: ErrAuth, Method: method, Err: err}
	}
	return &Error{Class: ErrUnsent, Method: method, Err: err}
}
