package sessions

import (
	"context"
	cryptorand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/liaison-bot/liaison/state"
)

// Options says what an engine works with. Store, Log, Runner, Dir and at least
// one channel are needed; the rest has defaults.
type Options struct {
	Store    state.Store
	Log      state.EventLog
	Channels []Channel
	Runner   Runner
	// Dir is the state directory; the workspace of a session is
	// <Dir>/sessions/<id>/workspace.
	Dir string
	// MaxRunningTurns is how many turns run at once; [DefaultMaxRunningTurns] when zero.
	MaxRunningTurns int
	// TurnTimeout bounds one turn; [DefaultTurnTimeout] when zero.
	TurnTimeout time.Duration
	// Limits end a turn that uses more; see [TurnLimits].
	Limits TurnLimits
	// Prices are those of models, by the name that the bridge knows. A turn of
	// another model has no cost, and no limit of money.
	Prices map[string]Price
	// Agent returns what a turn that begins now is run with. It is called often, by
	// many goroutines. Nil stands for an agent that has nothing of its own.
	Agent func() Agent
	// Redact masks secrets in everything that is recorded, sent to the agent or
	// handed to a channel. Nil masks nothing.
	Redact func(string) string
	// Logger receives what an operator should know. Nil discards it.
	Logger *slog.Logger
	// Metrics is told what happens. Nil counts nothing.
	Metrics Metrics
	// Intake returns how many deliveries are being received at the moment, which
	// are then given way to: it is called often and must cost next to nothing.
	// Nil stands for none.
	Intake func() int
	// Now, NewID, Rand and Random are the clock, the ids, the jitter and the
	// source of continuation tokens, used by many goroutines. NewID returns an id
	// without prefix, and later ones sort after earlier ones; Rand returns a
	// number in [0, 1); Random must not be foreseeable.
	Now   func() time.Time
	NewID func() string
	Rand  func() float64

	Random io.Reader
}

// Engine runs sessions: it decides about deliveries, runs turns, and sees to it
// that what is owed to the world is delivered. All of it happens inside Run.
type Engine struct {
	store    state.Store
	log      state.EventLog
	channels map[string]Channel
	runner   Runner
	dir      string
	timeout  time.Duration
	limits   TurnLimits
	prices   map[string]Price
	agent    func() Agent
	redact   func(string) string
	logger   *slog.Logger
	metrics  Metrics
	now      func() time.Time
	newID    func() string
	rand     func() float64
	random   io.Reader

	pace    *pacer
	feed    *feed
	records *records
	actors  *actors
	turns   *turnQueue
	outbox  *outbox

	waiters    *waiters
	executions *executions

	timerSet    chan struct{}
	hastened    chan hastened
	broken      chan error // why a loop cannot go on
	dispatching atomic.Int64
	// directs counts the direct calls of tools that are under way.
	directs atomic.Int64
	running atomic.Bool
	// taking is set while messages and stops are taken directly.
	taking atomic.Bool
	ran    atomic.Bool
}

// New returns an engine that has not started yet.
func New(o Options) (*Engine, error) {
	switch {
	case o.Store == nil:
		return nil, errors.New("sessions: Options.Store is missing")
	case o.Log == nil:
		return nil, errors.New("sessions: Options.Log is missing")
	case o.Runner == nil:
		return nil, errors.New("sessions: Options.Runner is missing")
	case o.Dir == "":
		return nil, errors.New("sessions: Options.Dir is missing")
	case o.MaxRunningTurns < 0 || o.TurnTimeout < 0:
		return nil, errors.New("sessions: Options.MaxRunningTurns and TurnTimeout must not be negative")
	}
	dir, err := filepath.Abs(o.Dir) // a bridge takes no other
	if err != nil {
		return nil, fmt.Errorf("sessions: find Options.Dir: %w", err)
	}
	e := &Engine{
		store: o.Store, log: o.Log, runner: o.Runner, dir: dir,
		channels: make(map[string]Channel, len(o.Channels)),
		timeout:  o.TurnTimeout, agent: o.Agent, redact: o.Redact, logger: o.Logger, metrics: o.Metrics,
		now: o.Now, newID: o.NewID, rand: o.Rand, random: o.Random,
		limits: o.Limits.withDefaults(), prices: o.Prices,
		timerSet: make(chan struct{}, 1),
		hastened: make(chan hastened, maxHastened),
		broken:   make(chan error, 1),
	}
	for _, c := range o.Channels {
		if _, twice := e.channels[c.Name()]; twice || c.Name() == "" {
			return nil, fmt.Errorf("sessions: channel name %q is empty or used twice", c.Name())
		}
		e.channels[c.Name()] = c
	}
	e.setDefaults()
	e.pace = &pacer{intake: o.Intake, now: e.now}
	if o.Intake == nil {
		e.pace.intake = func() int { return 0 }
	}
	limit := o.MaxRunningTurns
	if limit == 0 {
		limit = DefaultMaxRunningTurns
	}
	e.feed = newFeed()
	e.records = newRecords(e)
	e.actors = newActors(e)
	e.turns = newTurnQueue(limit, e.grant, e.pace)
	e.outbox = newOutbox(e)
	e.waiters = newWaiters()
	e.executions = newExecutions()
	return e, nil
}

func (e *Engine) setDefaults() {
	if e.timeout == 0 {
		e.timeout = DefaultTurnTimeout
	}
	if e.agent == nil {
		e.agent = func() Agent { return Agent{} }
	}
	if e.redact == nil {
		e.redact = func(s string) string { return s }
	}
	if e.logger == nil {
		e.logger = slog.New(slog.DiscardHandler)
	}
	if e.metrics == nil {
		e.metrics = noMetrics{}
	}
	if e.now == nil {
		e.now = time.Now
	}
	if e.newID == nil {
		e.newID = monotonicIDs(e.now)
	}
	if e.rand == nil {
		e.rand = rand.Float64
	}
	if e.random == nil {
		e.random = cryptorand.Reader
	}
}

// ErrStoreFailed is returned by Run when the store can no longer be trusted.
// The process should exit non-zero and open the store anew, with a check.
var ErrStoreFailed = errors.New("sessions: the store failed; it must be opened anew")

// Run finds what an earlier process left and works until ctx is cancelled.
// Then it takes nothing more, gives running turns back to the queue without
// telling the world, lets effects under way finish, and returns nil within 20 s.
// It returns [ErrStoreFailed] when the store fails, and an error when the
// repair is impossible or what is stored cannot be read. An engine runs once.
func (e *Engine) Run(ctx context.Context) error {
	if e.ran.Swap(true) {
		return errors.New("sessions: an engine runs only once")
	}
	// Decisions outlive ctx for a bounded time, so that a stop is recorded too.
	work, cancelWork := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancelWork(errStopped)
	e.actors.begin(work)
	e.executions.begin(work)
	defer e.executions.cancel(errStopped)

	e.running.Store(true)
	defer e.running.Store(false)

	left, err := e.recoverState(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}

	e.clearScratches()

	intake, stopIntake := context.WithCancel(ctx)
	defer stopIntake()
	var loops sync.WaitGroup
	loops.Go(func() { left.run(intake) })
	loops.Go(func() { e.records.run(intake) })
	loops.Go(func() { newDispatcher(work, e).run(intake) })
	loops.Go(func() { e.runTimers(intake, work) })
	loops.Go(func() { e.outbox.run(intake, work) })
	e.turns.open()
	e.taking.Store(true)
	defer e.taking.Store(false)

	var result error
	select {
	case <-ctx.Done():
	case <-e.store.Failed():
		result = ErrStoreFailed
	case result = <-e.broken:
	}
	stopIntake()
	e.stop(&loops, cancelWork)
	return result
}

// abort ends Run because a loop cannot go on. A process that took deliveries
// and let them lie would look well to everybody.
func (e *Engine) abort(err error) {
	if errors.Is(err, state.ErrUnavailable) {
		return // it failed, which ends Run too, or was closed
	}
	select {
	case e.broken <- fmt.Errorf("sessions: %w", err):
	default: // one reason is enough
	}
}

// errStopped ends work that was still going on at the end of a stop.
var errStopped = errors.New("the service stopped")

// stop hands over what is running and waits, within bounds, for everything to end.
func (e *Engine) stop(loops *sync.WaitGroup, cancelWork context.CancelCauseFunc) {
	hard := time.AfterFunc(stopHard, func() { cancelWork(errStopped) })
	defer hard.Stop()

	e.turns.close()
	e.actors.stop()
	calls := time.AfterFunc(stopCalls, func() { e.executions.cancel(errStopped) })
	defer calls.Stop()
	loops.Wait()
	if !e.actors.wait(stopTurns) {
		// A runner that ignores its context cannot be ended from here. Its turn
		// stays running in the ledger, and the next process counts it as lost.
		e.logger.Error("turns did not stop in time; they will be recovered at the next start")
		cancelWork(errStopped)
		e.actors.wait(time.Second)
	}
}

// Status is a snapshot of what the engine is doing.
type Status struct {
	// Running is false before Run has recovered and after it has returned.
	Running bool `json:"running"`
	// ActiveSessions have something running or being decided, or stand in line.
	// Those whose turns wait for a later time do not count.
	ActiveSessions int `json:"activeSessions"`
	RunningTurns   int `json:"runningTurns"`
	// QueuedTurns wait for one of MaxRunningTurns; each stands for one session.
	QueuedTurns     int `json:"queuedTurns"`
	MaxRunningTurns int `json:"maxRunningTurns"`
	// Deciding is the number of deliveries that are read but not settled yet.
	Deciding int `json:"deciding"`
	// Delivering is the number of effects under way.
	Delivering int `json:"delivering"`
}

// Status returns what the engine is doing now.
func (e *Engine) Status() Status {
	running, queued := e.turns.counts()
	return Status{
		Running:         e.running.Load(),
		ActiveSessions:  e.actors.count(),
		RunningTurns:    running,
		QueuedTurns:     queued,
		MaxRunningTurns: e.turns.limit,
		Deciding:        int(e.dispatching.Load()),
		Delivering:      e.outbox.underWay(),
	}
}

// Workspace returns the directory in which a session's agent works.
func (e *Engine) Workspace(sessionID string) string {
	return filepath.Join(e.dir, "sessions", sessionID, "workspace")
}

// makeWorkspace creates it. Only the owner may read it: it holds private code.
func (e *Engine) makeWorkspace(sessionID string) (string, error) {
	dir := e.Workspace(sessionID)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("create workspace: %w", err)
	}
	return dir, nil
}
