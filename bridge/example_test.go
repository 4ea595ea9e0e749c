package bridge_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/liaison-bot/liaison/bridge"
)

// One prompt, from start to stop.
func Example() {
	ctx := context.Background()
	client, err := bridge.New(bridge.Options{
		Executable: "liaison-bridge",
		StateRoot:  os.TempDir(),
		APIKey:     os.Getenv("CURSOR_API_KEY"),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close(ctx) }()

	models, err := client.Models(ctx)
	if err != nil {
		log.Fatal(err)
	}
	agent, err := client.Agents().Create(ctx, bridge.AgentOptions{
		Model: models[0].ID,
		Local: &bridge.LocalOptions{Dir: "/work/repository"},
		Tools: []string{"read", "grep"},
	})
	if err != nil {
		log.Fatal(err)
	}
	run, err := agent.Send(ctx, bridge.Message{Text: "Summarise this repository."}, bridge.SendOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range run.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if a, ok := event.Payload.(bridge.Assistant); ok {
			fmt.Print(a.Text)
		}
	}
	result, err := run.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.Reason)
}
