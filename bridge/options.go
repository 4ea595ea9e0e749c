package bridge

import (
	"log/slog"
	"time"
)

// Options says which bridge a client uses. Either Executable or URL is needed.
type Options struct {
	// Executable is the bridge to start, a path or a name in PATH. It is started on first use.
	Executable string
	// Args come before the flags that this package adds ("bridge", "serve" for Liaison's own).
	Args []string
	// Env is the child's whole environment but for what the protocol needs
	// (CURSOR_SDK_CLIENT_LANGUAGE, PATH, HOME, TMPDIR): an allow-list, never the host's own environment.
	Env []string
	// StateRoot is where the bridge keeps agents and runs between starts; also its HOME. Required with Executable.
	StateRoot string
	// Workspace is the directory that the bridge starts in. StateRoot when empty.
	Workspace string
	// APIKey is passed with every call that takes one. Liaison's own bridge accepts any non-empty key.
	APIKey string

	// URL and Token attach to a bridge that someone else runs; it is never stopped.
	URL   string
	Token string

	// StartTimeout bounds the time to the ready line; 30 s when zero (docs/protocol.md of the bridge).
	StartTimeout time.Duration
	// StopGrace is how long a stopping bridge may finish what it does; 5 s when zero.
	StopGrace time.Duration
	// MaxConcurrentRuns bounds the runs under way through this client; 4 when zero.
	// The bridge's own maxConcurrentAgents is advertised, not enforced.
	MaxConcurrentRuns int
	// CallTimeout bounds every call but the stream of a run; 60 s when zero. A
	// context with an earlier deadline wins.
	CallTimeout time.Duration
	// StallTimeout ends a run whose stream brings nothing at all, not even a
	// keepalive, while no tool is open; 120 s when zero.
	StallTimeout time.Duration
	// ToolStallTimeout ends a run that brings no event while a tool is open or
	// only keepalives arrive; 600 s when zero.
	ToolStallTimeout time.Duration
	// Logger receives the child's stderr at debug level, after Redact.
	Logger *slog.Logger
	// Redact masks secrets in stderr and in errors; nil masks nothing but the bridge's own token and APIKey.
	Redact func(string) string
}

// AgentOptions describes an agent. They are not remembered by the bridge and
// are passed again on resume.
type AgentOptions struct {
	// ID asks for an id of the caller's; it must not begin with "bc-".
	ID    string
	Name  string
	Model string
	Local *LocalOptions
	// Tools, when not nil, are the only built-in tools that the agent has; an empty list means none.
	Tools []string
	// DisallowedTools are taken away whatever Tools says.
	DisallowedTools []string
}

// LocalOptions runs the agent on this machine.
type LocalOptions struct {
	// Dir is the agent's working directory.
	Dir string
}

// Message is what is sent to an agent.
type Message struct{ Text string }

// SendOptions tune one run.
type SendOptions struct {
	// Model overrides the agent's for this run.
	Model string
	// Force expires a run that a crashed host left behind. Use it once, and only
	// when no live run of the agent is known.
	Force bool
}

// Model is a model that the bridge offers.
type Model struct {
	ID          string
	DisplayName string
	Description string
}

// Version is what the bridge says of itself.
type Version struct {
	Bridge       string
	Protocol     string
	Capabilities []string
}
