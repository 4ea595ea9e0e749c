package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
)

// agentInfo is what GET /v1/info and "liaison info" tell of an agent. It holds no
// secret: of connections it has the names only.
type agentInfo struct {
	// Version identifies the contents of the folder, and is empty if that cannot be used.
	Version string `json:"version,omitempty"`
	// Dir is the folder; empty for the built-in agent.
	Dir         string           `json:"dir,omitempty"`
	Model       string           `json:"model,omitempty"`
	Runtime     agent.Runtime    `json:"runtime,omitempty"`
	Tools       []toolInfo       `json:"tools"`
	Skills      []namedInfo      `json:"skills"`
	Subagents   []subagentInfo   `json:"subagents"`
	Connections []connectionInfo `json:"connections"`
	Problems    []problemInfo    `json:"problems"`
}

type namedInfo struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type toolInfo struct {
	namedInfo
	// Flavor is where it runs: "server", "agent" or "host".
	Flavor agent.Flavor `json:"flavor"`
	// Effect is "read", "write" or a condition in CEL under which a call only reads.
	// It is empty for a tool of the service's own.
	Effect string `json:"effect,omitempty"`
	// NeedsApproval is "never", "always" or a condition in CEL.
	NeedsApproval string         `json:"needsApproval"`
	Risk          approvals.Risk `json:"risk,omitempty"`
	// Timeout is in seconds.
	Timeout float64 `json:"timeout,omitempty"`
}

type subagentInfo struct {
	namedInfo
	Model string `json:"model,omitempty"`
}

type connectionInfo struct {
	Name      string          `json:"name"`
	Transport agent.Transport `json:"transport"`
	HostOnly  bool            `json:"hostOnly,omitempty"`
}

type problemInfo struct {
	Severity agent.Severity `json:"severity"`
	File     string         `json:"file,omitempty"`
	Line     int            `json:"line,omitempty"`
	Text     string         `json:"text"`
}

// describeAgent tells of an agent and of what is wrong with its folder. The
// definition is nil for a folder that cannot be used.
func describeAgent(def *agent.Definition, problems []agent.Problem) agentInfo {
	info := agentInfo{
		Tools: []toolInfo{}, Skills: []namedInfo{}, Subagents: []subagentInfo{}, Connections: []connectionInfo{}, Problems: []problemInfo{},
	}
	for _, p := range problems {
		info.Problems = append(info.Problems, problemInfo(p))
	}
	if def == nil {
		return info
	}
	info.Version, info.Dir, info.Model, info.Runtime = def.Version, def.Dir, def.Model, def.Runtime
	for _, t := range def.Tools {
		info.Tools = append(info.Tools, toolInfo{
			namedInfo: namedInfo{t.Name, t.Description}, Flavor: t.Flavor, Effect: effectOf(t),
			NeedsApproval: gateOf(t), Risk: t.Risk, Timeout: t.Timeout.Seconds(),
		})
	}
	for _, s := range def.Skills {
		info.Skills = append(info.Skills, namedInfo{s.Name, s.Description})
	}
	for _, s := range def.Subagents {
		info.Subagents = append(info.Subagents, subagentInfo{namedInfo{s.ID, s.Description}, s.Model})
	}
	for _, c := range def.Connections {
		info.Connections = append(info.Connections, connectionInfo{c.Name, c.Transport, c.HostOnly})
	}
	return info
}

func effectOf(t agent.Tool) string {
	switch {
	case t.Flavor == agent.Host:
		return ""
	case t.Effect.Expression != "":
		return t.Effect.Expression
	case t.Effect.Reads:
		return "read"
	}
	return "write"
}

func gateOf(t agent.Tool) string {
	switch {
	case t.Approval.Always, t.Flavor == agent.Host && asksAlways(t.Name):
		return "always"
	case t.Approval.Expression != "":
		return t.Approval.Expression
	}
	return "never"
}

func newInfo(con *console) *cobra.Command {
	c := &cobra.Command{
		Use:   "info [DIR]",
		Short: "Show an agent: its tools, skills, subagents and connections",
		Long: `Show the agent in the folder DIR, or without DIR the one that the running
service works with.

With --json it is the part "agent" of the HTTP API's GET /v1/info. The exit status
is 1 for a folder that cannot be used.`,
		Args: cobra.MaximumNArgs(1),
	}
	conn := newConnection(con, c)
	c.RunE = func(c *cobra.Command, args []string) error {
		info, err := conn.agent(c.Context(), args)
		if err != nil {
			return err
		}
		dir := strings.Join(args, "") // one at most
		show := func(info *agentInfo) error { return con.showAgent(info, dir) }
		if conn.json {
			show = func(info *agentInfo) error { return writeJSON(con.out, info) }
		}
		if err := show(info); err != nil {
			return err
		}
		if info.Version == "" {
			return exitStatus{status: exitFailed} // what is wrong was shown
		}
		return nil
	}
	return c
}

// agent tells of the agent in a folder, or of the service's.
func (c *connection) agent(ctx context.Context, args []string) (*agentInfo, error) {
	if len(args) == 1 {
		info := describeAgent(agent.LoadDir(args[0], folderChecks()))
		return &info, nil
	}
	s, err := c.open()
	if err != nil {
		return nil, err
	}
	defer s.Close()
	answer, err := remote.Call[struct {
		Agent *agentInfo `json:"agent"`
	}](ctx, s, func(ctx context.Context) (*http.Response, error) { return s.API().GetInfo(ctx) })
	switch {
	case err != nil:
		return nil, err
	case answer.Agent == nil:
		return nil, errors.New("the service tells nothing of its agent; it is an older one")
	}
	return answer.Agent, nil
}

// showAgent shows an agent to a person, who knows its folder as dir.
func (c *console) showAgent(info *agentInfo, dir string) error {
	out := c.screen()
	if info.Version != "" {
		name := "built-in agent"
		if info.Dir != "" {
			name = "agent " + info.Dir
		}
		fmt.Fprintf(out, "%s, version %s, %s, model %s\n", terminal.Line(name), info.Version, info.Runtime, orDash(terminal.Line(info.Model)))
	}
	var rows [][]string
	add := func(kind, name, how, what string) {
		first, _, _ := strings.Cut(strings.TrimSpace(what), "\n")
		rows = append(rows, []string{kind, name, orDash(how), orDash(first)})
	}
	for _, t := range info.Tools {
		add("tool", t.Name, howToolRuns(t), t.Description)
	}
	for _, s := range info.Skills {
		add("skill", s.Name, "", s.Description)
	}
	for _, s := range info.Subagents {
		add("subagent", s.Name, s.Model, s.Description)
	}
	for _, conn := range info.Connections {
		how := string(conn.Transport)
		if conn.HostOnly {
			how += ", host only"
		}
		add("connection", conn.Name, how, "")
	}
	if len(rows) > 0 {
		if err := out.Table([]terminal.Column{{Title: "KIND"}, {Title: "NAME"}, {Title: "HOW"}, {Title: "WHAT"}}, rows); err != nil {
			return err
		}
	}
	for _, p := range info.Problems {
		p.File = filepath.Join(dir, filepath.FromSlash(p.File))
		fmt.Fprintln(out, terminal.Line(agent.Problem(p).String()))
	}
	return out.Err()
}

func howToolRuns(t toolInfo) string {
	how := []string{string(t.Flavor)}
	switch t.Effect {
	case "", "read", "write":
		how = append(how, t.Effect)
	default:
		how = append(how, "reads if "+t.Effect)
	}
	switch t.NeedsApproval {
	case "never":
	case "always":
		how = append(how, "asks")
	default:
		how = append(how, "asks if "+t.NeedsApproval)
	}
	if t.Timeout > 0 {
		how = append(how, (time.Duration(t.Timeout * float64(time.Second))).String())
	}
	how = slices.DeleteFunc(how, func(word string) bool { return word == "" })
	return strings.Join(how, ", ")
}
