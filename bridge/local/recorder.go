package local

import (
	"errors"
	"fmt"
	"maps"
	"sync"
)

// recorder writes down what one run says. It may be used concurrently.
type recorder struct {
	registry *registry
	live     *run
	agentID  string
	runID    string

	mu sync.Mutex
	// written counts the messages of the record, so that a delta knows its place.
	written int
}

// opening says what every run says first.
func (c *recorder) opening(t task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.write(durableOnly, map[string]any{"request_id": requestPrefix + t.RunID})
	c.write("status", map[string]any{"status": string(statusRunning)})
	c.write("system", map[string]any{"subtype": "init", "model": map[string]any{"id": t.Model}, "tools": shownTools(t)})
}

// report takes what the engine does.
func (c *recorder) report(e event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live.feed.report(c.written, e)
	if _, fleeting := e.(delta); !fleeting {
		c.write(e.message())
	}
}

// used says what a run that ended well has used.
func (c *recorder) used(u usage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.live.feed.ended(c.written, u)
	c.write("usage", map[string]any{"usage": u.fields()})
}

// write adds one message. When that fails the run is told to end: nobody may
// believe that it said less than it did.
func (c *recorder) write(kind string, fields map[string]any) {
	message := map[string]any{"type": kind, "agent_id": c.agentID, "run_id": c.runID}
	maps.Copy(message, fields)
	switch err := c.live.log.append(c.live.ctx, c.registry.now().UTC(), kind, message); {
	case err == nil:
		c.written++
	case errors.Is(err, errSealed):
	case errors.Is(err, errLogFull):
		c.live.cancel(&stop{statusError, "record_full", fmt.Sprintf("the run said more than the %d KiB that are kept of one run", c.registry.maxLog>>10)})
	default:
		c.registry.recordFailed(c.live, err)
	}
}

// shownTools are the tools that a run's first message names.
func shownTools(t task) []any {
	tools := make([]any, 0, len(t.Tools)+1)
	for _, name := range t.Tools {
		tools = append(tools, name)
	}
	if len(t.Custom) > 0 {
		tools = append(tools, toolMCP)
	}
	return tools
}
