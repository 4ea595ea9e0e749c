package sessions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/boltstore"
	"github.com/liaison-bot/liaison/state/memstore"
)

// poisonDir names, in the environment of a helper process, its state directory.
const poisonDir = "LIAISON_TEST_POISON_DIR"

// deadly is the text of a delivery that ends the process that reads it.
const deadly = "takes the process with it"

// deadlyExit is the exit status of such a process.
const deadlyExit = 7

// TestPoisonHelper is a process of its own: an engine that works until nothing
// is pending.
func TestPoisonHelper(t *testing.T) {
	dir := os.Getenv(poisonDir)
	if dir == "" {
		t.Skip("runs in a process of its own")
	}
	store := openBolt(t, dir)
	e, err := New(Options{
		Store: store, Log: memstore.NewEventLog(), Runner: &scriptedRunner{}, Dir: dir,
		Channels: []Channel{&deadlyChannel{newWorld()}},
		Redact: func(s string) string {
			if s == deadly+" when it is decided" {
				os.Exit(deadlyExit)
			}
			return s
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	for ctx.Err() == nil {
		pending, err := store.Pending(ctx, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(pending) == 0 {
			break
		}
		time.Sleep(time.Millisecond) // another goroutine decides; nothing tells us when
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// deadlyChannel ends the process when it is asked what a deadly delivery means.
type deadlyChannel struct{ *world }

func (c *deadlyChannel) Map(d Delivery) (Intent, error) {
	if strings.Contains(string(d.Body), deadly+" when it is read") {
		os.Exit(deadlyExit)
	}
	return c.world.Map(d)
}

func openBolt(t *testing.T, dir string) *boltstore.Store {
	t.Helper()
	store, err := boltstore.Open(filepath.Join(dir, "liaison.db"), boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store
}

func TestADeliveryThatTakesTheProcessWithItIsGivenUp(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"read", "decided"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			fill(t, dir, func(i int) string {
				if i == 13 {
					return fmt.Sprintf(`{"key":"bad","text":"%s when it is %s"}`, deadly, when)
				}
				return fmt.Sprintf(`{"key":"k%d","text":"fine"}`, i)
			})
			deaths := 0
			for dies(t, dir) {
				if deaths++; deaths > 2*maxDeadly {
					t.Fatal("the process dies again and again")
				}
			}
			if deaths != maxDeadly+1 { // once among others
				t.Errorf("the process died %d times", deaths)
			}
			store := openBolt(t, dir)
			for i := range poisonDeliveries {
				d, err := store.Delivery(t.Context(), "test", fmt.Sprint("d", i))
				if err != nil {
					t.Fatal(err)
				}
				status, decision, attempts := state.DeliveryDone, "queued", 1
				if i == 13 {
					status, decision, attempts = state.DeliveryDead, "the process was lost 5 times while it decided", maxDeadly
				}
				if d.Status != status || !strings.Contains(d.Decision, decision) || d.Attempts != attempts {
					t.Errorf("delivery %d is %s after %d attempts (%s), want %s after %d (…%s…)",
						i, d.Status, d.Attempts, d.Decision, status, attempts, decision)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, handNoteName)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a note is left after a clean end: %v", err)
			}
		})
	}
}

const poisonDeliveries = 40

// fill stores deliveries in a new state directory.
func fill(t *testing.T, dir string, body func(i int) string) {
	t.Helper()
	store, err := boltstore.Open(filepath.Join(dir, "liaison.db"), boltstore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range poisonDeliveries {
		d := state.Delivery{Source: "test", ID: fmt.Sprint("d", i), Event: "e", Body: []byte(body(i))}
		if _, err := store.Accept(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

// dies runs a helper process and reports whether a deadly delivery ended it.
func dies(t *testing.T, dir string) bool {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPoisonHelper$")
	cmd.Env = append(os.Environ(), poisonDir+"="+dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == deadlyExit {
		return true
	}
	if err != nil {
		t.Fatalf("helper: %v\n%s", err, out)
	}
	return false
}

func TestHandNote(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open := func(epoch uint64, want ...uint64) *handNote {
		t.Helper()
		note, left, err := openHandNote(dir, epoch)
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(left) != fmt.Sprint(want) {
			t.Errorf("left in hand: %v, want %v", left, want)
		}
		return note
	}
	write := func(n *handNote, epoch uint64, seqs ...uint64) {
		t.Helper()
		if err := n.write(epoch, seqs); err != nil {
			t.Fatal(err)
		}
	}
	first := open(1)
	write(first, 1, 10, 11, 12, 1<<63)
	write(first, 1, 13, 14) // shorter than what was there
	second := open(2, 13, 14)
	write(second, 2, 5)
	_ = first.f.Close()
	other := open(7) // of another store, or some other process was there in between
	other.remove()
	_ = second.f.Close()
	open(3).remove()
}

// FuzzHandNote reads any note: it never names more than could be in hand.
func FuzzHandNote(f *testing.F) {
	f.Add([]byte("7 1 2 3\n 9"))
	f.Add([]byte("7"))
	f.Add([]byte("\n"))
	f.Add([]byte("x 1\n"))
	f.Add([]byte("99999999999999999999 1\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if _, seqs := parseHandNote(raw); len(seqs) > maxNoted {
			t.Errorf("%d deliveries", len(seqs))
		}
	})
}

func TestADeliveryThatMakesItsDecisionPanicIsGivenUp(t *testing.T) {
	faulty := func(o *Options) {
		o.Redact = func(s string) string {
			if s == "unspeakable" {
				panic("no words for it")
			}
			return s
		}
	}
	inHouseWith(t, faulty, func(h *house) {
		id := h.send(request{Key: "k", Rev: "a", At: 1, Text: "unspeakable"})
		h.settle()
		h.wantDelivery(id, state.DeliveryDead, "could not be decided: deciding panicked")
		h.send(push("b", "a", 2))
		h.wait(time.Minute)
		h.wantTurns("k", "b:completed")
	})
}
