package bridge

import (
	"context"
	"time"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// Catalog tells what the account behind the key has. Every call needs
// Options.APIKey; a key that the provider refuses is ErrAPIKey.
type Catalog struct{ client *Client }

// Catalog returns the catalog.
func (c *Client) Catalog() *Catalog { return &Catalog{client: c} }

// Account is whose API key it is.
type Account struct {
	APIKeyName string
	// ID is 0 when the provider did not say.
	ID        uint64
	Email     string
	FirstName string
	LastName  string
	// Created is when the key was made; zero when the provider did not say.
	Created time.Time
}

// Repository is one that cloud agents can work on.
type Repository struct{ URL string }

// Me tells whose key it is.
func (c *Catalog) Me(ctx context.Context) (Account, error) {
	const op = "me"
	conn, err := c.client.supervisor.connection(ctx)
	if err != nil {
		return Account{}, err
	}
	res, err := query(ctx, conn, op, conn.catalog.Me, &sdkv1.MeRequest{Options: c.client.catalogOptions()})
	if err != nil {
		return Account{}, err
	}
	u := res.GetUser()
	if u == nil {
		return Account{}, refuse(op, connect.CodeInternal, "", "the bridge answered without a user")
	}
	return Account{
		APIKeyName: u.GetApiKeyName(), ID: u.GetUserId(), Email: u.GetUserEmail(),
		FirstName: u.GetUserFirstName(), LastName: u.GetUserLastName(), Created: readTime(u.GetCreatedAt()),
	}, nil
}

// Models lists the models that agents can be made with, the preferred one first.
func (c *Catalog) Models(ctx context.Context) ([]Model, error) {
	conn, err := c.client.supervisor.connection(ctx)
	if err != nil {
		return nil, err
	}
	return conn.listModels(ctx, c.client.options.APIKey)
}

// Repositories lists the repositories that cloud agents can work on.
func (c *Catalog) Repositories(ctx context.Context) ([]Repository, error) {
	conn, err := c.client.supervisor.connection(ctx)
	if err != nil {
		return nil, err
	}
	res, err := query(ctx, conn, "list repositories", conn.catalog.ListRepositories, &sdkv1.ListRepositoriesRequest{
		Options: c.client.catalogOptions(),
	})
	if err != nil {
		return nil, err
	}
	return convert(res.GetItems(), func(r *sdkv1.SdkRepository) Repository { return Repository{URL: r.GetUrl()} }), nil
}

func (c *Client) catalogOptions() *sdkv1.CursorRequestOptions {
	return &sdkv1.CursorRequestOptions{ApiKey: c.options.APIKey}
}

func (c *connection) listModels(ctx context.Context, key string) ([]Model, error) {
	res, err := query(ctx, c, "list models", c.catalog.ListModels, &sdkv1.ListModelsRequest{
		Options: &sdkv1.CursorRequestOptions{ApiKey: key},
	})
	if err != nil {
		return nil, err
	}
	return convert(res.GetItems(), modelOf), nil
}

func modelOf(m *sdkv1.SdkModel) Model {
	return Model{
		ID: m.GetId(), DisplayName: m.GetDisplayName(), Description: m.GetDescription(),
		Parameters: convert(m.GetParameters(), func(p *sdkv1.ModelParameterDefinition) ModelParameter {
			return ModelParameter{
				ID: p.GetId(), DisplayName: p.GetDisplayName(),
				Values: convert(p.GetValues(), func(v *sdkv1.ModelParameterDefinitionValue) ModelParameterValue {
					return ModelParameterValue{Value: v.GetValue(), DisplayName: v.GetDisplayName()}
				}),
			}
		}),
		Variants: convert(m.GetVariants(), func(v *sdkv1.ModelVariant) ModelVariant {
			return ModelVariant{
				DisplayName: v.GetDisplayName(), Description: v.GetDescription(),
				Params: modelParams(v.GetParams()), Default: v.GetIsDefault(),
			}
		}),
	}
}
