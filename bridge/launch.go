package bridge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
)

// tmpDirName is below StateRoot: what a dead host left in it is found and
// removed at the next start. Bridges leave their token file behind.
const tmpDirName = "bridge.tmp"

// launch starts a bridge and shakes hands with it. On any failure nothing is
// left of the process.
func (o *Options) launch(ctx context.Context, generation uint64, callbacks *callbackServer) (*connection, error) {
	failed := &ProcessError{Op: "start", Executable: o.Executable, Generation: generation}
	args, env, err := callbacks.atLaunch()
	if err != nil {
		failed.Err = err
		return nil, failed
	}
	tmp, err := o.prepareDirectories(ctx)
	if err != nil {
		failed.Err = err
		return nil, failed
	}
	masker := newMasker(o.Redact, o.APIKey, callbacks.token)
	p, err := startProcess(command{
		path:   o.Executable,
		args:   append(append(slices.Clone(o.Args), "--workspace", o.Workspace, "--state-root", o.StateRoot), args...),
		env:    append(o.environment(tmp), env...),
		dir:    o.Workspace,
		logger: o.Logger,
		mask:   masker.mask,
	})
	if err != nil {
		o.release()
		failed.Err = err
		return nil, failed
	}
	c, err := o.shakeHands(ctx, p, masker, generation)
	if err == nil {
		c.knowsTools = env != nil
		o.Logger.Info("the bridge has started", "pid", p.pid(), "generation", generation, "version", c.version.Bridge)
		return c, nil
	}
	// If it has ended by itself, its own state says more than that of our signal.
	select {
	case <-p.done:
		failed.State = p.state()
	default:
		p.kill()
	}
	if c != nil {
		<-c.gone
	} else {
		o.release()
	}
	var died *ProcessError
	if errors.As(err, &died) {
		err = errors.New("it exited before it answered")
	}
	failed.Err, failed.Stderr = err, p.stderr.last()
	return nil, failed
}

// shakeHands makes a connection of a process that has just started. With an
// error, the connection is nil or has a watcher that still runs.
func (o *Options) shakeHands(ctx context.Context, p *process, masker *masker, generation uint64) (*connection, error) {
	if err := writePIDFile(o.StateRoot, p.pid()); err != nil {
		return nil, err
	}
	line, err := p.awaitReady(ctx, o.StartTimeout)
	if err != nil {
		return nil, err
	}
	// Even of a line that is refused below the token must be known: what the
	// bridge prints next, and the error shows, may quote it.
	token, tokenErr := readyToken(line, o.Workspace)
	if tokenErr == nil {
		masker.learn(token)
		p.stderr.reveal()
	} else {
		p.stderr.hide()
	}
	r, err := parseReady(line, p.pid())
	if err == nil {
		err = tokenErr
	}
	if err != nil {
		return nil, err
	}

	c := newConnection(r.url, token, masker.mask, o)
	c.generation, c.process, c.maxMessage = generation, p, r.maxMessageBytes
	c.gone = make(chan struct{})
	go c.watch(o)
	greeting, cancel := context.WithTimeout(ctx, o.StartTimeout)
	defer cancel()
	return c, c.greet(greeting)
}

// watch ends the generation when its process does. It removes what belongs to
// the process first, since its end lets the next one start.
func (c *connection) watch(o *Options) {
	defer close(c.gone)
	<-c.process.done
	o.release()
	died := &ProcessError{
		Op: "exit", Executable: o.Executable, Generation: c.generation,
		State: c.process.state(), Stderr: c.process.stderr.last(),
	}
	if why := c.condemned.Load(); why != nil {
		died.Err = fmt.Errorf("it was killed because it did not answer: %w", *why)
	}
	c.end(died)
	c.http.CloseIdleConnections()
}

// prepareDirectories makes the directories of a start and returns a temporary
// one that is empty and private.
func (o *Options) prepareDirectories(ctx context.Context) (string, error) {
	if err := os.MkdirAll(o.StateRoot, 0o700); err != nil {
		return "", fmt.Errorf("make the state root: %w", err)
	}
	if err := endStale(ctx, o.StateRoot); err != nil {
		return "", err
	}
	tmp := filepath.Join(o.StateRoot, tmpDirName)
	if err := os.RemoveAll(tmp); err != nil {
		return "", fmt.Errorf("empty the bridge's temporary directory: %w", err)
	}
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return "", fmt.Errorf("make the bridge's temporary directory: %w", err)
	}
	return tmp, nil
}

// release removes what belongs to a process that has ended.
func (o *Options) release() {
	_ = os.RemoveAll(filepath.Join(o.StateRoot, tmpDirName)) // the next start tries again
	removePIDFile(o.StateRoot)
}

// environment is all that the child gets. Later entries win.
func (o *Options) environment(tmp string) []string {
	env := []string{"PATH=" + os.Getenv("PATH")}
	env = append(env, o.Env...)
	env = append(env,
		"HOME="+o.StateRoot, // older bridges keep their store below it, whatever --state-root says
		"TMPDIR="+tmp,
		"CURSOR_SDK_CLIENT_LANGUAGE=go",
		// Liaison's own bridge then looks itself whether this program is still there:
		// only Linux ends a child with its parent. No other bridge knows it.
		"LIAISON_BRIDGE_EXIT_WITH_PARENT=1",
	)
	if runtime.GOOS == "windows" {
		env = append(env, "USERPROFILE="+o.StateRoot, "TMP="+tmp, "TEMP="+tmp)
	}
	return env
}
