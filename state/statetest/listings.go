package statetest

import (
	"fmt"
	"testing"

	"github.com/liaison-bot/liaison/state"
)

func runListings(t *testing.T, open Open) {
	t.Run("keys that begin alike, by page", func(t *testing.T) {
		s := open(t)
		c := state.Change{Sessions: []state.Session{session("ses_1"), session("ses_2")}}
		for key, id := range map[string]string{
			"repo:4": "ses_1", "repo:4:": "ses_2", "repo:4:pull:1": "ses_1", "repo:4:pull:2": "ses_2",
			"repo:4:pull:3": "ses_1", "repo:42:pull:1": "ses_1", "repo:3:pull:1": "ses_1",
		} {
			c.Keys = append(c.Keys, state.KeyLink{Key: key, SessionID: id})
		}
		c.Keys = append(c.Keys, state.KeyLink{Key: "repo:4:alias", SessionID: "ses_1", Alias: true})
		commit(t, s, c)
		commit(t, s, state.Change{Unlink: []string{"repo:4:pull:2"}})
		for limit := 1; limit < 4; limit++ {
			var got []string
			for after, more := "", true; more; {
				page := must(s.SessionKeys(t.Context(), "repo:4:", after, limit))(t)
				if len(page) > limit {
					t.Errorf("a page of %d has %d keys", limit, len(page))
				}
				more = len(page) == limit
				for _, k := range page {
					got = append(got, k.Key+" "+k.SessionID)
					after = k.Key
				}
			}
			wantJSON(t, got, []string{"repo:4: ses_2", "repo:4:pull:1 ses_1", "repo:4:pull:3 ses_1"}, fmt.Sprintf("keys by %d", limit))
		}
		if page := must(s.SessionKeys(t.Context(), "repo:4:", "", 0))(t); len(page) != 0 {
			t.Errorf("a page of 0 has %v", page)
		}
	})

	t.Run("deliveries come newest first, by page and filter, without bodies", func(t *testing.T) {
		s := open(t)
		if rows, next, err := s.Deliveries(t.Context(), state.DeliveryFilter{}, 9); len(rows) != 0 || next != 0 || err != nil {
			t.Errorf("an empty store lists %+v, goes on before %d, %v", rows, next, err)
		}
		for i := range 6 {
			d := delivery(fmt.Sprint(i))
			if i%2 == 1 {
				d.Source = "slack"
			}
			must(s.Accept(t.Context(), d))(t)
		}
		commit(t, s, state.Change{
			Sessions: []state.Session{session("ses_1")},
			Deliveries: []state.DeliveryUpdate{
				{Seq: 5, Status: state.DeliveryDone, SessionID: "ses_1"},
				{Seq: 2, Status: state.DeliveryDone, SessionID: "ses_2"},
				{Seq: 3, Status: state.DeliveryPending, Attempts: 1, NotBefore: at(9)},
			},
		})
		for name, c := range map[string]struct {
			filter state.DeliveryFilter
			want   []uint64
		}{
			"all":                   {state.DeliveryFilter{}, []uint64{6, 5, 4, 3, 2, 1}},
			"of a source":           {state.DeliveryFilter{Source: "slack"}, []uint64{6, 4, 2}},
			"of a status":           {state.DeliveryFilter{Status: state.DeliveryDone}, []uint64{5, 2}},
			"pending":               {state.DeliveryFilter{Status: state.DeliveryPending}, []uint64{6, 4, 3, 1}},
			"of a session":          {state.DeliveryFilter{SessionID: "ses_1"}, []uint64{5}},
			"older":                 {state.DeliveryFilter{Before: 4}, []uint64{3, 2, 1}},
			"older than the oldest": {state.DeliveryFilter{Before: 1}, []uint64{}},
			"of a status and a source": {
				state.DeliveryFilter{Status: state.DeliveryDone, Source: "slack"}, []uint64{2}},
		} {
			for _, page := range []int{1, 2, 9} {
				seqs := []uint64{}
				for _, d := range everyDelivery(t, s, c.filter, page) {
					seqs = append(seqs, d.Seq)
					if len(d.Body) != 0 || d.ID != fmt.Sprint(d.Seq-1) || d.Headers["X-Github-Event"] != "pull_request" {
						t.Errorf("listed as %+v", d)
					}
				}
				wantJSON(t, seqs, c.want, fmt.Sprintf("%s, by %d", name, page))
			}
		}
		if rows, next, err := s.Deliveries(t.Context(), state.DeliveryFilter{}, 0); len(rows) != 0 || next != 0 || err != nil {
			t.Errorf("a page of 0 has %+v, goes on before %d, %v", rows, next, err)
		}
		rows, next, err := s.Deliveries(t.Context(), state.DeliveryFilter{}, 6)
		if len(rows) != 6 || next != 0 || err != nil {
			t.Errorf("a page of all has %d and goes on before %d, %v", len(rows), next, err)
		}
	})

	t.Run("sessions come newest first, by owner and channel", func(t *testing.T) {
		s := open(t)
		for i, owner := range []string{"ann", "bob", "ann", "", "annabel", "ann"} {
			row := session(fmt.Sprint("ses_", i+1))
			row.Principal = owner
			if i%2 == 1 {
				row.Channel = "http"
			}
			commit(t, s, state.Change{Sessions: []state.Session{row}})
		}
		changed := must(s.Session(t.Context(), "ses_1"))(t)
		changed.Title = "Changed"
		commit(t, s, state.Change{Sessions: []state.Session{changed}})
		for name, c := range map[string]struct {
			filter state.SessionFilter
			want   []string
		}{
			"all":                     {state.SessionFilter{}, []string{"ses_6", "ses_5", "ses_4", "ses_3", "ses_2", "ses_1"}},
			"older":                   {state.SessionFilter{Before: "ses_3"}, []string{"ses_2", "ses_1"}},
			"of an owner":             {state.SessionFilter{Principal: "ann"}, []string{"ses_6", "ses_3", "ses_1"}},
			"of an owner, older":      {state.SessionFilter{Principal: "ann", Before: "ses_6"}, []string{"ses_3", "ses_1"}},
			"of a channel":            {state.SessionFilter{Channel: "http"}, []string{"ses_6", "ses_4", "ses_2"}},
			"of a channel, older":     {state.SessionFilter{Channel: "http", Before: "ses_4"}, []string{"ses_2"}},
			"of both":                 {state.SessionFilter{Principal: "ann", Channel: "http"}, []string{"ses_6"}},
			"of nobody that there is": {state.SessionFilter{Principal: "zoe"}, []string{}},
		} {
			for _, limit := range []int{0, 1, 9} {
				ids := []string{}
				for _, row := range must(s.RecentSessions(t.Context(), c.filter, limit))(t) {
					ids = append(ids, row.ID)
				}
				wantJSON(t, ids, c.want[:min(limit, len(c.want))], fmt.Sprintf("%s, at most %d", name, limit))
			}
		}
		if got := must(s.RecentSessions(t.Context(), state.SessionFilter{Before: "ses_2"}, 9))(t); got[0].Title != "Changed" {
			t.Errorf("listed as %+v", got)
		}
	})

	t.Run("a key that is unlinked names nothing and can be linked anew", func(t *testing.T) {
		s := open(t)
		commit(t, s, state.Change{
			Sessions: []state.Session{session("ses_1"), session("ses_2")},
			Keys:     []state.KeyLink{{Key: "k", SessionID: "ses_1"}, {Key: "a", SessionID: "ses_1", Alias: true}},
		})
		commit(t, s, state.Change{Unlink: []string{"k", "a", "unknown"}})
		for _, key := range []string{"k", "a"} {
			_, err := s.SessionByKey(t.Context(), key)
			wantErr(t, err, state.ErrNotFound, "an unlinked key")
		}
		commit(t, s, state.Change{Keys: []state.KeyLink{{Key: "k", SessionID: "ses_2"}}})
		// In one change it goes from one session to the other.
		commit(t, s, state.Change{Unlink: []string{"k"}, Keys: []state.KeyLink{{Key: "k", SessionID: "ses_1"}}})
		if got := must(s.SessionByKey(t.Context(), "k"))(t); got.ID != "ses_1" {
			t.Errorf("the key names %s", got.ID)
		}
		_, err := s.Commit(t.Context(), state.Change{Keys: []state.KeyLink{{Key: "k", SessionID: "ses_2"}}})
		wantErr(t, err, state.ErrConflict, "linking without unlinking")
		_, err = s.Commit(t.Context(), state.Change{Unlink: []string{""}})
		wantErr(t, err, state.ErrInvalid, "unlinking no key")
	})
}
