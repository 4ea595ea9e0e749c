package main_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/handlers"
	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
)

// A commit fails, at random, while many deliver: whoever was answered 202 is in
// the store that is opened next, and checked, and whoever was answered 503 may
// be refused or not have been stored, but is told to come again.
func TestCommitFailsUnderLoad(t *testing.T) {
	t.Parallel()
	broken := errors.New("input/output error")
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range soakOr(4, 100) {
		after := random.Int64N(12)
		t.Run(fmt.Sprintf("%d seed %d after %d commits", i, seed, after), func(t *testing.T) {
			t.Parallel()
			var commits atomic.Int64
			path := filepath.Join(t.TempDir(), "liaison.db")
			d := openDoor(t, path, boltstore.Options{BeforeCommit: func() error {
				if commits.Add(1) > after {
					return broken
				}
				return nil
			}})
			acknowledged, refused := d.storm(200)
			if len(refused) == 0 {
				t.Error("no delivery is refused although no commit succeeds")
			}
			<-d.store.Failed()
			if status := d.ask("/readyz"); status != http.StatusServiceUnavailable {
				t.Errorf("ready after a failed commit: %d", status)
			}
			d.close()
			if _, err := os.Stat(path + ".suspect"); err != nil {
				t.Errorf("the next opening is not asked for a check: %v", err)
			}

			again := openDoor(t, path, boltstore.Options{})
			again.wantStored(acknowledged)
			if status := again.ask("/readyz"); status != http.StatusOK {
				t.Errorf("not ready after a checked opening: %d", status)
			}
			for _, id := range refused {
				if status := again.deliver(id); status != http.StatusAccepted {
					t.Errorf("sent again: %d", status)
				}
			}
			again.wantStored(append(acknowledged, refused...))
			again.close()
		})
	}
}

// A store that may not grow refuses deliveries and keeps what it has.
func TestSizeLimitUnderLoad(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "liaison.db")
	d := openDoor(t, path, boltstore.Options{MaxSize: 2 << 20})
	var acknowledged, refused []string
	for from := 0; len(refused) == 0; from += 200 {
		var more []string
		more, refused = d.stormFrom(from, 200)
		if acknowledged = append(acknowledged, more...); len(acknowledged) > 10_000 {
			t.Fatal("the limit holds nothing back")
		}
	}
	if len(acknowledged) == 0 {
		t.Error("nothing fits below the limit")
	}
	select {
	case <-d.store.Failed():
		t.Error("a store without room counts as failed")
	default:
	}
	// What was accepted can be decided: that has room of its own.
	pending, err := d.store.Pending(t.Context(), 0, len(acknowledged)+1)
	if err != nil || len(pending) != len(acknowledged) {
		t.Fatalf("%d of %d pending, %v", len(pending), len(acknowledged), err)
	}
	for _, p := range pending {
		update := state.DeliveryUpdate{Seq: p.Seq, Status: state.DeliveryDone, Decision: "decided"}
		if _, err := d.store.Commit(t.Context(), state.Change{Deliveries: []state.DeliveryUpdate{update}}); err != nil {
			t.Fatalf("decide in a store without room: %v", err)
		}
	}
	d.close()
	again := openDoor(t, path, boltstore.Options{Verify: true})
	again.wantStored(acknowledged)
	for _, id := range refused {
		if _, err := again.store.Delivery(t.Context(), "github", id); !errors.Is(err, state.ErrNotFound) {
			t.Errorf("%s was refused, and is stored: %v", id, err)
		}
	}
	again.close()
}

// door is the way in of a service, on a store of the test's own.
type door struct {
	t      *testing.T
	store  *boltstore.Store
	server *httptest.Server
	noise  []byte
}

func openDoor(t *testing.T, path string, options boltstore.Options) *door {
	t.Helper()
	store, err := boltstore.Open(path, options)
	if err != nil {
		t.Fatal(err)
	}
	d := &door{t: t, store: store, noise: make([]byte, 6000)}
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(d.noise) // it cannot be compressed
	d.server = httptest.NewServer(handlers.New(handlers.Options{
		Inbox: store, Check: store.Check, GitHubSecrets: []string{webhookSecret}, Now: time.Now,
		Logger: slog.New(slog.DiscardHandler),
	}))
	t.Cleanup(d.server.Close)
	t.Cleanup(func() { _ = store.Close() })
	return d
}

func (d *door) close() {
	d.t.Helper()
	d.server.Close()
	if err := d.store.Close(); err != nil {
		d.t.Errorf("close: %v", err)
	}
}

// deliver posts a delivery of some kilobytes and returns the status.
func (d *door) deliver(id string) int {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	body := fmt.Appendf(nil, `{"action":"opened","noise":"%x"}`, d.noise)
	request := sim.Webhook{DeliveryID: id, Event: "pull_request", Body: body}.Request(ctx, d.server.URL+"/webhooks/github", webhookSecret)
	response, err := d.server.Client().Do(request)
	if err != nil {
		d.t.Error(err)
		return 0
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusServiceUnavailable && response.Header.Get("Retry-After") == "" {
		d.t.Error("a refusal does not say when to come again")
	}
	return response.StatusCode
}

// storm delivers many at once and returns which were acknowledged and which refused.
func (d *door) storm(n int) (acknowledged, refused []string) { return d.stormFrom(0, n) }

func (d *door) stormFrom(from, n int) (acknowledged, refused []string) {
	var mu sync.Mutex
	var all sync.WaitGroup
	places := make(chan struct{}, 16)
	for i := range n {
		places <- struct{}{}
		all.Go(func() {
			defer func() { <-places }()
			id := fmt.Sprintf("delivery-%d", from+i)
			status := d.deliver(id)
			mu.Lock()
			defer mu.Unlock()
			switch status {
			case http.StatusAccepted:
				acknowledged = append(acknowledged, id)
			case http.StatusServiceUnavailable:
				refused = append(refused, id)
			default:
				d.t.Errorf("status %d", status)
			}
		})
	}
	all.Wait()
	return acknowledged, refused
}

func (d *door) ask(path string) int {
	response, err := d.server.Client().Get(d.server.URL + path)
	if err != nil {
		d.t.Error(err)
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// wantStored fails unless all of these are stored, whole.
func (d *door) wantStored(ids []string) {
	d.t.Helper()
	for _, id := range ids {
		stored, err := d.store.Delivery(d.t.Context(), "github", id)
		if err != nil || len(stored.Body) < 2*len(d.noise) {
			d.t.Errorf("%s was acknowledged, and is stored with %d bytes: %v", id, len(stored.Body), err)
		}
	}
}
