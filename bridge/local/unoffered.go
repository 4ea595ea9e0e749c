package local

import (
	"context"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// The calls that this bridge does not answer. Each says so with the protocol's
// own detail, and none is among its capabilities.

func (s *agentService) ListArtifacts(context.Context, *connect.Request[sdkv1.ListArtifactsRequest]) (*connect.Response[sdkv1.ListArtifactsResponse], error) {
	return nil, unavailableFeature("artifacts are of cloud agents; a local agent leaves its files in its working directory")
}

func (s *agentService) DownloadArtifact(context.Context, *connect.Request[sdkv1.DownloadArtifactRequest], *connect.ServerStream[sdkv1.DownloadArtifactChunk]) error {
	return unavailableFeature("artifacts are of cloud agents; a local agent leaves its files in its working directory")
}
