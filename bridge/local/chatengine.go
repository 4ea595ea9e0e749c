package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/liaison-bot/liaison/bridge/local/chat"
	"github.com/liaison-bot/liaison/bridge/local/toolserver"
	"github.com/liaison-bot/liaison/bridge/local/workspace"
	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// The environment that turns the chat engine on.
const (
	envOpenAIBaseURL = "OPENAI_BASE_URL"
	envOpenAIAPIKey  = "OPENAI_API_KEY"
)

// toolTask is the tool that gives work to a subagent.
const toolTask = "task"

// chatEngine answers with a model behind an endpoint that speaks the chat
// completions protocol.
type chatEngine struct {
	endpoint *chat.Endpoint
	catalog  *chatCatalog
	logger   *slog.Logger
}

// newChatEngine makes the engine that the environment asks for, or nil. The
// endpoint is not called yet.
func newChatEngine(env func(string) string, logger *slog.Logger) (*chatEngine, error) {
	base, key := env(envOpenAIBaseURL), env(envOpenAIAPIKey)
	if base == "" && key == "" {
		return nil, nil
	}
	endpoint, err := chat.New(chat.Options{BaseURL: base, APIKey: key, Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", envOpenAIBaseURL, envOpenAIAPIKey, err)
	}
	return &chatEngine{endpoint: endpoint, catalog: newChatCatalog(endpoint.Models, logger, time.Now), logger: logger}, nil
}

func (e *chatEngine) close() {
	e.catalog.close()
	e.endpoint.Close()
}

func (e *chatEngine) Models() []model {
	var out []model
	for _, m := range e.catalog.list() {
		out = append(out, model{ID: m.ID, Name: m.ID, Description: "Answers at " + e.endpoint.String() + "."})
	}
	return out
}

func (e *chatEngine) Refresh(ctx context.Context, wanted string) { e.catalog.refresh(ctx, wanted) }

func (e *chatEngine) Accepts(id string) bool { return e.catalog.accepts(id) }

// Unlisted implements [lister].
func (e *chatEngine) Unlisted() error {
	err := e.catalog.unlisted()
	if err == nil {
		return nil
	}
	if errors.Is(err, chat.ErrNoList) {
		return newFault(connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL,
			"the model endpoint lists no models; name one of its models, or mend OPENAI_BASE_URL, which often ends in /v1")
	}
	f := newFault(connect.CodeUnavailable, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UPSTREAM_ERROR, "the model endpoint does not list its models")
	var said *chat.Error
	if !errors.As(err, &said) {
		return f
	}
	f.text = said.Reason
	switch said.Code {
	case chat.CodeUpstream:
	case chat.CodeRateLimited:
		f.code, f.sdk = connect.CodeResourceExhausted, sdkv1.SdkErrorCode_SDK_ERROR_CODE_RATE_LIMIT_EXCEEDED
	case chat.CodeUnauthorized:
		f.code, f.sdk = connect.CodeUnauthenticated, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNAUTHORIZED
	default:
		f.code, f.sdk = connect.CodeFailedPrecondition, sdkv1.SdkErrorCode_SDK_ERROR_CODE_INVALID_MODEL
	}
	return f
}

func (e *chatEngine) Tools() []string { return append(workspace.Names(), toolTask) }

func (e *chatEngine) Abilities() abilities {
	return abilities{Images: true, CustomTools: true, Subagents: true, Servers: true}
}

func (e *chatEngine) Run(ctx context.Context, t task, emit func(event)) (answer, error) {
	w, err := workspace.Open(t.Dir, t.ExtraDirs...)
	if err != nil {
		return answer{}, &runFailure{Code: "workspace_unavailable", Reason: fmt.Sprintf("the agent cannot read its directories: %v", err)}
	}
	defer func() { _ = w.Close() }() // opened for reading only
	r := &chatRun{engine: e, task: t, workspace: w, emit: emit}
	if len(t.Servers) > 0 {
		r.servers = toolserver.Open(ctx, inDir(t.Servers, t.Dir), e.logger)
		defer r.servers.Close()
	}
	q := chat.Request{
		Model:   t.Model,
		System:  systemPrompt(ctx, t, w) + serversPrompt(r.servers),
		History: e.recall(t),
		Prompt:  t.Prompt,
		Images:  chatImages(t.Images),
		Tools:   r.tools(),
		Window:  e.catalog.window(t.Model),
		Keep:    func(c chat.Conversation) { e.keep(t, c) },
		Watch: chat.Observer{
			Text:       func(s string) { emit(delta{Type: deltaText, Fields: map[string]any{"text": s}}) },
			Thought:    func(s string) { emit(delta{Type: deltaThinking, Fields: map[string]any{"text": s}}) },
			Said:       func(s string) { emit(said{Text: s}) },
			Thoughts:   func(s string) { emit(thought{Text: s}) },
			ThoughtFor: func(d time.Duration) { emit(thought{Took: d}) },
			Waiting:    r.waiting,
			Used:       r.used,
		},
	}
	ans, err := e.endpoint.Run(ctx, q)
	r.mu.Lock()
	defer r.mu.Unlock()
	return answer{Text: ans.Text, Usage: usageOf(ans.Usage.Add(r.delegated))}, e.asRunFailure(t, err)
}

func usageOf(u chat.Usage) usage {
	return usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, Reasoning: u.Reasoning}
}

// recall is the conversation so far. An agent that has forgotten it can still
// answer, so that what cannot be read is said in the log and no more.
func (e *chatEngine) recall(t task) chat.Conversation {
	data, err := t.Memory.Recall()
	if err == nil {
		var c chat.Conversation
		if c, err = chat.Decode(data); err == nil {
			return c
		}
	}
	e.logger.Error("what an agent remembers could not be read; it begins anew", "agent", t.AgentID, "error", err)
	return chat.Conversation{}
}

func (e *chatEngine) keep(t task, c chat.Conversation) {
	data, err := c.Encode()
	if err != nil {
		e.logger.Error("what an agent remembers could not be kept", "agent", t.AgentID, "error", err)
		return
	}
	t.Memory.Keep(data)
}

func chatImages(images []image) []chat.Image {
	var out []chat.Image
	for _, i := range images {
		url := i.URL
		if url == "" {
			url = "data:" + i.MIMEType + ";base64," + i.Data
		}
		out = append(out, chat.Image{URL: url})
	}
	return out
}

// protocolCodes are the protocol's own names of what can go wrong, where it has
// one: callers act on them.
var protocolCodes = map[string]string{
	chat.CodeUnauthorized:  "UNAUTHORIZED",
	chat.CodeRateLimited:   "RATE_LIMIT_EXCEEDED",
	chat.CodeQuotaExceeded: "USAGE_LIMIT_EXCEEDED",
	chat.CodeUpstream:      "UPSTREAM_ERROR",
	chat.CodeModelNotFound: "INVALID_MODEL",
}

func (e *chatEngine) asRunFailure(t task, err error) error {
	var failed *chat.Error
	if !errors.As(err, &failed) {
		return err
	}
	e.logger.Warn("the model endpoint ended a run", "endpoint", e.endpoint.String(), "run", t.RunID, "code", failed.Code, "error", failed)
	code, ok := protocolCodes[failed.Code]
	if !ok {
		code = failed.Code
	}
	return &runFailure{Code: code, Reason: failed.Reason}
}

// chatRun is one run of the engine, as its tools see it.
type chatRun struct {
	engine    *chatEngine
	task      task
	workspace *workspace.Workspace
	// servers is nil where the run has none.
	servers *toolserver.Set
	emit    func(event)

	mu        sync.Mutex
	own       chat.Usage // of the agent, as far as it was told
	delegated chat.Usage // of subagents
	// subagentSteps is how many steps subagents have used or may be using.
	subagentSteps int
}

// used tells what the run has used until now, subagents included.
func (r *chatRun) used(own chat.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own = own
	r.emit(spent{usageOf(r.own.Add(r.delegated))})
}

// delegatedUsed tells the same when a subagent has used more.
func (r *chatRun) delegatedUsed(more chat.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delegated = r.delegated.Add(more)
	if more != (chat.Usage{}) {
		r.emit(spent{usageOf(r.own.Add(r.delegated))})
	}
}

// waiting tells whoever reads the stream why nothing happens.
func (r *chatRun) waiting(reason string, d time.Duration) {
	r.emit(progress{Status: "waiting", Text: fmt.Sprintf("%s; trying again in %v", reason, d.Round(time.Second))})
}

// progress is a word about what goes on, for whoever watches.
type progress struct{ Status, Text string }

func (e progress) message() (string, map[string]any) {
	return "task", map[string]any{"status": e.Status, "text": e.Text}
}

// callID is the id of a built-in tool's call, unique for the agent.
func (r *chatRun) callID(id string) string {
	return "call-" + strings.TrimPrefix(r.task.RunID, runPrefix) + "-" + id
}
