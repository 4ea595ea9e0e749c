package handlers_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

// What comes by another way than HTTP is stored and counted as by HTTP.
func TestDirectDeliveries(t *testing.T) {
	t.Parallel()
	store, told := memstore.New(memstore.Options{}), &counts{}
	direct := handlers.NewDirect(handlers.Options{
		Inbox: store, Metrics: told, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
	})
	d := state.Delivery{Source: "slack", ID: "Ev1", Event: "event_callback", Body: []byte("{}"), ReceivedAt: time.Unix(1, 0)}
	for range 2 {
		if err := direct.Take(t.Context(), d); err != nil {
			t.Error(err)
		}
	}
	if stored, err := store.Delivery(t.Context(), "slack", "Ev1"); err != nil || string(stored.Body) != "{}" {
		t.Errorf("stored %+v, %v", stored, err)
	}
	d.ID = ""
	if err := direct.Take(t.Context(), d); !errors.Is(err, state.ErrInvalid) {
		t.Errorf("without an id: %v", err)
	}
	d.ID = "Ev2"
	if err := errors.Join(store.Close(), direct.Take(t.Context(), d)); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("by a store that is closed: %v", err)
	}
	want := "slack accepted true 2,slack duplicate true 2,slack refused false 2,slack unavailable false 2"
	if got := strings.Join(told.told, ","); got != want {
		t.Errorf("counted %s", got)
	}
}
