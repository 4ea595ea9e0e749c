package sim_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

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
