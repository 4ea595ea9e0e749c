package sim_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/liaison-bot/liaison/internal/sim"
)

// A test sets up a world, delivers an event to the service, and waits for what
// people would see.
func ExampleGitHub() {
	hub := sim.NewGitHub(sim.GitHubOptions{AppID: 1, Slug: "liaison", WebhookSecret: "secret"})
	if _, err := hub.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = hub.Close() }()

	hub.CreateRepository("acme/widget", map[string]string{"main.go": "package main\n"})
	hub.Install(99, "acme", "acme/widget")
	pr := hub.OpenPullRequest("acme/widget", sim.NewPullRequest{
		Title: "Say hello", Author: "mona", HeadRepo: "mona/widget",
		Files: map[string]sim.Change{"hello.go": sim.Write("package main\n"), "old.go": sim.Rename("main.go", "")},
	})

	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hub.AddComment("acme/widget", 1, "liaison[bot]", "Reviewed after "+r.Header.Get("X-GitHub-Event"))
		w.WriteHeader(http.StatusAccepted)
	}))
	defer service.Close()

	ctx := context.Background()
	status, err := hub.Deliver(ctx, service.URL, hub.Event("acme/widget", pr.Number, "opened"))
	fmt.Println(status, err)
	err = hub.Wait(ctx, func() bool { return len(hub.Comments("acme/widget", pr.Number)) == 1 })
	fmt.Println(hub.Comments("acme/widget", pr.Number)[0].Body, err)
	// Output:
	// 202 <nil>
	// Reviewed after pull_request <nil>
}

// Somebody mentions the bot, which answers in the thread.
func ExampleSlack() {
	chat := sim.NewSlack(sim.SlackOptions{SigningSecret: "secret"})
	if _, err := chat.Start(); err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = chat.Close() }()
	team := chat.AddWorkspace(sim.Workspace{ID: "T0ACME"})
	chat.AddUser(sim.SlackUser{ID: "U0ANN", Team: team.ID, Name: "ann"})
	chat.AddChannel(sim.SlackChannel{ID: "C0GENERAL", Team: team.ID})

	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	defer service.Close()
	chat.SetTarget(service.URL)

	asked := chat.Mention("C0GENERAL", "U0ANN", "what is broken?")
	fmt.Println(chat.Settle(context.Background()), len(chat.Attempts()))

	form := url.Values{"token": {team.BotToken}, "channel": {"C0GENERAL"}, "thread_ts": {asked.TS}, "text": {"Nothing."}}
	r := httptest.NewRequest(http.MethodPost, "/api/chat.postMessage", strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	chat.ServeHTTP(httptest.NewRecorder(), r)
	for _, m := range chat.Thread("C0GENERAL", asked.TS)[1:] {
		fmt.Println(m.Shown)
	}
	// Output:
	// <nil> 2
	// Nothing.
}
