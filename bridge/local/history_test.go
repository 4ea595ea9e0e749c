package local

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// conversation reads one, as a list of short lines.
func conversation(t *testing.T, b *testBridge, runID string) (prompt string, lines []string) {
	t.Helper()
	res, err := b.agents.GetRunConversation(testContext(t), connect.NewRequest(&sdkv1.GetRunConversationRequest{RunId: runID}))
	if err != nil {
		t.Fatal(err)
	}
	var turns []struct {
		Type string
		Turn struct {
			UserMessage struct{ Text string }
			Steps       []struct {
				Type    string
				Message struct {
					Text, Type, Status string
					Args, Result       map[string]any
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(res.Msg.GetConversationJson()), &turns); err != nil {
		t.Fatal(err)
	}
	if len(turns) != 1 || turns[0].Type != "agentConversationTurn" {
		t.Fatalf("the conversation is %s", res.Msg.GetConversationJson())
	}
	for _, st := range turns[0].Turn.Steps {
		m := st.Message
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s%s %s", st.Type, m.Text, m.Type, m.Status)))
		if st.Type == stepToolCall && (m.Args["path"] != "a" || m.Result["status"] != "success") {
			t.Errorf("the tool call is %v", st)
		}
	}
	return turns[0].Turn.UserMessage.Text, lines
}

func TestGetRunConversation(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	b := startBridge(t, root, busy())
	runID := result(t, rest(t, b.send(b.createAgent(), "do it"))).GetRunId()
	want := []string{"thinkingMessage hm", "toolCall read completed", "assistantMessage one two"}
	again := startBridge(t, copyState(t, root), busy())
	for _, bridge := range []*testBridge{b, again} {
		if prompt, lines := conversation(t, bridge, runID); prompt != "do it" || !slices.Equal(lines, want) {
			t.Errorf("got %q and %q, want %q", prompt, lines, want)
		}
	}
	for id, sdk := range map[string]sdkv1.SdkErrorCode{
		"run-x": sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND, "../x": sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR,
	} {
		_, err := b.agents.GetRunConversation(testContext(t), connect.NewRequest(&sdkv1.GetRunConversationRequest{RunId: id}))
		if got := detailsOf(t, err).GetSdkErrorCode(); got != sdk {
			t.Errorf("of %s: got %v", id, err)
		}
	}
}

func TestTheConversationOfALiveRunHasWhatIsFinished(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), scriptEngine{})
	agent := b.createAgent(func(o *sdkv1.AgentOptions) { o.Model.Id = scriptModel })
	s := b.send(agent, "say before\nthink hm\nsay not whole yet\nwait 1h")
	runID := until(t, s, "\nnot whole yet")
	if _, lines := conversation(t, b, runID); !slices.Equal(lines, []string{"assistantMessage before", "thinkingMessage hm"}) {
		t.Errorf("got %q", lines)
	}
	if got := listMessages(t, b, agent, 0, 0); len(got) != 2 || got[1] != "assistant before" {
		t.Errorf("the messages are %q", got)
	}
}

func TestAConversationIsBounded(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), scriptEngine{})
	agent := b.createAgent(func(o *sdkv1.AgentOptions) { o.Model.Id = scriptModel })
	// Each thought ends a message: 40 of them, half a megabyte each.
	var script strings.Builder
	for range 40 {
		fmt.Fprintf(&script, "fill %d\nthink hm\n", maxEventBytes/2)
	}
	got := result(t, rest(t, b.send(agent, script.String())))
	if got.GetStatus() != sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_FINISHED {
		t.Fatal(got.GetErrorCode())
	}
	res, err := b.agents.GetRunConversation(testContext(t), connect.NewRequest(&sdkv1.GetRunConversationRequest{RunId: got.GetRunId()}))
	if err != nil {
		t.Fatal(err)
	}
	if text := res.Msg.GetConversationJson(); len(text) > maxConversationBytes+1<<10 || !strings.HasSuffix(text, `"truncated":true},"type":"agentConversationTurn"}]`) {
		t.Errorf("the conversation has %d bytes and ends with %q", len(text), text[len(text)-60:])
	}
	list, err := b.agents.ListAgentMessages(testContext(t), connect.NewRequest(&sdkv1.ListAgentMessagesRequest{AgentId: agent}))
	if err != nil {
		t.Fatal(err)
	}
	messages := list.Msg.GetMessages()
	if last := messages[len(messages)-1].GetMessage().GetFields(); len(messages) != 41 || !last["truncated"].GetBoolValue() {
		t.Errorf("there are %d messages, the last one is %.200v", len(messages), last)
	}
}

// listMessages reads one page, as short lines.
func listMessages(t *testing.T, b *testBridge, agent string, limit, offset uint32) []string {
	t.Helper()
	res, err := b.agents.ListAgentMessages(testContext(t), connect.NewRequest(&sdkv1.ListAgentMessagesRequest{
		AgentId: agent, Options: &sdkv1.GetAgentMessagesOptions{Limit: limit, Offset: offset},
	}))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range res.Msg.GetMessages() {
		content := m.GetMessage().GetFields()["content"].GetListValue().GetValues()[0].GetStructValue().GetFields()
		if m.GetAgentId() != agent || m.GetMessage().GetFields()["role"].GetStringValue() != m.GetType() || !isUUID.MatchString(m.GetUuid()) {
			t.Errorf("the message is %v", m)
		}
		out = append(out, m.GetType()+" "+content["text"].GetStringValue())
	}
	return out
}

var isUUID = regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)

func TestListAgentMessages(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	b := startBridge(t, root, busy())
	agent := b.createAgent()
	if got := listMessages(t, b, agent, 0, 0); len(got) != 0 {
		t.Errorf("a new agent has %q", got)
	}
	var want []string
	for i := range 3 {
		prompt := fmt.Sprintf("message %d", i)
		rest(t, b.send(agent, prompt))
		want = append(want, "user "+prompt, "assistant one two")
	}
	for limit := range uint32(8) {
		for offset := range uint32(8) {
			end := len(want)
			if limit > 0 {
				end = min(end, int(offset+limit))
			}
			page := want[min(int(offset), end):end]
			if got := listMessages(t, b, agent, limit, offset); !slices.Equal(got, page) {
				t.Errorf("limit %d offset %d: got %q, want %q", limit, offset, got, page)
			}
		}
	}
	uuids := func(b *testBridge) (out []string) {
		res, err := b.agents.ListAgentMessages(testContext(t), connect.NewRequest(&sdkv1.ListAgentMessagesRequest{AgentId: agent}))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range res.Msg.GetMessages() {
			out = append(out, m.GetUuid())
		}
		return out
	}
	first := uuids(b)
	if again := startBridge(t, copyState(t, root), busy()); !slices.Equal(uuids(again), first) {
		t.Error("the messages have other ids after a restart")
	}
	slices.Sort(first)
	if len(slices.Compact(first)) != len(want) {
		t.Errorf("ids came twice: %v", first)
	}
	_, err := b.agents.ListAgentMessages(testContext(t), connect.NewRequest(&sdkv1.ListAgentMessagesRequest{AgentId: "agent-x"}))
	wantFault(t, err, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND)
}

func TestGetUsage(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), scriptEngine{})
	onModel := func(o *sdkv1.AgentOptions) { o.Model.Id = scriptModel }
	agent, other := b.createAgent(onModel), b.createAgent(onModel)
	first := result(t, rest(t, b.send(agent, "usage 10 1"))).GetRunId()
	second := result(t, rest(t, b.send(agent, "usage 20 2\nfail on purpose"))).GetRunId()
	foreign := result(t, rest(t, b.send(other, "usage 40 4"))).GetRunId()
	get := func(agentID string, runID *string) (*sdkv1.AgentUsage, error) {
		res, err := b.agents.GetUsage(testContext(t), connect.NewRequest(&sdkv1.GetUsageRequest{AgentId: agentID, RunId: runID}))
		if err != nil {
			return nil, err
		}
		return res.Msg.GetUsage(), nil
	}
	all, err := get(agent, nil)
	if err != nil {
		t.Fatal(err)
	}
	if all.GetUsage().GetInputTokens() != 30 || all.GetUsage().GetTotalTokens() != 33 || all.GetCost() != nil || len(all.GetRuns()) != 2 ||
		all.GetRuns()[0].GetRunId() != first || all.GetRuns()[1].GetRunId() != second || all.GetRuns()[1].GetUsage().GetOutputTokens() != 2 {
		t.Errorf("the agent used %v", all)
	}
	one, err := get(agent, &second)
	if err != nil || one.GetUsage().GetTotalTokens() != 22 || len(one.GetRuns()) != 1 {
		t.Errorf("the run used %v, %v", one, err)
	}
	_, err = get(agent, &foreign)
	wantFault(t, err, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RUN_NOT_FOUND)
	path := "../x"
	_, err = get(agent, &path)
	wantFault(t, err, connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR)
	_, err = get("agent-x", nil)
	wantFault(t, err, connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND)
}

// One damaged run must not hide the others.
func TestDamagedRunsAreLeftOut(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	b := startBridge(t, root, answering())
	agent := b.createAgent()
	var runs []string
	for _, text := range []string{"a", "b", "c"} {
		runs = append(runs, result(t, rest(t, b.send(agent, text))).GetRunId())
	}
	damaged := copyState(t, root)
	files, err := filepath.Glob(filepath.Join(damaged, "agents", "*", "runs", runs[1]+".json"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if err := os.WriteFile(files[0], []byte(`{"schema":`), 0o600); err != nil {
		t.Fatal(err)
	}
	again := startBridge(t, damaged, answering())
	if got := listMessages(t, again, agent, 0, 0); !slices.Equal(got, []string{"user a", "assistant a", "user c", "assistant c"}) {
		t.Errorf("the messages are %q", got)
	}
	used, err := again.agents.GetUsage(testContext(t), connect.NewRequest(&sdkv1.GetUsageRequest{AgentId: agent}))
	if err != nil || len(used.Msg.GetUsage().GetRuns()) != 2 {
		t.Errorf("the usage is %v, %v", used, err)
	}
	listed, err := again.agents.ListRuns(testContext(t), connect.NewRequest(&sdkv1.ListRunsRequest{AgentId: agent}))
	if err != nil || len(listed.Msg.GetItems()) != 2 {
		t.Errorf("the runs are %v, %v", listed, err)
	}
}

func TestALongPromptIsCutInTheRecord(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), scripted{run: answering().run})
	agent := b.createAgent()
	prompt := strings.Repeat("é", maxPromptBytes) // twice as many bytes
	rest(t, b.send(agent, prompt))
	got := listMessages(t, b, agent, 1, 0)[0]
	if len(got) > len("user ")+maxPromptBytes || !strings.HasSuffix(got, "é […]") {
		t.Errorf("%d bytes are kept, they end with %q", len(got), got[len(got)-20:])
	}
}
