package tools

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDirectLeavesOutWhatOnlyAgentsGet(t *testing.T) {
	t.Parallel()
	yes, no := func() bool { return true }, func() bool { return false }
	schema := json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`)
	elsewhere := func(turn Turn) bool { return turn.Channel == "github" }
	r, err := New(
		Tool{Name: "silent", InputSchema: schema, Run: nothing},
		Tool{Name: "refused", InputSchema: schema, Run: nothing, Direct: no},
		Tool{Name: "labels", InputSchema: schema, Run: nothing, Direct: yes, Offered: elsewhere},
		Tool{Name: "deploy", InputSchema: schema, Run: nothing, Direct: yes},
	)
	if err != nil {
		t.Fatal(err)
	}
	for channel, want := range map[string]string{"http": "deploy", "github": "deploy labels"} {
		var names []string
		for _, tool := range r.Direct(Turn{Channel: channel}) {
			names = append(names, tool.Name)
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("on %s people may call %q, want %q", channel, got, want)
		}
	}
	if err := r.Check("deploy", json.RawMessage(`{"n":"one"}`)); err == nil || !strings.Contains(err.Error(), "/n") {
		t.Errorf("a wrong input is said to be %v", err)
	}
	if err := r.Check("deploy", json.RawMessage(`{"n":1}`)); err != nil {
		t.Errorf("a right input is said to be %v", err)
	}
}

func TestPeopleAreToldWhatAToolDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tool         Tool
		effect, gate string
	}{
		"unsaid":    {Tool{}, "write", "never"},
		"reads":     {Tool{Effect: Reads, Gate: &Gate{}}, "read", "always"},
		"condition": {Tool{Effect: Reads, EffectNote: "input.dry", Gate: &Gate{Note: "input.n > 1"}}, "input.dry", "input.n > 1"},
	} {
		if effect, gate := c.tool.DescribeEffect(), c.tool.DescribeGate(); effect != c.effect || gate != c.gate {
			t.Errorf("%s: %q, %q", name, effect, gate)
		}
	}
}
