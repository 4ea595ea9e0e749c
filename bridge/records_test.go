package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"testing"
	"time"
)

func answers(method string, each ...string) map[string][]json.RawMessage {
	var all []json.RawMessage
	for _, a := range each {
		all = append(all, json.RawMessage(a))
	}
	return map[string][]json.RawMessage{method: all}
}

// collect reads at most limit items, and the error that ends a list.
func collect[T any](list iter.Seq2[T, error], limit int) (all []T, err error) {
	for item, err := range list {
		if err != nil {
			return all, err
		}
		if all = append(all, item); len(all) == limit {
			break
		}
	}
	return all, nil
}

func expect[T any](t *testing.T, got, want T) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestListAgents(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Answers: answers("ListAgents",
		`{"items":[
			{"agentId":"a-1","name":"n","summary":"s","status":"AGENT_INFO_STATUS_RUNNING","createdAt":"2026-01-02T03:04:05Z",
			 "lastModified":"2026-01-02T03:04:06.5Z","archived":true,"local":{"cwd":"/work"}},
			{"agentId":"bc-2","status":"AGENT_INFO_STATUS_ERROR","cloud":{"env":{"type":"CLOUD_ENVIRONMENT_TYPE_MACHINE","name":"m"},"repos":["https://git.example/r"],"metadata":{"k":"v"}}}
		],"nextCursor":"two"}`,
		`{"nextCursor":"three"}`,
		`{"items":[{"agentId":"a-3","status":77,"cloud":{"env":{"type":99}}}]}`,
	)}))
	ctx := testContext(t)
	got, err := collect(c.Agents().List(ctx, ListAgentsOptions{
		Runtime: RuntimeCloud, Dir: "/work", PullRequestURL: "https://git.example/r/1", IncludeArchived: true, PageSize: 2,
	}), -1)
	if err != nil {
		t.Fatal(err)
	}
	created := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	expect(t, got, []AgentInfo{
		{ID: "a-1", Name: "n", Summary: "s", Status: AgentRunning, Created: created, Modified: created.Add(1500 * time.Millisecond), Archived: true, Dir: "/work"},
		{ID: "bc-2", Status: AgentError, Cloud: &CloudAgentInfo{
			Environment:  &CloudEnvironment{Type: EnvironmentMachine, Name: "m"},
			Repositories: []string{"https://git.example/r"}, Metadata: map[string]string{"k": "v"},
		}},
		{ID: "a-3", Cloud: &CloudAgentInfo{Environment: &CloudEnvironment{Type: "99"}}},
	})
	const options = `"runtime":"RUNTIME_CLOUD","cwd":"/work","prUrl":"https://git.example/r/1","includeArchived":true,"apiKey":"api-key-0123456789"}}`
	expect(t, recorded(t, record, "ListAgents"), []string{
		`{"options":{"limit":2,` + options, `{"options":{"limit":2,"cursor":"two",` + options, `{"options":{"limit":2,"cursor":"three",` + options,
	})
}

func TestListStops(t *testing.T) {
	t.Parallel()
	page := func(next string) string {
		return fmt.Sprintf(`{"items":[{"agentId":"a"},{"agentId":"b"}],"nextCursor":%q}`, next)
	}
	tests := []struct {
		name    string
		answers []string
		options ListAgentsOptions
		limit   int
		want    int
		calls   int
		say     string
	}{
		{"when the caller does", []string{page("2"), page("3")}, ListAgentsOptions{}, 1, 1, 1, ""},
		{"when the caller does at the end of a page", []string{page("2"), page("3")}, ListAgentsOptions{}, 2, 2, 1, ""},
		{"at a cursor that comes again", []string{page("2")}, ListAgentsOptions{}, -1, 4, 2, "same page twice"},
		{"at a circle", []string{page("2"), page("3"), page("2")}, ListAgentsOptions{}, -1, 6, 3, "same page twice"},
		{"at a negative size", nil, ListAgentsOptions{PageSize: -1}, -1, 0, 0, "page size"},
		{"at an unknown runtime", nil, ListAgentsOptions{Runtime: "moon"}, -1, 0, 0, "runtime"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			record := recordFile(t)
			c := newClient(t, fakeOptions(t, fakeScript{Record: record, Answers: answers("ListAgents", tt.answers...)}))
			ctx := testContext(t)
			if err := c.Ping(ctx); err != nil {
				t.Fatal(err)
			}
			got, err := collect(c.Agents().List(ctx, tt.options), tt.limit)
			if len(got) != tt.want || (err == nil) != (tt.say == "") || err != nil && !strings.Contains(err.Error(), tt.say) {
				t.Errorf("%d agents, error %v", len(got), err)
			}
			if calls := recorded(t, record, "ListAgents"); len(calls) != tt.calls {
				t.Errorf("%d calls: %s", len(calls), calls)
			}
		})
	}
}

// An error ends a list, after what was good, and can be told apart.
func TestListFails(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{Fail: &fakeFailure{Method: "ListRuns", Code: 5, Details: json.RawMessage(`{"sdkErrorCode":"SDK_ERROR_CODE_AGENT_NOT_FOUND"}`)}}))
	n := 0
	for _, err := range c.Runs(testContext(t), "a-1", ListRunsOptions{}) {
		if n++; !errors.Is(err, ErrAgentNotFound) {
			t.Errorf("error = %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d items", n)
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	run := `{"runId":"r-1","agentId":"a-1","status":"RUN_LIFECYCLE_STATUS_FINISHED","result":"done","model":{"id":"m","params":[{"id":"effort","value":"high"}]},
		"durationMs":"1500","git":{"branches":[{"repoUrl":"https://git.example/r","branch":"b","prUrl":"https://git.example/r/1"}]},
		"createdAt":"2026-01-02T03:04:05Z","usage":{"inputTokens":"1","outputTokens":"2","cacheReadTokens":"3","cacheWriteTokens":"4","totalTokens":"5","reasoningTokens":"6"}}`
	script := fakeScript{Record: record, Answers: answers("ListRuns", `{"items":[`+run+`],"nextCursor":"2"}`, `{"items":[{"runId":"r-2"}]}`)}
	script.Answers["GetRun"] = []json.RawMessage{json.RawMessage(`{"run":` + run + `}`), json.RawMessage(`{}`)}
	c := newClient(t, fakeOptions(t, script))
	ctx := testContext(t)
	want := RunSnapshot{
		ID: "r-1", AgentID: "a-1", Status: RunFinished, Text: "done", Model: "m", ModelParams: map[string]string{"effort": "high"},
		Duration: 1500 * time.Millisecond, Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Usage:    Usage{InputTokens: 1, OutputTokens: 2, CacheReadTokens: 3, CacheWriteTokens: 4, TotalTokens: 5, ReasoningTokens: 6},
		Branches: []GitBranch{{RepositoryURL: "https://git.example/r", Branch: "b", PullRequestURL: "https://git.example/r/1"}},
	}
	dir := t.TempDir()
	a, err := c.Agents().Create(ctx, AgentOptions{ID: "a-1", Model: "m", Local: &LocalOptions{Dir: dir}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := collect(a.Runs(ctx, ListRunsOptions{PageSize: 1}), -1)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, got, []RunSnapshot{want, {ID: "r-2"}})
	first := fmt.Sprintf(`{"agentId":"a-1","options":{"limit":1,"runtime":"RUNTIME_LOCAL","cwd":%q,"apiKey":"api-key-0123456789"}}`, dir)
	if got := recorded(t, record, "ListRuns"); len(got) != 2 || got[0] != first {
		t.Errorf("ListRuns got %s", got)
	}

	one, err := c.GetRun(ctx, "bc-1", "r-1")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, one, want)
	expect(t, recorded(t, record, "GetRun"), []string{
		`{"runId":"r-1","options":{"runtime":"RUNTIME_CLOUD","agentId":"bc-1","apiKey":"api-key-0123456789"}}`,
	})
	if _, err := c.GetRun(ctx, "bc-1", "r-1"); !errors.Is(err, ErrInternal) {
		t.Errorf("an answer without a run: %v", err)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	page := func(first, n int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"type":"user","uuid":"u-%d","agentId":"agent-1","message":{"n":%d}}`, first+i, first+i))
		}
		return `{"messages":[` + strings.Join(all, ",") + `]}`
	}
	t.Run("to the end", func(t *testing.T) {
		t.Parallel()
		record := recordFile(t)
		c := newClient(t, fakeOptions(t, fakeScript{Record: record, Answers: answers("ListAgentMessages", page(3, 2), page(5, 1), `{}`)}))
		a := newAgent(t, c)
		got, err := collect(a.Messages(testContext(t), ListMessagesOptions{Offset: 3, PageSize: 2}), -1)
		if err != nil {
			t.Fatal(err)
		}
		expect(t, got, []AgentMessage{
			{"user", "u-3", "agent-1", json.RawMessage(`{"n":3}`)},
			{"user", "u-4", "agent-1", json.RawMessage(`{"n":4}`)},
			{"user", "u-5", "agent-1", json.RawMessage(`{"n":5}`)},
		})
		for i, offset := range []string{`"offset":3`, `"offset":5`, `"offset":6`} {
			if call := recorded(t, record, "ListAgentMessages")[i]; !strings.Contains(call, offset+",") {
				t.Errorf("call %d is %s, want %s", i, call, offset)
			}
		}
	})
	t.Run("of a bridge that knows no offset", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, fakeOptions(t, fakeScript{Answers: answers("ListAgentMessages", page(1, 2))}))
		got, err := collect(newAgent(t, c).Messages(testContext(t), ListMessagesOptions{}), -1)
		if len(got) != 2 || !errors.Is(err, ErrInternal) {
			t.Errorf("%d messages, error %v", len(got), err)
		}
	})
	t.Run("at a bad offset", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, fakeOptions(t, fakeScript{}))
		_, err := collect(newAgent(t, c).Messages(testContext(t), ListMessagesOptions{Offset: -1}), -1)
		expectInvalid(t, err, "offset")
	})
}

func TestConversation(t *testing.T) {
	t.Parallel()
	script := fakeScript{Answers: answers("GetRunConversation", `{"conversationJson":"[{\"a\":1}]"}`, `{"conversationJson":"{"}`, `{}`)}
	c := newClient(t, fakeOptions(t, script))
	ctx := testContext(t)
	got, err := c.Conversation(ctx, "r-1")
	if err != nil || string(got) != `[{"a":1}]` {
		t.Errorf("conversation = %s, %v", got, err)
	}
	for range 2 {
		if _, err := c.Conversation(ctx, "r-1"); !errors.Is(err, ErrInternal) {
			t.Errorf("what is not JSON: %v", err)
		}
	}
	_, err = c.Conversation(ctx, "")
	expectInvalid(t, err, "run id")
}

func TestUsage(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	c := newClient(t, fakeOptions(t, fakeScript{Record: record, Answers: answers("GetUsage",
		`{"usage":{"usage":{"inputTokens":"3"},"cost":{"rawCostCents":1.5,"chargedCents":0.5},"runs":[{"runId":"r-1","usage":{"totalTokens":"9"}},{"runId":"r-2","cost":{}}]}}`)}))
	ctx := testContext(t)
	got, err := c.Usage(ctx, "a-1", "")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, got, AgentUsage{
		Usage: Usage{InputTokens: 3}, Cost: &Cost{RawCents: 1.5, ChargedCents: 0.5},
		Runs: []RunUsage{{RunID: "r-1", Usage: Usage{TotalTokens: 9}}, {RunID: "r-2", Cost: &Cost{}}},
	})
	if _, err := c.Usage(ctx, "a-1", "r-1"); err != nil {
		t.Fatal(err)
	}
	expect(t, recorded(t, record, "GetUsage"), []string{`{"agentId":"a-1"}`, `{"agentId":"a-1","runId":"r-1"}`})
}

func TestCatalog(t *testing.T) {
	t.Parallel()
	record := recordFile(t)
	script := fakeScript{Record: record, Answers: answers("ListModels", `{"items":[{"id":"m-1","displayName":"Model One","description":"the first",
		"parameters":[{"id":"effort","displayName":"Effort","values":[{"value":"high","displayName":"High"}]}],
		"variants":[{"params":[{"id":"effort","value":"high"}],"displayName":"Careful","description":"slow","isDefault":true}]},{"id":"m-2"}]}`)}
	script.Answers["Me"] = answers("", `{"user":{"apiKeyName":"key","userId":"7","userEmail":"a@b.example","userFirstName":"A","userLastName":"B","createdAt":"2026-01-02T03:04:05Z"}}`,
		`{"user":{"createdAt":"yesterday"}}`, `{}`)[""]
	script.Answers["ListRepositories"] = answers("", `{"items":[{"url":"https://git.example/r"}]}`)[""]
	c := newClient(t, fakeOptions(t, script))
	ctx := testContext(t)
	models, err := c.Catalog().Models(ctx)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, models, []Model{{
		ID: "m-1", DisplayName: "Model One", Description: "the first",
		Parameters: []ModelParameter{{ID: "effort", DisplayName: "Effort", Values: []ModelParameterValue{{Value: "high", DisplayName: "High"}}}},
		Variants:   []ModelVariant{{DisplayName: "Careful", Description: "slow", Params: map[string]string{"effort": "high"}, Default: true}},
	}, {ID: "m-2"}})
	me, err := c.Catalog().Me(ctx)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, me, Account{
		APIKeyName: "key", ID: 7, Email: "a@b.example", FirstName: "A", LastName: "B", Created: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
	})
	if me, err = c.Catalog().Me(ctx); err != nil || me != (Account{}) {
		t.Errorf("a time that is none: %+v, %v", me, err)
	}
	if _, err = c.Catalog().Me(ctx); !errors.Is(err, ErrInternal) {
		t.Errorf("an answer without a user: %v", err)
	}
	repositories, err := c.Catalog().Repositories(ctx)
	if err != nil {
		t.Fatal(err)
	}
	expect(t, repositories, []Repository{{URL: "https://git.example/r"}})
	for _, method := range []string{"ListModels", "Me", "ListRepositories"} {
		if got := recorded(t, record, method); len(got) == 0 || got[0] != `{"options":{"apiKey":"api-key-0123456789"}}` {
			t.Errorf("%s got %s: the key must always be passed", method, got)
		}
	}
}
