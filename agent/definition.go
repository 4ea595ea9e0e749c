package agent

import (
	"encoding/json"
	"io/fs"
	"time"

	"github.com/liaison-bot/liaison/approvals"
)

// Definition is an agent as its folder describes it. Nothing in it changes.
type Definition struct {
	// Version identifies the contents of the folder.
	Version string
	// Dir is the folder, absolute; empty for the built-in agent.
	Dir string

	Model       string
	ModelParams map[string]string
	Runtime     Runtime
	Cloud       *Cloud
	// BuiltIn are the bridge's own tools that the agent has, and Disallowed those
	// that are taken away whatever BuiltIn says. A nil BuiltIn leaves the choice to
	// the service: those that only read the workspace.
	BuiltIn    []string
	Disallowed []string
	Limits     Limits
	Approvals  Approvals

	// Instructions are always told to the agent, as Markdown.
	Instructions string
	Skills       []Skill
	Subagents    []Subagent
	Connections  []Connection
	Tools        []Tool
	// Seeds are the files that a workspace begins with; nil has none.
	Seeds fs.FS
}

// Runtime is where the agent runs.
type Runtime string

// The runtimes.
const (
	Local       Runtime = "local"
	CloudHosted Runtime = "cloud"
)

// Cloud says how an agent runs at the provider.
type Cloud struct {
	Environment   string
	Repositories  []CloudRepository
	AutoCreatePR  bool
	CurrentBranch bool
}

// CloudRepository is one that a cloud agent works on.
type CloudRepository struct {
	URL string
	Ref string
}

// Limits end a turn that uses more. Zero leaves a limit to the service.
type Limits struct {
	Duration  time.Duration
	Tokens    int64
	ToolCalls int
	CostUSD   float64
}

// Approvals says who decides about calls, as a rule, and where it differs.
type Approvals struct {
	Policy approvals.Policy
	// Given says that the folder says who decides as a rule, be it nobody.
	Given bool
	// Repositories and Channels replace the approvers for pull requests of a
	// repository ("owner/name", lower case) and for threads of a Slack channel (its id).
	Repositories map[string]approvals.Approvers
	Channels     map[string]approvals.Approvers
	// SlackChannel is where approvals are shown that were not asked for in Slack; the
	// listed people are sent direct messages where it is empty.
	SlackChannel string
}

// Skill is a procedure that the agent reads when it needs it.
type Skill struct {
	Name        string
	Description string
	// Files are SKILL.md and what it refers to, below the skill's own folder.
	Files fs.FS
}

// Subagent is a specialist that the agent can delegate to.
type Subagent struct {
	ID string
	// Description is all that the agent reads before it delegates.
	Description  string
	Model        string
	Instructions string
}

// Connection is an MCP server. Its texts may refer to variables of the host's
// environment: [Connection.Resolve] puts their values in.
type Connection struct {
	Name      string
	Transport Transport
	// Command, Args and Env start a server that speaks on its standard streams.
	Command string
	Args    []string
	Env     map[string]string
	// URL and Headers reach one over HTTP.
	URL     string
	Headers map[string]string
	// HeadersCommand is run on the host before each turn, and prints further headers as
	// one JSON object. A turn fails when it does.
	HeadersCommand []string
	// HostOnly keeps it from the agent.
	HostOnly bool

	// file and lines are where its values stand.
	file  string
	lines map[string]int
}

// Transport is how an MCP server is reached.
type Transport string

// The transports.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http"
	SSE   Transport = "sse"
)

// Tool is one that the agent may call.
type Tool struct {
	Name        string
	Description string
	// Dir is the tool's folder, absolute.
	Dir string
	// Fingerprint identifies all files of the folder.
	Fingerprint string

	InputSchema  json.RawMessage
	OutputSchema json.RawMessage
	// Effect says what a call does. Approval says which calls wait for a person.
	Effect   Effect
	Approval Condition
	// Approvers replace those of the agent; nil leaves them.
	Approvers *approvals.Approvers
	// MinApprovals replaces that of the agent; zero leaves it.
	MinApprovals int
	Risk         approvals.Risk
	Timeout      time.Duration
	// Env are the names of the variables of the host's environment that it gets.
	Env []string
	// DryRunResult is what a call answers that would write where nothing may be
	// written. Nil has none.
	DryRunResult json.RawMessage
	// Flavor says where it runs, and Run is the command for it; empty for [Host]. The
	// first word is a name for the system to find, or stands below Dir, with slashes.
	Flavor Flavor
	Run    []string
	// Files are those of the folder if Flavor is [OnAgent], else nil.
	Files fs.FS
}

// Flavor says where a tool runs.
type Flavor string

// The flavors.
const (
	// Server runs on the host, OnAgent where the agent runs, as a script in its workspace.
	Server  Flavor = "server"
	OnAgent Flavor = "agent"
	// Host is one of the service's own tools, which the agent has because its folder
	// names it, under the conditions that stand there.
	Host Flavor = "host"
)

// Condition holds always, never, or if an expression in CEL over the input says so.
type Condition struct {
	Always bool
	// Expression is the CEL text; empty where Always decides.
	Expression string
}

// Effect is "read", "write", or decided by Expression, which holds for reads.
type Effect struct {
	Reads      bool
	Expression string
}

// Severity says whether a problem keeps a folder from being used.
type Severity string

// The severities.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
)

// Problem is something wrong with a folder.
type Problem struct {
	Severity Severity
	// File is below the folder, with slashes; Line counts from one, and is zero where
	// the file as a whole is meant.
	File string
	Line int
	Text string
}
