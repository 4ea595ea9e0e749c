package main_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
	"github.com/liaison-bot/liaison/internal/sim"
)

// slowModel answers in words, each time when the gate is open, and tells when
// it is asked.
func slowModel(t *testing.T) (environment []string, gate chan struct{}, asked chan struct{}) {
	t.Helper()
	gate, asked = make(chan struct{}), make(chan struct{}, 100)
	model := chattest.Start(t)
	model.Decide(func(chattest.Request) chattest.Turn {
		return func(rw http.ResponseWriter, r *http.Request, request chattest.Request) {
			asked <- struct{}{}
			select {
			case <-gate:
				chattest.Say("All is well.")(rw, r, request)
			case <-r.Context().Done():
			}
		}
	})
	return []string{"OPENAI_BASE_URL=" + model.URL, "OPENAI_API_KEY=" + chattest.Key}, gate, asked
}

// says has somebody comment on a pull request.
func (p *process) says(number int, who, body string) int64 {
	p.w.t.Helper()
	id, hook := p.w.hub.Comment(repo, number, who, body)
	if status := p.deliver(hook); status != http.StatusAccepted {
		p.w.t.Fatalf("%q: %d", body, status)
	}
	return id
}

// reacted waits until a comment has one reaction, and no other.
func (w *world) reacted(number int, comment int64, want string) {
	w.t.Helper()
	var has map[string]int
	w.wait(fmt.Sprintf("%s under comment %d", want, comment), func() bool {
		for _, c := range w.hub.Comments(repo, number) {
			if c.ID == comment {
				has = c.Reactions
			}
		}
		others := 0
		for content, n := range has {
			if content != want {
				others += n
			}
		}
		return has[want] == 1 && others == 0
	})
}

// answer waits for a comment of ours with this text, and returns it.
func (w *world) answer(number int, text string) (found string) {
	w.t.Helper()
	w.wait("a comment that says "+text, func() bool {
		for _, c := range w.hub.Comments(repo, number) {
			if c.AppID == appID && strings.Contains(c.Body, text) {
				found = c.Body
			}
		}
		return found != ""
	})
	return found
}

// Whoever saw that they were heard sees how it ended, whatever came between.
func TestWhoWasHeardIsToldTheEnd(t *testing.T) {
	t.Parallel()
	more := map[string]sim.Change{"more.go": sim.Write("package main\n")}
	for name, play := range map[string]func(w *world, p *process, pull *sim.PullRequest, gate, asked chan struct{}){
		"a question waits for a review that is stopped": func(w *world, p *process, pull *sim.PullRequest, _, _ chan struct{}) {
			question := p.says(pull.Number, "bob", "@liaison why?")
			w.reacted(pull.Number, question, "eyes")
			w.reacted(pull.Number, p.says(pull.Number, "eve", "/liaison stop"), "confused")
			w.reacted(pull.Number, p.says(pull.Number, "ann", "/liaison stop"), "rocket")
			w.reacted(pull.Number, question, "confused")
			w.reacted(pull.Number, p.says(pull.Number, "ann", "/liaison stop"), "confused")
			if check := w.concluded(pull.HeadSHA, 1); !strings.Contains(check.Summary, "by ann") {
				w.t.Errorf("nobody sees who stopped it: %s", check.Summary)
			}
		},
		"a question waits when the pull request is closed": func(w *world, p *process, pull *sim.PullRequest, _, _ chan struct{}) {
			question := p.says(pull.Number, "bob", "@liaison why?")
			w.reacted(pull.Number, question, "eyes")
			w.hub.ClosePullRequest(repo, pull.Number)
			p.deliver(w.hub.Event(repo, pull.Number, "closed"))
			w.reacted(pull.Number, question, "confused")
			w.answer(pull.Number, "This was not answered")
		},
		"a push takes the place of a review that was asked for": func(w *world, p *process, pull *sim.PullRequest, gate, _ chan struct{}) {
			command := p.says(pull.Number, "ann", "/liaison review")
			w.reacted(pull.Number, command, "eyes")
			head := w.hub.Push(repo, pull.Number, more)
			p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
			w.wait("a check on the new head", func() bool { return len(w.hub.CheckRuns(repo, head)) == 1 })
			close(gate)
			w.answer(pull.Number, head[:7])
			w.reacted(pull.Number, command, "rocket")
		},
		"a push to a draft leaves the review that was asked for": func(w *world, p *process, pull *sim.PullRequest, gate, asked chan struct{}) {
			w.hub.ConvertToDraft(repo, pull.Number)
			p.deliver(w.hub.Event(repo, pull.Number, "converted_to_draft"))
			w.concluded(pull.HeadSHA, 1)
			command := p.says(pull.Number, "ann", "/liaison review")
			<-asked // the evidence is complete
			w.hub.Push(repo, pull.Number, more)
			p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
			close(gate)
			w.reacted(pull.Number, command, "rocket")
			if text := w.answer(pull.Number, "All is well."); !strings.Contains(text, pull.HeadSHA[:7]) || !strings.Contains(text, "moved on") {
				w.t.Errorf("the comment does not say what it is about: %s", text)
			}
		},
		"two ask in the conversation meanwhile": func(w *world, p *process, pull *sim.PullRequest, gate, _ chan struct{}) {
			first := p.says(pull.Number, "ann", "@liaison why?")
			second := p.says(pull.Number, "bob", "@liaison how?")
			w.reacted(pull.Number, second, "eyes")
			close(gate)
			w.reacted(pull.Number, first, "rocket")
			w.reacted(pull.Number, second, "rocket")
			text := w.answer(pull.Number, "In answer to")
			for _, id := range []int64{first, second} {
				if !strings.Contains(text, fmt.Sprintf("#issuecomment-%d)", id)) {
					w.t.Errorf("the answer does not lead to comment %d: %s", id, text)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			environment, gate, asked := slowModel(t)
			for _, who := range []string{"ann", "bob"} {
				w.hub.SetPermission(repo, who, "write")
			}
			p := w.serve(environment...)
			pull := w.open("Say hello")
			p.deliver(w.hub.Event(repo, pull.Number, "opened"))
			<-asked
			play(w, p, pull, gate, asked)
			if status := p.terminate(); status != 0 {
				t.Errorf("stopped with %d", status)
			}
		})
	}
}
