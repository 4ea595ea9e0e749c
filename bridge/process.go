package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/internal/processgroup"
)

// drainDelay bounds how long a process that has exited is waited for because a
// grandchild still holds its stderr.
const drainDelay = 2 * time.Second

// process is one bridge process that we started.
type process struct {
	cmd    *exec.Cmd
	stderr *stderrWriter
	// done is closed when the process has ended and its stderr is drained.
	done chan struct{}

	// mu guards against a signal to a process id that is not ours any more.
	mu     sync.Mutex
	group  processgroup.Group
	reaped bool
}

// command describes a process to start.
type command struct {
	path   string
	args   []string
	env    []string
	dir    string
	logger *slog.Logger
	mask   func(string) string
}

// startProcess starts a bridge as the leader of its own process group. No
// caller's context ends it: only stop, kill and the death of this program do.
func startProcess(c command) (*process, error) {
	p := &process{
		cmd:    exec.CommandContext(context.Background(), c.path, c.args...),
		stderr: newStderrWriter(c.logger, c.mask),
		done:   make(chan struct{}),
	}
	p.cmd.Env, p.cmd.Dir = c.env, c.dir
	// A writer of ours with WaitDelay lets os/exec drain, bound and wait in the
	// right order. A reader of StderrPipe beside Wait loses the last lines,
	// which say why the process died. Stdin and stdout are the null device.
	p.cmd.Stderr = p.stderr
	p.cmd.WaitDelay = drainDelay
	p.cmd.SysProcAttr = processgroup.Attributes()

	started := make(chan error, 1)
	go p.own(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// own starts the process and stays with it to the end. On Linux the kernel kills
// the child when the thread that forked it ends (golang/go#27505): the thread is
// locked to this goroutine and, never unlocked, ends with it.
func (p *process) own(started chan<- error) {
	runtime.LockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	group, err := processgroup.New(p.cmd.Process.Pid, processgroup.Limits{})
	if err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		started <- err
		return
	}
	p.group = group
	started <- nil

	// What the bridge started and left behind goes with it. Where the platform can
	// tell of an exit without reaping, the group is still certain to be ours.
	exited := processgroup.AwaitExit(p.cmd.Process.Pid)
	if exited {
		_ = p.group.Kill()
	}
	_ = p.cmd.Wait() // the state is in ProcessState
	p.mu.Lock()
	p.reaped = true
	if !exited {
		_ = p.group.Kill()
	}
	p.group.Close()
	p.mu.Unlock()
	p.stderr.flush()
	close(p.done)
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// state says how the process ended; it is valid after done.
func (p *process) state() string { return p.cmd.ProcessState.String() }

func (p *process) signal(send func(processgroup.Group) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		_ = send(p.group) // it fails only for a group that has just ended
	}
}

// kill ends the process group at once and waits for it.
func (p *process) kill() {
	p.signal(processgroup.Group.Kill)
	<-p.done
}

// stop asks the process to leave, then tells it, then makes it. Each of the
// first two gets grace; the end of ctx skips to the last.
func (p *process) stop(ctx context.Context, grace time.Duration, shutdown func(context.Context) error) {
	asked, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	// The answer may be an EOF or never come: only the exit counts.
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		_ = shutdown(asked)
	}()
	left := p.endsWithin(asked)
	cancel()
	<-answered
	if left {
		return
	}
	p.signal(processgroup.Group.Terminate)
	told, cancel := context.WithTimeout(ctx, grace)
	defer cancel()
	if p.endsWithin(told) {
		return
	}
	p.kill()
}

func (p *process) endsWithin(ctx context.Context) bool {
	select {
	case <-p.done:
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitReady waits for the ready line and returns its JSON.
func (p *process) awaitReady(ctx context.Context, limit time.Duration) ([]byte, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case line := <-p.stderr.found:
		return line, nil
	case <-p.done:
		return nil, errors.New("it exited before it was ready")
	case <-timer.C:
		return nil, fmt.Errorf("no ready line within %s: %w", limit, os.ErrDeadlineExceeded)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
