package statetest

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
)

func runInbox(t *testing.T, open Open) {
	t.Run("keeps body, allowed headers and time as they came", func(t *testing.T) {
		s := open(t)
		d := delivery("a")
		d.Body = append(bytes.Repeat([]byte(`{"text":"caf\u00e9 \x00"}`), 500), 0, 0xff, 0xfe)
		d.Headers = map[string]string{
			"x-github-event": "pull_request", "Content-Type": "application/json",
			"X-Hub-Signature-256": "sha256=abc", "Authorization": "Bearer abc", "Cookie": "a=b",
			"X-Slack-Signature": "v0=abc", "X-Anything": "else",
		}
		if _, err := s.Accept(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		got := must(s.Delivery(t.Context(), "github", "a"))(t)
		if !bytes.Equal(got.Body, d.Body) {
			t.Errorf("a body of %d bytes came back as %d other bytes", len(d.Body), len(got.Body))
		}
		wantJSON(t, got.Headers, map[string]string{"X-Github-Event": "pull_request", "Content-Type": "application/json"}, "headers")
		if got.Event != d.Event || !got.ReceivedAt.Equal(d.ReceivedAt) || got.Status != state.DeliveryPending || got.Seq != 1 {
			t.Errorf("stored as %+v", got)
		}
	})

	t.Run("an empty body is a body", func(t *testing.T) {
		s := open(t)
		d := delivery("a")
		d.Body, d.Headers = nil, nil
		if _, err := s.Accept(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		if got := must(s.Delivery(t.Context(), "github", "a"))(t); len(got.Body) != 0 {
			t.Errorf("body %q", got.Body)
		}
	})

	t.Run("an id is stored once among fifty at the same time", func(t *testing.T) {
		s := open(t)
		var mu sync.Mutex
		outcomes := map[state.Outcome]int{}
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				outcome, err := s.Accept(t.Context(), delivery("same"))
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				outcomes[outcome]++
			})
		}
		all.Wait()
		if outcomes[state.Fresh] != 1 || outcomes[state.Duplicate] != 49 {
			t.Errorf("outcomes %v, want 1 fresh and 49 duplicates", outcomes)
		}
		if got := must(s.Pending(t.Context(), 0, 100))(t); len(got) != 1 {
			t.Errorf("%d pending deliveries, want 1", len(got))
		}
	})

	t.Run("many ids at the same time get each their own number", func(t *testing.T) {
		s := open(t)
		var all sync.WaitGroup
		for i := range 50 {
			all.Go(func() {
				if _, err := s.Accept(t.Context(), delivery(fmt.Sprint(i))); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for i, d := range must(s.Pending(t.Context(), 0, 100))(t) {
			if d.Seq != uint64(i+1) {
				t.Fatalf("number %d at place %d", d.Seq, i)
			}
		}
	})

	t.Run("the same id of another source is another delivery", func(t *testing.T) {
		s := open(t)
		accept(t, s, "a")
		d := delivery("a")
		d.Source = "slack"
		if outcome := must(s.Accept(t.Context(), d))(t); outcome != state.Fresh {
			t.Errorf("outcome %d, want Fresh", outcome)
		}
	})

	t.Run("done and ignored ones stay duplicates", func(t *testing.T) {
		s := open(t)
		for _, status := range []state.DeliveryStatus{state.DeliveryDone, state.DeliveryIgnored} {
			d := accept(t, s, string(status))
			commit(t, s, state.Change{Deliveries: []state.DeliveryUpdate{{Seq: d.Seq, Status: status}}})
			if outcome := must(s.Accept(t.Context(), delivery(string(status))))(t); outcome != state.Duplicate {
				t.Errorf("a delivery that is %s: outcome %d, want Duplicate", status, outcome)
			}
		}
	})

	t.Run("a dead one is rearmed, once", func(t *testing.T) {
		s := open(t)
		d := accept(t, s, "a")
		commit(t, s, state.Change{Deliveries: []state.DeliveryUpdate{
			{Seq: d.Seq, Status: state.DeliveryDead, Attempts: 5, Decision: "cannot be decoded"}}})
		letters := must(s.DeadLetters(t.Context(), "", 10))(t)
		if len(letters) != 1 || letters[0].ID != "delivery:github:a" || letters[0].Kind != "delivery" ||
			letters[0].Reason != "cannot be decoded" || letters[0].At.IsZero() {
			t.Fatalf("dead letters %+v", letters)
		}
		again := delivery("a")
		again.Body = []byte(`{"sent":"again"}`)
		if outcome := must(s.Accept(t.Context(), again))(t); outcome != state.Rearmed {
			t.Errorf("outcome %d, want Rearmed", outcome)
		}
		if outcome := must(s.Accept(t.Context(), again))(t); outcome != state.Duplicate {
			t.Errorf("the second time: outcome %d, want Duplicate", outcome)
		}
		pending := must(s.Pending(t.Context(), 0, 10))(t)
		if len(pending) != 1 || pending[0].Seq != d.Seq || pending[0].Attempts != 0 || pending[0].Decision != "" ||
			string(pending[0].Body) != `{"sent":"again"}` {
			t.Errorf("pending after rearming: %+v", pending)
		}
		if letters := must(s.DeadLetters(t.Context(), "", 10))(t); len(letters) != 0 {
			t.Errorf("dead letters after rearming: %+v", letters)
		}
	})

	t.Run("ids that no store can hold are refused", func(t *testing.T) {
		s := open(t)
		for _, bad := range []state.Delivery{
			{Source: "github"}, {ID: "a"}, {Source: "git:hub", ID: "a"},
			{Source: "github", ID: "a\x00b"}, {Source: "github", ID: "\xff"},
			{Source: "github", ID: strings.Repeat("x", state.MaxID+1)},
		} {
			_, err := s.Accept(t.Context(), bad)
			wantErr(t, err, state.ErrInvalid, fmt.Sprintf("Accept source %q id %.20q", bad.Source, bad.ID))
		}
		d := delivery(strings.Repeat("x", state.MaxID))
		if outcome := must(s.Accept(t.Context(), d))(t); outcome != state.Fresh {
			t.Errorf("the longest id: outcome %d, want Fresh", outcome)
		}
	})
}

func runQueue(t *testing.T, open Open) {
	t.Run("pending ones come by page in order", func(t *testing.T) {
		s := open(t)
		for i := range 7 {
			accept(t, s, fmt.Sprint(i))
		}
		commit(t, s, state.Change{Deliveries: []state.DeliveryUpdate{
			{Seq: 2, Status: state.DeliveryDone},
			{Seq: 4, Status: state.DeliveryIgnored, Decision: "draft"},
			{Seq: 5, Status: state.DeliveryPending, Attempts: 1, NotBefore: at(3600)},
		}})
		var seqs []uint64
		for after := uint64(0); ; {
			page := must(s.Pending(t.Context(), after, 2))(t)
			if len(page) == 0 {
				break
			}
			for _, d := range page {
				seqs = append(seqs, d.Seq)
				after = d.Seq
			}
		}
		wantJSON(t, seqs, []uint64{1, 3, 5, 6, 7}, "pending")
		if got := must(s.Pending(t.Context(), 0, 0))(t); len(got) != 0 {
			t.Errorf("a page of 0 has %d", len(got))
		}
		d := must(s.Delivery(t.Context(), "github", "4"))(t)
		if d.Attempts != 1 || !d.NotBefore.Equal(at(3600)) {
			t.Errorf("postponed as %+v", d)
		}
	})

	t.Run("those that are due come by page in order, and what is passed over is told of", func(t *testing.T) {
		s := open(t)
		for i := range 8 {
			accept(t, s, fmt.Sprint(i))
		}
		commit(t, s, state.Change{Deliveries: []state.DeliveryUpdate{
			{Seq: 1, Status: state.DeliveryPending, NotBefore: at(50)},
			{Seq: 3, Status: state.DeliveryPending, NotBefore: at(10)},
			{Seq: 4, Status: state.DeliveryDone},
			{Seq: 5, Status: state.DeliveryPending, NotBefore: at(20)},
			{Seq: 8, Status: state.DeliveryPending, NotBefore: at(30)},
		}})
		for _, c := range []struct {
			now, limit int
			want       []uint64
			next       time.Time
		}{
			{0, 1, []uint64{2, 6, 7}, at(10)},
			{0, 9, []uint64{2, 6, 7}, at(10)},
			{10, 2, []uint64{2, 3, 6, 7}, at(20)},
			{29, 3, []uint64{2, 3, 5, 6, 7}, at(30)},
			{50, 2, []uint64{1, 2, 3, 5, 6, 7, 8}, time.Time{}},
		} {
			var seqs []uint64
			var after uint64
			var next time.Time
			for {
				page := must(s.Due(t.Context(), at(c.now), after, c.limit))(t)
				for _, d := range page.Deliveries {
					seqs = append(seqs, d.Seq)
					if len(d.Body) == 0 || d.NotBefore.After(at(c.now)) {
						t.Errorf("due at %d: %+v", c.now, d)
					}
				}
				if !page.Next.IsZero() && (next.IsZero() || page.Next.Before(next)) {
					next = page.Next
				}
				if len(page.Deliveries) < c.limit {
					if page.Through != 8 {
						t.Errorf("looked through %d, want all 8", page.Through)
					}
					break
				}
				after = page.Through
			}
			wantJSON(t, seqs, c.want, fmt.Sprintf("due at %d by pages of %d", c.now, c.limit))
			if !next.Equal(c.next) {
				t.Errorf("at %d the next is due %v, want %v", c.now, next, c.next)
			}
		}
		if page := must(s.Due(t.Context(), at(99), 4, 0))(t); len(page.Deliveries) != 0 || page.Through != 4 {
			t.Errorf("a page of 0 is %+v", page)
		}
		// What was put off once and is not any more is due.
		commit(t, s, state.Change{Deliveries: []state.DeliveryUpdate{{Seq: 1, Status: state.DeliveryPending}}})
		if page := must(s.Due(t.Context(), at(0), 0, 1))(t); len(page.Deliveries) != 1 || page.Deliveries[0].Seq != 1 {
			t.Errorf("due is %+v, want the first", page)
		}
		// A page speaks of nothing behind it. Here that was decided, and the page not.
		if page := must(s.Due(t.Context(), at(0), 5, 2))(t); page.Through != 7 || !page.Next.IsZero() {
			t.Errorf("a page through 7 says that it goes on at %v: %+v", page.Next, page)
		}
	})

	t.Run("a decision is kept with what it led to", func(t *testing.T) {
		s := open(t)
		d := accept(t, s, "a")
		commit(t, s, state.Change{
			Sessions: []state.Session{session("ses_1")}, Turns: []state.Turn{turn("trn_1", "ses_1")},
			Deliveries: []state.DeliveryUpdate{{
				Seq: d.Seq, Status: state.DeliveryDone, Decision: "queued a turn", SessionID: "ses_1", TurnID: "trn_1"}},
		})
		got := must(s.Delivery(t.Context(), "github", "a"))(t)
		if got.Status != state.DeliveryDone || got.Decision != "queued a turn" || got.SessionID != "ses_1" ||
			got.TurnID != "trn_1" || len(got.Body) == 0 {
			t.Errorf("settled as %+v", got)
		}
	})

	t.Run("what was decided is not decided again", func(t *testing.T) {
		s := open(t)
		d := accept(t, s, "a")
		to := func(status state.DeliveryStatus) error {
			_, err := s.Commit(t.Context(), state.Change{
				Deliveries: []state.DeliveryUpdate{{Seq: d.Seq, Status: status}}})
			return err
		}
		for i, step := range []struct {
			status state.DeliveryStatus
			want   error
		}{
			{state.DeliveryDone, nil},
			{state.DeliveryDone, state.ErrConflict},
			{state.DeliveryDead, state.ErrConflict},
			{state.DeliveryPending, nil}, // replayed
			{state.DeliveryDead, nil},
			{state.DeliveryDone, state.ErrConflict},
			{state.DeliveryIgnored, nil}, // dropped by a person
			{state.DeliveryIgnored, state.ErrConflict},
			{"odd", state.ErrInvalid},
		} {
			wantErr(t, to(step.status), step.want, fmt.Sprintf("step %d: to %s", i, step.status))
		}
		if letters := must(s.DeadLetters(t.Context(), "", 10))(t); len(letters) != 0 {
			t.Errorf("dead letters in the end: %+v", letters)
		}
	})

	t.Run("a replay counts and begins anew", func(t *testing.T) {
		s := open(t)
		d := accept(t, s, "a")
		if d.Replays != 0 || !d.DecidedAt.IsZero() {
			t.Errorf("accepted as %+v", d)
		}
		decide := func(u state.DeliveryUpdate) state.StoredDelivery {
			t.Helper()
			u.Seq = d.Seq
			commit(t, s, state.Change{Deliveries: []state.DeliveryUpdate{u}})
			return must(s.Delivery(t.Context(), "github", "a"))(t)
		}
		got := decide(state.DeliveryUpdate{Status: state.DeliveryIgnored, Attempts: 2, Decision: "draft"})
		if got.DecidedAt.IsZero() {
			t.Error("a decision has no time")
		}
		got = decide(state.DeliveryUpdate{Status: state.DeliveryPending, Attempts: 2, Replay: true})
		if got.Replays != 1 || got.Attempts != 0 || got.Status != state.DeliveryPending || !got.DecidedAt.IsZero() {
			t.Errorf("replayed as %+v", got)
		}
		decide(state.DeliveryUpdate{Status: state.DeliveryDead, Decision: "cannot be decoded"})
		got = decide(state.DeliveryUpdate{Status: state.DeliveryPending, Replay: true})
		if got.Replays != 2 || len(got.Body) == 0 {
			t.Errorf("replayed from the dead letters as %+v", got)
		}
		if letters := must(s.DeadLetters(t.Context(), "", 10))(t); len(letters) != 0 {
			t.Errorf("dead letters after the replay: %+v", letters)
		}
	})

	t.Run("accepting signals, and signals merge", func(t *testing.T) {
		s := open(t)
		if signalled(s.Accepted()) {
			t.Error("signalled before anything came")
		}
		accept(t, s, "a")
		accept(t, s, "b")
		if !signalled(s.Accepted()) || signalled(s.Accepted()) {
			t.Error("two accepts did not make one signal")
		}
		commit(t, s, state.Change{Deliveries: []state.DeliveryUpdate{{Seq: 1, Status: state.DeliveryDone}}})
		if signalled(s.Accepted()) {
			t.Error("settling signalled")
		}
		commit(t, s, state.Change{Deliveries: []state.DeliveryUpdate{{Seq: 1, Status: state.DeliveryPending}}})
		if !signalled(s.Accepted()) {
			t.Error("replaying did not signal")
		}
	})

	t.Run("an unknown delivery is not found", func(t *testing.T) {
		s := open(t)
		_, err := s.Delivery(t.Context(), "github", "none")
		wantErr(t, err, state.ErrNotFound, "Delivery")
		_, err = s.Commit(t.Context(), state.Change{Deliveries: []state.DeliveryUpdate{{Seq: 9, Status: state.DeliveryDone}}})
		wantErr(t, err, state.ErrNotFound, "settling one")
	})

	t.Run("what is returned is a copy", func(t *testing.T) {
		s := open(t)
		body := []byte(`{"a":1}`)
		d := delivery("a")
		d.Body = body
		must(s.Accept(t.Context(), d))(t)
		body[2] = 'X'
		first := must(s.Delivery(t.Context(), "github", "a"))(t)
		if string(first.Body) != `{"a":1}` {
			t.Errorf("the store kept the caller's bytes: %s", first.Body)
		}
		first.Body[2] = 'Y'
		first.Headers["X-Github-Event"] = "changed"
		second := must(s.Pending(t.Context(), 0, 1))(t)[0]
		if string(second.Body) != `{"a":1}` || second.Headers["X-Github-Event"] != "pull_request" {
			t.Errorf("the store gave its own memory away: %s %v", second.Body, second.Headers)
		}
	})
}
