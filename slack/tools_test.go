package slack

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/tools"
)

// callOf is a call of a tool in Ann's thread.
func (w *world) callOf(input string) tools.Call {
	return tools.Call{
		Turn: tools.Turn{
			SessionID: "ses_1", TurnID: "trn_1", Channel: Name,
			Request: request{address: w.thread(), Trigger: byMention, TS: w.root.TS, User: ann}.encode(),
		},
		AgentID: "agent_1", CallID: "call_1", Input: json.RawMessage(input),
	}
}

// tool is one of the channel's.
func (w *world) tool(name string) tools.Tool {
	w.t.Helper()
	all := w.channel.Tools()
	i := slices.IndexFunc(all, func(t tools.Tool) bool { return t.Name == name })
	if i < 0 {
		w.t.Fatalf("there is no tool %s", name)
	}
	return all[i]
}

func TestToolsAreTaken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := tools.New(w.channel.Tools()...); err != nil {
		t.Error(err)
	}
}

// An agent's message calls nobody, holds no secret, and is posted once.
func TestPostToSlack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	post := w.tool(toolPostToSlack)
	for input, thread := range map[string]string{
		`{"text":"Out now <!channel> <@U0ANN> hunter2"}`:                       w.root.TS,
		`{"text":"Out now <!channel> <@U0ANN> hunter2","channel":"C0GENERAL"}`: "",
	} {
		call := w.callOf(input)
		call.CallID += thread
		if got, err := post.Look(t.Context(), call); err != nil || !got.IsError {
			t.Errorf("before it was posted: %+v, %v", got, err)
		}
		got, err := post.Run(t.Context(), call)
		if err != nil || got.IsError {
			t.Fatalf("got %+v, %v", got, err)
		}
		all := w.ours(general)
		last := all[len(all)-1]
		if last.ThreadTS != thread || len(last.Pings) > 0 || strings.Contains(last.Text+last.Shown, "hunter2") {
			t.Errorf("posted %+v", last)
		}
		if got, err := post.Look(t.Context(), call); err != nil || got.IsError {
			t.Errorf("once it was posted: %+v, %v", got, err)
		}
	}
}

// It goes nowhere that the app is not, or that the operator does not allow.
func TestPostToSlackNowhereElse(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		channel string
		edit    func(*Settings)
		want    string
	}{
		"not in it":        {"C0AWAY", nil, "has to invite it"},
		"no such channel":  {"C0NOWHERE", nil, "has to invite it"},
		"archived":         {"C0OLD", nil, "is archived"},
		"shared":           {"C0SHARED", nil, "other organisations"},
		"not on the list":  {general, func(s *Settings) { s.Channels = []string{"C0OPS"} }, "does not let the app write"},
		"a person":         {ann, nil, "is no id of a channel"},
		"a direct message": {"D0ANN", nil, "is no id of a channel"},
		"a name":           {"#general", nil, "is no id of a channel"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, with(func(s *Settings) {
				if test.edit != nil {
					test.edit(s)
				}
			}))
			w.AddWorkspace(sim.Workspace{ID: "T0OTHER", NotInstalled: true})
			w.AddChannel(sim.SlackChannel{ID: "C0AWAY", Team: team, Members: []string{ann}})
			w.AddChannel(sim.SlackChannel{ID: "C0OLD", Team: team, Archived: true})
			w.AddChannel(sim.SlackChannel{ID: "C0SHARED", Team: team, SharedWith: []string{"T0OTHER"}})
			input, err := json.Marshal(map[string]string{"text": "hi", "channel": test.channel})
			must(t, err)
			_, err = w.tool(toolPostToSlack).Run(t.Context(), w.callOf(string(input)))
			if err == nil || !strings.Contains(err.Error(), test.want) || len(w.Calls("chat.postMessage")) > 0 {
				t.Errorf("got %v", err)
			}
		})
	}
}

// A turn of another surface has to name a channel.
func TestPostToSlackFromElsewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *Options) { o.OneToken, o.Workspaces = true, alone{o.Workspaces} })
	call := w.callOf(`{"text":"hi"}`)
	call.Channel, call.Request = "github", json.RawMessage(`{"repo":1}`)
	post := w.tool(toolPostToSlack)
	if _, err := post.Run(t.Context(), call); err == nil {
		t.Error("it was posted somewhere")
	}
	if _, err := post.Look(t.Context(), call); !errors.Is(err, tools.ErrOutcomeUnknown) {
		t.Errorf("looked for: %v", err)
	}
	call.Input = json.RawMessage(`{"text":"hi","channel":"C0GENERAL"}`)
	if got, err := post.Run(t.Context(), call); err != nil || got.IsError || len(w.ours(general)) != 1 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A question has its choices as buttons; what is chosen is a message of who chose, in
// the session, if they may speak there.
func TestAskPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.people()
	w.EditChannel(general, func(c *sim.SlackChannel) { c.Members = append(c.Members, gus) })
	ask := w.tool(toolAskPerson)
	call := w.callOf(`{"question":"Which one?","choices":["The <!here> old","The new"]}`)
	got, err := ask.Run(t.Context(), call)
	if err != nil || got.IsError {
		t.Fatalf("got %+v, %v", got, err)
	}
	if got, err := ask.Look(t.Context(), call); err != nil || got.IsError {
		t.Errorf("looked for: %+v, %v", got, err)
	}
	m := w.answers()[0]
	if !slices.Equal(m.Pings, []string{"<@U0ANN>"}) || m.ThreadTS != w.root.TS {
		t.Errorf("asked %+v", m)
	}
	w.Click(general, m.TS, ann, actionChoice+"1")
	in := w.weigh(w.last("block_actions"))
	r := requestOf(t, in)
	if in.Action != sessions.ActionRun || !in.Existing || in.Key != w.thread().key() || in.Message != "The new" || r.ResponseURL != "" || r.TriggerID != "" {
		t.Errorf("the answer is %+v of %+v", in, r)
	}
	w.perform(in)
	if heard := w.hears(general, ann); len(heard) != 1 {
		t.Errorf("Ann is told %q", heard)
	}
	w.Click(general, m.TS, gus, actionChoice+"0")
	in = w.weigh(w.last("block_actions"))
	w.perform(in)
	if heard := w.hears(general, gus); in.Action != sessions.ActionIgnore || len(heard) != 1 {
		t.Errorf("a guest answers: %+v, and is told %q", in, heard)
	}
	w.Click(general, m.TS, ann, actionAsk)
	w.weigh(w.last("block_actions"))
	if _, open := w.View(ann); !open {
		t.Error("no window is open for an answer in words")
	}
}
