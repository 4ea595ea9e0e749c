package bridge

import (
	"context"
	"fmt"
	"os"
	"time"
)

// PromptOptions tune [Prompt]. The zero value asks the first model of the bridge
// that is found, in the current directory.
type PromptOptions struct {
	// Bridge says which bridge is asked. Without a StateRoot the bridge works in a
	// temporary one that is removed, so that any number of prompts can run at once.
	Bridge Options
	Agent  AgentOptions
	Send   SendOptions
	// Images go with the text.
	Images []Image
}

// closeGraces is how many StopGraces the end of a prompt may take: one to stop the
// bridge, one to end it, and the rest for its tools.
const closeGraces = 4

// Prompt asks an agent one thing and returns the answer: it starts a bridge, makes
// an agent, sends the text, waits for the end of the run and closes everything,
// whatever happens. A run that did not finish is a [*RunFailedError], and its
// Result is returned too. When ctx ends, the run is cancelled.
func Prompt(ctx context.Context, text string, o PromptOptions) (Result, error) {
	if o.Bridge.URL == "" && o.Bridge.StateRoot == "" {
		root, err := os.MkdirTemp("", "liaison-prompt-")
		if err != nil {
			return Result{}, fmt.Errorf("bridge: prompt: make a state root: %w", err)
		}
		defer func() { _ = os.RemoveAll(root) }() // what is left is in the system's temporary directory
		o.Bridge.StateRoot = root
		if o.Bridge.Workspace == "" && o.Agent.Local != nil {
			// Some bridges look for an agent in the store of their own directory only.
			o.Bridge.Workspace = o.Agent.Local.Dir
		}
		if o.Bridge.Workspace == "" {
			if o.Bridge.Workspace, err = os.Getwd(); err != nil {
				return Result{}, fmt.Errorf("bridge: prompt: find the current directory: %w", err)
			}
		}
	}
	client, err := New(o.Bridge)
	if err != nil {
		return Result{}, err
	}
	after := context.WithoutCancel(ctx)
	defer func() {
		// It kills what does not stop. Only a tool that ignores its context holds it up.
		closing, cancel := context.WithTimeout(after, closeGraces*client.options.StopGrace)
		defer cancel()
		if err := client.Close(closing); err != nil {
			client.options.Logger.Warn("after a prompt: close the client", "error", err)
		}
	}()
	// What else fails now changes nothing of the answer.
	finally := func(what string, do func(context.Context) error) {
		limited, cancel := context.WithTimeout(after, client.options.StopGrace)
		defer cancel()
		if err := do(limited); err != nil {
			client.options.Logger.Warn("after a prompt: "+what, "error", err)
		}
	}

	agent, err := client.Agents().Create(ctx, o.Agent)
	if err != nil {
		return Result{}, err
	}
	defer finally("close the agent", agent.Close)

	// A run that has no name yet cannot be cancelled, and a bridge that is attached
	// to goes on: give the run a moment to get its name.
	sending, stop := outlast(ctx, client.options.StopGrace)
	run, err := agent.Send(sending, Message{Text: text, Images: o.Images}, o.Send)
	stop()
	if err != nil {
		return Result{}, err
	}
	result, err := run.Wait(ctx)
	if err != nil {
		if ctx.Err() != nil {
			finally("cancel the run", run.Cancel)
		}
		return Result{}, err
	}
	if result.Status != RunFinished {
		return result, &RunFailedError{Result: result}
	}
	return result, nil
}

// outlast returns a context that ends when ctx has been over for grace.
func outlast(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unlink := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() { unlink(); cancel() }
}
