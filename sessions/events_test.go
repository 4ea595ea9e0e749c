package sessions

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/bridge"
)

// vocabulary reads the types of events from the source.
func vocabulary(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "events.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || !strings.HasPrefix(spec.Names[0].Name, "Event") {
			return true
		}
		for _, v := range spec.Values {
			text, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			types = append(types, text)
		}
		return true
	})
	if len(types) < 20 {
		t.Fatalf("found only %v", types)
	}
	return types
}

// The page about the record says what each event carries, and nothing of others.
func TestEveryEventIsExplained(t *testing.T) {
	page, err := os.ReadFile("../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	data := map[string]any{
		EventSessionStarted: sessionStarted{}, EventSessionWaiting: struct{}{},
		EventSessionCompleted: sessionEnded{}, EventSessionFailed: sessionEnded{},
		EventAgentBound: agentBound{}, EventMessageReceived: messageReceived{},
		EventMessageAmended: messageAmended{}, EventFeedbackReceived: Feedback{},
		EventTurnQueued: turnQueued{}, EventTurnStarted: turnStarted{},
		EventTurnCompleted: turnCompleted{}, EventTurnFailed: turnFailed{},
		EventStepStarted: stepStarted{}, EventStepCompleted: stepCompleted{},
		EventReasoningAppended: textAppended{}, EventReasoningCompleted: textCompleted{},
		EventMessageAppended: textAppended{}, EventMessageCompleted: textCompleted{},
		EventActionsRequested: actionsRequested{}, EventActionResult: actionResult{},
		EventApprovalRequested: approvalRequested{}, EventApprovalResolved: approvalResolved{},
		EventSubagentCalled: subagentReported{}, EventSubagentCompleted: subagentReported{},
	}
	sections := map[string]string{}
	for _, s := range regexp.MustCompile("(?m)^### `([a-z_.]+)`\n((?:[^#\n].*\n|\n)*)").FindAllStringSubmatch(string(page), -1) {
		sections[s[1]] = s[2]
	}
	types := vocabulary(t)
	for _, typ := range types {
		section, ok := sections[typ]
		if !ok {
			t.Errorf("%s is not explained", typ)
			continue
		}
		shape, written := data[typ]
		if reserved := strings.Contains(section, "Reserved: no version writes it yet."); reserved == written {
			t.Errorf("%s is reserved: %v; it has data: %v", typ, reserved, written)
			continue
		}
		for _, field := range fieldsOf(reflect.TypeOf(shape)) {
			if !strings.Contains(section, "`"+field+"`") {
				t.Errorf("%s: field %s is not explained", typ, field)
			}
		}
	}
	for typ := range sections {
		if !slices.Contains(types, typ) {
			t.Errorf("the page explains %s, which does not exist", typ)
		}
	}
}

// fieldsOf returns the names in the JSON of a type of this package.
func fieldsOf(t reflect.Type) []string {
	var names []string
	if t == nil {
		return nil
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
		inner := f.Type
		if inner.Kind() == reflect.Slice {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Struct && inner.PkgPath() == t.PkgPath() {
			names = append(names, fieldsOf(inner)...)
		}
	}
	return names
}

func TestStepsOfTheModelAreRecorded(t *testing.T) {
	inHouse(t, func(h *house) {
		h.runner.run = uses(
			bridge.Delta{Type: "step-completed"}, // of one that began before we listened
			bridge.Delta{Type: "step-started"}, bridge.Assistant{Text: "hm"}, bridge.Delta{Type: "token-delta"}, bridge.Delta{Type: "step-completed"},
		)
		sent := h.talk(Message{Text: "one"})
		h.wait(time.Hour)
		_, record, _ := strings.Cut(h.recordOf(sent.SessionID), `step.completed {"step":"evidence"`)
		want := `step.started {"step":"model"}
message.appended {"text":"hm"}
message.completed {"text":"hm"}
step.completed {"step":"model","durationMs":180000}
turn.completed`
		if !strings.Contains(record, want) || strings.Count(record, "step.") != 2 {
			t.Errorf("the record says\n%s", record)
		}
	})
}

func TestAnAgentElsewhereHasAnAddress(t *testing.T) {
	inHouse(t, func(h *house) {
		r := newRecorder(h.engine, "ses_1", "trn_1")
		for range 2 {
			r.observe(bridge.Event{AgentID: "bc-1/../x", Payload: bridge.Status{}})
		}
		r.observe(bridge.Event{AgentID: "agt_local", Payload: bridge.Status{}})
		if got := h.recordOf("ses_1"); got != `agent.bound {"agentId":"bc-1/../x","url":"https://cursor.com/agents/bc-1%2F..%2Fx"}`+"\n" {
			t.Errorf("the record says\n%s", got)
		}
	})
}
