package memstore_test

import (
	"errors"
	"testing"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/memstore"
)

func TestFailedCommitEndsTheStore(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk gone")
	var fault error
	s := memstore.New(memstore.Options{BeforeCommit: func() error { return fault }})
	ctx := t.Context()
	if _, err := s.Accept(ctx, state.Delivery{Source: "github", ID: "1"}); err != nil {
		t.Fatal(err)
	}
	fault = broken
	if _, err := s.Accept(ctx, state.Delivery{Source: "github", ID: "2"}); !errors.Is(err, state.ErrUnavailable) || !errors.Is(err, broken) {
		t.Fatalf("Accept with a failing disk: %v, want ErrUnavailable and the cause", err)
	}
	<-s.Failed()
	fault = nil
	if _, err := s.Delivery(ctx, "github", "1"); !errors.Is(err, state.ErrUnavailable) {
		t.Errorf("reading a failed store: %v, want ErrUnavailable", err)
	}
	again := s.Reopen()
	if _, err := again.Delivery(ctx, "github", "1"); err != nil {
		t.Errorf("after the reopen: %v", err)
	}
	if again.Epoch() <= s.Epoch() {
		t.Errorf("epoch %d after %d, want a later one", again.Epoch(), s.Epoch())
	}
}
