package local

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/bridge/local/chat"
)

// listing is an endpoint's list of models as a test sets it.
type listing struct {
	mu     sync.Mutex
	models []chat.Model
	err    error
	hang   bool
	times  int
}

func (l *listing) ask(ctx context.Context) ([]chat.Model, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.times++
	if l.hang {
		l.mu.Unlock()
		<-ctx.Done()
		l.mu.Lock()
		return nil, ctx.Err()
	}
	return l.models, l.err
}

// become changes what it answers from now on.
func (l *listing) become(hang bool, models ...chat.Model) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hang, l.models = hang, models
}

// asked is how often it was asked.
func (l *listing) asked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.times
}

// inBubble runs a test of a catalog in virtual time.
func inBubble(t *testing.T, l *listing, test func(c *chatCatalog)) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		c := newChatCatalog(l.ask, quiet(), time.Now)
		defer c.close()
		test(c)
	})
}

func TestAnEndpointThatDoesNotAnswerHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	l := &listing{hang: true}
	inBubble(t, l, func(c *chatCatalog) {
		began := time.Now()
		impatient, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		c.refresh(impatient, "")
		if took := time.Since(began); took != time.Second {
			t.Errorf("a caller with a second waited %v", took)
		}
		c.refresh(context.Background(), "some-model")
		if took := time.Since(began); took != listTimeout {
			t.Errorf("a caller with patience waited until %v, want %v", took, listTimeout)
		}
		// For a while nobody tries again.
		c.refresh(context.Background(), "")
		if took := time.Since(began); took != listTimeout || l.asked() != 1 {
			t.Errorf("the next caller waited until %v; the endpoint was asked %d times", took, l.asked())
		}
		if len(c.list()) > 0 || !c.accepts("some-model") {
			t.Errorf("it lists %v", c.list())
		}
		time.Sleep(listAgain)
		l.become(false, chat.Model{ID: "big", Window: 1000})
		c.refresh(context.Background(), "")
		if !c.accepts("big") || c.accepts("some-model") || c.window("big") != 1000 {
			t.Errorf("it lists %v", c.list())
		}
	})
}

func TestAnOldListIsUsedWhileANewOneIsFetched(t *testing.T) {
	t.Parallel()
	l := &listing{models: []chat.Model{{ID: "old"}}}
	inBubble(t, l, func(c *chatCatalog) {
		ctx := context.Background()
		c.refresh(ctx, "")
		c.refresh(ctx, "")
		if l.asked() != 1 {
			t.Errorf("a fresh list was asked for %d times", l.asked())
		}
		time.Sleep(listFresh)
		l.become(true)
		began := time.Now()
		c.refresh(ctx, "")
		c.refresh(ctx, "old")
		if time.Since(began) > 0 || !c.accepts("old") {
			t.Error("somebody waited for a new list although the old one would do")
		}
		time.Sleep(listTimeout) // the new one failed
		if !c.accepts("old") || c.accepts("new") {
			t.Errorf("after a failure it lists %v", c.list())
		}
		// A model that is not in it is worth the wait, but not at once again.
		l.become(false, chat.Model{ID: "new"})
		asked := l.asked()
		c.refresh(ctx, "new")
		if l.asked() != asked || c.accepts("new") {
			t.Error("it was asked again at once")
		}
		time.Sleep(listAgain)
		c.refresh(ctx, "new")
		if !c.accepts("new") || c.accepts("old") {
			t.Errorf("it lists %v", c.list())
		}
	})
}

func TestAMissingListIsLookedForRarely(t *testing.T) {
	t.Parallel()
	l := &listing{err: errors.Join(errors.New("404"), chat.ErrNoList)}
	inBubble(t, l, func(c *chatCatalog) {
		for range 10 {
			c.refresh(context.Background(), "any")
			time.Sleep(listFresh / 10)
		}
		if l.asked() != 1 || !c.accepts("any") || c.accepts(ownPrefix+"any") || c.accepts("") {
			t.Errorf("it was asked %d times and accepts %v", l.asked(), c.accepts("any"))
		}
	})
}
