package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
)

// The defaults of [Options].
const (
	defaultStartTimeout     = 30 * time.Second
	defaultStopGrace        = 5 * time.Second
	defaultCallTimeout      = 60 * time.Second
	defaultStallTimeout     = 2 * time.Minute
	defaultToolStallTimeout = 10 * time.Minute
	defaultConcurrentRuns   = 4
)

// ErrClosed is returned by every use of a client after Close, and ends the runs
// that were under way.
var ErrClosed = errors.New("bridge: the client is closed")

// Client drives one bridge. It is safe for concurrent use and must be closed.
type Client struct {
	options    Options
	supervisor *supervisor
	callbacks  *callbackServer
	// slots bounds the runs under way.
	slots chan struct{}
	runs  sync.WaitGroup

	mu        sync.Mutex
	busy      map[string]struct{} // agents with a run under way
	stopped   bool                // no new runs
	preferred preferredModel

	closing  sync.Once
	closed   chan struct{}
	closeErr error // valid after closed
}

// New checks the options and returns a client. Nothing is started or called yet.
func New(o Options) (*Client, error) {
	if err := o.complete(os.Getenv); err != nil {
		return nil, fmt.Errorf("bridge: %w", err)
	}
	c := &Client{
		options: o,
		slots:   make(chan struct{}, o.MaxConcurrentRuns),
		busy:    map[string]struct{}{},
		closed:  make(chan struct{}),
	}
	c.callbacks = newCallbackServer(o.Store, o.Logger, o.Redact)
	open := func(ctx context.Context, generation uint64) (*connection, error) {
		return c.options.launch(ctx, generation, c.callbacks)
	}
	if o.URL != "" {
		open = c.options.attach
	}
	c.supervisor = newSupervisor(open, o.Logger)
	return c, nil
}

// Attached reports whether the bridge is someone else's, so that it goes on, with
// its runs, when this program ends.
func (c *Client) Attached() bool { return c.options.URL != "" }

// complete checks options and fills in what was left out.
func (o *Options) complete(getenv func(string) string) error {
	if o.Executable != "" && o.URL != "" {
		return errors.New("both Executable and URL are set; choose one")
	}
	if o.URL != "" && o.Store != nil {
		return errors.New("Store is set, but only a bridge that is started here can be told of it; use Executable instead of URL")
	}
	if o.URL != "" {
		u, err := url.Parse(o.URL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") || u.User != nil || u.RawQuery != "" {
			return errors.New("URL must look like http://host:port")
		}
	} else {
		if o.Executable == "" {
			if err := o.locate(getenv); err != nil {
				return err
			}
		}
		if o.APIKey == "" {
			o.APIKey = placeholderKey
		}
		if err := o.completePaths(getenv); err != nil {
			return err
		}
	}
	for _, d := range []struct {
		value *time.Duration
		name  string
		usual time.Duration
	}{
		{&o.StartTimeout, "StartTimeout", defaultStartTimeout},
		{&o.StopGrace, "StopGrace", defaultStopGrace},
		{&o.CallTimeout, "CallTimeout", defaultCallTimeout},
		{&o.StallTimeout, "StallTimeout", defaultStallTimeout},
		{&o.ToolStallTimeout, "ToolStallTimeout", defaultToolStallTimeout},
	} {
		if *d.value < 0 {
			return fmt.Errorf("%s is negative", d.name)
		}
		if *d.value == 0 {
			*d.value = d.usual
		}
	}
	if err := o.Retry.complete(); err != nil {
		return err
	}
	if o.MaxConcurrentRuns < 0 {
		return errors.New("MaxConcurrentRuns is negative")
	}
	if o.MaxConcurrentRuns == 0 {
		o.MaxConcurrentRuns = defaultConcurrentRuns
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return nil
}

// placeholderKey stands in where there is no key, since every bridge wants one:
// Liaison's own asks nobody about it, another says that it is refused. It is
// masked like any key, so that it must not be a word that people read.
const placeholderKey = "no-key-is-needed"

// completePaths makes the paths of a bridge to start absolute: it starts in
// Workspace, and a relative path would be looked up there.
func (o *Options) completePaths(getenv func(string) string) error {
	var err error
	if o.Workspace == "" {
		o.Workspace = o.StateRoot // the current directory when that is empty too
	}
	if o.Workspace, err = filepath.Abs(o.Workspace); err != nil {
		return fmt.Errorf("find Workspace: %w", err)
	}
	if o.StateRoot == "" {
		if o.StateRoot, err = defaultStateRoot(o.Workspace, getenv); err != nil {
			return err
		}
	}
	if o.StateRoot, err = filepath.Abs(o.StateRoot); err != nil {
		return fmt.Errorf("find StateRoot: %w", err)
	}
	// A bare name is looked up in PATH.
	if strings.ContainsRune(filepath.ToSlash(o.Executable), '/') {
		if o.Executable, err = filepath.Abs(o.Executable); err != nil {
			return fmt.Errorf("find Executable: %w", err)
		}
	}
	return nil
}

// attach opens a bridge that someone else runs.
func (o *Options) attach(ctx context.Context, generation uint64) (*connection, error) {
	c := newConnection(o.URL, o.Token, newMasker(o.Redact, o.Token, o.APIKey).mask, o)
	c.generation = generation
	if err := c.greet(ctx); err != nil {
		c.end(err)
		c.http.CloseIdleConnections()
		return nil, err
	}
	return c, nil
}

// Ping shows that the bridge is alive, after starting it if need be.
func (c *Client) Ping(ctx context.Context) error {
	conn, err := c.supervisor.connection(ctx)
	if err != nil {
		return err
	}
	return conn.ping(ctx)
}

// Version asks the bridge what it is.
func (c *Client) Version(ctx context.Context) (Version, error) {
	conn, err := c.supervisor.connection(ctx)
	if err != nil {
		return Version{}, err
	}
	return conn.getVersion(ctx)
}

// Models is short for Catalog().Models.
func (c *Client) Models(ctx context.Context) ([]Model, error) { return c.Catalog().Models(ctx) }

// Agents makes agents and finds them again.
func (c *Client) Agents() *Agents { return &Agents{client: c} }

// CancelRun stops a run that this client does not hold, such as one that an
// earlier program started on an attached bridge.
func (c *Client) CancelRun(ctx context.Context, agentID, runID string) error {
	conn, err := c.supervisor.connection(ctx)
	if err != nil {
		return err
	}
	return conn.cancelRun(ctx, agentID, runID)
}

// Generation counts the bridge processes that were started, failed starts
// included; 0 before the first.
func (c *Client) Generation() uint64 {
	c.supervisor.mu.Lock()
	defer c.supervisor.mu.Unlock()
	return c.supervisor.generation
}

// Exited returns a channel that is closed when the bridge process that runs now
// has ended, and nil when none runs. The next use starts another.
func (c *Client) Exited() <-chan struct{} {
	conn := c.supervisor.last()
	if conn == nil || conn.process == nil {
		return nil
	}
	return conn.ctx.Done()
}

// Close ends the runs under way and stops the bridge that this client started:
// it is asked, told after StopGrace and killed after another. The end of ctx
// kills it at once. Close returns when the process is gone and the calls of tools
// have returned; with an error when ctx ended before they had. Calling it again
// is harmless.
func (c *Client) Close(ctx context.Context) error {
	c.closing.Do(func() {
		defer close(c.closed)
		c.mu.Lock()
		c.stopped = true
		c.mu.Unlock()
		if conn := c.supervisor.close(); conn != nil {
			conn.close(ctx, c.options.StopGrace)
		}
		c.runs.Wait()
		// Last, since a bridge that stops still writes to its store.
		c.closeErr = c.callbacks.close(ctx)
	})
	<-c.closed
	return c.closeErr
}

// reserve claims the agent and one of the slots for a run. The bridge advertises
// limits that it does not enforce and says "busy" in ways that cannot be told
// apart, so this client keeps count itself.
func (c *Client) reserve(ctx context.Context, agentID string) (release func(), err error) {
	if err := c.claim(agentID); err != nil {
		return nil, err
	}
	free := func() {
		c.mu.Lock()
		delete(c.busy, agentID)
		c.mu.Unlock()
		c.runs.Done()
	}
	select {
	case c.slots <- struct{}{}:
		return func() { <-c.slots; free() }, nil
	case <-ctx.Done():
		free()
		return nil, fmt.Errorf("bridge: wait for one of %d runs to end: %w", cap(c.slots), ctx.Err())
	case <-c.supervisor.ctx.Done():
		free()
		return nil, ErrClosed
	}
}

func (c *Client) claim(agentID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped {
		return ErrClosed
	}
	if _, taken := c.busy[agentID]; taken {
		return refuse("send", connect.CodeFailedPrecondition, "AGENT_BUSY", "agent %s has a run under way", agentID)
	}
	c.busy[agentID] = struct{}{}
	c.runs.Add(1)
	return nil
}

func (c *Client) isBusy(agentID string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, busy := c.busy[agentID]
	return busy
}
