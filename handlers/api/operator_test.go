package api_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	client "github.com/liaison-bot/liaison/gen/api"
	"github.com/liaison-bot/liaison/handlers/api"
	"github.com/liaison-bot/liaison/state"
)

func TestSessionDetail(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	response, err := w.as(aliceToken).GetSession(t.Context(), sessionID)
	got := parse[client.SessionDetail](t, response, err, 200)
	if got.ContinuationToken != "github:repo:1:pull:2" || got.Session.Channel != "github" || *got.Session.Title != "Add a cart" ||
		*got.Session.Revision != "abc" || *got.Session.Principal != "api:alice" || !got.Session.CreatedAt.Equal(epoch) {
		t.Errorf("session %+v", got)
	}
	if len(got.Turns) != 2 {
		t.Fatalf("%d turns", len(got.Turns))
	}
	first, second := got.Turns[0], got.Turns[1]
	if first.Status != client.TurnStatusCompleted || *first.CostUsd != 0.25 || first.Usage.TotalTokens != 12 || first.ToolCalls != 3 ||
		*first.DeliveryId != "github:"+deliveryID || *first.Model != "large" || first.Message != "Review it." {
		t.Errorf("first turn %+v", first)
	}
	if second.Status != client.TurnStatusQueued || *second.Gathered != 1 || *second.WaitsFor == "" || second.StartedAt != nil || second.CostUsd != nil {
		t.Errorf("second turn %+v", second)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	response, err := w.as(aliceToken).GetSessionCost(t.Context(), sessionID)
	got := parse[client.CostReport](t, response, err, 200)
	if len(got.Turns) != 2 || got.Turns[0].TurnId != turnID || *got.Turns[0].CostUsd != 0.25 {
		t.Errorf("turns %+v", got.Turns)
	}
	if got.Total.Usage != (client.Usage{InputTokens: 15, OutputTokens: 2, TotalTokens: 17}) || *got.Total.CostUsd != 0.25 || got.Total.Unpriced != 1 || got.Total.ToolCalls != 3 {
		t.Errorf("total %+v", got.Total)
	}
}

func TestSessionsArePaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 120 {
		principal, channel := "api:alice", "http"
		if i%3 == 0 {
			principal, channel = "api:bob", "slack"
		}
		w.commit(state.Change{Sessions: []state.Session{{
			ID: fmt.Sprintf("ses_%03d", 100+i), Channel: channel, Principal: principal, Mode: state.ModeChat, Status: state.SessionActive, CreatedAt: epoch, UpdatedAt: epoch,
		}}})
	}
	count := func(token string, params client.ListSessionsParams) (n int, ids []string) {
		for {
			response, err := w.as(token).ListSessions(t.Context(), &params)
			page := parse[client.SessionList](t, response, err, 200)
			n++
			for _, s := range page.Sessions {
				ids = append(ids, s.Id)
			}
			if page.Next == nil {
				return n, ids
			}
			params.Before = page.Next
		}
	}
	pages, ids := count(operatorToken, client.ListSessionsParams{Limit: new(25)})
	if pages != 5 || len(ids) != 122 || !slices.IsSortedFunc(ids, func(a, b string) int { return strings.Compare(b, a) }) {
		t.Errorf("%d pages, %v", pages, ids)
	}
	if pages, ids = count(operatorToken, client.ListSessionsParams{}); pages != 3 || len(ids) != 122 {
		t.Errorf("with the default limit %d pages, %d sessions", pages, len(ids))
	}
	if _, ids = count(bobToken, client.ListSessionsParams{Limit: new(7)}); len(ids) != 40 {
		t.Errorf("bob sees %d", len(ids))
	}
	if _, ids = count(aliceToken, client.ListSessionsParams{Channel: new("github")}); len(ids) != 1 {
		t.Errorf("on github alice has %v", ids)
	}
	if _, ids = count(aliceToken, client.ListSessionsParams{Channel: new("slack")}); len(ids) != 0 {
		t.Errorf("alice sees %v of bob's", ids)
	}
	for _, bad := range []string{"limit=0", "limit=501", "limit=-1", "limit=1e2", "before=../x", "before=", "channel=GitHub", "channel=" + strings.Repeat("a", 65), "principal=api:bob"} {
		response, err := w.as(aliceToken).ListSessions(t.Context(), nil, query(bad))
		read(t, response, err, 400)
	}
}

func TestDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.as(operatorToken)
	list := func(p client.ListDeliveriesParams) (ids []string, next *int64) {
		response, err := c.ListDeliveries(t.Context(), &p)
		got := parse[client.DeliveryList](t, response, err, 200)
		for _, d := range got.Deliveries {
			ids = append(ids, d.Id)
		}
		return ids, got.Next
	}
	if ids, next := list(client.ListDeliveriesParams{}); !slices.Equal(ids, []string{deadID, deliveryID}) || next != nil {
		t.Errorf("all: %v, %v", ids, next)
	}
	if ids, next := list(client.ListDeliveriesParams{Limit: new(1)}); !slices.Equal(ids, []string{deadID}) || next == nil {
		t.Errorf("first page: %v, %v", ids, next)
	} else if ids, _ := list(client.ListDeliveriesParams{Limit: new(1), Before: next}); !slices.Equal(ids, []string{deliveryID}) {
		t.Errorf("second page: %v", ids)
	}
	if ids, _ := list(client.ListDeliveriesParams{Status: new(client.DeliveryStatusDead)}); !slices.Equal(ids, []string{deadID}) {
		t.Errorf("dead: %v", ids)
	}
	if ids, _ := list(client.ListDeliveriesParams{Session: new(sessionID)}); !slices.Equal(ids, []string{deliveryID}) {
		t.Errorf("of the session: %v", ids)
	}
	if ids, _ := list(client.ListDeliveriesParams{Source: new("slack")}); len(ids) != 0 {
		t.Errorf("of slack: %v", ids)
	}
	for _, bad := range []string{"status=lost", "source=a/b", "before=0", "session=a%20b"} {
		response, err := c.ListDeliveries(t.Context(), nil, query(bad))
		read(t, response, err, 400)
	}

	response, err := c.GetDelivery(t.Context(), "github", deliveryID, nil)
	got := parse[client.DeliveryDetail](t, response, err, 200)
	if got.Body != nil || got.BodyBytes != 19 || got.Headers["X-Github-Event"] != "pull_request" || *got.Delivery.Decision != "ran as turn trn_01" || *got.Delivery.SessionId != sessionID {
		t.Errorf("got %+v", got)
	}
	response, err = c.GetDelivery(t.Context(), "github", deliveryID, &client.GetDeliveryParams{Body: new(1)})
	if got = parse[client.DeliveryDetail](t, response, err, 200); got.Body == nil || string(got.Body) != `{"action":"opened"}` {
		t.Errorf("with its body %+v", got)
	}
	for _, id := range []string{"nothing", "a/b", "..%2F..", "\x00", strings.Repeat("a", 1025)} {
		response, err = c.GetDelivery(t.Context(), "github", id, nil)
		read(t, response, err, 404)
	}
}

func TestReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.as(operatorToken)
	response, err := c.ReplayDelivery(t.Context(), "github", deliveryID)
	if got := parse[client.Accepted](t, response, err, 202); got.Id != "github:"+deliveryID {
		t.Errorf("got %+v", got)
	}
	d, err := w.store.Delivery(t.Context(), "github", deliveryID)
	if err != nil || d.Status != state.DeliveryPending || d.Replays != 1 {
		t.Errorf("it became %+v, %v", d, err)
	}
	response, err = c.ReplayDelivery(t.Context(), "github", deliveryID)
	if got := parse[client.Error](t, response, err, 409); got.Error != "pending" {
		t.Errorf("a second one got %+v", got)
	}
	// One whose body is gone cannot be read again.
	if _, err := w.store.Accept(t.Context(), state.Delivery{Source: "slack", ID: "old", ReceivedAt: epoch}); err != nil {
		t.Fatal(err)
	}
	w.commit(state.Change{Deliveries: []state.DeliveryUpdate{{Seq: 3, Status: state.DeliveryDone}}})
	response, err = c.ReplayDelivery(t.Context(), "slack", "old")
	if got := parse[client.Error](t, response, err, 409); got.Error != "body_removed" {
		t.Errorf("an old one got %+v", got)
	}
}

func TestDeadLetters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.as(operatorToken)
	letters := func() (ids []string) {
		params := client.ListDeadParams{Limit: new(1)}
		for {
			response, err := c.ListDead(t.Context(), &params)
			page := parse[client.DeadList](t, response, err, 200)
			for _, l := range page.Dead {
				ids = append(ids, l.Id)
			}
			if page.Next == nil {
				return ids
			}
			params.After = page.Next
		}
	}
	if got := letters(); !slices.Equal(got, []string{"delivery:github:" + deadID, "outbox:" + deadWrite}) {
		t.Fatalf("letters %v", got)
	}
	// Of many who want one tried again, one has it tried again.
	var all sync.WaitGroup
	statuses := make([]int, 8)
	for i := range statuses {
		all.Go(func() {
			response, err := w.as(operatorToken).RetryDead(t.Context(), client.DeadRequest{Id: "outbox:" + deadWrite})
			if err == nil {
				statuses[i] = response.StatusCode
				response.Body.Close()
			}
		})
	}
	all.Wait()
	slices.Sort(statuses)
	if statuses[0] != 202 || statuses[1] != 404 || statuses[7] != 404 {
		t.Errorf("answered %v", statuses)
	}
	items, err := w.store.ClaimOutbox(t.Context(), epoch, 10)
	if err != nil || len(items) != 1 || items[0].ID != deadWrite {
		t.Errorf("owed again is %v, %v", items, err)
	}
	// What is claimed is nobody's to drop.
	response, err := c.DropDead(t.Context(), client.DeadRequest{Id: "outbox:" + deadWrite})
	read(t, response, err, 404)
	w.commit(state.Change{Settle: []state.OutboxSettlement{{ID: deadWrite, Result: state.OutboxDead, Note: "again"}}})
	response, err = c.DropDead(t.Context(), client.DeadRequest{Id: "outbox:" + deadWrite})
	read(t, response, err, 200)
	response, err = c.RetryDead(t.Context(), client.DeadRequest{Id: "delivery:github:" + deadID})
	read(t, response, err, 202)
	d, err := w.store.Delivery(t.Context(), "github", deadID)
	if err != nil || d.Status != state.DeliveryPending || d.Attempts != 0 {
		t.Errorf("the delivery became %+v, %v", d, err)
	}
	if got := letters(); len(got) != 0 {
		t.Errorf("letters %v are left", got)
	}
	w.commit(state.Change{Deliveries: []state.DeliveryUpdate{{Seq: d.Seq, Status: state.DeliveryDead, Decision: "still bad"}}})
	response, err = c.DropDead(t.Context(), client.DeadRequest{Id: "delivery:github:" + deadID})
	read(t, response, err, 200)
	if d, err = w.store.Delivery(t.Context(), "github", deadID); err != nil || d.Status != state.DeliveryIgnored ||
		!strings.Contains(d.Decision, "api:operator") || !strings.Contains(d.Decision, "still bad") {
		t.Errorf("dropped it is %+v, %v", d, err)
	}
	for _, id := range []string{"delivery:", "outbox:", "x", "delivery:github", "delivery:github:" + deadID + "\u00ff"} {
		response, err = c.DropDead(t.Context(), client.DeadRequest{Id: id})
		read(t, response, err, 404)
	}
	response, err = c.DropDead(t.Context(), client.DeadRequest{Id: ""})
	read(t, response, err, 400)
}

func TestLogs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	log := slog.New(w.logs)
	log.Debug("too fine")
	log.With("session", "ses_1").WithGroup("turn").With("id", "trn_1").Warn("it is late", "after", time.Minute, slog.Group("by", "who", errors.New("nobody")))
	c := w.as(operatorToken)
	response, err := c.GetLogs(t.Context(), nil)
	got := parse[client.LogList](t, response, err, 200)
	if len(got.Lines) != 1 || got.Next != 1 || got.Lines[0].Message != "it is late" || got.Lines[0].Level != "WARN" {
		t.Fatalf("got %+v", got)
	}
	if attrs := fmt.Sprint(got.Lines[0].Attributes); attrs != "map[session:ses_1 turn.after:1m0s turn.by.who:nobody turn.id:trn_1]" {
		t.Errorf("attributes %s", attrs)
	}
	for i := range 5000 {
		log.Info(fmt.Sprint("line ", i))
	}
	log.Info(strings.Repeat("ä", 10_000))
	seen, next := 0, got.Next
	for {
		response, err := c.GetLogs(t.Context(), &client.GetLogsParams{After: &next, Limit: new(500)})
		page := parse[client.LogList](t, response, err, 200)
		for _, l := range page.Lines {
			if l.Seq <= next || len(l.Message) > 5000 || strings.ContainsRune(l.Message, '\ufffd') {
				t.Fatalf("after %d came %+v", next, l)
			}
			next = l.Seq
		}
		if seen += len(page.Lines); len(page.Lines) == 0 {
			break
		}
	}
	if seen != 2000 || next != 5002 {
		t.Errorf("%d lines up to %d", seen, next)
	}
	// Who polls over a restart goes on from what there is.
	response, err = c.GetLogs(t.Context(), &client.GetLogsParams{After: new(int64(1 << 40))})
	if got = parse[client.LogList](t, response, err, 200); got.Next != 5002 || len(got.Lines) != 0 {
		t.Errorf("a cursor of another process got %+v", got)
	}
}

// However long the lines, what is kept of them is bounded.
func TestLogsAreBoundedInBytes(t *testing.T) {
	t.Parallel()
	logs := api.NewLogs(slog.LevelInfo)
	w := newWorld(t, func(o *api.Options) { o.Logs = logs })
	for range 2000 {
		slog.New(logs).Info(strings.Repeat("x", 4000))
	}
	response, err := w.as(operatorToken).GetLogs(t.Context(), &client.GetLogsParams{Limit: new(500)})
	if n := len(parse[client.LogList](t, response, err, 200).Lines); n < 200 || n > 270 {
		t.Errorf("%d lines of 4 KB are kept", n)
	}
}

func TestCompactAndBackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.as(operatorToken)
	response, err := c.Compact(t.Context())
	if got := parse[client.Compaction](t, response, err, 200); got != (client.Compaction{Ok: true, BeforeBytes: 200, AfterBytes: 100, TookMs: 1000}) {
		t.Errorf("got %+v", got)
	}
	response, err = c.Backup(t.Context())
	if got := read(t, response, err, 200); string(got) != "an archive" ||
		response.Header.Get("Content-Disposition") != `attachment; filename="liaison-20260102-030405.tar.zst"` {
		t.Errorf("got %q, %v", got, response.Header)
	}
	w.keeping.err = fmt.Errorf("backup: %w", state.ErrNoSpace)
	response, err = c.Compact(t.Context())
	if got := parse[client.Error](t, response, err, 503); got.Error != "no_space" {
		t.Errorf("without room: %+v", got)
	}
	// What fails in the middle never looks whole.
	w.keeping.cut = 3
	response, err = w.as(operatorToken).Backup(t.Context())
	if err == nil {
		_, err = io.ReadAll(response.Body)
		response.Body.Close()
	}
	if err == nil {
		t.Error("a backup that failed looks whole")
	}
}

func TestDescriptionIsServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	response, err := w.as("").GetDescriptionJSON(t.Context())
	asJSON := parse[map[string]any](t, response, err, 200)
	response, err = w.as("").GetDescriptionYAML(t.Context())
	var asYAML map[string]any
	if err := yaml.Unmarshal(read(t, response, err, 200), &asYAML); err != nil {
		t.Fatal(err)
	}
	one, err := json.Marshal(asJSON)
	if err != nil {
		t.Fatal(err)
	}
	two, err := json.Marshal(asYAML)
	if err != nil || !bytes.Equal(one, two) {
		t.Errorf("the two forms differ, %v", err)
	}
	if asJSON["openapi"] != "3.1.0" {
		t.Errorf("openapi is %v", asJSON["openapi"])
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	response, err := w.as(aliceToken).GetInfo(t.Context())
	if got := parse[client.Info](t, response, err, http.StatusOK); got.Version != "test" || !got.Engine.Running {
		t.Errorf("got %+v", got)
	}
}
