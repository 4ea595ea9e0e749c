package api_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/approvals"
	client "github.com/liaison-bot/liaison/gen/api"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/state"
)

type (
	edit = client.RequestEditorFn
	// call makes one request that succeeds in a fresh world, unless it is edited.
	call func(ctx context.Context, c *client.Client, edits ...edit) (*http.Response, error)
)

// calls are the operations of the description.
var calls = map[string]call{
	"getHealth": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetHealth(ctx, e...)
	},
	"getDescriptionJSON": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetDescriptionJSON(ctx, e...)
	},
	"getDescriptionYAML": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetDescriptionYAML(ctx, e...)
	},
	"startSession": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.StartSession(ctx, client.StartRequest{Message: "What can you do?"}, e...)
	},
	"continueSession": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.ContinueSession(ctx, sessionID, client.ContinueRequest{ContinuationToken: "http:now", Message: "Shorter."}, e...)
	},
	"getSession": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetSession(ctx, sessionID, e...)
	},
	"streamSession": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.StreamSession(ctx, taskID, nil, e...) // a task's stream has an end
	},
	"getSessionEvents": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetSessionEvents(ctx, sessionID, nil, e...)
	},
	"stopSession": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.StopSession(ctx, sessionID, client.StopRequest{}, e...)
	},
	"getSessionCost": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetSessionCost(ctx, sessionID, e...)
	},
	"listSessionApprovals": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.ListSessionApprovals(ctx, sessionID, nil, e...)
	},
	"decideApproval": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.DecideApproval(ctx, sessionID, approvalID, client.Decision{Decision: client.VerdictApprove}, e...)
	},
	"listApprovals": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.ListApprovals(ctx, nil, e...)
	},
	"getApproval": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetApproval(ctx, approvalID, e...)
	},
	"listTools": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.ListTools(ctx, &client.ListToolsParams{Session: new(sessionID)}, e...)
	},
	"callTool": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.CallTool(ctx, toolName, client.ToolCallRequest{Input: json.RawMessage(`{"service":"shop"}`), SessionId: new(sessionID)}, e...)
	},
	"getAudit": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetAudit(ctx, nil, e...)
	},
	"listSessions": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.ListSessions(ctx, nil, e...)
	},
	"getInfo": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetInfo(ctx, e...)
	},
	"getLogs": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetLogs(ctx, nil, e...)
	},
	"listDeliveries": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.ListDeliveries(ctx, nil, e...)
	},
	"getDelivery": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.GetDelivery(ctx, "github", deliveryID, nil, e...)
	},
	"replayDelivery": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.ReplayDelivery(ctx, "github", deliveryID, e...)
	},
	"listDead": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.ListDead(ctx, nil, e...)
	},
	"retryDead": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.RetryDead(ctx, client.DeadRequest{Id: "outbox:" + deadWrite}, e...)
	},
	"dropDead": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.DropDead(ctx, client.DeadRequest{Id: "delivery:github:" + deadID}, e...)
	},
	"compact": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.Compact(ctx, e...)
	},
	"backup": func(ctx context.Context, c *client.Client, e ...edit) (*http.Response, error) {
		return c.Backup(ctx, e...)
	},
}

// conflicts bring about a 409.
var conflicts = map[string]func(w *world){
	"continueSession": func(w *world) { w.runtime.fail(sessions.ErrStaleToken) },
	"decideApproval": func(w *world) {
		w.runtime.fail(&approvals.DecidedError{State: approvals.Denied, By: "slack:user:T1:U1", Place: "slack"})
	},
	"callTool": func(w *world) { w.runtime.fail(sessions.ErrSessionBusy) },
	"replayDelivery": func(w *world) {
		w.commit(state.Change{Deliveries: []state.DeliveryUpdate{{Seq: 1, Status: state.DeliveryPending, Replay: true}}})
	},
	"retryDead": func(w *world) { w.store.conflict = true },
	"dropDead":  func(w *world) { w.store.conflict = true },
}

// Every status of every operation of the description comes about, has its
// shape, and no answer has another one.
func TestEveryAnswerOfTheDescription(t *testing.T) {
	t.Parallel()
	for _, op := range newJudge(t).operations {
		do := calls[op.ID]
		if do == nil {
			t.Errorf("no test calls %s", op.ID)
			continue
		}
		for status := range op.Responses {
			t.Run(op.ID+" "+status, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				token, edits := operatorToken, []edit(nil)
				switch status {
				case "200", "202":
					w.runtime.park = op.ID == "callTool" && status == "202"
				case "204":
					edits = append(edits, header("Accept", "text/event-stream"), header("Last-Event-ID", "1"))
				case "400":
					edits = append(edits, query("nonsense=1"))
				case "401":
					token = ""
				case "403":
					token = aliceToken
					if strings.Contains(op.path, "/session/") || strings.Contains(op.path, "/approvals/") || strings.Contains(op.path, "/tools") {
						token = bobToken
					} else if op.path == "/v1/session" {
						edits = append(edits, header("Sec-Fetch-Site", "cross-site"))
					}
				case "404":
					edits = append(edits, elsewhere)
				case "409":
					conflicts[op.ID](w)
				case "413":
					edits = append(edits, body(strings.Repeat(" ", 1<<20+1)))
				case "415":
					edits = append(edits, header("Content-Type", "text/plain"))
				case "503":
					w.runtime.fail(state.ErrUnavailable)
					w.store.fail(state.ErrUnavailable)
					w.keeping.err = state.ErrUnavailable
				default:
					t.Fatal("nobody knows how to bring it about")
				}
				response, err := do(t.Context(), w.as(token), edits...)
				if err != nil {
					t.Fatal(err)
				}
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				if err != nil || response.Status[:3] != status {
					t.Fatalf("got %s, want %s, %v: %s", response.Status, status, err, text)
				}
				if got := response.Header.Get("Cache-Control"); got != "no-store" {
					t.Errorf("Cache-Control is %q", got)
				}
				if got := response.Header.Get("WWW-Authenticate"); (got != "") != (status == "401") {
					t.Errorf("WWW-Authenticate is %q", got)
				}
				if got := response.Header.Get("Retry-After"); (got != "") != (status == "503") {
					t.Errorf("Retry-After is %q", got)
				}
			})
		}
	}
}

func header(name, value string) edit {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set(name, value)
		return nil
	}
}

func query(text string) edit {
	return func(_ context.Context, r *http.Request) error {
		r.URL.RawQuery = text
		return nil
	}
}

func body(text string) edit {
	return func(_ context.Context, r *http.Request) error {
		r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		return nil
	}
}

// elsewhere makes a request be about something that does not exist.
func elsewhere(ctx context.Context, r *http.Request) error {
	for _, id := range []string{sessionID, taskID, deliveryID} {
		r.URL.Path = strings.ReplaceAll(r.URL.Path, id, "ses_nothing")
		r.URL.RawQuery = strings.ReplaceAll(r.URL.RawQuery, id, "ses_nothing")
	}
	r.URL.Path = strings.NewReplacer(approvalID, "apr_"+strings.Repeat("f", 32), toolName, "nothing").Replace(r.URL.Path)
	if strings.HasPrefix(r.URL.Path, "/v1/dead/") {
		return body(`{"id":"delivery:github:nothing"}`)(ctx, r)
	}
	return nil
}

// What the mux knows is what is described, and the other way round.
func TestOtherMethodsAreRefusedEverywhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	known := map[string][]string{}
	for _, op := range w.judge.operations {
		known[op.path] = append(known[op.path], op.method)
	}
	c := &http.Client{Transport: &judged{judge: w.judge, base: w.server.Client().Transport, t: t}}
	for path, methods := range known {
		slices.Sort(methods)
		at := w.server.URL + strings.NewReplacer("{id}", sessionID, "{source}", "github", "{callId}", "call-1", "{approvalId}", approvalID, "{name}", toolName).Replace(path)
		for _, method := range []string{"HEAD", "POST", "GET", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY"} {
			if slices.Contains(methods, method) {
				continue
			}
			r, err := http.NewRequest(method, at, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Authorization", "Bearer "+operatorToken)
			base := c
			if method == "HEAD" {
				base = w.server.Client() // there is no body to judge
			}
			response, err := base.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			allow, want := response.Header.Get("Allow"), strings.Join(methods, ", ")
			if method == "HEAD" && slices.Contains(methods, "GET") {
				want = "GET" // a pattern for GET takes it, and its route refuses it
			}
			if response.StatusCode != http.StatusMethodNotAllowed || allow != want {
				t.Errorf("%s %s: %s, Allow %q", method, path, response.Status, allow)
			}
		}
	}
	for _, path := range []string{"/v1/", "/v1/nothing", "/v1/session/x/nothing", "/v1/dead/other"} {
		response, err := c.Get(w.server.URL + path)
		read(t, response, err, http.StatusNotFound)
	}
}
