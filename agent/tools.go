package agent

import (
	"encoding/json"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

const (
	toolsDir = "tools"
	toolFile = "tool.yaml"
)

// toolName is what model providers take as the name of a function.
var toolName = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// toolSettings are what tools/<name>/tool.yaml holds.
type toolSettings struct {
	Description   string            `json:"description,omitempty" jsonschema:"What the tool does and when to call it, for the agent; a tool of the service's own has its own"`
	InputSchema   jsonValue         `json:"inputSchema,omitempty" jsonschema:"JSON Schema of the input, an object's; any object where it is left out"`
	OutputSchema  jsonValue         `json:"outputSchema,omitempty" jsonschema:"JSON Schema of the result, for who reads it"`
	Effect        string            `json:"effect,omitempty" jsonschema:"read, write (the default), or a condition in CEL over the input that holds where a call only reads"`
	NeedsApproval *condition        `json:"needsApproval,omitempty" jsonschema:"Whether a call waits for a person: true, false, or a condition in CEL over the input"`
	Approvers     *approversSetting `json:"approvers,omitempty" jsonschema:"Who may decide about calls, in place of the agent's approvers"`
	MinApprovals  *int              `json:"minApprovals,omitempty" jsonschema:"How many people must approve, in place of the agent's number"`
	Risk          approvals.Risk    `json:"risk,omitempty" jsonschema:"What a wrong call would do, for the people who decide: low, medium or high"`
	Timeout       *duration         `json:"timeout,omitempty" jsonschema:"How long a call may take; 10m at most"`
	Env           []string          `json:"env,omitempty" jsonschema:"Names of the variables of the host's environment that it gets; no others"`
	DryRunResult  jsonValue         `json:"dryRunResult,omitempty" jsonschema:"What a call that would write answers where nothing may be written"`
	Flavor        Flavor            `json:"flavor,omitempty" jsonschema:"Where it runs: server (on the host, the default) or agent (as a script in the agent's workspace)"`
	Host          bool              `json:"host,omitempty" jsonschema:"Whether this is one of the service's own tools, which the agent gets under these conditions"`
	Run           command           `json:"run,omitempty" jsonschema:"What is run: a file of the folder, or a program and its arguments; ./run by default"`
}

// tools reads the folders of tools.
func (l *loader) tools() {
	for _, e := range l.tree.list(toolsDir) {
		dir := path.Join(toolsDir, e.name)
		f := l.tree.file(path.Join(dir, toolFile))
		switch {
		case f == nil:
			continue // misplaced says where it belongs
		case !toolName.MatchString(e.name):
			l.fail(dir, 0, "is not a name for a tool: at most 64 letters, digits, '-' and '_'")
			continue
		}
		var s toolSettings
		r, ok := l.problems.settings(f, &s)
		if !ok {
			continue
		}
		t := Tool{Name: e.name, Flavor: s.Flavor, Fingerprint: fingerprint(l.tree.below(dir))}
		if l.def.Dir != "" {
			t.Dir = filepath.Join(l.def.Dir, toolsDir, e.name)
		}
		switch {
		case s.Host:
			t.Flavor = Host
		case t.Flavor == "":
			t.Flavor = Server
		case t.Flavor != Server && t.Flavor != OnAgent:
			r.at("flavor", "must be server or agent, not %.100q", t.Flavor)
		}
		l.fits(r, t)
		l.conditions(r, s, &t)
		if t.Flavor != Host {
			l.executable(r, s, dir, &t)
		}
		l.def.Tools = append(l.def.Tools, t)
	}
}

// fits checks that a tool says only what holds where it runs.
func (l *loader) fits(r *reader, t Tool) {
	known := l.checks.HostTool != nil && l.checks.HostTool(t.Name)
	var foreign []string
	why := ""
	switch t.Flavor {
	case Host:
		foreign = []string{"flavor", "description", "inputSchema", "outputSchema", "effect", "env", "dryRunResult", "run"}
		why = "is the service's own for this tool"
		if l.checks.HostTool != nil && !known {
			r.at("host", "names %s, which is none of the service's own tools", t.Name)
		}
	case OnAgent:
		foreign = []string{"needsApproval", "approvers", "minApprovals", "risk", "timeout", "env", "dryRunResult"}
		why = "does not hold for a tool that runs where the agent does, out of the service's sight"
	}
	if known && t.Flavor != Host {
		l.fail(r.file, 0, "has the name of one of the service's own tools; name it otherwise, or say \"host: true\"")
	}
	for _, key := range foreign {
		if r.has(key) {
			r.at(key, "%s", why)
		}
	}
}

// conditions reads when a tool may be called, and what a call may do.
func (l *loader) conditions(r *reader, s toolSettings, t *Tool) {
	switch s.Effect {
	case "", "write":
	case "read":
		t.Effect.Reads = true
	default:
		t.Effect.Expression = s.Effect
		r.cel("effect", s.Effect, s.InputSchema, l.checks.Effect)
	}
	if s.NeedsApproval != nil {
		t.Approval = s.NeedsApproval.Condition
		r.cel("needsApproval", t.Approval.Expression, s.InputSchema, l.checks.Approval)
	}
	if s.Approvers != nil {
		a := r.approvers("approvers", *s.Approvers)
		t.Approvers = &a
	}
	if s.MinApprovals != nil {
		t.MinApprovals = r.minApprovals("minApprovals", *s.MinApprovals)
	}
	if s.NeedsApproval != nil || t.Flavor == Host && l.checks.HostAsks != nil && l.checks.HostAsks(t.Name) {
		l.reached(r, t)
	} else {
		for _, key := range []string{"approvers", "minApprovals"} {
			if r.has(key) {
				r.warn(r.file, r.line(key), "%s has no effect without needsApproval", key)
			}
		}
	}
	switch t.Risk = s.Risk; t.Risk {
	case "", approvals.RiskLow, approvals.RiskMedium, approvals.RiskHigh:
	default:
		r.at("risk", "must be low, medium or high, not %.100q", s.Risk)
	}
	if s.Timeout != nil {
		t.Timeout = s.Timeout.Duration
		if t.Timeout <= 0 || t.Timeout > MaxToolTimeout {
			r.at("timeout", "must be more than nothing and at most %s", MaxToolTimeout)
		}
	}
	t.DryRunResult = json.RawMessage(s.DryRunResult)
}

// reached warns of a tool whose calls nobody can approve, unless that is the agent's
// own doing.
func (l *loader) reached(r *reader, t *Tool) {
	policy, at := l.def.Approvals.Policy, "minApprovals"
	if t.MinApprovals > 0 {
		policy.MinApprovals = t.MinApprovals
	}
	if t.Approvers != nil {
		policy.Approvers = *t.Approvers
		if t.MinApprovals == 0 {
			at = "approvers"
		}
	}
	if t.MinApprovals > 0 || t.Approvers != nil {
		r.reachable(at, policy)
	}
}

// cel checks a condition. One whose schema is wrong is checked once that is right.
func (r *reader) cel(path, expression string, schema jsonValue, check func(string, json.RawMessage) error) {
	if expression == "" || check == nil || schema != nil && schema[0] != '{' {
		return
	}
	if err := check(expression, json.RawMessage(schema)); err != nil {
		r.at(path, "is no condition: %v", err)
	}
}

// executable reads what only a tool with a program has.
func (l *loader) executable(r *reader, s toolSettings, dir string, t *Tool) {
	if r.has("description") {
		r.description(s.Description)
	} else {
		l.fail(r.file, 0, "has no description: say what the tool does and when to call it")
	}
	t.Description = s.Description
	t.InputSchema, t.OutputSchema = json.RawMessage(s.InputSchema), json.RawMessage(s.OutputSchema)
	l.schema(r, "inputSchema", t.InputSchema, l.checks.InputSchema)
	l.schema(r, "outputSchema", t.OutputSchema, nil)
	for i, name := range s.Env {
		switch {
		case !variable.MatchString(name):
			r.at(index("env", i), "is %.100q, which is not the name of a variable", name)
		case strings.HasPrefix(name, "LIAISON_"):
			r.at(index("env", i), "is %s: variables that begin with LIAISON_ are the service's, which sets those that a tool is to have", name)
		}
	}
	t.Env = s.Env
	if t.Run = s.Run; len(t.Run) == 0 {
		t.Run = []string{"./run"}
	}
	found := l.program(r, dir, t.Run[0])
	for _, word := range t.Run[1:] {
		found = l.argument(r, dir, word) && found
	}
	if t.Flavor != OnAgent {
		switch {
		case l.def.Dir == "":
			l.fail(dir, 0, "runs a program, which a folder that is built in has not")
		case found && l.checks.Program != nil:
			if err := l.checks.Program(t.Dir, t.Run); err != nil {
				r.at("run", "cannot be used: %v", err)
			}
		}
		return
	}
	files := l.tree.below(dir)
	for _, f := range files {
		if f.data == nil {
			l.fail(path.Join(dir, f.path), 0, "is too large for a script: at most %d bytes are taken to the agent", maxScript)
		}
	}
	t.Files = memory(slices.DeleteFunc(files, func(f file) bool { return f.path == toolFile }))
}

// schema checks that a schema is one, as far as can be told here.
func (l *loader) schema(r *reader, at string, schema json.RawMessage, check func(json.RawMessage) error) {
	switch {
	case schema == nil:
	case schema[0] != '{':
		r.at(at, "must be a JSON Schema, which is an object")
	case check != nil:
		if err := check(schema); err != nil {
			r.at(at, "cannot be used: %v", err)
		}
	}
}

// program checks what a tool runs: a file of its folder, or a name that the
// system finds. It reports whether it is there as far as the folder tells.
func (l *loader) program(r *reader, dir, name string) bool {
	if !strings.ContainsAny(name, `/\`) {
		return true
	}
	file := path.Clean(name)
	if path.IsAbs(name) || strings.Contains(name, `\`) || file == ".." || strings.HasPrefix(file, "../") {
		r.at("run", "is %.100q: a tool runs a file of its folder, such as ./run, or a program by its name", name)
		return false
	}
	f := l.tree.file(path.Join(dir, file))
	switch {
	case f == nil && runtime.GOOS == "windows" && l.tree.file(path.Join(dir, file+".exe")) != nil:
	case f == nil:
		r.at("run", "is %s, which is not in %s", name, dir)
		return false
	case !f.exec && runtime.GOOS != "windows" && l.def.Dir != "":
		l.fail(f.path, 0, "cannot be executed; chmod +x it")
		return false
	}
	return true
}

// argument checks a word behind the program, and reports whether the file is there
// for which it stands. One that begins with "./" stands for a file of the folder;
// others are passed on as they are, and a call works in the session's workspace.
func (l *loader) argument(r *reader, dir, word string) bool {
	file := path.Join(dir, word)
	switch there := l.tree.file(file) != nil; {
	case strings.HasPrefix(word, "./") && !there:
		r.at("run", "has %s, which is not in %s", word, dir)
		return false
	case !strings.HasPrefix(word, "./") && there && word != "":
		r.warn(r.file, r.line("run"), "run has %s, which is looked for in the workspace; write ./%[1]s for the file in %s", word, dir)
	}
	return true
}
