package config

import (
	"net/url"
	"slices"
	"strings"
)

// Slack holds the settings of the Slack app: how it is reached and how it reaches
// Slack.
type Slack struct {
	// SigningSecrets are all accepted; more than one while a secret is being
	// rotated. With none, webhooks are off and events come by Socket Mode.
	SigningSecrets []string
	// AppToken opens Socket Mode; empty when that is off.
	AppToken string
	// BotToken is that of the one workspace of an app that is not installed by OAuth.
	BotToken string
	// OAuth is nil when workspaces cannot install the app by themselves.
	OAuth *SlackOAuth
	// APIURL is the root of the Web API, with a trailing slash.
	APIURL *url.URL
	Talk   SlackTalk
}

// SlackOAuth holds what it takes to let workspaces install the app.
type SlackOAuth struct {
	ClientID     string
	ClientSecret string
	// Workspaces are all that may install the app; empty means no limit.
	Workspaces []string
	// Keys encrypt the tokens: the first encrypts, each decrypts. 32 bytes each.
	Keys [][]byte
}

// buildSlack returns nil without a problem when the channel is off.
func buildSlack(v *values, p *problems, public *url.URL) *Slack {
	keys := encryptionKeys(v, p)
	secrets, signed := v.list(EnvSlackSecret)
	if signed && len(secrets) == 0 {
		p.add(EnvSlackSecret, "is set but empty; without a secret anyone could send events. Unset it to leave /webhooks/slack off")
	}
	s := &Slack{
		SigningSecrets: secrets,
		AppToken:       slackToken(v, p, EnvSlackAppToken, "an app-level token, which begins with xapp-", "xapp-"),
		BotToken:       slackToken(v, p, EnvSlackBotToken, "a bot token, which begins with xoxb-", "xoxb-", "xoxe.xoxb-"),
		OAuth:          slackOAuth(v, p, keys, public),
		Talk:           buildSlackTalk(v, p),
	}
	if s.APIURL = apiRoot(v, p, EnvSlackAPIURL); s.APIURL != nil && !strings.HasSuffix(s.APIURL.Path, "/") {
		s.APIURL.Path += "/"
	}
	if _, socket := v.get(EnvSlackAppToken); signed || socket {
		return s
	}
	for _, env := range []string{EnvSlackBotToken, EnvSlackClientID} {
		if _, set := v.get(env); set {
			p.add(env, "has no use without %s, for webhooks, or %s, for Socket Mode: nothing would come from Slack", EnvSlackSecret, EnvSlackAppToken)
		}
	}
	return nil
}

// slackToken reads a token of a kind. The problem never quotes it.
func slackToken(v *values, p *problems, env, kind string, prefixes ...string) string {
	token, set := v.get(env)
	begins := func(prefix string) bool { return strings.HasPrefix(token, prefix) && len(token) > len(prefix) }
	switch {
	case !set:
	case token == "":
		p.add(env, "is set but empty; unset it or give it a token")
	case !slices.ContainsFunc(prefixes, begins) || strings.ContainsAny(token, " \t\r\n,"):
		p.add(env, "is not %s", kind)
	}
	return token
}

// slackOAuth returns nil without a problem when workspaces cannot install the app.
func slackOAuth(v *values, p *problems, keys [][]byte, public *url.URL) *SlackOAuth {
	id, idSet := v.get(EnvSlackClientID)
	secret, secretSet := v.get(EnvSlackClientKey)
	switch {
	case !idSet && !secretSet:
		return nil
	case id == "":
		p.add(EnvSlackClientID, "is needed because %s is set; both are on the app's page, under Basic Information", EnvSlackClientKey)
		return nil
	case secret == "":
		p.add(EnvSlackClientKey, "is needed because %s is set; both are on the app's page, under Basic Information", EnvSlackClientID)
	}
	if _, set := v.get(EnvEncryptionKey); !set {
		p.add(EnvEncryptionKey, "is needed because %s is set: it encrypts the tokens of workspaces", EnvSlackClientID)
	}
	switch {
	case public == nil:
		p.add(EnvPublicURL, "is needed because %s is set: Slack sends people back to it", EnvSlackClientID)
	case public.Scheme != "https" && !loopback(public.Hostname()):
		p.add(EnvPublicURL, "must be https because %s is set: Slack sends nobody back to another", EnvSlackClientID)
	}
	return &SlackOAuth{
		ClientID: id, ClientSecret: secret, Keys: keys,
		Workspaces: ids(v, p, EnvSlackWorkspaces, slackWorkspaces, "a workspace (T0123456789) or an organisation (E0123456789)"),
	}
}
