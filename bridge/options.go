package bridge

import (
	"log/slog"
	"time"
)

// Options says which bridge a client uses. The zero value finds one: see [FindExecutable].
type Options struct {
	// Executable is the bridge to start, a path or a name in PATH. It is started on
	// first use. When neither it nor URL is set, it is what [FindExecutable] finds,
	// with the arguments that it needs.
	Executable string
	// Args come before the flags that this package adds ("bridge", "serve" for Liaison's own).
	Args []string
	// Env is what the child's environment has beside PATH, HOME, TMPDIR and the
	// variables of the protocol: an allow-list, never the host's own environment.
	// When it is nil and the bridge was found, it is what that bridge needs to reach
	// its model: CURSOR_API_KEY for the one that CURSOR_SDK_BRIDGE_BIN names,
	// OPENAI_BASE_URL and OPENAI_API_KEY for Liaison's own.
	Env []string
	// StateRoot is where the bridge keeps agents and runs between starts; also its
	// HOME. When empty it is a directory for each Workspace below the user's state
	// directory: $XDG_STATE_HOME or ~/.local/state, %LOCALAPPDATA% on Windows. One
	// client at a time can use it.
	StateRoot string
	// Workspace is the directory that the bridge starts in. StateRoot when empty, or
	// the current directory when StateRoot is empty too.
	Workspace string
	// APIKey is passed with every call that takes one. When it is empty and the bridge
	// was found, it is CURSOR_API_KEY for the bridge that CURSOR_SDK_BRIDGE_BIN names.
	// A bridge that is started without one gets one that is made up: Liaison's own
	// needs no account and accepts any key.
	APIKey string

	// URL and Token attach to a bridge that someone else runs; it is never stopped.
	URL   string
	Token string

	// StartTimeout bounds the time to the ready line; 30 s when zero.
	StartTimeout time.Duration
	// StopGrace is how long a stopping bridge may finish what it does; 5 s when zero.
	StopGrace time.Duration
	// MaxConcurrentRuns bounds the runs under way through this client; 4 when zero.
	// The bridge's own maxConcurrentAgents is advertised, not enforced.
	MaxConcurrentRuns int
	// CallTimeout bounds every call but the stream of a run; 60 s when zero. A
	// context with an earlier deadline wins.
	CallTimeout time.Duration
	// StallTimeout is how long a run's stream may bring nothing at all, not even a
	// keepalive, while no tool is open; 120 s when zero. Then the bridge is asked: a
	// run that goes on is followed by its record, with the same patience, until
	// ToolStallTimeout has passed.
	StallTimeout time.Duration
	// ToolStallTimeout ends a run that brings no event while a tool is open or
	// only keepalives arrive; 600 s when zero. The time that custom tools of this
	// program take does not count.
	ToolStallTimeout time.Duration
	// Retry bounds how often a call that may safely be repeated is.
	Retry Retry
	// Store keeps agents, runs and what runs said instead of the bridge's own files.
	// It can only be given to a bridge that this client starts.
	Store Store
	// Logger receives the child's stderr at debug level, after Redact.
	Logger *slog.Logger
	// Redact masks secrets in stderr and in errors; nil masks nothing but the
	// bridge's own token and APIKey.
	Redact func(string) string
}

// AgentOptions describes an agent. They are not remembered by the bridge and
// are passed again on resume.
type AgentOptions struct {
	// ID asks for an id of the caller's. Those of cloud agents, and no others, begin
	// with "bc-".
	ID string
	// Name is for people.
	Name string
	// Model is an id of [Catalog.Models]; the first of them when empty.
	Model string
	// ModelParams are the model's own settings, by their ids.
	ModelParams map[string]string
	// Mode is [ModeAgent] when empty.
	Mode Mode
	// Local runs the agent on this machine, Cloud at the provider. With neither it
	// runs here, in the current directory; both are an error. A bridge that offers no
	// cloud agents answers ErrFeatureUnavailable.
	Local *LocalOptions
	Cloud *CloudOptions
	// Tools, when not nil, are the only built-in tools that the agent has; an empty
	// list means none. Custom tools need "mcp" among them.
	Tools []string
	// DisallowedTools are taken away whatever Tools says.
	DisallowedTools []string
	// CustomTools are functions of this program that a local agent may call. The
	// bridge asks nobody before it calls them. Their names are unique.
	CustomTools []Tool
	// MCPServers are by name. Headers and variables may be secret: they are passed
	// on and never logged.
	MCPServers map[string]MCPServer
	// Subagents are by the name that the agent calls them by; Tools must have "task"
	// for them. What they may do is not restricted by Tools.
	Subagents map[string]Subagent
}

// Mode is how an agent works.
type Mode string

// The modes. A planning agent reads and proposes, and changes nothing.
const (
	ModeAgent Mode = "agent"
	ModePlan  Mode = "plan"
)

// LocalOptions runs the agent on this machine.
type LocalOptions struct {
	// Dir is the agent's working directory, absolute.
	Dir string
	// ExtraDirs are further directories that it may use, absolute.
	ExtraDirs []string
	// SettingSources are whose settings files are read; none when empty, since the
	// files of a working directory may be a stranger's.
	SettingSources []SettingSource
	// Sandbox turns the sandbox of commands on or off; nil leaves it to the bridge.
	Sandbox *bool
	// AutoReview turns the bridge's own review of commands on or off; nil leaves it to the bridge.
	AutoReview *bool
}

// SettingSource is an owner of settings files.
type SettingSource string

// The owners of settings files.
const (
	SettingsProject SettingSource = "project"
	SettingsUser    SettingSource = "user"
	SettingsTeam    SettingSource = "team"
	SettingsMDM     SettingSource = "mdm"
	SettingsPlugins SettingSource = "plugins"
	SettingsAll     SettingSource = "all"
)

// CloudOptions runs the agent on a machine of the provider. A nil bool leaves
// the choice to the provider.
type CloudOptions struct {
	Environment          *CloudEnvironment
	Repositories         []CloudRepository
	WorkOnCurrentBranch  *bool
	AutoCreatePR         *bool
	SkipReviewerRequest  *bool
	OpenAsProvidersApp   *bool
	EnvironmentVariables map[string]string
	Metadata             map[string]string
}

// CloudEnvironment names a machine, or a kind of machine, of the provider.
type CloudEnvironment struct {
	Type CloudEnvironmentType
	Name string
}

// CloudEnvironmentType is a kind of machine.
type CloudEnvironmentType string

// The kinds of machines.
const (
	EnvironmentCloud   CloudEnvironmentType = "cloud"
	EnvironmentPool    CloudEnvironmentType = "pool"
	EnvironmentMachine CloudEnvironmentType = "machine"
)

// CloudRepository is a repository that a cloud agent works on.
type CloudRepository struct {
	URL string
	// StartingRef is a branch, tag or commit; the default branch when empty.
	StartingRef string
	// PullRequestURL attaches the agent to a pull request.
	PullRequestURL string
}

// MCPServer is a server of tools that speaks the Model Context Protocol. Either
// Command or URL is set.
type MCPServer struct {
	// Command starts the server, which speaks on its standard streams.
	Command string
	Args    []string
	Env     map[string]string
	Dir     string
	// URL reaches the server over HTTP.
	URL string
	// Transport is [MCPStreamableHTTP] when empty.
	Transport MCPTransport
	Headers   map[string]string
	OAuth     *MCPOAuth
}

// MCPTransport is how an MCP server is reached over HTTP.
type MCPTransport string

// The transports over HTTP.
const (
	MCPStreamableHTTP MCPTransport = "http"
	MCPSSE            MCPTransport = "sse"
)

// MCPOAuth is how the bridge signs in to an MCP server.
type MCPOAuth struct {
	ClientID     string
	ClientSecret string
	Scopes       []string
}

// Subagent is an agent that the agent may give work to.
type Subagent struct {
	// Description tells the agent when to use it; required.
	Description string
	Prompt      string
	// Model is an id; the agent's own model when empty.
	Model string
	// MCPServerNames are names of the agent's MCPServers; MCPServers are the
	// subagent's alone.
	MCPServerNames []string
	MCPServers     []MCPServer
}

// Message is what is sent to an agent: a text, images or both.
type Message struct {
	// Text is valid UTF-8.
	Text string
	// Images are at most [MaxImages].
	Images []Image
}

// Image is part of a message. Either URL or Data with its MIMEType is set.
type Image struct {
	// URL is for cloud agents; local ones take Data only.
	URL string
	// Data are the image's own bytes, at most [MaxImageBytes].
	Data []byte
	// MIMEType is such as "image/png".
	MIMEType string
	// Width and Height are in pixels; 0 means not said.
	Width, Height int
}

// SendOptions tune one run.
type SendOptions struct {
	// Model overrides the agent's for this run. Some bridges keep it for the runs
	// after it too.
	Model string
	// ModelParams belong to Model, which they need.
	ModelParams map[string]string
	// Mode is the agent's own when empty.
	Mode Mode
	// MCPServers replace the agent's for this run when not nil. An empty map is an
	// error, since the protocol cannot say "none".
	MCPServers map[string]MCPServer
	// Deltas asks for [Delta] events, Steps for [Step] events. They are in no record:
	// when the run's stream breaks and is continued there are no more of them, which
	// a [Gap] says.
	Deltas bool
	Steps  bool
	// Force expires a run that a crashed host, or a bridge that died under it, left
	// behind: until then the agent is busy. Use it once, and only when no live run of
	// the agent is known.
	Force bool
	// EnvironmentVariables are those of a cloud agent's machine for this run.
	EnvironmentVariables map[string]string
}

// Version is what the bridge says of itself.
type Version struct {
	Bridge       string
	Protocol     string
	Capabilities []string
}
