package main_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/slack/setup"
)

// startSlack simulates Slack with one workspace for the script. It says where it is
// and which tokens it knows, and keeps what somebody could type in files.
func startSlack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: slack")
	}
	o := sim.SlackOptions{ConfigToken: "xoxe.xoxp-1-config", AppToken: "xapp-1-app", SigningSecret: webhookSecret}
	chat := sim.NewSlack(o)
	api, err := chat.Start()
	ts.Check(err)
	ts.Defer(func() { _ = chat.Close() })
	workspace := chat.AddWorkspace(sim.Workspace{ID: "T0ACME", Name: "Acme\x1b[2J", Scopes: setup.ScopeNames()})
	chat.AddUser(sim.SlackUser{ID: "U0ANN", Team: "T0ACME", Name: "ann"})
	chat.AddUser(sim.SlackUser{ID: "U0GONE", Team: "T0ACME", Name: "gone", Deleted: true})
	chat.AddChannel(sim.SlackChannel{ID: "C0IN", Team: "T0ACME", Name: "general"})
	chat.AddChannel(sim.SlackChannel{ID: "C0OUT", Team: "T0ACME", Name: "random", Members: []string{"U0ANN"}})
	for name, value := range map[string]string{
		"SLACK_API_URL": api, "CONFIG_TOKEN": o.ConfigToken, "APP_TOKEN": o.AppToken, "BOT_TOKEN": workspace.BotToken, "SIGNING_SECRET": webhookSecret,
	} {
		ts.Setenv(name, value)
	}
	for name, lines := range map[string][]string{
		"nothing.txt":          {""},
		"bot.txt":              {"hello", "xoxb-wrong", workspace.BotToken},
		"wrong.txt":            {"xoxb-1", "xoxb-2", "xoxb-3", workspace.BotToken},
		"socket.txt":           {o.ConfigToken, "xapp-wrong", o.AppToken, workspace.BotToken},
		"by-hand.txt":          {"", webhookSecret, ""},
		"token-for-secret.txt": {"", workspace.BotToken, webhookSecret, ""},
		"yes.txt":              {"yes"},
		"config-yes.txt":       {o.ConfigToken, "y"},
	} {
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
	old := fmt.Sprintf(`{"display_information":{"name":"Ada"},"features":{"bot_user":{"display_name":"ada"}},"oauth_config":{"scopes":{"bot":[%q]}}}`, "chat:write")
	chat.AddApp("A0OLD", []byte(old))
}
