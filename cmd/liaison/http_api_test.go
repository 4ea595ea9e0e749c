package main_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	client "github.com/liaison-bot/liaison/gen/api"
)

const apiToken = "the-operators-token-of-the-tests"

// as returns a client of the process's API.
func (p *process) as(token string) *client.ClientWithResponses {
	p.w.t.Helper()
	c, err := client.NewClientWithResponses(p.url, client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}))
	if err != nil {
		p.w.t.Fatal(err)
	}
	return c
}

// serveAPI starts the service with the operator's token and waits until its
// engine has put right what the last process left: before that messages get 503.
func (w *world) serveAPI(extra ...string) *process {
	w.t.Helper()
	p := w.serve(append(extra, "LIAISON_API_TOKEN="+apiToken)...)
	for deadline := time.Now().Add(patience); ; {
		info, err := p.as(apiToken).GetInfoWithResponse(context.Background())
		if err != nil {
			w.t.Fatalf("info: %v", err)
		}
		if info.JSON200 == nil {
			w.t.Fatalf("info: %s", info.Body)
		}
		if info.JSON200.Engine.Running {
			return p
		}
		if time.Now().After(deadline) {
			w.t.Fatal("the engine does not start")
		}
	}
}

// follow reads a session's events from an index until one has the type, and
// returns them.
func (p *process) follow(token, id string, from int64, until string) []client.Event {
	p.w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	response, err := p.as(token).StreamSession(ctx, id, &client.StreamSessionParams{StartIndex: &from})
	if err != nil {
		p.w.t.Fatal(err)
	}
	defer response.Body.Close()
	var events []client.Event
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		var ev client.Event
		if err := json.Unmarshal(lines.Bytes(), &ev); err != nil {
			p.w.t.Fatalf("%v: %s", err, lines.Bytes())
		}
		if ev.Index != from+int64(len(events)) {
			p.w.t.Fatalf("event %d follows %d others from %d", ev.Index, len(events), from)
		}
		if events = append(events, ev); ev.Type == until {
			return events
		}
	}
	p.w.t.Fatalf("the stream ended before %s: %v", until, lines.Err())
	return nil
}

// A conversation over HTTP, over a restart, with somebody who is not part of it.
func TestAConversationOverHTTP(t *testing.T) {
	t.Parallel()
	const alice, bob = "the-token-of-alice", "the-token-of-bob-x"
	tokens := "LIAISON_API_TOKENS=alice:" + alice + ",bob:" + bob
	w := newWorld(t)
	p := w.serveAPI(tokens)
	ctx := t.Context()

	started, err := p.as(alice).StartSessionWithResponse(ctx, client.StartRequest{
		Message: "What can you do?", WorkspaceFiles: &client.WorkspaceFiles{"notes/a.txt": "hello"},
	})
	if err != nil || started.JSON200 == nil {
		t.Fatalf("start: %v, %s", err, started.Body)
	}
	id, token := started.JSON200.SessionId, started.JSON200.ContinuationToken
	first := p.follow(alice, id, 0, "session.waiting")
	if text, err := os.ReadFile(filepath.Join(w.dir, "sessions", id, "workspace", "notes", "a.txt")); err != nil || string(text) != "hello" {
		t.Errorf("the workspace holds %q, %v", text, err)
	}

	if response, err := p.as(bob).GetSessionWithResponse(ctx, id); err != nil || response.JSON403 == nil {
		t.Errorf("bob reads alice's session: %v, %s", err, response.Body)
	}
	follow := client.ContinueRequest{ContinuationToken: token, Message: "Make it shorter."}
	if response, err := p.as(bob).ContinueSessionWithResponse(ctx, id, follow); err != nil || response.JSON403 == nil {
		t.Errorf("bob continues alice's session: %v, %s", err, response.Body)
	}
	if response, err := p.as(bob).StopSessionWithResponse(ctx, id, client.StopRequest{}); err != nil || response.JSON403 == nil {
		t.Errorf("bob stops alice's session: %v, %s", err, response.Body)
	}

	if code := p.terminate(); code != 0 {
		t.Errorf("the service left with %d", code)
	}
	p = w.serveAPI(tokens)
	again := p.follow(alice, id, 0, "session.waiting")
	if one, two := mustJSON(t, first), mustJSON(t, again); one != two {
		t.Errorf("after a restart the record is\n%s, and was\n%s", two, one)
	}
	continued, err := p.as(alice).ContinueSessionWithResponse(ctx, id, follow)
	if err != nil || continued.JSON200 == nil || continued.JSON200.ContinuationToken == token {
		t.Fatalf("continue: %v, %s", err, continued.Body)
	}
	p.follow(alice, id, int64(len(first)), "session.waiting")
	if response, err := p.as(alice).ContinueSessionWithResponse(ctx, id, follow); err != nil || response.JSON409 == nil || response.JSON409.Error != "stale_token" {
		t.Errorf("a stale token: %v, %s", err, response.Body)
	}
	detail, err := p.as(apiToken).GetSessionWithResponse(ctx, id)
	if err != nil || detail.JSON200 == nil || len(detail.JSON200.Turns) != 2 || detail.JSON200.ContinuationToken != continued.JSON200.ContinuationToken {
		t.Errorf("the session is %v, %s", err, detail.Body)
	}
	for _, secret := range []string{token, continued.JSON200.ContinuationToken, alice, bob, apiToken} {
		if strings.Contains(w.log.String(), secret) || strings.Contains(mustJSON(t, p.follow(alice, id, 0, "session.waiting")), secret) {
			t.Errorf("the credential %s is in the log or the record", secret)
		}
	}
}

// The operator talks into the session of a pull request; GitHub hears nothing of it.
func TestTheOperatorTalksIntoAPullRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serveAPI()
	pr := w.open("Say hello")
	if status := p.deliver(w.hub.Event(repo, pr.Number, "opened")); status != http.StatusAccepted {
		t.Fatalf("answered %d", status)
	}
	w.reviewed(pr.Number, pr.HeadSHA)

	c, ctx := p.as(apiToken), t.Context()
	deliveries, err := c.ListDeliveriesWithResponse(ctx, nil)
	if err != nil || deliveries.JSON200 == nil || len(deliveries.JSON200.Deliveries) != 1 || deliveries.JSON200.Deliveries[0].SessionId == nil {
		t.Fatalf("deliveries: %v, %s", err, deliveries.Body)
	}
	id := *deliveries.JSON200.Deliveries[0].SessionId
	events := p.follow(apiToken, id, 0, "session.waiting")
	detail, err := c.GetSessionWithResponse(ctx, id)
	if err != nil || detail.JSON200 == nil {
		t.Fatalf("session: %v, %s", err, detail.Body)
	}
	sent, err := c.ContinueSessionWithResponse(ctx, id, client.ContinueRequest{ContinuationToken: detail.JSON200.ContinuationToken, Message: "What was it about?"})
	if err != nil || sent.JSON200 == nil || sent.JSON200.ContinuationToken != detail.JSON200.ContinuationToken {
		t.Fatalf("continue: %v, %s", err, sent.Body)
	}
	p.follow(apiToken, id, int64(len(events)), "session.waiting")
	w.once(pr.Number, pr.HeadSHA)
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The examples of the documentation are run as a reader would, by sh and curl.
func TestTheExamplesOfTheHTTPAPIWork(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs ", tool)
		}
	}
	p := newWorld(t).serveAPI("LIAISON_AGENT_DIR=" + agentOfDocs(t))
	inOrder(t, shell(t, "http-api.md", "URL="+p.url),
		`{"ok":true}`, `"version":"v0.0.0-test"`, `"continuationToken":"http:`, `"continuationToken":"http:`, `"error":"stale_token"`, "409\n",
		`"title":"Getting to know you"`, `"sessions":[`, `"dropped":[`, `"total":{`, `{"approvals":[]}`,
		`"type":"session.started"`, `wrote 1 workspace files`, `"type":"turn.completed"`, `"type":"session.completed"`,
		`"index":1`, `"events":[`, `{"approvals":[]}`, `{"approvals":[]}`, `"approvalId":"apr_`, `"state":"denied"`, `"reason":"not today"`,
		`"error":"already_decided"`, "409\n", `"name":"deploy"`, `"isError":false`, `deployed, with`, `"stubbed":true`, `"error":"bad_input"`, "400\n",
		`"error":"unknown_tool"`, "404\n", `"deliveries":[]`, `"dead":[]`, `"lines":[`, `"action":"denied"`, `"action":"called"`,
	)
}

// Neither a web page that rebinds its name nor a proxy in front is a caller on this machine.
func TestOnlyDirectCallersAreLocal(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve()
	for name, change := range map[string]func(*http.Request){
		"":              func(*http.Request) {},
		"rebound":       func(r *http.Request) { r.Host = "evil.example" },
		"through proxy": func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.0.2.1") },
		"foreign page":  func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/v1/sessions", nil)
		if err != nil {
			t.Fatal(err)
		}
		change(r)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if (response.StatusCode == http.StatusOK) != (name == "") {
			t.Errorf("%s: %s", name, response.Status)
		}
	}
}

// At night one wants to know which doors are open, also one that only takes.
func TestInfoSaysWhichChannelsAreOn(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		extra []string
		slack bool
	}{
		"GitHub alone": {},
		"Slack too":    {extra: []string{"SLACK_SIGNING_SECRET=a-signing-secret-of-the-tests"}, slack: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newWorld(t).serveAPI(tt.extra...)
			info, err := p.as(apiToken).GetInfoWithResponse(t.Context())
			if err != nil || info.JSON200 == nil {
				t.Fatalf("info: %v", err)
			}
			for channel, want := range map[string]bool{"github": true, "http": true, "slack": tt.slack} {
				if on, ok := info.JSON200.Channels[channel]["on"]; !ok || on != want {
					t.Errorf("%s is on: %v, want %v", channel, on, want)
				}
			}
		})
	}
}
