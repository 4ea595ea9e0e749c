package local

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"
)

const (
	// signalGrace is how long runs may go on after SIGINT or SIGTERM. Callers
	// wait about five seconds before they kill
	// (https://github.com/cursor/sdk-bridge/blob/main/docs/protocol.md, "Shutdown").
	signalGrace = 3 * time.Second
	// maxGrace bounds the grace that a Shutdown call may ask for.
	maxGrace = 10 * time.Minute
)

// Exit codes of [Main].
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// Main runs the bridge until ctx is done, a Shutdown call arrives or, when
// asked for, its parent has died. It returns the process's exit code: 0 after a
// clean stop or --help, 1 when it could not run, 2 for wrong flags or
// environment. args are without the program's name. Everything that it prints,
// the ready line too, goes to stderr.
func Main(ctx context.Context, args []string, env func(string) string, stderr io.Writer, version string) int {
	out := &lineWriter{w: stderr}
	conf, err := parseConfig(args, env)
	switch {
	case errors.Is(err, flag.ErrHelp):
		writeUsage(out)
		return exitOK
	case err != nil:
		_, _ = fmt.Fprintf(out, "liaison-bridge: %v; --help lists the flags\n", err)
		return exitUsage
	}
	if err := serve(ctx, conf, env, out, version); err != nil {
		_, _ = fmt.Fprintf(out, "liaison-bridge: %v\n", err)
		return exitFailure
	}
	return exitOK
}

// serve opens the state, listens, says so, and stops in order.
func serve(ctx context.Context, conf config, env func(string) string, stderr io.Writer, version string) (err error) {
	parent := os.Getppid() // asked first: it may be gone by the time the bridge listens
	level := slog.LevelInfo
	if conf.verbose {
		level = slog.LevelDebug
	}
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: level}))

	st, err := conf.store.open(ctx, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.close()) }()

	engines := []engine{reviewEngine{}}
	endpoint, err := newChatEngine(env, logger)
	if err != nil {
		return err
	}
	if endpoint != nil {
		defer endpoint.close()
		engines = []engine{endpoint, reviewEngine{}}
	}
	if conf.testModel {
		engines = append(engines, scriptEngine{}) // last: nobody's choice by default
	}
	srv := newServer(serverOptions{
		Engines:         engines,
		Store:           st,
		Logger:          logger,
		Version:         version,
		MaxAgents:       conf.maxAgents,
		MaxMessageBytes: conf.maxMessageBytes,
		ToolCallback:    conf.toolCallback,
	})
	tok, err := newToken(env("TMPDIR"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, tok.remove()) }()

	listener, err := listen(conf)
	if err != nil {
		return err
	}
	front := newFront(srv.handler(), tok.value, logger)
	served := make(chan error, 1)
	go func() { served <- front.Serve(listener) }()

	if err := writeReadyLine(stderr, newReady(conf, listener.Addr(), tok.path, version)); err != nil {
		return errors.Join(err, front.Close())
	}

	var orphaned <-chan struct{}
	if conf.exitWithParent {
		watch, cancel := context.WithCancel(ctx)
		defer cancel()
		orphaned = watchParent(watch, parent, os.Getppid, parentPoll)
	}
	grace := time.Duration(0)
	select {
	case err := <-served:
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	case <-ctx.Done():
		logger.Info("stopping: a signal was received")
		grace = signalGrace
	case grace = <-srv.shutdownAsked():
		logger.Info("stopping: shutdown was called", "grace", grace)
	case <-orphaned:
		logger.Warn("stopping: the parent process has ended")
	}
	draining, cancel := drainContext(ctx, orphaned, grace, signalGrace)
	defer cancel()
	srv.stop(draining, front)
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", listener.Addr(), err)
	}
	return nil
}

// drainContext bounds how long runs may go on once the bridge stops: grace, but
// no longer than afterSignal from the end of ctx, and not beyond the parent's
// end. A Shutdown call may have asked for minutes that nobody waits for any more.
func drainContext(ctx context.Context, orphaned <-chan struct{}, grace, afterSignal time.Duration) (context.Context, context.CancelFunc) {
	draining, cancel := context.WithTimeout(context.Background(), grace)
	go func() {
		select {
		case <-ctx.Done():
			time.AfterFunc(afterSignal, cancel)
		case <-orphaned:
			cancel()
		case <-draining.Done():
		}
	}()
	return draining, cancel
}

// listen binds the address, after a name was resolved, and refuses one that is
// not loopback unless that was asked for.
func listen(conf config) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(conf.host, strconv.Itoa(conf.port)))
	if err != nil {
		return nil, fmt.Errorf("resolve --host: %w", err)
	}
	if !addr.IP.IsLoopback() && !conf.allowRemote {
		return nil, fmt.Errorf("--host %s is not a loopback address; set --allow-remote if other machines shall reach the bridge", conf.host)
	}
	l, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// lineWriter keeps whole writes apart: the ready line is one write and must
// stay one line beside the log.
type lineWriter struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
