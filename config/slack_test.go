package config_test

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/config"
)

const (
	hexKey    = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	base64Key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
	urlKey    = "_-8CAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
)

// Either way in turns the channel on, and both may be used together.
func TestWaysIntoSlack(t *testing.T) {
	t.Parallel()
	if c := load(t, "LIAISON_ENCRYPTION_KEY="+hexKey, "SLACK_API_URL=https://slack-gov.com/api"); c.Slack != nil {
		t.Errorf("on without a way in: %+v", c.Slack)
	}
	c := load(t, "SLACK_APP_TOKEN=xapp-1", "SLACK_BOT_TOKEN=xoxb-1", "SLACK_API_URL=https://slack-gov.com/api")
	if s := c.Slack; s == nil || s.AppToken != "xapp-1" || s.BotToken != "xoxb-1" || len(s.SigningSecrets) != 0 ||
		s.OAuth != nil || s.APIURL.String() != "https://slack-gov.com/api/" {
		t.Errorf("Socket Mode: %+v", s)
	}
	c = load(t, "SLACK_SIGNING_SECRET=secret", "SLACK_APP_TOKEN=xapp-1", "SLACK_BOT_TOKEN=xoxe.xoxb-1")
	if s := c.Slack; s == nil || s.AppToken == "" || len(s.SigningSecrets) != 1 || s.BotToken != "xoxe.xoxb-1" ||
		s.APIURL.String() != "https://slack.com/api/" {
		t.Errorf("both: %+v", s)
	}
}

func TestKeysRotate(t *testing.T) {
	t.Parallel()
	c := load(t, "SLACK_SIGNING_SECRET=secret", "SLACK_CLIENT_ID=1.2", "SLACK_CLIENT_SECRET=client-secret",
		"LIAISON_PUBLIC_URL=https://liaison.example.com", "LIAISON_ENCRYPTION_KEY="+urlKey+", "+base64Key+","+hexKey)
	o := c.Slack.OAuth
	if o == nil || o.ClientID != "1.2" || o.ClientSecret != "client-secret" || len(o.Keys) != 3 {
		t.Fatalf("got %+v", o)
	}
	if hex.EncodeToString(o.Keys[0]) != "ffef"+hexKey[4:] || string(o.Keys[1]) != string(o.Keys[2]) || hex.EncodeToString(o.Keys[2]) != hexKey {
		t.Errorf("keys %x", o.Keys)
	}
	for _, want := range []string{urlKey, base64Key, hexKey, "client-secret"} {
		if !strings.Contains(strings.Join(c.Secrets(), "\n")+"\n", want+"\n") {
			t.Errorf("%q is not known to the redactor", want)
		}
	}
}

func TestSlackSettingsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	const signed = "SLACK_SIGNING_SECRET=secret"
	oauth := func(more ...string) []string {
		return append([]string{signed, "SLACK_CLIENT_ID=1.2", "SLACK_CLIENT_SECRET=planted-1234567890",
			"LIAISON_ENCRYPTION_KEY=" + hexKey, "LIAISON_PUBLIC_URL=https://liaison.example.com"}, more...)
	}
	for name, tt := range map[string]struct {
		env     []string
		setting string
	}{
		"a bot token and no way in":       {[]string{"SLACK_BOT_TOKEN=xoxb-1"}, config.EnvSlackBotToken},
		"OAuth and no way in":             {oauth()[1:], config.EnvSlackClientID},
		"an empty secret beside a socket": {[]string{"SLACK_SIGNING_SECRET=", "SLACK_APP_TOKEN=xapp-1"}, config.EnvSlackSecret},
		"an empty app token":              {[]string{"SLACK_APP_TOKEN="}, config.EnvSlackAppToken},
		"a bot token as app token":        {[]string{"SLACK_APP_TOKEN=xoxb-planted-1234567890"}, config.EnvSlackAppToken},
		"an app token as bot token":       {[]string{signed, "SLACK_BOT_TOKEN=xapp-planted-1234567890"}, config.EnvSlackBotToken},
		"a person's token":                {[]string{signed, "SLACK_BOT_TOKEN=xoxp-planted-1234567890"}, config.EnvSlackBotToken},
		"a prefix alone":                  {[]string{signed, "SLACK_BOT_TOKEN=xoxb-"}, config.EnvSlackBotToken},
		"two tokens":                      {[]string{signed, "SLACK_BOT_TOKEN=xoxb-1,xoxb-2"}, config.EnvSlackBotToken},
		"an empty bot token":              {[]string{signed, "SLACK_BOT_TOKEN= "}, config.EnvSlackBotToken},
		"a client without its secret":     {[]string{signed, "SLACK_CLIENT_ID=1.2"}, config.EnvSlackClientKey},
		"a secret without its client":     {[]string{signed, "SLACK_CLIENT_SECRET=planted-1234567890"}, config.EnvSlackClientID},
		"OAuth without a key":             {append(oauth()[:3:3], oauth()[4]), config.EnvEncryptionKey},
		"OAuth without a public URL":      {oauth()[:4], config.EnvPublicURL},
		"OAuth in the open":               {oauth("LIAISON_PUBLIC_URL=http://liaison.example.com"), config.EnvPublicURL},
		"an empty key":                    {[]string{"LIAISON_ENCRYPTION_KEY=,"}, config.EnvEncryptionKey},
		"a short key":                     {[]string{"LIAISON_ENCRYPTION_KEY=" + hexKey + "," + hexKey[2:]}, config.EnvEncryptionKey},
		"a long key":                      {[]string{"LIAISON_ENCRYPTION_KEY=" + hexKey + "00"}, config.EnvEncryptionKey},
		"a passphrase":                    {[]string{"LIAISON_ENCRYPTION_KEY=planted-1234567890"}, config.EnvEncryptionKey},
		"an API in the open":              {[]string{signed, "SLACK_API_URL=http://slack.example.com/api/"}, config.EnvSlackAPIURL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := config.Load(tt.env, noFile(t))
			var problem *config.Error
			if !errors.As(err, &problem) || !strings.Contains(err.Error(), tt.setting+": ") {
				t.Errorf("got %v, want a problem with %s", err, tt.setting)
			}
			if err != nil && (strings.Contains(err.Error(), "planted") || strings.Contains(err.Error(), hexKey[2:])) {
				t.Errorf("a secret is in %v", err)
			}
		})
	}
}
