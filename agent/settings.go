package agent

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// settingsFile is agent.yaml.
const settingsFile = "agent.yaml"

// settings are what agent.yaml holds.
type settings struct {
	Model           *modelSetting    `json:"model,omitempty" jsonschema:"The model, by its name or as name and params; the service's own where it is left out"`
	Runtime         Runtime          `json:"runtime,omitempty" jsonschema:"Where the agent runs: local (the default) or cloud"`
	Cloud           *cloudSettings   `json:"cloud,omitempty" jsonschema:"How it runs at the provider"`
	Tools           []string         `json:"tools,omitempty" jsonschema:"The bridge's own tools that the agent has; those that only read the workspace by default"`
	DisallowedTools []string         `json:"disallowedTools,omitempty" jsonschema:"Tools of the bridge that are taken away whatever tools says"`
	Limits          limitSettings    `json:"limits,omitzero" jsonschema:"What ends a turn; the service's own limits hold as well"`
	Approvals       approvalSettings `json:"approvals,omitzero" jsonschema:"Who decides about calls of tools that need it"`
}

type cloudSettings struct {
	Environment   string                   `json:"environment,omitempty" jsonschema:"Name of the provider's environment"`
	Repositories  []cloudRepositorySetting `json:"repositories,omitempty" jsonschema:"The repositories that it works on"`
	AutoCreatePR  bool                     `json:"autoCreatePR,omitempty" jsonschema:"Whether it opens a pull request for what it changed"`
	CurrentBranch bool                     `json:"currentBranch,omitempty" jsonschema:"Whether it works on the branch as it is and begins none"`
}

type cloudRepositorySetting struct {
	URL string `json:"url" jsonschema:"Address of the repository, with https"`
	Ref string `json:"ref,omitempty" jsonschema:"Branch, tag or commit; the default branch where it is left out"`
}

type limitSettings struct {
	Duration  *duration `json:"duration,omitempty" jsonschema:"How long a turn may take, each time that it is tried"`
	Tokens    *int64    `json:"tokens,omitempty" jsonschema:"How many tokens it may use"`
	ToolCalls *int      `json:"toolCalls,omitempty" jsonschema:"How many tools it may call"`
	Cost      *float64  `json:"cost,omitempty" jsonschema:"What it may cost, in US dollars, as far as prices are known"`
}

// builtIns are the names of the bridge's own tools. A bridge ignores a name that
// it does not know, so that a misspelt one would take nothing away.
var builtIns = []string{"delete", "edit", "glob", "grep", "ls", "mcp", "read", "shell", "task", "web_fetch", "web_search", "write"}

// settings reads agent.yaml into the definition.
func (l *loader) settings() {
	f := l.tree.file(settingsFile)
	var s settings
	r := l.reader(settingsFile, 0)
	if f != nil {
		var ok bool
		if r, ok = l.problems.settings(f, &s); !ok {
			return
		}
	}
	if s.Model != nil {
		l.def.Model, l.def.ModelParams = s.Model.Name, s.Model.Params
		if strings.TrimSpace(s.Model.Name) == "" && !r.broken["model.name"] {
			r.at("model", "names no model")
		}
	}
	switch s.Runtime {
	case "", Local:
		if s.Cloud != nil {
			r.at("cloud", "holds only with \"runtime: cloud\"")
		}
	case CloudHosted:
		l.def.Runtime, l.def.Cloud = CloudHosted, &Cloud{}
		if s.Cloud != nil {
			l.def.Cloud = r.cloud(*s.Cloud)
		}
	default:
		r.at("runtime", "must be local or cloud, not %.100q", s.Runtime)
	}
	r.builtIns("tools", s.Tools)
	r.builtIns("disallowedTools", s.DisallowedTools)
	l.def.BuiltIn, l.def.Disallowed = s.Tools, s.DisallowedTools
	l.def.Limits = r.limits(s.Limits)
	l.def.Approvals = r.approvals("approvals", s.Approvals)
}

func (r *reader) cloud(s cloudSettings) *Cloud {
	out := &Cloud{Environment: s.Environment, AutoCreatePR: s.AutoCreatePR, CurrentBranch: s.CurrentBranch}
	for i, one := range s.Repositories {
		u, err := url.Parse(one.URL)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
			r.at(fmt.Sprintf("cloud.repositories[%d].url", i), "must be an address with https and without a password")
		}
		out.Repositories = append(out.Repositories, CloudRepository(one))
	}
	return out
}

func (r *reader) builtIns(path string, names []string) {
	for i, name := range names {
		if !slices.Contains(builtIns, name) {
			r.at(index(path, i), "is %.100q, which is none of the bridge's own tools: %s", name, strings.Join(builtIns, ", "))
		}
	}
}

func (r *reader) limits(s limitSettings) Limits {
	var out Limits
	if s.Duration != nil {
		out.Duration = s.Duration.Duration
		r.positive("limits.duration", out.Duration > 0)
	}
	if s.Tokens != nil {
		out.Tokens = *s.Tokens
		r.positive("limits.tokens", out.Tokens > 0)
	}
	if s.ToolCalls != nil {
		out.ToolCalls = *s.ToolCalls
		r.positive("limits.toolCalls", out.ToolCalls > 0)
	}
	if s.Cost != nil {
		out.CostUSD = *s.Cost
		r.positive("limits.cost", out.CostUSD > 0)
	}
	return out
}

func (r *reader) positive(path string, is bool) {
	if !is {
		r.at(path, "must be more than nothing; leave it out for no limit")
	}
}
