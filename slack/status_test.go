package slack

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

// A slow status that arrives after the one that takes it away would stand there
// for good, and lock the composer just when somebody wants to answer.
func TestDelayedStatusDoesNotOutliveItsTurn(t *testing.T) {
	for name, delay := range map[string]time.Duration{"a little late": time.Second, "later than anybody waits": 20 * time.Second} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T) {
				stage := newFakeStage(t)
				stage.mishap = func(method string, n int) mishap {
					if method == "status" && n == 0 {
						return mishap{delay: delay}
					}
					return mishap{}
				}
				l := liveOn(stage, ReplyMessage)
				f := follow(t, stage, l, turnID)
				time.Sleep(200 * time.Millisecond)
				began := time.Now()
				f.stop()
				if took := time.Since(began); took > sessions.FollowGrace {
					t.Errorf("the follower took %s to clear up", took)
				}
				time.Sleep(time.Minute)
				owed(t, stage, l, turnID)
				if len(stage.said()) < 2 || stage.status() != "" || stage.session() != web.SessionActive {
					t.Errorf("the thread shows %q, after %q, and its session is %q", stage.status(), stage.said(), stage.session())
				}
			})
		})
	}
}

func TestStatusTellsWhatGoesOn(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		f := follow(t, stage, liveOn(stage, ReplyMessage), turnID)
		tool := func(name string) map[string]any {
			return map[string]any{"actions": []map[string]any{{"callId": "1", "name": name, "args": map[string]string{"path": "/secret"}}}}
		}
		for _, e := range []struct {
			typ  string
			data any
			want string
		}{
			{sessions.EventStepStarted, map[string]string{"step": "evidence"}, "is reading the thread…"},
			{sessions.EventStepStarted, map[string]string{"step": "model"}, "is thinking…"},
			{sessions.EventActionsRequested, tool("readFile"), "is reading files…"},
			{sessions.EventActionsRequested, tool("run_terminal_cmd"), "is running a command…"},
			{sessions.EventActionResult, map[string]string{}, "is thinking…"},
			{sessions.EventActionsRequested, tool("post_review"), "is running post_review…"},
			{sessions.EventActionsRequested, tool("<!channel> now"), "is using a tool…"},
			{sessions.EventMessageAppended, map[string]string{"text": "Well"}, "is writing…"},
			{sessions.EventApprovalRequested, map[string]string{}, ""},
		} {
			f.happen(e.typ, e.data)
			time.Sleep(2 * statusPace)
			synctest.Wait()
			if got := stage.status(); got != e.want {
				t.Errorf("after %s the status is %q, not %q", e.typ, got, e.want)
			}
		}
		if stage.session() != web.SessionSuspended {
			t.Errorf("while somebody has to decide, the session is %q", stage.session())
		}
		f.happen(sessions.EventApprovalResolved, map[string]string{})
		f.stop()
		if stage.session() != web.SessionActive {
			t.Errorf("at the end the session is %q", stage.session())
		}
	})
}

// A turn that ends while a call of it waits for a person leaves the session waiting,
// and says so by nothing that keeps people from writing.
func TestStatusOfWhatWaitsForAPerson(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		f := follow(t, stage, liveOn(stage, ReplyMessage), turnID)
		f.happen(sessions.EventApprovalRequested, map[string]string{"approvalId": "apr_1"})
		time.Sleep(2 * statusPace)
		f.happen(sessions.EventMessageAppended, map[string]string{"text": "I asked for it."})
		time.Sleep(2 * statusPace)
		f.stop()
		if stage.session() != web.SessionSuspended || stage.status() != "" {
			t.Errorf("at the end the session is %q, with the status %q", stage.session(), stage.status())
		}
	})
}

// A call that is settled when its turn is over, with no other to follow, leaves a
// session behind that waits for nobody.
func TestSettledCallLeavesTheSessionAtRest(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		l := liveOn(stage, ReplyMessage)
		f := follow(t, stage, l, turnID)
		settled := func(id string, want web.SessionStatus) {
			t.Helper()
			item := sessions.Item{ID: id, SessionID: "ses_1", Attempts: 1, Payload: encode(restPayload{To: asked().address, Turn: turnID, Approval: id})}
			receipt, err := perform(t.Context(), item, l.rest)
			if err != nil || stage.session() != want {
				t.Errorf("when %s is settled the session is %q, with the note %q: %v", id, stage.session(), receipt.Note, err)
			}
		}
		for _, id := range []string{"apr_1", "apr_2", "apr_3"} {
			f.happen(sessions.EventApprovalRequested, map[string]string{"approvalId": id})
		}
		time.Sleep(2 * statusPace)
		settled("apr_1", web.SessionSuspended)
		f.stop()
		if stage.session() != web.SessionSuspended {
			t.Errorf("while two calls wait the session is %q", stage.session())
		}
		settled("apr_2", web.SessionSuspended)
		settled("apr_3", web.SessionActive)
	})
}

// Slack drops a status after two minutes.
func TestStatusIsSetAgainBeforeItRunsOut(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		var at []time.Time
		stage.mishap = func(method string, _ int) mishap {
			if method == "status" {
				at = append(at, time.Now())
			}
			return mishap{}
		}
		f := follow(t, stage, liveOn(stage, ReplyMessage), turnID)
		f.happen(sessions.EventStepStarted, map[string]string{"step": "model"})
		time.Sleep(10 * time.Minute)
		f.stop()
		for i := 1; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap >= 2*time.Minute {
				t.Errorf("the status ran out: there are %s between two", gap)
			}
		}
		if len(at) < 6 || len(at) > 12 {
			t.Errorf("%d calls in ten minutes", len(at))
		}
		if len(stage.loading) != 0 || stage.status() != "" {
			t.Errorf("left: %q, %q", stage.status(), stage.loading)
		}
	})
}

func TestManyEventsMakeFewStatuses(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		f := follow(t, stage, liveOn(stage, ReplyMessage), turnID)
		for range 600 {
			f.happen(sessions.EventReasoningAppended, map[string]string{"text": "x"})
			f.happen(sessions.EventMessageAppended, map[string]string{"text": "x"})
			time.Sleep(100 * time.Millisecond)
		}
		f.stop()
		if n := stage.count("status"); n > 25 {
			t.Errorf("%d calls in a minute", n)
		}
	})
}

// The next turn of a thread says nothing before the last one has taken its own
// words away, and what is owed for that one leaves the next one's alone.
func TestTurnsOfAThreadSpeakOneAfterTheOther(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		stage.mishap = func(method string, _ int) mishap {
			if method == "status" {
				return mishap{delay: 700 * time.Millisecond}
			}
			return mishap{}
		}
		l := liveOn(stage, ReplyMessage)
		first := follow(t, stage, l, turnID)
		time.Sleep(100 * time.Millisecond)
		first.end()
		second := follow(t, stage, l, "trn_2")
		time.Sleep(10 * time.Second)
		first.stop()
		if want := []string{"is reading the thread…", "", "is reading the thread…"}; !slices.Equal(stage.said(), want) {
			t.Errorf("the statuses were %q", stage.said())
		}
		if note := owed(t, stage, l, turnID).Note; !strings.Contains(note, "another turn") {
			t.Errorf("the effect says %q", note)
		}
		if stage.status() == "" {
			t.Error("the status of the second turn is gone")
		}
		second.stop()
		if note := owed(t, stage, l, "trn_2").Note; !strings.Contains(note, "already") || stage.status() != "" {
			t.Errorf("the effect says %q; the status is %q", note, stage.status())
		}
	})
}

// What a process that was killed has left is cleared by the next one.
func TestOwedClearEndsTheStatusOfADeadProcess(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		stage.statuses = []string{"is thinking…"}
		l := liveOn(stage, ReplyMessage)
		owed(t, stage, l, turnID)
		if stage.status() != "" || stage.session() != web.SessionActive {
			t.Errorf("the thread shows %q, and its session is %q", stage.status(), stage.session())
		}
	})
}

func TestStatusFallsSilentWhereItIsRefused(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		stage.mishap = func(method string, _ int) mishap {
			switch method {
			case "status":
				return mishap{err: refusal(web.ErrGone, "channel_type_not_supported")}
			case "status of the session":
				return mishap{err: refusal(web.ErrRefused, "unknown_method")}
			}
			return mishap{}
		}
		l := liveOn(stage, ReplyMessage)
		for _, turn := range []string{turnID, "trn_2"} {
			f := follow(t, stage, l, turn)
			f.happen(sessions.EventStepStarted, map[string]string{"step": "model"})
			time.Sleep(5 * time.Minute)
			f.stop()
			owed(t, stage, l, turn)
		}
		if a, b := stage.count("status"), stage.count("status of the session"); a != 1 || b != 1 {
			t.Errorf("%d and %d calls where none is taken", a, b)
		}
		time.Sleep(2 * time.Hour)
		f := follow(t, stage, l, "trn_3")
		time.Sleep(time.Second)
		f.stop()
		if a := stage.count("status"); a != 2 {
			t.Errorf("%d calls: a refusal is believed for ever", a)
		}
	})
}

func TestStatusWaitsForARateLimit(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		stage.mishap = func(method string, n int) mishap {
			if method == "status" && n == 0 {
				return mishap{err: &web.Error{Class: web.ErrLimited, After: 30 * time.Second}}
			}
			return mishap{}
		}
		f := follow(t, stage, liveOn(stage, ReplyMessage), turnID)
		f.happen(sessions.EventMessageAppended, map[string]string{"text": "x"})
		time.Sleep(29 * time.Second)
		if n := stage.count("status"); n != 1 {
			t.Errorf("%d calls before the limit is over", n)
		}
		time.Sleep(10 * time.Second)
		if stage.status() != "is writing…" {
			t.Errorf("the status is %q", stage.status())
		}
		f.stop()
	})
}

// An effect can say what goes on as well, where nobody follows the turn.
func TestOwedStatusIsShown(t *testing.T) {
	inTime(t, func(t *testing.T) {
		stage := newFakeStage(t)
		item := sessions.Item{
			ID: "i", SessionID: "ses_1", TurnID: turnID, Attempts: 1,
			Payload: encode(statusPayload{To: asked().address, Turn: turnID, Text: "is waiting…"}),
		}
		if _, err := perform(t.Context(), item, liveOn(stage, ReplyMessage).deliverStatus); err != nil {
			t.Fatal(err)
		}
		if stage.status() != "is waiting…" {
			t.Errorf("the status is %q", stage.status())
		}
	})
}
