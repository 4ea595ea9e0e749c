package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/tools/condition"
)

// folderTool writes a tool's folder with one script, and describes it.
func folderTool(t *testing.T, script string) agent.Tool {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the script is one for a shell of Unix")
	}
	dir := filepath.Join(t.TempDir(), "deploy")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	// While no process is started: one that still had it open for writing would keep
	// it from being run.
	syscall.ForkLock.RLock()
	err := os.WriteFile(filepath.Join(dir, "run"), []byte(script), 0o700)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return agent.Tool{
		Name: "deploy", Description: "Deploys a service.", Dir: dir, Fingerprint: fingerprintOf(t, dir), Flavor: agent.Server, Run: []string{"./run"},
		InputSchema: json.RawMessage(`{"type":"object","properties":{"environment":{"type":"string"},"plan":{"type":"boolean"}},"required":["environment"]}`),
	}
}

func fingerprintOf(t *testing.T, dir string) string {
	t.Helper()
	now, err := agent.Fingerprint(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	return now
}

func folderOptions(t *testing.T) FolderOptions {
	return FolderOptions{
		Policy:   func(c Call) approvals.Policy { return approvals.Policy{MinApprovals: len(c.Principal)} },
		StateDir: t.TempDir(), TempDir: t.TempDir(),
	}
}

func fromFolder(t *testing.T, described agent.Tool) Tool {
	t.Helper()
	tool, err := FromFolder(described, folderOptions(t))
	if err != nil {
		t.Fatal(err)
	}
	return tool
}

func TestAToolOfAFolderIsCalled(t *testing.T) {
	t.Parallel()
	described := folderTool(t, `#!/bin/sh
read -r input
printf '{"input":%s,"session":"%s %s %s %s","call":"%s","approval":"%s","subject":"%s","workspace":"%s"}' \
	"$input" "$LIAISON_SESSION_ID" "$LIAISON_SESSION_CHANNEL" "$LIAISON_SESSION_MODE" "$LIAISON_SESSION_PRINCIPAL" \
	"$LIAISON_TOOL_CALL_ID" "$LIAISON_APPROVAL_ID" "$LIAISON_SUBJECT" "$LIAISON_WORKSPACE"
`)
	r := registry(t, fromFolder(t, described))
	workspace := t.TempDir()
	c := Call{
		Turn:    Turn{TurnID: "t", SessionID: "s", Channel: "slack", Mode: "chat", Principal: "slack:user:T1:U1", Subject: "octo/shop#12", Dir: workspace},
		AgentID: "a", CallID: "c", ApprovalID: "apr_1", Input: json.RawMessage(`{"environment":"staging"}`),
	}
	result, err := r.Call(t.Context(), c, "deploy", &notes{})
	if err != nil || result.IsError {
		t.Fatalf("%+v, %v", result, err)
	}
	want := fmt.Sprintf(`{"input":{"environment":"staging"},"session":"s slack chat slack:user:T1:U1","call":"c","approval":"apr_1","subject":"octo/shop#12","workspace":%q}`, workspace)
	if string(result.Structured) != want || result.Text != want {
		t.Errorf("got %s, want %s", result.Structured, want)
	}
}

func TestWhatAFolderSaysOfATool(t *testing.T) {
	t.Parallel()
	described := folderTool(t, "#!/bin/sh\n")
	tool := fromFolder(t, described)
	if tool.Effect != nil || tool.Gate != nil || !tool.Direct() || tool.Timeout != 2*time.Minute || tool.Fingerprint != described.Fingerprint {
		t.Errorf("a tool that says nothing: %+v", tool)
	}
	described.Effect.Reads, described.Approval.Always = true, true
	described.Timeout, described.Risk, described.DryRunResult = time.Hour, approvals.RiskHigh, json.RawMessage(`{"deployed":false}`)
	tool = fromFolder(t, described)
	if needs, err := tool.Gate.Needs(Call{}); !needs || err != nil || tool.Effect(nil) != Read || tool.Timeout != 10*time.Minute || tool.Gate.Risk != approvals.RiskHigh || string(tool.DryRun) != `{"deployed":false}` {
		t.Errorf("a tool that says all: %+v", tool)
	}
	if p := tool.Gate.Policy(Call{Turn: Turn{Principal: "four"}}); p.MinApprovals != 4 {
		t.Errorf("the caller's policy is not asked: %+v", p)
	}
	described.Effect = agent.Effect{Expression: `input.plan`}
	described.Approval = agent.Condition{Expression: `input.environment == "production" || session.channel != "slack"`}
	tool = fromFolder(t, described)
	for _, tt := range []struct {
		input  string
		effect Effect
		needs  bool
	}{
		{`{"environment":"staging","plan":true}`, Read, false},
		{`{"environment":"staging","plan":false}`, Write, false},
		{`{"environment":"production"}`, Write, true}, // no plan: it writes
		{`{}`, Write, true},
		{`{"environment":7,"plan":7}`, Write, false},
	} {
		input := json.RawMessage(tt.input)
		needs, err := tool.Gate.Needs(Call{Turn: Turn{Channel: "slack"}, Input: input})
		if effect := tool.Effect(input); effect != tt.effect || (needs || err != nil) != tt.needs {
			t.Errorf("%s: %s, needs %t, %v", tt.input, effect, needs, err)
		}
	}
	if needs, err := tool.Gate.Needs(Call{Turn: Turn{Channel: "github"}, Input: json.RawMessage(`{"environment":"staging"}`)}); !needs || err != nil {
		t.Errorf("elsewhere: %t, %v", needs, err)
	}
}

func TestAToolThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		mend func(*agent.Tool)
		want string
	}{
		"for the agent's machine":  {func(a *agent.Tool) { a.Flavor = agent.OnAgent }, "runs where the agent runs"},
		"the service's own":        {func(a *agent.Tool) { a.Flavor = agent.Host }, "has no executable"},
		"a misspelt field":         {func(a *agent.Tool) { a.Approval.Expression = `input.env == "x"` }, `the condition of needsApproval: 1:6: the input's schema has no field "env" here`},
		"an effect by who calls":   {func(a *agent.Tool) { a.Effect.Expression = `session.dryRun` }, "the condition of effect: 1:1: undeclared reference"},
		"a program that is not":    {func(a *agent.Tool) { a.Run = []string{"no-such-program-anywhere"} }, "is not installed"},
		"a folder that is another": {func(a *agent.Tool) { a.Fingerprint = "x" }, "was changed since it was read"},
	} {
		described := folderTool(t, "#!/bin/sh\n")
		tt.mend(&described)
		if _, err := FromFolder(described, folderOptions(t)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
	described := folderTool(t, "#!/bin/sh\n")
	described.Approval.Expression = "input."
	var mistake *condition.Error
	if _, err := FromFolder(described, folderOptions(t)); !errors.As(err, &mistake) || mistake.Line != 1 {
		t.Errorf("the place of a mistake is lost: %v", err)
	}
	described.Flavor = agent.OnAgent
	if _, err := FromFolder(described, folderOptions(t)); !errors.Is(err, ErrAgentTool) {
		t.Errorf("a tool for the agent's machine: %v", err)
	}
}

func TestWhatWasReplacedOrRemovedIsNotRun(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(dir string) error{
		"replaced": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\nrm -rf /\n"), 0o700)
		},
		"removed":    os.RemoveAll,
		"with other": func(dir string) error { return os.WriteFile(filepath.Join(dir, "lib.sh"), nil, 0o600) },
		"a link":     func(dir string) error { return os.Symlink("/bin/sh", filepath.Join(dir, "lib")) },
	} {
		described := folderTool(t, "#!/bin/sh\necho ran\n")
		tool := fromFolder(t, described)
		r := registry(t, tool)
		agreed := call("1")
		agreed.Input = json.RawMessage(`{"environment":"x"}`)
		if result, err := r.Execute(t.Context(), agreed, "deploy", described.Fingerprint, &notes{}); err != nil || result.IsError || result.Text != "ran" {
			t.Fatalf("before: %+v, %v", result, err)
		}
		if err := change(described.Dir); err != nil {
			t.Fatal(err)
		}
		result, err := r.Execute(t.Context(), agreed, "deploy", described.Fingerprint, &notes{})
		if err != nil || !result.IsError || !strings.Contains(result.Text, "tool's folder") || strings.Contains(result.Text, "ran\n") {
			t.Errorf("%s: %+v, %v", name, result, err)
		}
	}
}

func TestACallThatTakesTooLongIsEnded(t *testing.T) {
	t.Parallel()
	described := folderTool(t, "#!/bin/sh\necho halfway >&2\nexec sleep 600\n")
	described.Timeout = 300 * time.Millisecond
	r := registry(t, fromFolder(t, described))
	c := call("1")
	c.Input = json.RawMessage(`{"environment":"x"}`)
	result, err := r.Call(context.Background(), c, "deploy", &notes{})
	if err != nil || !result.IsError || !strings.Contains(result.Text, "has not answered within its time, 300ms; what it has done by then stays done") {
		t.Errorf("%+v, %v", result, err)
	}
}
