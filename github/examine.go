package github

import (
	"context"
	"fmt"

	gh "github.com/google/go-github/v66/github"
)

// Examination is what GitHub says about the App and the ways to us and back. A
// part that could not be read has its error instead; where that is the App
// itself, nothing else was asked.
type Examination struct {
	App    AppInfo
	AppErr error

	Hook    HookConfig
	HookErr error
	// Attempts are the newest deliveries that GitHub tried, at most 100.
	Attempts    []HookDelivery
	AttemptsErr error
	// Installations are the first 1,000.
	Installations    []InstallationInfo
	InstallationsErr error
}

// HookConfig is the App's webhook as GitHub has it.
// https://docs.github.com/rest/apps/webhooks#get-a-webhook-configuration-for-an-app
type HookConfig struct {
	URL         string
	ContentType string
	// Secret is set when there is one; GitHub never tells which.
	Secret bool
	// Unverified is set when GitHub does not check our certificate.
	Unverified bool
}

// InstallationInfo is the App on one account.
type InstallationInfo struct {
	ID        int64
	Account   string
	Suspended bool
	// Permissions are those that the account has granted, which can be fewer
	// than the App asks for by now.
	Permissions map[string]string
	Events      []string
}

// maxInstallations bounds the list of installations.
const maxInstallations = 1000

// Examine asks GitHub about the App.
func (c *Channel) Examine(ctx context.Context) Examination {
	var e Examination
	if e.App, e.AppErr = c.CheckApp(ctx); e.AppErr != nil {
		return e
	}
	hooks := c.app.hooks()
	e.Hook, e.HookErr = hookConfig(ctx, hooks.client)
	e.Attempts, _, e.AttemptsErr = hooks.list(ctx, "")
	e.Installations, e.InstallationsErr = installations(ctx, hooks.client)
	return e
}

func hookConfig(ctx context.Context, client *gh.Client) (HookConfig, error) {
	hook, _, err := client.Apps.GetHookConfig(ctx)
	if err != nil {
		return HookConfig{}, fmt.Errorf("read the webhook's configuration: %w", err)
	}
	return HookConfig{
		URL: hook.GetURL(), ContentType: hook.GetContentType(), Secret: hook.GetSecret() != "",
		Unverified: hook.GetInsecureSSL() == "1",
	}, nil
}

func installations(ctx context.Context, client *gh.Client) ([]InstallationInfo, error) {
	// go-github knows fewer permissions than GitHub; the map has them all.
	type installed struct {
		ID      int64 `json:"id"`
		Account struct {
			Login string `json:"login"`
		} `json:"account"`
		SuspendedAt *string           `json:"suspended_at"`
		Permissions map[string]string `json:"permissions"`
		Events      []string          `json:"events"`
	}
	var all []InstallationInfo
	err := each(ctx, client, "app/installations", func(i installed) bool {
		all = append(all, InstallationInfo{
			ID: i.ID, Account: i.Account.Login, Suspended: i.SuspendedAt != nil, Permissions: i.Permissions, Events: i.Events,
		})
		return len(all) < maxInstallations
	})
	if err != nil {
		return all, fmt.Errorf("list the installations: %w", err)
	}
	return all, nil
}
