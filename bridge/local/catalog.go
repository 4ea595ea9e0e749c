package local

import (
	"context"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// catalogService is SdkCursorService. As at the vendor's bridge every call
// carries a key; here any will do, since there is no account behind it.
type catalogService struct{ server *server }

func checkCatalogKey(o *sdkv1.CursorRequestOptions) error {
	if o.GetApiKey() == "" {
		return noAPIKey("catalog calls")
	}
	return nil
}

// Me describes the only user there is: whoever runs the bridge.
func (c *catalogService) Me(_ context.Context, req *connect.Request[sdkv1.MeRequest]) (*connect.Response[sdkv1.MeResponse], error) {
	if err := checkCatalogKey(req.Msg.GetOptions()); err != nil {
		return nil, err
	}
	return connect.NewResponse(&sdkv1.MeResponse{User: &sdkv1.SdkUser{ApiKeyName: "local"}}), nil
}

func (c *catalogService) ListModels(ctx context.Context, req *connect.Request[sdkv1.ListModelsRequest]) (*connect.Response[sdkv1.ListModelsResponse], error) {
	if err := checkCatalogKey(req.Msg.GetOptions()); err != nil {
		return nil, err
	}
	c.server.refreshModels(ctx)
	out := &sdkv1.ListModelsResponse{}
	for _, e := range c.server.engines {
		// Whoever takes the first of the list must not get another engine's model
		// because the one that was meant is out of reach.
		if l, ok := e.(lister); ok {
			if err := l.Unlisted(); err != nil {
				return nil, err
			}
		}
		for _, m := range e.Models() {
			out.Items = append(out.Items, &sdkv1.SdkModel{Id: m.ID, DisplayName: m.Name, Description: m.Description})
		}
	}
	return connect.NewResponse(out), nil
}

// ListRepositories is empty: repositories are for cloud agents.
func (c *catalogService) ListRepositories(_ context.Context, req *connect.Request[sdkv1.ListRepositoriesRequest]) (*connect.Response[sdkv1.ListRepositoriesResponse], error) {
	if err := checkCatalogKey(req.Msg.GetOptions()); err != nil {
		return nil, err
	}
	return connect.NewResponse(&sdkv1.ListRepositoriesResponse{}), nil
}
