package toolserver

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/liaison-bot/liaison/internal/processgroup"
)

const (
	// leaveWithin is how long a program may take to end once its input is closed.
	leaveWithin = 2 * time.Second
	// drainWithin bounds the wait for its error output, which a grandchild may hold.
	drainWithin = time.Second
)

// program is a server that was started for a run. What it has started goes with it.
type program struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr *tail
	done   chan struct{}

	// mu guards against a signal to a process id that is not ours any more.
	mu     sync.Mutex
	group  processgroup.Group
	reaped bool
}

// start starts a server. Its environment is its own variables and what every
// program needs: nothing of the bridge's, which knows the key of a model.
func start(s Server) (*program, error) {
	p := &program{cmd: exec.CommandContext(context.Background(), s.Command, s.Args...), stderr: new(tail), done: make(chan struct{})}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG", "SystemRoot", "USERPROFILE", "TEMP"} {
		if value, set := os.LookupEnv(name); set {
			p.cmd.Env = append(p.cmd.Env, name+"="+value)
		}
	}
	for name, value := range s.Env {
		p.cmd.Env = append(p.cmd.Env, name+"="+value)
	}
	p.cmd.Dir, p.cmd.Stderr, p.cmd.WaitDelay, p.cmd.SysProcAttr = s.Dir, p.stderr, drainWithin, processgroup.Attributes()
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	started := make(chan error, 1)
	go p.own(started)
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

// own stays with the process to the end: on Linux the kernel kills it when the
// thread that forked it ends, which is locked to this goroutine.
func (p *program) own(started chan<- error) {
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
	exited := processgroup.AwaitExit(p.cmd.Process.Pid)
	if exited {
		_ = p.group.Kill() // what it has left behind
	}
	_ = p.cmd.Wait() // how it ended does not matter
	p.mu.Lock()
	p.reaped = true
	if !exited {
		_ = p.group.Kill()
	}
	p.group.Close()
	p.mu.Unlock()
	close(p.done)
}

// end closes its input and gives it a moment before it is killed.
func (p *program) end() {
	_ = p.stdin.Close() // it may be closed already
	timer := time.NewTimer(leaveWithin)
	defer timer.Stop()
	select {
	case <-p.done:
		return
	case <-timer.C:
	}
	p.mu.Lock()
	if !p.reaped {
		_ = p.group.Kill() // it fails only for a group that has just ended
	}
	p.mu.Unlock()
	<-p.done
}

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
}

// maxTail is how much of it is kept, in bytes.
const maxTail = 4 << 10

// Write implements [io.Writer], and takes all.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if n := len(t.text) - maxTail; n > 0 {
		t.text = append([]byte(nil), t.text[n:]...)
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
