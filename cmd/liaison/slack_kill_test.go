package main_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
	"github.com/liaison-bot/liaison/internal/sim"
)

// The service is killed over and over while people ask in Slack, which fails in many
// ways meanwhile. Each question has one end, whole and once, and nothing is left that
// looks as if it were still at work.
func TestKillWhileSlackIsAnswered(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"message", "stream", "edit"} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			w := newWorld(t)
			s, acme := workspace(t)
			model := growingModel(t)
			start := func() *process {
				p := w.serve(
					"SLACK_SIGNING_SECRET="+webhookSecret, "SLACK_BOT_TOKEN="+acme.BotToken, "SLACK_API_URL="+s.URL(),
					"LIAISON_SLACK_REPLY="+reply, "OPENAI_BASE_URL="+model, "OPENAI_API_KEY=unused",
				)
				s.SetTarget(p.url + "/webhooks/slack")
				return p
			}
			p := start()
			var asked []sim.SlackMessage
			for i := range soakOr(2, 15) {
				channel := fmt.Sprintf("C0ROOM%d", i)
				s.AddChannel(sim.SlackChannel{ID: channel, Team: slackTeam})
				for _, fault := range slackFaults {
					if random.IntN(4) == 0 {
						s.Fail(fault)
					}
				}
				s.SetCopies(1 + random.IntN(2))
				// One answer is short, one grows, and one has several parts.
				for _, lines := range []int{1, 40, 500} {
					asked = append(asked, s.Mention(channel, slackAnn, fmt.Sprintf("lines=%d", lines)))
				}
				busy := asked[len(asked)-2].TS
				asked = append(asked, s.DirectMessage(slackBob, "lines=12"), s.MentionIn(channel, busy, slackBob, "lines=3"))
				<-time.After(time.Duration(random.Int64N(int64(2500 * time.Millisecond))))
				p.kill()
				p = start()
				s.RetryFailed()
			}
			s.ClearFaults()
			slackWait(t, s, "the end of every question", func() bool { return len(unanswered(s, asked)) == 0 })
			if status := p.terminate(); status != 0 {
				t.Errorf("left with %d", status)
			}
			for _, wrong := range judged(s, asked) {
				t.Error(wrong)
			}
		})
	}
}

// However often one event comes, at once, as a retry, and again after a kill and a
// stop, it is answered once.
func TestSameSlackEventManyTimes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, acme := workspace(t)
	s.Hold()
	root := s.Mention(slackChannel, slackAnn, "lines=5")
	held := s.TakeHeld() // the message, and its twin the mention
	serve := func() *process {
		p := w.serve("SLACK_SIGNING_SECRET="+webhookSecret, "SLACK_BOT_TOKEN="+acme.BotToken, "SLACK_API_URL="+s.URL(), "OPENAI_BASE_URL="+growingModel(t), "OPENAI_API_KEY=unused")
		s.SetTarget(p.url + "/webhooks/slack")
		var all sync.WaitGroup
		for i := range 50 {
			for _, d := range held {
				if i%2 == 1 {
					d.RetryNum, d.RetryReason = 1+i%3, "http_timeout"
				}
				all.Go(func() {
					if status, err := s.Deliver(t.Context(), d); err != nil || status != http.StatusOK {
						t.Errorf("%s: status %d, %v", d.Type, status, err)
					}
				})
			}
		}
		all.Wait()
		return p
	}
	serve().kill()
	p := serve()
	slackWait(t, s, "the answer", func() bool { return len(unanswered(s, []sim.SlackMessage{root})) == 0 })
	p.terminate()
	p = serve()
	p.decided()
	p.terminate()
	for _, wrong := range judged(s, []sim.SlackMessage{root}) {
		t.Error(wrong)
	}
	if thread := s.Thread(slackChannel, root.TS); len(thread) != 2 {
		t.Errorf("the thread has %d messages", len(thread))
	}
}

// slackFaults are what goes wrong at Slack, each once.
var slackFaults = []sim.SlackFault{
	{Method: "chat.postMessage", DropConnection: true, AfterEffect: true},
	{Method: "chat.postMessage", Status: http.StatusInternalServerError, AfterEffect: true},
	{Method: "chat.postMessage", Status: http.StatusBadGateway},
	{Method: "chat.update", DropConnection: true, AfterEffect: true},
	{Method: "chat.startStream", DropConnection: true, AfterEffect: true},
	{Method: "chat.appendStream", DropConnection: true, AfterEffect: true},
	{Method: "chat.appendStream", Error: "message_not_in_streaming_state"},
	{Method: "chat.stopStream", DropConnection: true, AfterEffect: true},
	{Method: "reactions.add", DropConnection: true, AfterEffect: true},
	{Method: "reactions.remove", Status: http.StatusServiceUnavailable, AfterEffect: true},
	{Method: "conversations.replies", Status: http.StatusInternalServerError},
	{Method: "assistant.threads.setStatus", DropConnection: true, AfterEffect: true},
	sim.SlackRateLimit("chat.*", time.Second),
	sim.SlackRateLimit("conversations.*", 0),
}

// unanswered are the questions that have no end yet.
func unanswered(s *sim.Slack, asked []sim.SlackMessage) (open []string) {
	for _, q := range asked {
		ends := reactions(s, q)
		if len(ends) != 1 || ends[0] == "eyes" {
			open = append(open, fmt.Sprintf("%s %q has %v", q.TS, q.Text, ends))
		}
		root := q.ThreadTS
		if root == "" || root == q.TS {
			root = q.TS
		}
		if st := s.Status(q.Channel, root); st.Status != "" || st.Session == "processing" {
			open = append(open, fmt.Sprintf("%s shows %+v", root, st))
		}
	}
	return open
}

func reactions(s *sim.Slack, q sim.SlackMessage) []string {
	var names []string
	for _, m := range s.Messages(q.Channel) {
		if m.TS == q.TS {
			for name := range m.Reactions {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return names
}

var answerLine = regexp.MustCompile(`line (\d+) of (\d+)`)

// judged says what is wrong with the threads of questions.
func judged(s *sim.Slack, asked []sim.SlackMessage) (wrong []string) {
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	for _, u := range unanswered(s, asked) {
		say("%s", u)
	}
	for _, q := range asked {
		if q.ThreadTS != "" && q.ThreadTS != q.TS {
			continue // judged with its root
		}
		var text strings.Builder
		for _, m := range s.Thread(q.Channel, q.TS) {
			if !m.ByApp || m.EphemeralTo != "" {
				continue
			}
			if m.Streaming {
				say("%s: %s is still streaming", q.TS, m.TS)
			}
			text.WriteString(m.Shown + "\n")
		}
		whole := text.String()
		failures := strings.Count(whole, "To have it answered, ask again.")
		ends, next, total := failures, 0, 0
		for _, found := range answerLine.FindAllStringSubmatch(whole, -1) {
			n, _ := strconv.Atoi(found[1])
			of, _ := strconv.Atoi(found[2])
			if n != 0 && (n != next || of != total) && failures == 0 {
				say("%s: line %d of %d comes after %d of %d", q.TS, n, of, next-1, total)
			}
			if next, total = n+1, of; next == of {
				ends++
			}
		}
		most := 1
		for _, other := range asked {
			if other.Channel == q.Channel && other.ThreadTS == q.TS && other.TS != q.TS {
				most++
			}
		}
		if ends == 0 || ends > most {
			say("%s %q has %d ends:\n%.3000s", q.TS, q.Text, ends, whole)
		}
	}
	return wrong
}

var wantedLines = regexp.MustCompile(`lines=(\d+)`)

// growingModel answers with as many lines as it is asked for, little by little.
func growingModel(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/models", chattest.Models("test-model"))
	mux.HandleFunc("POST /v1/chat/completions", func(rw http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		count := 1
		if all := wantedLines.FindAllSubmatch(body, -1); len(all) > 0 {
			count, _ = strconv.Atoi(string(all[len(all)-1][1]))
		}
		rw.Header().Set("Content-Type", "text/event-stream")
		flow := http.NewResponseController(rw)
		say := func(event string) {
			_, _ = io.WriteString(rw, event)
			_ = flow.Flush()
		}
		say(chattest.Delta(map[string]any{"role": "assistant", "content": ""}))
		for i := range count {
			say(chattest.Text(fmt.Sprintf("This is line %d of %d, which says little.\n\n", i, count)))
			if i%10 == 9 {
				select {
				case <-time.After(30 * time.Millisecond):
				case <-r.Context().Done():
					return
				}
			}
		}
		say(chattest.Finish("stop") + chattest.Tokens(10, 5, 4) + chattest.Done)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL + "/v1"
}
