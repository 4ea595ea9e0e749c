package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
)

// busyAgents is how many agents a busy host runs at once.
const busyAgents = 3

func busyAgent(i int) string { return fmt.Sprintf("busy-%d", i) }

// runBusyHost is the main function of a program that uses Liaison's own bridge
// below root as much as it can, until it is killed. It prints a line for each
// thing that has happened.
func runBusyHost(root string) {
	err := busy(root)
	fmt.Fprintln(os.Stderr, "the busy host:", err)
	os.Exit(1)
}

func busy(root string) error {
	ctx := context.Background()
	c, err := New(Options{Executable: ownBridge, StateRoot: filepath.Join(root, "state"), APIKey: "any"})
	if err != nil {
		return err
	}
	if err := c.Ping(ctx); err != nil {
		return err
	}
	fmt.Println("ready")
	failed := make(chan error, busyAgents)
	var wg sync.WaitGroup
	for i := range busyAgents {
		wg.Go(func() { failed <- busyRuns(ctx, c, busyAgent(i), root) })
	}
	return <-failed
}

// busyRuns sends one message after the other.
func busyRuns(ctx context.Context, c *Client, id, root string) error {
	o := AgentOptions{ID: id, Model: echoModel, Local: &LocalOptions{Dir: root}}
	a, err := c.Agents().Resume(ctx, id, o)
	if errors.Is(err, ErrNotFound) {
		a, err = c.Agents().Create(ctx, o)
	}
	if err != nil {
		return err
	}
	fmt.Println("attached", id)
	// Only the first run meets one that a dead host left behind.
	for force := true; ; force = false {
		run, err := a.Send(ctx, Message{Text: "remember x\nrepeat 20 say word\nwait 5ms\nsay end"}, SendOptions{Force: force})
		if err != nil {
			return err
		}
		for _, err := range run.Events(ctx) {
			if err != nil {
				return err
			}
			fmt.Println("event", id)
		}
		result, err := run.Wait(ctx)
		if err != nil || result.Status != RunFinished {
			return fmt.Errorf("a run ended as %q: %w", result.Status, err)
		}
		fmt.Println("ran", id)
	}
}
