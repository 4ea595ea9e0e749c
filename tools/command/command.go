package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/liaison-bot/liaison/internal/removal"
	"github.com/liaison-bot/liaison/redact"
)

// Options describe an executable. All are needed where nothing else is said.
type Options struct {
	// Dir is the tool's folder, absolute. Run is the program with its arguments: a file
	// of the folder, as "./run", or a name that is looked for in PATH. An argument that
	// begins with "./" is a file of the folder too.
	Dir string
	Run []string
	// Env are the names of the variables of the host that it gets beside those that
	// every tool gets.
	Env []string
	// StateDir is a folder of the tool's own, which outlives calls. It is made.
	StateDir string
	// TempDir is where the private folder of each call is made; empty means the system's.
	TempDir string
	// LookupEnv finds a variable of the host's environment. Nil means [os.LookupEnv].
	LookupEnv func(name string) (string, bool)
	// Redact masks the host's secrets in what the tool prints. Nil masks none.
	Redact func(string) string
}

// Call is one call of a tool: its input, and the context that it gets in its
// environment.
type Call struct {
	// Input is what it reads, as JSON.
	Input []byte
	// Workspace is its working directory, absolute. Empty means a private one.
	Workspace string

	ID, ApprovalID           string
	SessionID, Channel       string
	Mode, Principal, Subject string
}

// Output is what a tool answered.
type Output struct {
	Text    string
	IsError bool
	// Structured is the answer where that is one JSON object.
	Structured []byte
	Images     []Image
}

// Image is a picture that a tool answered with.
type Image struct {
	Data     []byte
	MIMEType string
}

// EndedError says that a tool was ended before it had answered, because the time
// of its call was over.
type EndedError struct {
	// Stderr is the end of what it printed there, as people may see it.
	Stderr string
	// Cause is the context's.
	Cause error
}

// Error implements error.
func (e *EndedError) Error() string { return "it was ended while it ran" + quoted(e.Stderr) }

// Unwrap returns the context's error.
func (e *EndedError) Unwrap() error { return e.Cause }

// The bounds of a tool.
const (
	// maxConcurrent is how many calls of one tool run at a time; others wait.
	maxConcurrent = 4
	// maxStdout is how much a tool may print as its answer, in bytes, and maxStderr how
	// much of the end of its stderr is kept. Of that, maxQuoted is told.
	maxStdout = 1 << 20
	maxStderr = 64 << 10
	maxQuoted = 4 << 10
	// grace is what a tool has between the request to end and its end, and drain what
	// its pipes have to run empty after it.
	grace = 3 * time.Second
	drain = 2 * time.Second
)

// Command is an executable that is called. It may be called by many at once.
type Command struct {
	options Options
	places  chan struct{}
}

// New returns a command. It fails where what is to be run is not in the folder,
// cannot be run, or is not found. That is looked at again with each call.
func New(o Options) (*Command, error) {
	if o.LookupEnv == nil {
		o.LookupEnv = os.LookupEnv
	}
	if o.Redact == nil {
		o.Redact = func(s string) string { return s }
	}
	// A tool's working directory is another one than ours.
	var err error
	if o.StateDir, err = filepath.Abs(o.StateDir); err != nil {
		return nil, fmt.Errorf("find the tool's folder for its state: %w", err)
	}
	if o.TempDir, err = filepath.Abs(cmp.Or(o.TempDir, os.TempDir())); err != nil {
		return nil, fmt.Errorf("find the folder for private ones: %w", err)
	}
	c := &Command{options: o, places: make(chan struct{}, maxConcurrent)}
	if _, err := c.program(); err != nil {
		return nil, err
	}
	return c, nil
}

// Run makes one call. That a tool failed is an Output. Errors are an [*EndedError],
// ctx's error where it was not started any more, and what kept it from being run,
// in words for its author.
func (c *Command) Run(ctx context.Context, call Call) (Output, error) {
	select {
	case c.places <- struct{}{}:
		defer func() { <-c.places }()
	case <-ctx.Done():
		return Output{}, ctx.Err()
	}
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	argv, err := c.program()
	if err != nil {
		return Output{}, err
	}
	private, err := c.directories()
	if err != nil {
		return Output{}, err
	}
	defer func() { _ = removal.Tree(private) }() // what is left is private
	if call.Workspace == "" {
		call.Workspace = filepath.Join(private, "workspace")
		if err := os.Mkdir(call.Workspace, 0o700); err != nil {
			return Output{}, fmt.Errorf("make a workspace for the call: %w", err)
		}
	}
	if _, err := os.Stat(call.Workspace); err != nil {
		return Output{}, fmt.Errorf("the session's workspace is gone: %w", unwrapped(err))
	}
	env, secrets := c.environment(call, private)
	masker := redact.New(secrets...)
	p := &process{
		argv: argv, env: env, dir: call.Workspace, input: call.Input, mark: homeOf(private),
		stdout: newAnswer(maxStdout), stderr: &tail{limit: maxStderr},
	}
	end := p.run(ctx)
	stderr := c.shown(masker, p.stderr.String())
	switch {
	case errors.Is(end, context.Canceled), errors.Is(end, context.DeadlineExceeded):
		return Output{}, &EndedError{stderr, end}
	case end != nil:
		return Output{}, end
	}
	return p.answer(masker, stderr), nil
}

// directories makes the folder of the tool and a private one for a call.
func (c *Command) directories() (private string, err error) {
	if err := os.MkdirAll(c.options.StateDir, 0o700); err != nil {
		return "", fmt.Errorf("make the tool's folder for its state: %w", err)
	}
	private, err = os.MkdirTemp(c.options.TempDir, "liaison-tool-")
	if err != nil {
		return "", fmt.Errorf("make a private folder for the call: %w", err)
	}
	for _, dir := range []string{homeOf(private), tempOf(private)} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			_ = removal.Tree(private)
			return "", fmt.Errorf("make a private folder for the call: %w", err)
		}
	}
	return private, nil
}

func homeOf(private string) string { return filepath.Join(private, "home") }
func tempOf(private string) string { return filepath.Join(private, "tmp") }
