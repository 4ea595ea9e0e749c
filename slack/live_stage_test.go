package slack

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/slack/web"
)

// stageMessage is a message on a fake stage.
type stageMessage struct {
	ts, text  string
	key       string
	blocks    []slackgo.Block
	streaming bool
}

// mishap is how a call on a fake stage goes wrong.
type mishap struct {
	// err is answered; with done, the call has its effect all the same.
	err  error
	done bool
	// delay is how long the call takes before its effect, which comes about also
	// when nobody waits for it any more.
	delay time.Duration
}

// fakeStage is a thread of Slack in this process, for tests in virtual time.
type fakeStage struct {
	t *testing.T

	mu       sync.Mutex
	messages []*stageMessage
	ids      int
	calls    map[string]int
	flying   map[string]int
	statuses []string
	sessions []web.SessionStatus
	loading  []string
	mishap   func(method string, n int) mishap
	// kept is what the session remembers.
	kept map[string]string
}

func newFakeStage(t *testing.T) *fakeStage {
	return &fakeStage{t: t, calls: map[string]int{}, flying: map[string]int{}, kept: map[string]string{}}
}

func refusal(class error, code string) error {
	return &web.Error{Class: class, Method: "m", Code: code}
}

var (
	errStreamClosed = refusal(web.ErrGone, codeStreamClosed)
	errLostAnswer   = refusal(web.ErrAmbiguous, "")
)

// call counts a call and lets it go wrong.
func (f *fakeStage) call(ctx context.Context, method string, effect func() error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	n := f.calls[method]
	f.calls[method]++
	f.flying[method]++
	if f.flying[method] > 1 && strings.HasPrefix(method, "status") {
		f.t.Errorf("two calls of %s are in flight", method)
	}
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.flying[method]--
	}()
	var m mishap
	if f.mishap != nil {
		m = f.mishap(method, n)
	}
	perform := func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		defer f.check()
		return effect()
	}
	if m.delay > 0 {
		late := make(chan error, 1)
		go func() {
			time.Sleep(m.delay)
			late <- perform()
		}()
		select {
		case err := <-late:
			return err
		case <-ctx.Done():
			return errLostAnswer
		}
	}
	if m.err != nil && !m.done {
		return m.err
	}
	if err := perform(); err != nil {
		return err
	}
	return m.err
}

// check judges what people see after every call.
func (f *fakeStage) check() {
	for _, m := range f.messages {
		if found := calls.FindString(m.text); found != "" {
			f.t.Errorf("a message calls people: %q in %q", found, m.text)
		}
		blocks, err := json.Marshal(m.blocks)
		if err == nil && len(m.blocks) > 0 {
			err = sim.CheckSlackMessage("", blocks)
		}
		if err != nil {
			f.t.Error(err)
		}
	}
}

func (f *fakeStage) find(ts string) *stageMessage {
	i := slices.IndexFunc(f.messages, func(m *stageMessage) bool { return m.ts == ts })
	if i < 0 {
		return nil
	}
	return f.messages[i]
}

func (f *fakeStage) add(m stageMessage) string {
	if !m.streaming && len(m.text) > 4000 && len(m.blocks) == 0 {
		f.t.Errorf("a text of %d bytes becomes several messages", len(m.text))
	}
	f.ids++
	m.ts = fmt.Sprintf("%d.%06d", time.Now().Unix(), f.ids)
	f.messages = append(f.messages, &m)
	return m.ts
}

func (f *fakeStage) StartStream(ctx context.Context, at web.Place, to web.Recipient, markdown string) (ts string, err error) {
	err = f.call(ctx, "start", func() error {
		if at.Thread == "" || at.Channel[0] != 'D' && to.User == "" {
			return refusal(web.ErrRefused, "missing_recipient_user_id")
		}
		ts = f.add(stageMessage{text: markdown, streaming: true})
		return nil
	})
	if err != nil {
		ts = ""
	}
	return ts, err
}

func (f *fakeStage) AppendStream(ctx context.Context, _ web.Place, ts, markdown string) error {
	return f.call(ctx, "append", func() error {
		m := f.find(ts)
		switch {
		case m == nil:
			return refusal(web.ErrGone, "message_not_found")
		case !m.streaming:
			return errStreamClosed
		case len([]rune(markdown)) > 12_000:
			return refusal(web.ErrRefused, "msg_too_long")
		}
		m.text += markdown
		return nil
	})
}

func (f *fakeStage) StopStream(ctx context.Context, _ web.Place, ts string, msg web.Message) error {
	return f.call(ctx, "stop", func() error {
		m := f.find(ts)
		switch {
		case m == nil:
			return refusal(web.ErrGone, "message_not_found")
		case !m.streaming:
			return errStreamClosed
		}
		m.text, m.blocks, m.key, m.streaming = m.text+msg.Text, msg.Blocks, msg.Key, false
		return nil
	})
}

func (f *fakeStage) Post(ctx context.Context, _ web.Place, msg web.Message) (ts string, err error) {
	err = f.call(ctx, "post", func() error {
		ts = f.add(stageMessage{text: shownIn(msg), blocks: msg.Blocks, key: msg.Key})
		return nil
	})
	if err != nil {
		ts = ""
	}
	return ts, err
}

func (f *fakeStage) Update(ctx context.Context, _ web.Place, ts string, msg web.Message, _ web.Priority) error {
	return f.call(ctx, "update", func() error {
		m := f.find(ts)
		switch {
		case m == nil:
			return refusal(web.ErrGone, "message_not_found")
		case m.streaming:
			return refusal(web.ErrRefused, "streaming_state_conflict")
		case len(msg.Text) > 4000:
			return refusal(web.ErrRefused, "msg_too_long")
		}
		m.text, m.blocks, m.key = shownIn(msg), msg.Blocks, msg.Key
		return nil
	})
}

func (f *fakeStage) Delete(ctx context.Context, _ web.Place, ts string) error {
	return f.call(ctx, "delete", func() error {
		f.messages = slices.DeleteFunc(f.messages, func(m *stageMessage) bool { return m.ts == ts })
		return nil
	})
}

func (f *fakeStage) SetStatus(ctx context.Context, _ web.Place, text string, loading []string) error {
	return f.call(ctx, "status", func() error {
		if len(loading) > 10 || strings.Contains(strings.Join(loading, ""), ",") {
			f.t.Errorf("Slack would not take these texts: %q", loading)
		}
		f.statuses, f.loading = append(f.statuses, text), loading
		return nil
	})
}

func (f *fakeStage) SetSessionStatus(ctx context.Context, _ web.Place, status web.SessionStatus, _, _ string) error {
	return f.call(ctx, "status of the session", func() error {
		f.sessions = append(f.sessions, status)
		return nil
	})
}

func (f *fakeStage) Own(ctx context.Context, _ web.Place, _ string) iter.Seq2[web.Reply, error] {
	return func(yield func(web.Reply, error) bool) {
		var all []web.Reply
		err := f.call(ctx, "own", func() error {
			for _, m := range f.messages {
				all = append(all, web.Reply{TS: m.ts, User: "UBOT", Text: m.text, Key: m.key})
			}
			return nil
		})
		if err != nil {
			yield(web.Reply{}, err)
			return
		}
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// remember is what the engine does with what a follower wants to be remembered.
func (f *fakeStage) remember(ctx context.Context, values map[string]string) error {
	return f.call(ctx, "remember", func() error {
		for k, v := range values {
			if v == "" {
				delete(f.kept, k)
			} else {
				f.kept[k] = v
			}
		}
		return nil
	})
}

func (f *fakeStage) count(method string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls[method]
}

// status is the last status that arrived, and session the last one of the session.
func (f *fakeStage) status() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.statuses) == 0 {
		return ""
	}
	return f.statuses[len(f.statuses)-1]
}

func (f *fakeStage) session() web.SessionStatus {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.sessions) == 0 {
		return ""
	}
	return f.sessions[len(f.sessions)-1]
}

// said is every status that arrived, in order.
func (f *fakeStage) said() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.statuses)
}

// message is one of our messages, by its place in the thread.
func (f *fakeStage) message(i int) stageMessage {
	f.mu.Lock()
	defer f.mu.Unlock()
	return *f.messages[i]
}

// remembered is what the session remembers.
func (f *fakeStage) remembered() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.kept)
}

// closeStreams has Slack close every stream.
func (f *fakeStage) closeStreams() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range f.messages {
		m.streaming = false
	}
}

// thread is the texts of our messages, oldest first.
func (f *fakeStage) thread() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, m := range f.messages {
		all = append(all, m.text)
	}
	return all
}

// shownIn is the text that people see of a message.
func shownIn(m web.Message) string {
	var texts []string
	for _, b := range m.Blocks {
		if md, ok := b.(*slackgo.MarkdownBlock); ok {
			texts = append(texts, md.Text)
		}
	}
	if texts == nil {
		return m.Text
	}
	return strings.Join(texts, "\n")
}

// hasButton reports whether a message has a button of ours, and its value.
func hasButton(m stageMessage, action string) (value string, ok bool) {
	for _, b := range m.blocks {
		actions, is := b.(*slackgo.ActionBlock)
		if !is {
			continue
		}
		for _, e := range actions.Elements.ElementSet {
			if button, is := e.(*slackgo.ButtonBlockElement); is && button.ActionID == action {
				return button.Value, true
			}
		}
	}
	return "", false
}
