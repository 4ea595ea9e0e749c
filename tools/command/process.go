package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/internal/processgroup"
)

// process is one run of a program.
type process struct {
	argv, env []string
	dir       string
	input     []byte
	// mark is the value of HOME, which no other process on the machine has.
	mark   string
	stdout *answer
	stderr *tail

	cmd  *exec.Cmd
	exit exit

	// mu guards against a signal to a process id that is not ours any more.
	mu     sync.Mutex
	group  processgroup.Group
	reaped bool
}

// exit says how a program ended, in words that continue "the tool".
type exit struct {
	ok   bool
	text string
}

// run runs the program to its end, and ends it with ctx. When it returns, nothing
// that it started is left, as far as the system can tell. The error is ctx's, or
// says why the program was not started.
func (p *process) run(ctx context.Context) error {
	argv := limited(p.argv)
	p.cmd = exec.CommandContext(context.Background(), argv[0], argv[1:]...)
	p.cmd.Env, p.cmd.Dir = p.env, p.dir
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = bytes.NewReader(p.input), p.stdout, p.stderr
	p.cmd.WaitDelay = drain
	p.cmd.SysProcAttr = processgroup.Attributes()
	closeOnExec()

	started, done := make(chan error, 1), make(chan struct{})
	go p.own(started, done)
	if err := <-started; err != nil {
		return fmt.Errorf("it cannot be started: %w", unwrapped(err))
	}
	select {
	case <-done:
		return nil
	case <-p.stdout.full:
		_ = p.signal(processgroup.Group.Kill) // it fails only for a group that has just ended
		<-done
		return nil
	case <-ctx.Done():
	}
	if p.signal(processgroup.Group.Terminate) != nil { // the system has no such signal, or nobody is left
		_ = p.signal(processgroup.Group.Kill) // as above
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		_ = p.signal(processgroup.Group.Kill) // as above
		<-done
	}
	return ctx.Err()
}

// own starts the process and stays with it to the end. On Linux the kernel kills
// the child when the thread that forked it ends (golang/go#27505): the thread is
// locked to this goroutine and, never unlocked, ends with it.
func (p *process) own(started chan<- error, done chan<- struct{}) {
	runtime.LockOSThread()
	if err := p.cmd.Start(); err != nil {
		started <- err
		return
	}
	g, err := processgroup.New(p.cmd.Process.Pid, groupLimits)
	if err != nil {
		_ = p.cmd.Process.Kill() // it is not known to anybody yet
		_ = p.cmd.Wait()
		started <- err
		return
	}
	p.mu.Lock()
	p.group = g
	p.mu.Unlock()
	started <- nil

	// Where the system tells of an exit without reaping, the group is still certain to
	// be ours when what was left behind in it is ended.
	exited := processgroup.AwaitExit(p.cmd.Process.Pid)
	if exited {
		_ = p.signal(processgroup.Group.Kill) // it fails where nobody is left
		endStrays(p.mark)
	}
	err = p.cmd.Wait()
	p.mu.Lock()
	p.reaped = true
	if !exited {
		_ = p.group.Kill() // it fails where nobody is left
	}
	p.group.Close()
	p.mu.Unlock()
	p.exit = p.ended(err)
	close(done)
}

// ended says how the program ended.
func (p *process) ended(err error) exit {
	state := p.cmd.ProcessState
	var failure *exec.ExitError
	switch {
	case state.Success():
		return exit{ok: true} // whatever became of pipes that others held
	case errors.As(err, &failure) && state.Exited():
		return exit{text: fmt.Sprintf("it failed with exit status %d", state.ExitCode())}
	}
	return exit{text: "it did not end by itself: " + signalled(state)}
}

func (p *process) signal(send func(processgroup.Group) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reaped {
		return nil
	}
	return send(p.group)
}
