package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const walkThrough = "../../docs/bridge-local.md"

// The walk-through is run as a reader would: block by block, by sh and curl.
func TestTheWalkThroughWorksAsItStands(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs ", tool)
		}
	}
	data, err := os.ReadFile(walkThrough)
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range strings.Split(string(data), "```sh\n")[1:] {
		code, _, _ := strings.Cut(block, "```")
		script.WriteString(code)
	}
	bin := filepath.Dir(bridgeExecutable(t)) // before the clock starts: a build may take a minute
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	tmp := t.TempDir()
	cmd := exec.CommandContext(ctx, "sh", "-eu")
	cmd.Stdin = strings.NewReader(script.String())
	cmd.Env = []string{
		"TMPDIR=" + tmp, "LIAISON_BRIDGE_EXIT_WITH_PARENT=1",
		"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	last := 0
	for _, want := range []string{
		`{"message":"pong"}`, `"protocolVersion":"sdk.v1"`, `{"code":"unauthenticated","message":"Unauthorized"}`,
		`{"code":"unauthenticated","message":"an API key is required`, `"id":"liaison-reviewer"`,
		`"type":"status"`, `"type":"system"`, `"type":"thinking"`, `"type":"tool_call"`, `"type":"assistant"`, `"type":"usage"`,
		`"result":{`, `"done":{`,
		`"agentId":"echo"`, `"type":"thinking-delta"`, `"type":"thinkingMessage"`, `"type":"text-delta"`, `"type":"turn-ended"`,
		`"type":"assistantMessage"`, `"done":{`, `"messages":[`, `"text":"hello there"`, `"totalTokens":"7"`,
		`"status":"RUN_LIFECYCLE_STATUS_FINISHED"`,
	} {
		at := strings.Index(string(out[last:]), want)
		if at < 0 {
			t.Fatalf("%s is missing or comes too early in\n%s", want, out)
		}
		last += at
	}
	if left, err := os.ReadDir(tmp); err != nil || len(left) != 0 {
		t.Errorf("left in the temporary directory: %v, %v", left, err)
	}
}

func TestTheDocumentationNamesEveryFlag(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(walkThrough)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range settings() {
		if !strings.Contains(string(data), "`--"+s.flag+"`") {
			t.Errorf("--%s is not documented", s.flag)
		}
	}
}
