package bridge

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Why a watch ends a stream. What callers see of it is an [*Error] that is ErrStalled.
var (
	errSilent    = errors.New("the run brought nothing at all")
	errEventless = errors.New("the run brought no event")
	errLeft      = errors.New("nothing follows the end of the run")
)

// farewell bounds the wait for what follows a result: done, and the end of the
// stream. Neither changes the result.
const farewell = 2 * time.Second

// watch ends a run's stream when it brings nothing for too long. Noting a frame
// costs no timer: the timer looks, when it fires, at how much is left.
type watch struct {
	// silence is the budget without any frame while no tool is open, eventless the
	// one without an event.
	silence, eventless time.Duration
	// working reports whether a tool of this program is at work for the run: nothing
	// that it takes long over is the bridge's fault.
	working func() bool

	mu        sync.Mutex
	cut       context.CancelCauseFunc // of the stream that is read now; nil when none is
	timer     *time.Timer
	lastFrame time.Time
	lastEvent time.Time // survives a change of the stream
	toolsOpen bool
	leaving   bool // only the end of the stream is missing
	paused    bool // nobody reads the stream
}

func newWatch(silence, eventless time.Duration) *watch {
	return &watch{
		silence: silence, eventless: eventless, lastEvent: time.Now(),
		working: func() bool { return false },
	}
}

// start watches a stream that is about to be opened.
func (w *watch) start(cut context.CancelCauseFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut, w.lastFrame, w.leaving = cut, time.Now(), false
	wait, _ := w.due(w.lastFrame)
	w.timer = time.AfterFunc(wait, w.check)
}

// stop ends the watch of the stream.
func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
	w.cut = nil
}

// frame notes a sign of life.
func (w *watch) frame() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastFrame = time.Now()
}

// event notes something new of the run.
func (w *watch) event() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastEvent = w.lastFrame
}

// tools notes whether a tool is open. While one is, old bridges send nothing,
// and the longer budget alone counts.
func (w *watch) tools(open bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.toolsOpen = open
}

// leave notes that the run is over.
func (w *watch) leave() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.leaving {
		w.leaving = true
		w.timer.Reset(farewell)
	}
}

// pause stops the clock while whoever gets the events is busy with one.
func (w *watch) pause() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = true
}

// resume starts it again.
func (w *watch) resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paused = false
	w.lastFrame = time.Now()
	w.lastEvent = w.lastFrame
}

// forgive begins the eventless budget anew.
func (w *watch) forgive() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lastEvent = time.Now()
}

// due returns how long the stream may still bring nothing, and what is said then.
func (w *watch) due(now time.Time) (time.Duration, error) {
	switch {
	case w.leaving:
		return w.lastFrame.Add(farewell).Sub(now), errLeft
	case w.paused:
		return w.silence, nil
	case w.working():
		w.lastFrame, w.lastEvent = now, now // the budgets begin when it is done
		return min(w.silence, w.eventless), nil
	}
	event := w.lastEvent.Add(w.eventless).Sub(now)
	if w.toolsOpen {
		if event <= 0 {
			return event, errEventless
		}
		// The end of a tool could set the timer anew, but so would every frame then.
		// This is early enough: the silence begins with the frame that says so.
		return min(event, w.silence), errEventless
	}
	silence := w.lastFrame.Add(w.silence).Sub(now)
	if event < silence {
		return event, errEventless
	}
	return silence, errSilent
}

func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cut == nil {
		return
	}
	wait, why := w.due(time.Now())
	if wait > 0 {
		w.timer.Reset(wait)
		return
	}
	w.cut(why)
}

// stalled reports whether a watch has ended the stream while the run went on.
func stalled(why error) bool { return errors.Is(why, errSilent) || errors.Is(why, errEventless) }

// stalled is what is said of a run that is given up because of a budget.
func (w *watch) stalled(why error) *Error {
	budget := w.silence
	if errors.Is(why, errEventless) {
		budget = w.eventless
	}
	e := &Error{Op: "follow run", Code: "deadline_exceeded", SDKCode: sdkStalled, detailed: true}
	e.Message = fmt.Sprintf("%v for %s", why, budget)
	return e
}
