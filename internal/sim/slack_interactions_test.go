package sim_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/internal/sim"
)

func button(action, value string) slack.MsgOption {
	return slack.MsgOptionBlocks(slack.NewActionBlock("b1", slack.NewButtonBlockElement(action, value, slack.NewTextBlockObject("plain_text", "Stop", false, false))))
}

func modal() slack.ModalViewRequest {
	plain := func(s string) *slack.TextBlockObject { return slack.NewTextBlockObject("plain_text", s, false, false) }
	return slack.ModalViewRequest{
		Type: slack.VTModal, Title: plain("Why?"), Submit: plain("Send"), CallbackID: "why", NotifyOnClose: true,
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewInputBlock("reason", plain("Reason"), nil, slack.NewPlainTextInputBlockElement(nil, "text")),
		}},
	}
}

func TestSlackClick(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	ts := w.post(slackChannel, button("stop", "S1"))
	click := w.Click(slackChannel, ts, ann, "stop")
	var cb slack.InteractionCallback
	if err := json.Unmarshal(click.Delivery.Payload, &cb); err != nil {
		t.Fatal(err)
	}
	if cb.User.ID != ann || cb.Message.Timestamp != ts || cb.ActionCallback.BlockActions[0].Value != "S1" || cb.Container.ChannelID != slackChannel {
		t.Errorf("payload %s", click.Delivery.Payload)
	}
	body, contentType := click.Delivery.Body()
	if contentType != "application/x-www-form-urlencoded" || !strings.HasPrefix(string(body), "payload=%7B") {
		t.Errorf("body %s %s", contentType, body)
	}
}

func TestSlackTriggerIsGoodOnceForThreeSeconds(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	ts := w.post(slackChannel, button("stop", "S1"))
	first := w.Click(slackChannel, ts, ann, "stop")
	if _, err := w.api.OpenViewContext(t.Context(), first.TriggerID, modal()); err != nil {
		t.Fatal(err)
	}
	open := func(trigger, want string) {
		t.Helper()
		if _, err := w.api.OpenViewContext(t.Context(), trigger, modal()); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	open(first.TriggerID, "exchanged_trigger_id")
	open("1.2.abc", "invalid_trigger_id")
	second := w.Click(slackChannel, ts, ann, "stop")
	w.clock.Add(3 * time.Second)
	open(second.TriggerID, "expired_trigger_id")
}

func TestSlackModal(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	ts := w.post(slackChannel, button("stop", "S1"))
	if _, err := w.api.OpenViewContext(t.Context(), w.Click(slackChannel, ts, ann, "stop").TriggerID, modal()); err != nil {
		t.Fatal(err)
	}
	v, shown := w.View(ann)
	if !shown || v.Title != "Why?" || v.Shown != "Reason" {
		t.Fatalf("ann sees %+v", v)
	}
	wrong := modal()
	wrong.PrivateMetadata = strings.Repeat("x", 3001)
	if _, err := w.api.UpdateViewContext(t.Context(), wrong, "", v.Hash, v.ID); err == nil || err.Error() != "invalid_arguments" {
		t.Errorf("too much metadata: %v", err)
	}
	if _, err := w.api.UpdateViewContext(t.Context(), modal(), "", "old", v.ID); err == nil || err.Error() != "hash_conflict" {
		t.Errorf("an old hash: %v", err)
	}
	if _, err := w.api.UpdateViewContext(t.Context(), modal(), "", v.Hash, v.ID); err != nil {
		t.Error(err)
	}
	sent := w.Submit(ann, map[string]map[string]any{"reason": {"text": "because"}})
	var cb slack.InteractionCallback
	if err := json.Unmarshal(sent.Delivery.Payload, &cb); err != nil {
		t.Fatal(err)
	}
	if cb.View.CallbackID != "why" || cb.View.State.Values["reason"]["text"].Value != "because" {
		t.Errorf("payload %s", sent.Delivery.Payload)
	}
	if _, shown := w.View(ann); shown {
		t.Error("a submitted modal stays open")
	}
}

func TestSlackHome(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	home := slack.HomeTabViewRequest{Type: slack.VTHomeTab, Blocks: slack.Blocks{BlockSet: []slack.Block{
		slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", "Nothing runs", false, false), nil, nil),
	}}}
	if _, err := w.api.PublishViewContext(t.Context(), slack.PublishViewContextRequest{UserID: ann, View: home}); err != nil {
		t.Fatal(err)
	}
	if v, shown := w.Home(ann); !shown || v.Shown != "Nothing runs" {
		t.Errorf("ann sees %+v", v)
	}
	if d := w.OpenHome(ann, "home"); !strings.Contains(string(d.Payload), "Nothing runs") {
		t.Errorf("the app is told %s", d.Payload)
	}
}

func (w *slackWorld) answerAt(address, body string) (int, string) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		w.t.Fatal(err)
	}
	resp, err := oneShot().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var o struct{ Error string }
	if err := json.NewDecoder(resp.Body).Decode(&o); err != nil {
		w.t.Fatal(err)
	}
	return resp.StatusCode, o.Error
}

func TestSlackResponseURL(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	c := w.Command(slackChannel, ann, "/liaison", "status")
	if got := c.Delivery.Form.Get("text"); got != "status" {
		t.Errorf("command text %q", got)
	}
	if status, code := w.answerAt(c.ResponseURL, `{"blocks":[{"type":"markdown","text":"x"}]}`); status != http.StatusBadRequest || code != "invalid_blocks" {
		t.Errorf("a markdown block: %d %s", status, code)
	}
	if status, _ := w.answerAt(c.ResponseURL, `{"text":"for you"}`); status != http.StatusOK {
		t.Fatal(status)
	}
	if m := w.Messages(slackChannel)[0]; m.EphemeralTo != ann || m.Shown != "for you" {
		t.Errorf("got %+v", m)
	}
	if status, _ := w.answerAt(c.ResponseURL, `{"text":"for all","response_type":"in_channel"}`); status != http.StatusOK {
		t.Fatal(status)
	}
	made := w.Deliveries()
	last := string(made[len(made)-1].Payload)
	if !strings.Contains(last, `"subtype":"bot_message"`) || !strings.Contains(last, `"bot_id":"`+w.team.BotID) || strings.Contains(last, `"user":`) {
		t.Errorf("an answer in the channel comes back as %s", last)
	}
	for range 3 {
		w.answerAt(c.ResponseURL, `{"text":"more"}`)
	}
	if status, code := w.answerAt(c.ResponseURL, `{"text":"too much"}`); status != http.StatusNotFound || code != "used_url" {
		t.Errorf("the sixth answer: %d %s", status, code)
	}
	old := w.Command(slackChannel, ann, "/liaison", "")
	w.clock.Add(30 * time.Minute)
	if status, code := w.answerAt(old.ResponseURL, `{"text":"late"}`); status != http.StatusNotFound || code != "expired_url" {
		t.Errorf("half an hour later: %d %s", status, code)
	}
}

func TestSlackAssistantThread(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	channel, thread := w.OpenAssistantThread(ann, slackChannel)
	prompts := slack.AssistantThreadsSetSuggestedPromptsParameters{ChannelID: channel, ThreadTS: thread}
	for range 5 {
		prompts.AddPrompt("Review", "review the last pull request")
	}
	if err := w.api.SetAssistantThreadsSuggestedPromptsContext(t.Context(), prompts); err == nil || err.Error() != "invalid_arguments" {
		t.Errorf("five prompts: %v", err)
	}
	prompts.Prompts = prompts.Prompts[:1]
	if err := w.api.SetAssistantThreadsSuggestedPromptsContext(t.Context(), prompts); err != nil {
		t.Fatal(err)
	}
	if err := w.api.SetAssistantThreadsTitleContext(t.Context(), slack.AssistantThreadsSetTitleParameters{ChannelID: channel, ThreadTS: thread, Title: "A pull request"}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.api.SetAgentSessionStatusContext(t.Context(), slack.AgentSessionSetStatusParameters{ChannelID: channel, ThreadTS: thread, Status: "processing"}); err != nil {
		t.Fatal(err)
	}
	if st := w.Status(channel, thread); st.Title != "A pull request" || st.Prompts["Review"] == "" || st.Session != "processing" {
		t.Errorf("status %+v", st)
	}
}

func TestSlackUninstall(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	w.Uninstall(slackTeam)
	if o := w.call("auth.test", w.team.BotToken); o["error"] != "token_revoked" {
		t.Errorf("got %v", o)
	}
	var kinds []string
	for _, d := range w.Deliveries() {
		kinds = append(kinds, d.Type)
	}
	if strings.Join(kinds, " ") != "tokens_revoked app_uninstalled" {
		t.Errorf("the app is told %v", kinds)
	}
}

func TestSlackStrangersOfASharedChannel(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	w.AddWorkspace(sim.Workspace{ID: "T0OTHER", NotInstalled: true})
	w.AddUser(sim.SlackUser{ID: "U0EVE", Team: "T0OTHER"})
	w.AddChannel(sim.SlackChannel{ID: "C0SHARED", Team: slackTeam, SharedWith: []string{"T0OTHER"}, Members: []string{ann, w.team.BotUser, "U0EVE"}})
	w.Mention("C0SHARED", "U0EVE", "hello")
	var o struct {
		TeamID  string `json:"team_id"`
		Shared  bool   `json:"is_ext_shared_channel"`
		Context string `json:"context_team_id"`
		Event   struct {
			UserTeam string `json:"user_team"`
		}
	}
	if err := json.Unmarshal(w.Deliveries()[0].Payload, &o); err != nil {
		t.Fatal(err)
	}
	if o.TeamID != "T0OTHER" || o.Context != slackTeam || !o.Shared || o.Event.UserTeam != "T0OTHER" {
		t.Errorf("envelope %+v", o)
	}
	u, err := w.api.GetUserInfoContext(t.Context(), "U0EVE")
	if err != nil || !u.IsStranger {
		t.Errorf("users.info: %+v %v", u, err)
	}
}
