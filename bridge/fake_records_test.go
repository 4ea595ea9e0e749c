package bridge

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// fakeChunk is one thing that happens in a download.
type fakeChunk struct {
	Text  string `json:",omitempty"`
	Bytes int    `json:",omitempty"` // so many zeros
	Break bool   `json:",omitempty"` // the connection breaks
	Hang  bool   `json:",omitempty"` // wait for the caller to go
}

// fakeRefusal is an error with the details that a bridge gives.
func fakeRefusal(code connect.Code, sdk sdkv1.SdkErrorCode, message string) error {
	ce := connect.NewError(code, errors.New(message))
	if d, err := connect.NewErrorDetail(&sdkv1.SdkErrorDetails{SdkErrorCode: sdk, Message: message}); err == nil {
		ce.AddDetail(d)
	}
	return ce
}

// checkFakeOptions refuses what bridges refuse.
func checkFakeOptions(id string, o *sdkv1.AgentOptions) error {
	invalid := func(message string) error {
		return fakeRefusal(connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR, message)
	}
	cloud := strings.HasPrefix(id, "bc-")
	switch local := o.GetLocal(); {
	case o.GetApiKey() == "":
		return fakeRefusal(connect.CodeUnauthenticated, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNAUTHORIZED, "no API key")
	case o.GetModel().GetId() == "":
		return invalid("options.model.id is empty")
	case (local == nil) == (o.GetCloud() == nil):
		return invalid("one of options.local and options.cloud is needed")
	case local != nil && (len(local.GetCwd()) != 1 || !filepath.IsAbs(local.GetCwd()[0])):
		return invalid("options.local.cwd needs one absolute path")
	case cloud && local != nil:
		return invalid("the id is a cloud agent's")
	}
	return nil
}

// reply is the rest of a method whose answers are scripted.
func reply[Res any, Message interface {
	*Res
	proto.Message
}](f *fakeBridge, method string, req proto.Message) (*connect.Response[Res], error) {
	if err := f.enter(method, req); err != nil {
		return nil, err
	}
	f.mu.Lock()
	answers := f.script.Answers[method]
	n := min(f.answered[method], len(answers)-1)
	f.answered[method]++
	f.mu.Unlock()
	res := new(Res)
	if n < 0 {
		return connect.NewResponse(res), nil
	}
	if err := protojson.Unmarshal(answers[n], Message(res)); err != nil {
		return nil, err
	}
	return connect.NewResponse(res), nil
}

// replyWithKey is reply for what bridges refuse without an API key.
func replyWithKey[Res any, Message interface {
	*Res
	proto.Message
}](f *fakeBridge, method, key string, req proto.Message) (*connect.Response[Res], error) {
	if key == "" {
		return nil, fakeRefusal(connect.CodeUnauthenticated, sdkv1.SdkErrorCode_SDK_ERROR_CODE_UNAUTHORIZED, "no API key")
	}
	return reply[Res, Message](f, method, req)
}

func (f *fakeBridge) ListModels(_ context.Context, r *connect.Request[sdkv1.ListModelsRequest]) (*connect.Response[sdkv1.ListModelsResponse], error) {
	if len(f.script.Answers["ListModels"]) == 0 && r.Msg.GetOptions().GetApiKey() != "" {
		return connect.NewResponse(&sdkv1.ListModelsResponse{Items: []*sdkv1.SdkModel{{Id: "m-1"}, {Id: "m-2"}}}), f.enter("ListModels", r.Msg)
	}
	return replyWithKey[sdkv1.ListModelsResponse](f, "ListModels", r.Msg.GetOptions().GetApiKey(), r.Msg)
}

func (f *fakeBridge) Me(_ context.Context, r *connect.Request[sdkv1.MeRequest]) (*connect.Response[sdkv1.MeResponse], error) {
	return replyWithKey[sdkv1.MeResponse](f, "Me", r.Msg.GetOptions().GetApiKey(), r.Msg)
}

func (f *fakeBridge) ListRepositories(_ context.Context, r *connect.Request[sdkv1.ListRepositoriesRequest]) (*connect.Response[sdkv1.ListRepositoriesResponse], error) {
	return replyWithKey[sdkv1.ListRepositoriesResponse](f, "ListRepositories", r.Msg.GetOptions().GetApiKey(), r.Msg)
}

func (f *fakeBridge) GetRun(_ context.Context, r *connect.Request[sdkv1.GetRunRequest]) (*connect.Response[sdkv1.GetRunResponse], error) {
	if len(f.script.Answers["GetRun"]) > 0 {
		return reply[sdkv1.GetRunResponse](f, "GetRun", r.Msg)
	}
	status := sdkv1.RunLifecycleStatus_RUN_LIFECYCLE_STATUS_RUNNING
	if f.script.Outcome != "" {
		status = fakeStatus(f.script.Outcome)
	}
	return connect.NewResponse(&sdkv1.GetRunResponse{Run: &sdkv1.RunSnapshot{Status: status, Result: "looked up"}}), f.enter("GetRun", r.Msg)
}

func (f *fakeBridge) ListRuns(_ context.Context, r *connect.Request[sdkv1.ListRunsRequest]) (*connect.Response[sdkv1.ListRunsResponse], error) {
	return reply[sdkv1.ListRunsResponse](f, "ListRuns", r.Msg)
}

func (f *fakeBridge) GetAgent(_ context.Context, r *connect.Request[sdkv1.GetAgentRequest]) (*connect.Response[sdkv1.GetAgentResponse], error) {
	return reply[sdkv1.GetAgentResponse](f, "GetAgent", r.Msg)
}

func (f *fakeBridge) ListAgents(_ context.Context, r *connect.Request[sdkv1.ListAgentsRequest]) (*connect.Response[sdkv1.ListAgentsResponse], error) {
	return reply[sdkv1.ListAgentsResponse](f, "ListAgents", r.Msg)
}

func (f *fakeBridge) ArchiveAgent(_ context.Context, r *connect.Request[sdkv1.ArchiveAgentRequest]) (*connect.Response[sdkv1.ArchiveAgentResponse], error) {
	return reply[sdkv1.ArchiveAgentResponse](f, "ArchiveAgent", r.Msg)
}

func (f *fakeBridge) UnarchiveAgent(_ context.Context, r *connect.Request[sdkv1.UnarchiveAgentRequest]) (*connect.Response[sdkv1.UnarchiveAgentResponse], error) {
	return reply[sdkv1.UnarchiveAgentResponse](f, "UnarchiveAgent", r.Msg)
}

func (f *fakeBridge) DeleteAgent(_ context.Context, r *connect.Request[sdkv1.DeleteAgentRequest]) (*connect.Response[sdkv1.DeleteAgentResponse], error) {
	f.mu.Lock()
	delete(f.known, r.Msg.GetAgentId())
	f.mu.Unlock()
	return reply[sdkv1.DeleteAgentResponse](f, "DeleteAgent", r.Msg)
}

// attached refuses agents that this process was not told of.
func (f *fakeBridge) attached(id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.known[id] {
		return fakeRefusal(connect.CodeNotFound, sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND, "unknown agent")
	}
	return nil
}

func (f *fakeBridge) ReloadAgent(_ context.Context, r *connect.Request[sdkv1.ReloadAgentRequest]) (*connect.Response[sdkv1.ReloadAgentResponse], error) {
	if err := f.attached(r.Msg.GetAgentId()); err != nil {
		return nil, err
	}
	return reply[sdkv1.ReloadAgentResponse](f, "ReloadAgent", r.Msg)
}

func (f *fakeBridge) GetRunConversation(_ context.Context, r *connect.Request[sdkv1.GetRunConversationRequest]) (*connect.Response[sdkv1.GetRunConversationResponse], error) {
	return reply[sdkv1.GetRunConversationResponse](f, "GetRunConversation", r.Msg)
}

func (f *fakeBridge) ListAgentMessages(_ context.Context, r *connect.Request[sdkv1.ListAgentMessagesRequest]) (*connect.Response[sdkv1.ListAgentMessagesResponse], error) {
	return reply[sdkv1.ListAgentMessagesResponse](f, "ListAgentMessages", r.Msg)
}

func (f *fakeBridge) GetUsage(_ context.Context, r *connect.Request[sdkv1.GetUsageRequest]) (*connect.Response[sdkv1.GetUsageResponse], error) {
	return reply[sdkv1.GetUsageResponse](f, "GetUsage", r.Msg)
}

func (f *fakeBridge) ListArtifacts(_ context.Context, r *connect.Request[sdkv1.ListArtifactsRequest]) (*connect.Response[sdkv1.ListArtifactsResponse], error) {
	if err := f.attached(r.Msg.GetAgentId()); err != nil {
		return nil, err
	}
	return reply[sdkv1.ListArtifactsResponse](f, "ListArtifacts", r.Msg)
}

func (f *fakeBridge) DownloadArtifact(ctx context.Context, r *connect.Request[sdkv1.DownloadArtifactRequest], out *connect.ServerStream[sdkv1.DownloadArtifactChunk]) error {
	if err := f.attached(r.Msg.GetAgentId()); err != nil {
		return err
	}
	if err := f.enter("DownloadArtifact", r.Msg); err != nil {
		return err
	}
	for _, c := range f.script.Chunks {
		switch {
		case c.Break:
			panic(http.ErrAbortHandler)
		case c.Hang:
			<-ctx.Done()
			return ctx.Err()
		}
		data := append([]byte(c.Text), make([]byte, c.Bytes)...)
		if err := out.Send(&sdkv1.DownloadArtifactChunk{Data: data}); err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeBridge) SetToolCallback(_ context.Context, r *connect.Request[sdkv1.SetToolCallbackRequest]) (*connect.Response[sdkv1.SetToolCallbackResponse], error) {
	if r.Msg.GetUrl() != "" && r.Msg.GetAuthToken() == "" {
		return nil, fakeRefusal(connect.CodeInvalidArgument, sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR, "no token")
	}
	f.mu.Lock()
	f.tools = fakeCallback{r.Msg.GetUrl(), r.Msg.GetAuthToken()}
	f.mu.Unlock()
	return reply[sdkv1.SetToolCallbackResponse](f, "SetToolCallback", r.Msg)
}
