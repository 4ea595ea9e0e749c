package web

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/slack/workspace"
)

// token is the source of the simulated workspace.
type token struct{ of sim.Workspace }

func (t token) Workspace(context.Context, string, string) (workspace.Workspace, error) {
	return workspace.Workspace{Team: t.of.ID, BotUser: t.of.BotUser, BotID: t.of.BotID, Token: t.of.BotToken}, nil
}

// newSim returns a client on a simulated Slack with one workspace, channel and person.
func newSim(t *testing.T) (*Client, *sim.Slack, Place) {
	t.Helper()
	s := sim.NewSlack(sim.SlackOptions{SigningSecret: "not-a-real-secret", AckTimeout: time.Minute})
	if _, err := s.Start(); err != nil {
		t.Fatal(err)
	}
	w := s.AddWorkspace(sim.Workspace{ID: "T0ACME", Name: "Acme"})
	s.AddUser(sim.SlackUser{ID: "U0ANN", Team: w.ID, Name: "ann", RealName: "Ann Example"})
	s.AddChannel(sim.SlackChannel{ID: "C0GENERAL", Team: w.ID, Name: "general"})
	transport := http.DefaultTransport.(*http.Transport).Clone()
	t.Cleanup(func() {
		for _, misfit := range s.Unfit() {
			t.Error(misfit)
		}
		transport.CloseIdleConnections()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	c, err := New(Options{Workspaces: token{w}, APIURL: s.URL(), Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return c, s, Place{Team: w.ID, Channel: "C0GENERAL"}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// What is asked of Slack comes back as it is there.
func TestReads(t *testing.T) {
	t.Parallel()
	c, s, at := newSim(t)
	ctx := t.Context()
	root := s.Say("C0GENERAL", "U0ANN", "what is this?")
	s.Reply("C0GENERAL", root.TS, "U0ANN", "and that?")
	thread := at
	thread.Thread = root.TS

	user, err := c.User(ctx, at, "U0ANN")
	check(t, err)
	channel, err := c.Channel(ctx, at)
	check(t, err)
	who, err := c.Identity(ctx, at)
	check(t, err)
	message, err := c.Message(ctx, at, root.TS)
	check(t, err)
	if user.Team != "T0ACME" || user.refusable() || channel.Name != "general" || !channel.Member || channel.Shared ||
		who.Team != "T0ACME" || message.Text != "what is this?" {
		t.Errorf("got %+v, %+v, %+v, %+v", user, channel, who, message)
	}
	var texts []string
	for r, err := range c.Replies(ctx, thread, Range{}) {
		check(t, err)
		texts = append(texts, r.User+": "+r.Text)
	}
	if got := strings.Join(texts, "; "); got != "U0ANN: what is this?; U0ANN: and that?" {
		t.Errorf("the thread is %s", got)
	}
	for name, err := range map[string]error{
		"user":    second(c.User(ctx, at, "U0NOBODY")),
		"channel": second(c.Channel(ctx, Place{Team: "T0ACME", Channel: "C0NONE"})),
		"message": second(c.Message(ctx, at, "1.1")),
	} {
		if !errors.Is(err, ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// A message is posted, changed and deleted, and what is gone cannot be changed.
func TestWrites(t *testing.T) {
	t.Parallel()
	c, s, at := newSim(t)
	ctx := t.Context()
	ts, err := c.Post(ctx, at, Message{Text: "one", Blocks: []slack.Block{slack.NewMarkdownBlock("", "**one**")}, Key: "k"})
	check(t, err)
	check(t, c.Update(ctx, at, ts, Message{Text: "two", Key: "k"}, Live))
	for r, err := range c.Own(ctx, at, "") {
		if check(t, err); r.TS != ts || r.Text != "two" || r.Key != "k" || strings.Contains(string(r.Fields["blocks"]), "one") {
			t.Errorf("found %+v", r)
		}
	}
	check(t, c.Delete(ctx, at, ts))
	check(t, c.Delete(ctx, at, ts))
	if err := c.Update(ctx, at, ts, Message{Text: "three"}, Answer); !errors.Is(err, ErrGone) {
		t.Errorf("got %v", err)
	}
	if got := s.Messages("C0GENERAL"); len(got) != 0 {
		t.Errorf("left %+v", got)
	}
}

// A modal opens once for a click.
func TestViews(t *testing.T) {
	t.Parallel()
	c, s, at := newSim(t)
	ctx := t.Context()
	said := s.Command("C0GENERAL", "U0ANN", "/liaison", "ask")
	view := func(title string) slack.ModalViewRequest {
		return slack.ModalViewRequest{
			Type: slack.VTModal, Title: slack.NewTextBlockObject(slack.PlainTextType, title, false, false),
			Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewDividerBlock()}},
		}
	}
	check(t, c.OpenView(ctx, at, said.TriggerID, view("Ask")))
	if got, ok := s.View("U0ANN"); !ok || got.Title != "Ask" {
		t.Errorf("shown %+v", got)
	}
	if err := c.OpenView(ctx, at, said.TriggerID, view("Again")); !errors.Is(err, ErrGone) {
		t.Errorf("got %v", err)
	}
}

// A file is read with the token, and the page to sign in is not taken for one.
func TestFiles(t *testing.T) {
	t.Parallel()
	c, s, at := newSim(t)
	ctx := t.Context()
	check(t, c.Share(ctx, at, Snippet{Name: "answer-1.md", Title: "Answer", Content: "all of it", Comment: "Here:"}))
	var shared sim.SlackMessage
	for _, m := range s.Messages("C0GENERAL") {
		shared = m
	}
	if len(shared.Files) != 1 || string(shared.Files[0].Content) != "all of it" {
		t.Fatalf("shared %+v", shared)
	}
	address := ""
	for r, err := range c.Own(ctx, at, "") {
		if check(t, err); len(r.FileNames) != 1 || r.FileNames[0] != "answer-1.md" {
			t.Errorf("found %+v", r)
		}
		address = between(string(r.Fields["files"]), `"url_private_download":"`, `"`)
	}
	content, _, err := c.Download(ctx, at, address, 100)
	if err != nil || string(content) != "all of it" {
		t.Errorf("%s: got %q, %v", address, content, err)
	}
	s.Fail(sim.SlackFault{Method: "file", Status: http.StatusFound, Header: http.Header{"Location": {"https://acme.slack.com/?redir=x"}}})
	if _, _, err := c.Download(ctx, at, address, 100); !errors.Is(err, ErrGone) {
		t.Errorf("got %v", err)
	}
}

func between(text, from, to string) string {
	_, after, _ := strings.Cut(text, from)
	before, _, _ := strings.Cut(after, to)
	return strings.ReplaceAll(before, `\/`, "/")
}

// A session's status is set where it is known.
func TestSessionStatus(t *testing.T) {
	t.Parallel()
	c, s, at := newSim(t)
	root := s.Say("C0GENERAL", "U0ANN", "hello")
	at.Thread = root.TS
	check(t, c.SetSessionStatus(t.Context(), at, SessionProcessing, "A question", "U0ANN"))
	check(t, c.SetStatus(t.Context(), at, "is thinking…", []string{"reads", "thinks"}))
	if got := s.Status("C0GENERAL", root.TS); got.Session != "processing" || got.Status == "" || len(got.Loading) != 2 {
		t.Errorf("got %+v", got)
	}
}
