package local

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/bridge/local/chat"
)

const (
	// listTimeout is how long a list of models may take: callers wait for it.
	listTimeout = 5 * time.Second
	// listFresh is how long a list is used before it is asked for again, behind the
	// back of those who use it.
	listFresh = 5 * time.Minute
	// listAgain is how long after a list that failed, or that lacked a model, it
	// is asked for again.
	listAgain = 15 * time.Second
	// ownPrefix is that of the bridge's own models, which no endpoint may take.
	ownPrefix = "liaison-"
)

// chatCatalog is what is known of an endpoint's models.
type chatCatalog struct {
	ask    func(ctx context.Context) ([]chat.Model, error)
	logger *slog.Logger
	now    func() time.Time

	life  context.Context // ended by close
	end   context.CancelFunc
	tasks sync.WaitGroup

	mu     sync.Mutex
	models []chat.Model
	// listed is set once there was a list; the last one stays when a later one fails.
	listed bool
	// asked is when the endpoint was asked last, failed whether in vain.
	asked   time.Time
	failed  bool
	err     error         // why there was no list the last time
	pending chan struct{} // closed when the answer is there; nil when nobody asks
}

func newChatCatalog(ask func(context.Context) ([]chat.Model, error), logger *slog.Logger, now func() time.Time) *chatCatalog {
	c := &chatCatalog{ask: ask, logger: logger, now: now}
	c.life, c.end = context.WithCancel(context.Background())
	return c
}

func (c *chatCatalog) close() {
	c.end()
	c.tasks.Wait()
}

// refresh asks for the list if that is worth it, and waits for it unless the one
// there is will do.
func (c *chatCatalog) refresh(ctx context.Context, wanted string) {
	c.mu.Lock()
	age := c.now().Sub(c.asked)
	first := c.asked.IsZero()
	missing := wanted != "" && c.listed && !c.hasLocked(wanted)
	retry := (c.failed || missing) && age >= listAgain
	if first || retry || age >= listFresh {
		c.beginLocked()
	}
	pending := c.pending
	wait := pending != nil && (!c.listed || missing)
	c.mu.Unlock()
	if !wait {
		return
	}
	select {
	case <-pending:
	case <-ctx.Done():
	}
}

// beginLocked asks the endpoint, once at a time; the lock is held.
func (c *chatCatalog) beginLocked() {
	if c.pending != nil || c.life.Err() != nil {
		return
	}
	done := make(chan struct{})
	c.pending = done
	c.tasks.Go(func() {
		defer close(done)
		ctx, cancel := context.WithTimeout(c.life, listTimeout)
		defer cancel()
		models, err := c.ask(ctx)
		c.settle(models, err)
	})
}

func (c *chatCatalog) settle(models []chat.Model, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending, c.asked, c.failed, c.err = nil, c.now(), err != nil, err
	switch {
	case err == nil:
		c.models, c.listed = models, true
	case c.life.Err() != nil: // the bridge stops
	case errors.Is(err, chat.ErrNoList):
		c.failed = false // it will not be there in a moment either
		c.logger.Warn("the model endpoint lists no models; any model id is taken for one of its own, and one has to be named", "error", err)
	default:
		c.logger.Warn("the models of the endpoint could not be listed", "error", err)
	}
}

// list is what is known, without what is the bridge's own.
func (c *chatCatalog) list() []chat.Model {
	c.mu.Lock()
	defer c.mu.Unlock()
	out := make([]chat.Model, 0, len(c.models))
	for _, m := range c.models {
		if !strings.HasPrefix(m.ID, ownPrefix) {
			out = append(out, m)
		}
	}
	return out
}

// unlisted says why there never was a list; nil once there was one.
func (c *chatCatalog) unlisted() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listed {
		return nil
	}
	return c.err
}

// accepts takes any id for a model as long as there never was a list.
func (c *chatCatalog) accepts(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return id != "" && !strings.HasPrefix(id, ownPrefix) && (!c.listed || c.hasLocked(id))
}

func (c *chatCatalog) hasLocked(id string) bool {
	for _, m := range c.models {
		if m.ID == id {
			return true
		}
	}
	return false
}

// window is how many tokens a model's context holds; 0 when nobody says.
func (c *chatCatalog) window(id string) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, m := range c.models {
		if m.ID == id {
			return m.Window
		}
	}
	return 0
}
