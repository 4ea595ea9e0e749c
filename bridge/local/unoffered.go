package local

import (
	"context"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// The calls that this bridge does not answer. Each says so with the protocol's
// own detail, and none is among its capabilities.

func (s *agentService) GetRunConversation(context.Context, *connect.Request[sdkv1.GetRunConversationRequest]) (*connect.Response[sdkv1.GetRunConversationResponse], error) {
	return nil, unavailableFeature("conversations are not offered by this bridge; ObserveRun replays what a run said")
}

func (s *agentService) ListAgentMessages(context.Context, *connect.Request[sdkv1.ListAgentMessagesRequest]) (*connect.Response[sdkv1.ListAgentMessagesResponse], error) {
	return nil, unavailableFeature("messages of an agent are not offered by this bridge; ListRuns and ObserveRun have what its runs said")
}

func (s *agentService) ListArtifacts(context.Context, *connect.Request[sdkv1.ListArtifactsRequest]) (*connect.Response[sdkv1.ListArtifactsResponse], error) {
	return nil, unavailableFeature("artifacts are of cloud agents; a local agent leaves its files in its working directory")
}

func (s *agentService) DownloadArtifact(context.Context, *connect.Request[sdkv1.DownloadArtifactRequest], *connect.ServerStream[sdkv1.DownloadArtifactChunk]) error {
	return unavailableFeature("artifacts are of cloud agents; a local agent leaves its files in its working directory")
}

func (s *agentService) GetUsage(context.Context, *connect.Request[sdkv1.GetUsageRequest]) (*connect.Response[sdkv1.GetUsageResponse], error) {
	return nil, unavailableFeature("billed usage is of cloud agents; a run's tokens are in its result")
}
