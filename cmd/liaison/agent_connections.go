package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/internal/processgroup"
	"github.com/liaison-bot/liaison/tools"
)

// Bounds of a command that prints the headers of a connection. It asks somebody for
// a token, and stands between a person and their answer.
const (
	headersTimeout = 30 * time.Second
	// headersGrace is how long what it has started may hold its output open.
	headersGrace = time.Second
	maxHeaders   = 64 << 10
	// maxHeadersSaid bounds what of its standard error goes to the log.
	maxHeadersSaid = 4 << 10
)

// connector makes servers of an agent's connections.
type connector struct {
	// lookup knows the environment of the host.
	lookup func(name string) (string, bool)
	// redact masks secrets in what a command says.
	redact func(string) string
	log    *slog.Logger
}

// servers returns what resolves an agent's connections for a turn, or nil where it
// has none.
func (c connector) servers(def *agent.Definition) func(ctx context.Context, t tools.Turn) (map[string]bridge.MCPServer, error) {
	var given []agent.Connection
	for _, one := range def.Connections {
		if !one.HostOnly {
			given = append(given, one)
		}
	}
	if len(given) == 0 {
		return nil
	}
	return func(ctx context.Context, t tools.Turn) (map[string]bridge.MCPServer, error) {
		out := make(map[string]bridge.MCPServer, len(given))
		for _, one := range given {
			server, err := c.server(ctx, one, def.Dir, t)
			if err != nil {
				return nil, err
			}
			out[one.Name] = server
		}
		return out, nil
	}
}

func (c connector) server(ctx context.Context, one agent.Connection, dir string, t tools.Turn) (bridge.MCPServer, error) {
	one, err := one.Resolve(c.lookup)
	if err != nil {
		return bridge.MCPServer{}, err
	}
	if one.Transport == agent.Stdio {
		return bridge.MCPServer{Command: one.Command, Args: one.Args, Env: one.Env, Dir: dir}, nil
	}
	server := bridge.MCPServer{URL: one.URL, Headers: one.Headers, Transport: bridge.MCPStreamableHTTP}
	if one.Transport == agent.SSE {
		server.Transport = bridge.MCPSSE
	}
	if len(one.HeadersCommand) == 0 {
		return server, nil
	}
	more, err := c.headers(ctx, one, dir, t)
	if err != nil {
		return bridge.MCPServer{}, fmt.Errorf("connection %s: its headersCommand %w, so that the turn is not run without them", one.Name, err)
	}
	server.Headers = maps.Clone(server.Headers)
	if server.Headers == nil {
		server.Headers = make(map[string]string, len(more))
	}
	maps.Copy(server.Headers, more)
	return server, nil
}

// runWhole runs a command, and ends what it has started with it. On Linux the kernel
// kills the command when the thread that forked it ends (golang/go#27505), so that
// no other goroutine may have that thread meanwhile.
func runWhole(cmd *exec.Cmd) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var group processgroup.Group
	cmd.SysProcAttr = processgroup.Attributes()
	started := make(chan struct{})
	cmd.Cancel = func() error {
		<-started
		return group.Kill()
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	var err error
	if group, err = processgroup.New(cmd.Process.Pid, processgroup.Limits{}); err != nil {
		err = errors.Join(err, cmd.Process.Kill())
	}
	close(started)
	if err != nil {
		return errors.Join(err, cmd.Wait())
	}
	defer group.Close()
	if processgroup.AwaitExit(cmd.Process.Pid) {
		_ = group.Kill() // it fails where nobody is left
	}
	return cmd.Wait()
}

// headers runs a connection's command. Its error goes on from the command's name, and
// shows nothing of what it printed.
func (c connector) headers(ctx context.Context, one agent.Connection, dir string, t tools.Turn) (map[string]string, error) {
	limited, cancel := context.WithTimeout(ctx, headersTimeout)
	defer cancel()
	cmd := exec.CommandContext(limited, one.HeadersCommand[0], one.HeadersCommand[1:]...)
	out, said := &atMost{left: maxHeaders}, &atMost{left: maxHeadersSaid}
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = dir, out, said, headersGrace
	cmd.Env = c.environment(one, t)
	err := runWhole(cmd)
	if err != nil {
		c.log.Error("the command for a connection's headers failed", "connection", one.Name, "session", t.SessionID,
			"error", err, "stderr", c.redact(said.text.String()))
	}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("was cut short: %w", context.Cause(ctx))
	case limited.Err() != nil:
		return nil, fmt.Errorf("took longer than %s", headersTimeout)
	case errors.As(err, &exit):
		return nil, fmt.Errorf("failed with %s (what it said is in the service's log)", exit.ProcessState)
	case err != nil:
		return nil, fmt.Errorf("cannot be run: %w", err)
	case out.over:
		return nil, fmt.Errorf("printed more than %d bytes", maxHeaders)
	}
	return readHeaders(out.text.Bytes())
}

// environment is what the command gets: who asks, and what programs need.
func (c connector) environment(one agent.Connection, t tools.Turn) []string {
	env := []string{
		"LIAISON_CONNECTION=" + one.Name, "LIAISON_SESSION_ID=" + t.SessionID, "LIAISON_SESSION_CHANNEL=" + t.Channel,
		"LIAISON_SESSION_MODE=" + t.Mode, "LIAISON_SESSION_PRINCIPAL=" + t.Principal,
	}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG", "SystemRoot", "USERPROFILE", "TEMP"} {
		if value, set := c.lookup(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// readHeaders reads one JSON object of texts.
func readHeaders(data []byte) (map[string]string, error) {
	var headers map[string]string
	if err := json.Unmarshal(data, &headers); err != nil || headers == nil {
		return nil, errors.New("did not print one JSON object whose values are texts")
	}
	for name, value := range headers {
		if !agent.ValidHeaderName(name) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, errors.New("printed something that is no header of HTTP")
		}
	}
	return headers, nil
}

// atMost keeps the beginning of what is written to it.
type atMost struct {
	text bytes.Buffer
	left int
	// over is set when there was more.
	over bool
}

// Write implements [io.Writer], and takes all.
func (w *atMost) Write(p []byte) (int, error) {
	n := min(len(p), w.left)
	w.text.Write(p[:n])
	w.left -= n
	w.over = cmp.Or(w.over, n < len(p))
	return len(p), nil
}
