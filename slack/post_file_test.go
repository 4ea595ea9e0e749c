package slack

import (
	"fmt"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/slack/limits"
)

// A long answer that is interrupted goes on where it stopped; each part is there
// once, in order, and what there is no room for is a file.
func TestLongAnswerGoesOn(t *testing.T) {
	t.Parallel()
	for stop := range limits.Messages + 1 {
		t.Run(fmt.Sprint(stop), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, unhurried)
			method := "chat.postMessage"
			if stop == limits.Messages {
				method = "files.completeUploadExternal"
				w.Fail(sim.SlackFault{Method: method, DropConnection: true, AfterEffect: true})
			} else {
				w.Fail(sim.SlackFault{Method: method, Skip: stop, DropConnection: true})
			}
			source := longAnswer(200)
			item := w.item(kindPost, answer(w, source))
			_, err := w.deliver(item)
			if (err != nil) != (stop < limits.Messages) {
				t.Fatalf("first attempt: %v", err)
			}
			item.Attempts++
			w.must(item)
			item.Attempts++
			w.must(item)
			got := w.answers()
			if len(got) != limits.Messages+1 {
				t.Fatalf("posted %d messages", len(got))
			}
			for i, m := range got[:limits.Messages] {
				if !strings.Contains(string(m.Metadata), fmt.Sprintf(`"ses_1/answer/%d"`, i)) {
					t.Errorf("message %d is %s", i, m.Metadata)
				}
				if buttons := strings.Contains(string(m.Blocks), "feedback_buttons"); buttons != (i == limits.Messages-1) {
					t.Errorf("message %d asks for feedback: %v", i, buttons)
				}
			}
			if files := got[limits.Messages].Files; len(files) != 1 || !strings.Contains(string(files[0].Content), "Paragraph 199.") {
				t.Errorf("the file is %+v", files)
			}
		})
	}
}

// What Slack takes neither as blocks nor as text is shared as a file.
func TestRefusedText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fail(sim.SlackFault{Method: "chat.postMessage", Error: "msg_too_long", Times: -1})
	w.must(w.item(kindPost, answer(w, "Yes, it is.")))
	if got := w.answers(); len(got) != 1 || len(got[0].Files) != 1 || !strings.Contains(string(got[0].Files[0].Content), "Yes, it is.") {
		t.Errorf("got %+v", got)
	}
}
