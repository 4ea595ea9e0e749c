package slack

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/limits"
)

func answer(w *world, markdown string) postPayload {
	return postPayload{
		To: w.thread(), Key: "answer", User: ann, Since: w.root.TS, Markdown: markdown, Turn: "turn_1", Feedback: true,
		Model: "some-model", Duration: 72 * time.Second, Link: "https://github.com/octo/shop/pull/12", LinkText: "Open octo/shop#12",
	}
}

// longAnswer is one of several messages.
func longAnswer(paragraphs int) string {
	var b strings.Builder
	for i := range paragraphs {
		fmt.Fprintf(&b, "Paragraph %d. %s\n\n", i, strings.Repeat("word ", 200))
	}
	return b.String()
}

// An answer is one message in the thread, with who answered, where it leads, and
// a question what people think of it. It pings nobody and gives nothing away.
func TestAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.item(kindPost, answer(w, "# Yes\n\nThe *password* is hunter2, <!channel>.")))
	got := w.answers()
	if len(got) != 1 {
		t.Fatalf("posted %d messages", len(got))
	}
	for _, want := range []string{"Yes", "[redacted]", "some-model · 1m12s", "Open octo/shop#12"} {
		if !strings.Contains(got[0].Shown, want) {
			t.Errorf("%q is not shown in %q", want, got[0].Shown)
		}
	}
	blocks := string(got[0].Blocks)
	for _, want := range []string{`"markdown"`, `"feedback_buttons"`, `"good:turn_1"`, `"https://github.com/octo/shop/pull/12"`} {
		if !strings.Contains(blocks, want) {
			t.Errorf("%s is not in %s", want, blocks)
		}
	}
	if len(got[0].Pings) > 0 || strings.Contains(blocks+got[0].Text, "hunter2") {
		t.Errorf("pings %v, text %q", got[0].Pings, got[0].Text)
	}
	if !strings.Contains(string(got[0].Metadata), `"ses_1/answer/0"`) {
		t.Errorf("metadata %s", got[0].Metadata)
	}
}

// Who is to be told is called, once.
func TestMention(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.item(kindPost, postPayload{To: w.thread(), Key: "told", Mention: ann, Markdown: "Done."}))
	if got := w.answers(); len(got) != 1 || len(got[0].Pings) != 1 || got[0].Pings[0] != "<@"+ann+">" {
		t.Errorf("got %+v", got)
	}
}

// An error although the message was posted leads to no second one: the thread is
// searched for its marker, in the same attempt and in the next.
func TestPostedAllTheSame(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]sim.SlackFault{
		"dropped":      {DropConnection: true, AfterEffect: true},
		"500":          {Status: http.StatusInternalServerError, AfterEffect: true},
		"HTML":         {Status: http.StatusOK, Body: "<html>", AfterEffect: true},
		"fatal_error":  {Error: "fatal_error", AfterEffect: true},
		"empty answer": {Status: http.StatusOK, Body: " ", AfterEffect: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			fault.Method = "chat.postMessage"
			w.Fail(fault)
			item := w.item(kindPost, answer(w, "Yes."))
			w.must(item)
			item.Attempts++ // after a crash that forgot that it was done
			w.must(item)
			if got := w.answers(); len(got) != 1 || len(w.Calls("chat.postMessage")) != 1 {
				t.Errorf("posted %d messages in %d calls", len(got), len(w.Calls("chat.postMessage")))
			}
		})
	}
}

// What may have been posted, and is not to be seen yet, is not repeated at once.
func TestPostedLate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	late := make(chan struct{})
	w.Fail(sim.SlackFault{Method: "chat.postMessage", DropConnection: true, LateEffect: late})
	item := w.item(kindPost, answer(w, "Yes."))
	_, err := w.deliver(item)
	var retry *sessions.RetryError
	if !errors.As(err, &retry) || retry.After < settles || retry.Uncounted {
		t.Fatalf("got %v", err)
	}
	close(late)
	if err := w.Wait(t.Context(), func() bool { return len(w.answers()) == 1 }); err != nil {
		t.Fatal(err)
	}
	item.Attempts++
	w.must(item)
	if got := w.answers(); len(got) != 1 {
		t.Errorf("posted %d messages", len(got))
	}
}

// What did not happen is done in the next attempt.
func TestNotPosted(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault     sim.SlackFault
		uncounted bool
		paused    bool
	}{
		"dropped":  {fault: sim.SlackFault{DropConnection: true}},
		"500":      {fault: sim.SlackFault{Status: http.StatusInternalServerError}},
		"limited":  {fault: sim.SlackRateLimit("chat.postMessage", time.Second), uncounted: true},
		"revoked":  {fault: sim.SlackFault{Error: "token_revoked"}, paused: true},
		"no scope": {fault: sim.SlackFault{Error: "missing_scope"}, paused: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.Now()
			w := newWorld(t, func(o *Options) { o.Now = func() time.Time { return now } })
			tt.fault.Method = "chat.postMessage"
			w.Fail(tt.fault)
			item := w.item(kindPost, answer(w, "Yes."))
			_, err := w.deliver(item)
			var retry *sessions.RetryError
			if !errors.As(err, &retry) || retry.Uncounted != tt.uncounted || retry.Paused != tt.paused {
				t.Fatalf("got %v", err)
			}
			now = now.Add(time.Minute)
			item.Attempts++
			w.must(item)
			if got := w.answers(); len(got) != 1 {
				t.Errorf("posted %d messages", len(got))
			}
			if tt.paused && strings.Count(w.logs.String(), "does not take the app's token") != 1 {
				t.Errorf("logged %s", w.logs)
			}
		})
	}
}

// A message that Slack refuses goes as text, and if need be as a file; it is never lost.
func TestRefusedBlocks(t *testing.T) {
	t.Parallel()
	for _, code := range []string{"invalid_blocks", "msg_blocks_too_long", "msg_too_long", "of_a_later_year"} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.Fail(sim.SlackFault{Method: "chat.postMessage", Error: code})
			item := w.item(kindPost, answer(w, "Yes, it is.\n"))
			w.must(item)
			item.Attempts++
			w.must(item)
			got := w.answers()
			if len(got) != 1 || len(got[0].Blocks) != 0 || !strings.Contains(got[0].Text, "Yes, it is.") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// Where the app may share no files, a message says so and where to look.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w := newWorld(t, func(o *Options) {
		o.Now = func() time.Time { now = now.Add(time.Minute); return now }
		o.PublicURL = mustURL(t, "https://liaison.example.com/here")
	})
	w.Fail(sim.SlackFault{Method: "files.getUploadURLExternal", Error: "missing_scope", Times: -1})
	item := w.item(kindPost, answer(w, longAnswer(200)))
	w.must(item)
	item.Attempts++
	w.must(item)
	got := w.answers()
	if len(got) != limits.Messages+1 || !strings.Contains(got[limits.Messages].Text, "https://liaison.example.com/here/?sessionId=ses_1") {
		t.Errorf("got %d messages, the last %+v", len(got), got[len(got)-1])
	}
}

// A thread whose first message was deleted takes no answer: nothing is left in the
// channel, who asked is told directly, once, and the session remembers.
func TestDeletedRoot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Delete(general, w.root.TS)
	receipt := w.must(w.item(kindPost, answer(w, "Yes.")))
	if w.surface[surfaceDetached] != rootDeleted || !strings.Contains(receipt.Note, "direct message") {
		t.Errorf("noted %q, remembered %v", receipt.Note, w.surface)
	}
	later := answer(w, "Yes again.")
	later.Key = "later"
	w.must(w.item(kindPost, later))
	if ours := w.ours(general); len(ours) != 0 {
		t.Errorf("in the channel: %+v", ours)
	}
	direct := w.ours(w.DirectChannelOf(ann))
	if len(direct) != 1 || !strings.Contains(direct[0].Shown, "deleted") || !strings.Contains(direct[0].Shown, "Yes.") {
		t.Errorf("directly: %+v", direct)
	}
}

// A channel that is closed to us is told of directly, once, and forgotten when it
// is open again.
func TestClosedChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	post := func(key string) string {
		p := answer(w, "This is "+key+".")
		p.Key = key
		return w.must(w.item(kindPost, p)).Note
	}
	w.EditChannel(general, func(c *sim.SlackChannel) { c.Archived = true })
	w.must(w.item(kindPost, postPayload{To: w.thread(), Key: "waiting", Markdown: "I have to wait."})) // for which nobody waits
	post("first")
	post("second")
	if direct := w.ours(w.DirectChannelOf(ann)); len(direct) != 1 || !strings.Contains(direct[0].Shown, "archived") || w.surface[surfaceDetached] != "is_archived" {
		t.Errorf("directly: %+v, remembered %v", direct, w.surface)
	}
	w.EditChannel(general, func(c *sim.SlackChannel) { c.Archived = false })
	post("third")
	if got := w.answers(); len(got) != 1 || !strings.Contains(got[0].Shown, "third") || len(w.surface) != 0 {
		t.Errorf("got %+v, remembered %v", got, w.surface)
	}
}

// An answer without words says so, and text that cannot be shown does no harm.
func TestEmptyAnswer(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", " \n", "\u200b", "<!-- -->"} {
		w := newWorld(t)
		w.must(w.item(kindPost, answer(w, text)))
		if got := w.answers(); len(got) != 1 || got[0].Shown == "" {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}
