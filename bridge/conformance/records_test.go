package conformance

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge"
)

func recordBoxes() []box {
	return []box{
		{"records: agents are listed page by page", aModel, listAgents},
		{"records: an archived agent is hidden, refuses messages, and comes back", aModel, archived},
		{"records: a deleted agent is gone", aModel, deleted},
		{"records: runs, the conversation and the messages of an agent can be read", aModel, readBack},
		{"catalog: whose key it is, which models, which repositories", anAccount, catalog},
		{"restrictions: the tools that an agent may not use are not among its tools", theScript, restrictions},
	}
}

func listAgents(t *testing.T, to target) {
	client := to.client(t, nil)
	made := map[string]bool{}
	for range 5 {
		made[to.agent(t, client, nil).ID()] = true
	}
	for info, err := range client.Agents().List(testContext(t), bridge.ListAgentsOptions{PageSize: 2}) {
		if err != nil {
			t.Fatal(err)
		}
		delete(made, info.ID)
	}
	if len(made) != 0 {
		t.Errorf("not listed: %v", made)
	}
}

func archived(t *testing.T, to target) {
	client := to.client(t, nil)
	agent := to.agent(t, client, nil)
	ctx := testContext(t)
	if err := agent.Archive(ctx); err != nil {
		t.Fatal(err)
	}
	for info, err := range client.Agents().List(ctx, bridge.ListAgentsOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		if info.ID == agent.ID() {
			t.Error("it is still listed")
		}
	}
	if _, err := agent.Send(ctx, bridge.Message{Text: to.say("hello")}, bridge.SendOptions{}); err == nil {
		t.Error("it takes messages")
	}
	if err := agent.Unarchive(ctx); err != nil {
		t.Fatal(err)
	}
	finish(t, send(t, agent, to.say("back"), bridge.SendOptions{}))
}

func deleted(t *testing.T, to target) {
	client := to.client(t, nil)
	agent := to.agent(t, client, nil)
	ctx := testContext(t)
	if err := client.Agents().Delete(ctx, agent.ID()); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Agents().Get(ctx, agent.ID()); !errors.Is(err, bridge.ErrNotFound) {
		t.Errorf("looking for it: %v", err)
	}
}

func readBack(t *testing.T, to target) {
	client := to.client(t, nil)
	agent := to.agent(t, client, nil)
	ctx := testContext(t)
	run := send(t, agent, to.say("for the record"), bridge.SendOptions{})
	finish(t, run)
	snapshot, err := client.GetRun(ctx, agent.ID(), run.ID())
	if err != nil || snapshot.Status != bridge.RunFinished || !strings.Contains(snapshot.Text, "for the record") {
		t.Errorf("GetRun: %+v, %v", snapshot, err)
	}
	conversation, err := client.Conversation(ctx, run.ID())
	if err != nil || !json.Valid(conversation) || !strings.Contains(string(conversation), "for the record") {
		t.Errorf("Conversation: %s, %v", conversation, err)
	}
	messages := 0
	for _, err := range agent.Messages(ctx, bridge.ListMessagesOptions{}) {
		if err != nil {
			t.Fatal(err)
		}
		messages++
	}
	if messages < 2 {
		t.Errorf("%d messages, want the question and the answer", messages)
	}
}

func catalog(t *testing.T, to target) {
	c := to.client(t, nil).Catalog()
	ctx := testContext(t)
	if _, err := c.Me(ctx); err != nil {
		t.Errorf("Me: %v", err)
	}
	models, err := c.Models(ctx)
	if err != nil || len(models) == 0 || models[0].ID == "" {
		t.Errorf("Models: %+v, %v", models, err)
	}
	if _, err := c.Repositories(ctx); err != nil {
		t.Errorf("Repositories: %v", err)
	}
}

func restrictions(t *testing.T, to target) {
	agent := to.agent(t, to.client(t, nil), func(o *bridge.AgentOptions) {
		o.Model, o.DisallowedTools = "liaison-reviewer", []string{"grep"}
	})
	run := send(t, agent, "review", bridge.SendOptions{})
	for e, err := range run.Events(testContext(t)) {
		if err != nil {
			t.Fatal(err)
		}
		if opening, ok := e.Payload.(bridge.System); ok && strings.Join(opening.Tools, ",") != "read" {
			t.Errorf("the agent has the tools %q", opening.Tools)
		}
	}
	finish(t, run)
}
