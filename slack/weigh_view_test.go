package slack

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
)

// entered is what somebody writes into the window for a question.
func entered(question string) map[string]map[string]any {
	return map[string]map[string]any{inputQuestion: {inputQuestion: question}}
}

// A message's menu opens a window, and what is entered there is asked in the
// message's thread, where others can read it.
func TestAskAboutAMessage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	about := w.Say(general, ann, "it broke <!here>")
	w.Shortcut(general, about.TS, ann, shortcutAsk)
	in := w.weigh(w.last("message_action"))
	view, open := w.View(ann)
	if in.Action != sessions.ActionIgnore || len(in.Effects) != 0 || !open {
		t.Fatalf("action %v, %d effects, open %v: %s", in.Action, len(in.Effects), open, in.Reason)
	}
	wantIn(t, "window", view.Shown, "it broke")
	if view.Title != "Ask Liaison" || strings.Contains(view.Shown, "<!here>") || len(view.PrivateMetadata) > 3000 {
		t.Errorf("the window is %+v", view)
	}
	w.Submit(ann, entered("why?"))
	d := w.last("view_submission")
	in = w.weigh(d)
	thread := w.Thread(general, about.TS)
	if len(thread) != 2 {
		t.Fatalf("the thread is %+v", thread)
	}
	wantIn(t, "question", thread[1].Text, "<@U0ANN> asks:\n> why?")
	r := requestOf(t, in)
	if in.Action != sessions.ActionRun || in.Key != "slack:T0ACME:C0GENERAL:"+about.TS || r.MessageTS != about.TS || r.TS != thread[1].TS {
		t.Errorf("action %v of %q: %+v", in.Action, in.Key, r)
	}
	if w.weigh(d); len(w.Thread(general, about.TS)) != 2 {
		t.Error("weighed twice, it is asked twice")
	}
}

// A shortcut that is about no message asks where.
func TestAskSomewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.GlobalShortcut(ann, shortcutAsk)
	w.weigh(w.last("shortcut"))
	values := entered("why?")
	values[inputChannel] = map[string]any{inputChannel: general}
	w.Submit(ann, values)
	in := w.weigh(w.last("view_submission"))
	ours := w.ours(general)
	if in.Action != sessions.ActionRun || len(ours) != 1 || in.Key != "slack:T0ACME:C0GENERAL:"+ours[0].TS {
		t.Errorf("action %v of %q, %d messages", in.Action, in.Key, len(ours))
	}
}

// The home tab has a button for it.
func TestAskFromTheHomeTab(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.perform(w.weigh(w.OpenHome(ann, "home")))
	w.ClickHome(ann, actionAsk)
	in := w.weigh(w.last("block_actions"))
	view, open := w.View(ann)
	if !open || view.CallbackID != viewAsk || !strings.Contains(string(view.Blocks), inputChannel) {
		t.Errorf("open %v, %+v: %s", open, view, in.Reason)
	}
}

// Where the app cannot write, who sent a window is told directly.
func TestAskSomewhereTheAppIsNot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.AddChannel(sim.SlackChannel{ID: "C0AWAY", Team: team, Members: []string{ann}})
	w.GlobalShortcut(ann, shortcutAsk)
	w.weigh(w.last("shortcut"))
	values := entered("why?")
	values[inputChannel] = map[string]any{inputChannel: "C0AWAY"}
	w.Submit(ann, values)
	w.perform(w.weigh(w.last("view_submission")))
	ours := w.ours(w.DirectChannelOf(ann))
	if len(ours) != 1 || !strings.Contains(ours[0].Shown, "/invite") {
		t.Errorf("told %+v", ours)
	}
}

// A window that cannot be opened in time leaves nobody before nothing.
func TestWindowThatComesTooLate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		fault sim.SlackFault
		told  bool
	}{
		"expired":       {sim.SlackFault{Error: "expired_trigger_id"}, true},
		"invalid":       {sim.SlackFault{Error: "invalid_trigger_id"}, true},
		"opened before": {sim.SlackFault{Error: "exchanged_trigger_id"}, false},
		"limited":       {sim.SlackRateLimit("views.open", time.Minute), true},
		"out of order":  {sim.SlackFault{Status: http.StatusBadGateway}, true},
		"lost":          {sim.SlackFault{DropConnection: true}, true},
		"no scope":      {sim.SlackFault{Error: "missing_scope"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			test.fault.Method = "views.open"
			w.Fail(test.fault)
			w.Shortcut(general, w.root.TS, ann, shortcutAsk)
			in := w.weigh(w.last("message_action"))
			w.perform(in)
			if heard := w.hears(general, ann); slices.Contains(heard, lateClick) != test.told || len(heard) > 1 {
				t.Errorf("heard %q: %s", heard, in.Reason)
			}
		})
	}
}

// What comes by a click long after it, as after a restart, is answered all the same.
func TestWindowAfterARestart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Shortcut(general, w.root.TS, ann, shortcutAsk)
	d := w.last("message_action")
	w.weigh(d)
	if in := w.weigh(d); len(in.Effects) != 0 { // the window is there already
		t.Errorf("told %+v", in.Effects)
	}
	if n := len(w.Calls("views.open")); n != 2 {
		t.Errorf("%d calls", n)
	}
}

// Who may not ask gets no window, and learns why each time.
func TestWindowForAStranger(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.people()
	about := w.Say(shared, ann, "it broke")
	w.Shortcut(shared, about.TS, otto, shortcutAsk)
	in := w.weigh(w.last("message_action"))
	w.perform(in)
	if heard := w.hears(shared, otto); len(heard) != 1 || len(w.Calls("views.open")) != 0 {
		t.Errorf("heard %q: %s", heard, in.Reason)
	}
}
