package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/redeliver"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/gen/api"
)

// maxSaved bounds a saved delivery in bytes: 26 MB of body in base64.
const maxSaved = 40 << 20

// replaying is one "liaison deliveries replay".
type replaying struct {
	conn                *connection
	file, headers, body string
	sameID              bool
}

func newDeliveriesReplay(conn *connection) *cobra.Command {
	r := &replaying{conn: conn}
	c := &cobra.Command{
		Use:   "replay [SOURCE:]DELIVERY | --file FILE | --headers FILE --body FILE",
		Short: "Have a delivery decided anew, stored or from a file",
		Long: `Have a stored delivery decided anew, whatever was decided about it before; or post
one from a file to the service's webhook, as the platform would.

A file is what "deliveries show --body --json" printed, or a JSON object with
"event", "id", "headers" and "body", or two files with the headers (one to a
line, as GitHub shows them) and the body. It is signed anew with the first of
GITHUB_WEBHOOK_SECRET or SLACK_SIGNING_SECRET of the environment or the settings.

GitHub's deliveries from a file get a fresh id, unless --same-id is set: the
service takes each id once. It also knows when an event means what an earlier
one meant; only the replay of a stored delivery is carried out regardless. The id
of Slack's is in the signed body and stays.`,
		Example: `  liaison deliveries replay 72d3162e-cc78-11e3-81ab-4c9367dc0958
  liaison deliveries show 72d3162e-cc78-11e3-81ab-4c9367dc0958 --body --json > saved.json
  liaison deliveries replay --file saved.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			parts := r.headers != "" || r.body != ""
			switch {
			case len(args) == 1 && (r.file != "" || parts), r.file != "" && parts:
				return unusable(errors.New("name one thing to replay: a stored delivery, --file, or --headers with --body"))
			case len(args) == 1 && r.sameID:
				return unusable(errors.New("--same-id is about a file; a stored delivery keeps its id"))
			case len(args) == 1:
				return r.stored(c.Context(), args[0])
			case r.file == "" && (r.headers == "" || r.body == ""):
				return unusable(errors.New("name a stored delivery, --file, or --headers with --body"))
			}
			return r.saved(c.Context())
		},
	}
	f := c.Flags()
	f.StringVar(&r.file, "file", "", "file with a saved delivery; - is standard input")
	f.StringVar(&r.headers, "headers", "", "file with a delivery's headers")
	f.StringVar(&r.body, "body", "", "file with a delivery's body")
	f.BoolVar(&r.sameID, "same-id", false, "keep the saved id")
	return c
}

// stored has a delivery that the service has decided anew.
func (r *replaying) stored(ctx context.Context, arg string) error {
	s, err := r.conn.open()
	if err != nil {
		return err
	}
	defer s.Close()
	source, id := deliveryID(arg)
	accepted, err := remote.Call[api.Accepted](ctx, s, func(ctx context.Context) (*http.Response, error) {
		return s.API().ReplayDelivery(ctx, source, id)
	})
	if err != nil {
		return err
	}
	if r.conn.json {
		return writeJSON(r.conn.con.out, accepted)
	}
	_, err = fmt.Fprintf(r.conn.con.out, "%s:%s is pending again\n", source, terminal.Line(id))
	return err
}

// saved posts a delivery from a file.
func (r *replaying) saved(ctx context.Context) error {
	d, err := r.read()
	if err != nil {
		return unusable(err)
	}
	return r.post(ctx, d)
}

// post signs a delivery anew and posts it to the service's webhook.
func (r *replaying) post(ctx context.Context, d *redeliver.Delivery) error {
	secret, err := r.secret(d.Source)
	if err != nil {
		return unusable(err)
	}
	fresh := ""
	if d.Source == redeliver.GitHub && !r.sameID {
		fresh = "replay-" + strings.ToLower(rand.Text())
	}
	path, headers, err := d.Request(secret, fresh, r.conn.con.now())
	if err != nil {
		return unusable(err)
	}
	s, err := r.conn.open()
	if err != nil {
		return err
	}
	defer s.Close()
	answer, err := s.Post(ctx, path, headers, d.Body)
	if err != nil {
		return err
	}
	return r.report(d, headers.Get("X-GitHub-Delivery"), answer)
}

func (r *replaying) read() (*redeliver.Delivery, error) {
	if r.file == "" {
		headers, err := readSmall(r.headers, maxMessage)
		if err != nil {
			return nil, err
		}
		body, err := readSmall(r.body, maxSaved)
		if err != nil {
			return nil, err
		}
		return redeliver.ParseParts(headers, body)
	}
	saved, err := r.contents(r.file)
	if err != nil {
		return nil, err
	}
	d, err := redeliver.Parse(saved)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.file, err)
	}
	return d, nil
}

// contents reads a file with a delivery; - is standard input.
func (r *replaying) contents(name string) ([]byte, error) {
	if name == "-" {
		return readAtMost(r.conn.con.in, "standard input", maxSaved)
	}
	return readSmall(name, maxSaved)
}

// secret is the first of the platform's secrets, of the environment or else the settings.
func (r *replaying) secret(source string) (string, error) {
	env := config.EnvGitHubSecret
	if source == redeliver.Slack {
		env = config.EnvSlackSecret
	}
	secrets := strings.Split(r.conn.con.getenv(env), ",")
	if strings.TrimSpace(secrets[0]) == "" && r.conn.url == "" {
		cfg, err := config.Load(r.conn.con.environ, r.conn.config)
		if err != nil {
			return "", err
		}
		switch {
		case source == redeliver.GitHub && cfg.GitHub != nil:
			secrets = cfg.GitHub.WebhookSecrets
		case source == redeliver.Slack && cfg.Slack != nil:
			secrets = cfg.Slack.SigningSecrets
		}
	}
	secret := strings.TrimSpace(secrets[0])
	if secret == "" {
		return "", fmt.Errorf("set %s: the delivery has to be signed with the secret that the service has", env)
	}
	return secret, nil
}

// replayed is what is printed as JSON about a delivery from a file.
type replayed struct {
	OK     bool   `json:"ok"`
	Source string `json:"source"`
	ID     string `json:"id,omitempty"`
	// Duplicate is set when the service had the id already.
	Duplicate bool `json:"duplicate"`
}

func (r *replaying) report(d *redeliver.Delivery, id string, answer []byte) error {
	result := replayed{OK: true, Source: d.Source, ID: id}
	if id == "" {
		result.ID = d.ID
	}
	// Slack's door answers with nothing, GitHub's with whether it knew the id.
	_ = json.Unmarshal(answer, &struct{ Duplicate *bool }{&result.Duplicate})
	if r.conn.json {
		return writeJSON(r.conn.con.out, result)
	}
	name := strings.TrimSuffix(result.Source+":"+result.ID, ":")
	said := "accepted as " + name
	switch {
	case result.ID == "":
		said = "accepted by " + result.Source + "'s door"
	case result.Duplicate:
		said = name + " was there already: nothing new is decided; leave out --same-id, or replay the stored delivery"
	}
	_, err := fmt.Fprintln(r.conn.con.out, terminal.Line(said))
	return err
}
