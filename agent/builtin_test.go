package agent

import "testing"

// The agent that is built in can be used, and asks before it writes.
func TestBuiltInAgentIsGood(t *testing.T) {
	t.Parallel()
	def, problems := LoadDir("", Checks{HostTool: func(name string) bool { return name == "set_labels" || name == "post_to_slack" }})
	for _, p := range problems {
		t.Error(p)
	}
	if def == nil {
		t.Fatal("it has no definition")
	}
	if len(def.Tools) != 2 {
		t.Errorf("it has %d tools, want set_labels and post_to_slack", len(def.Tools))
	}
	for _, tool := range def.Tools {
		if tool.Flavor != Host || !tool.Approval.Always {
			t.Errorf("%s runs as %q with the gate %+v; want a gated tool of the host's", tool.Name, tool.Flavor, tool.Approval)
		}
	}
}
