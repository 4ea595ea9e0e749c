package bridge_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"

	"github.com/liaison-bot/liaison/bridge"
)

// The examples use the test model of Liaison's own bridge, which does what the
// lines of a message say (docs/bridge-local.md). Leave Model empty for the
// bridge's first model.

// One prompt, in the current directory. The bridge is found, started and stopped.
func ExamplePrompt() {
	result, err := bridge.Prompt(context.Background(), "say Hello, gopher.", bridge.PromptOptions{
		Agent: bridge.AgentOptions{Model: "liaison-echo"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output: Hello, gopher.
}

// A client keeps its bridge for any number of agents; an agent remembers what
// was said to it.
func Example() {
	ctx := context.Background()
	client, err := bridge.New(bridge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close(ctx) }()

	agent, err := client.Agents().Create(ctx, bridge.AgentOptions{Model: "liaison-echo"})
	if err != nil {
		log.Fatal(err)
	}
	for _, text := range []string{"remember The build is red.\nsay Noted.", "recall"} {
		run, err := agent.Send(ctx, bridge.Message{Text: text}, bridge.SendOptions{})
		if err != nil {
			log.Fatal(err)
		}
		answer, err := run.Text(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(answer)
	}
	// Output:
	// Noted.
	// The build is red.
}

// What an agent does can be watched while it does it.
func ExampleRun_Events() {
	ctx := context.Background()
	client, err := bridge.New(bridge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close(ctx) }()
	agent, err := client.Agents().Create(ctx, bridge.AgentOptions{Model: "liaison-echo"})
	if err != nil {
		log.Fatal(err)
	}
	run, err := agent.Send(ctx, bridge.Message{Text: "think Two files, then.\nsay Done.\nusage 12 3"}, bridge.SendOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for event, err := range run.Events(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		switch p := event.Payload.(type) {
		case bridge.Thinking:
			if p.Text != "" {
				fmt.Println("thinks:", p.Text)
			}
		case bridge.Assistant:
			fmt.Println("says:", p.Text)
		}
	}
	result, err := run.Wait(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, result.Usage.InputTokens, result.Usage.OutputTokens)
	// Output:
	// thinks: Two files, then.
	// says: Done.
	// finished 12 3
}

// The answer alone, as it is written.
func ExampleRun_TextStream() {
	ctx := context.Background()
	client, err := bridge.New(bridge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close(ctx) }()
	agent, err := client.Agents().Create(ctx, bridge.AgentOptions{Model: "liaison-echo"})
	if err != nil {
		log.Fatal(err)
	}
	run, err := agent.Send(ctx, bridge.Message{Text: "say One.\nthink Three comes after two.\nsay Two."}, bridge.SendOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for text, err := range run.TextStream(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(text)
	}
	// Output:
	// One.
	// Two.
}

// An agent may call functions of this program.
func ExampleNewTool() {
	type city struct {
		Name string `json:"name" jsonschema:"the city, in English"`
	}
	type weather struct {
		Sky     string `json:"sky"`
		Celsius int    `json:"celsius"`
	}
	tool, err := bridge.NewTool("weather", "Tells the weather in a city.", func(_ context.Context, in city) (weather, error) {
		if in.Name != "Oslo" {
			return weather{}, fmt.Errorf("nothing is known of %s", in.Name)
		}
		return weather{Sky: "clear", Celsius: 7}, nil
	})
	if err != nil {
		log.Fatal(err)
	}
	result, err := bridge.Prompt(context.Background(), `call weather {"name": "Oslo"}`, bridge.PromptOptions{
		Agent: bridge.AgentOptions{Model: "liaison-echo", CustomTools: []bridge.Tool{tool}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	// Output: {"celsius":7,"sky":"clear"}
}

// A run that fails is not a failed call: its result says why.
func ExampleRunFailedError() {
	_, err := bridge.Prompt(context.Background(), "fail The quota is used up.", bridge.PromptOptions{
		Agent: bridge.AgentOptions{Model: "liaison-echo"},
	})
	var failed *bridge.RunFailedError
	if errors.As(err, &failed) {
		fmt.Println(failed.Result.Status, "-", failed.Result.Reason)
	}
	// Output: error - The quota is used up.
}

// Errors are told apart with errors.Is, never by their text.
func ExampleError() {
	ctx := context.Background()
	client, err := bridge.New(bridge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close(ctx) }()

	_, err = client.Agents().Resume(ctx, "agent-of-yesterday", bridge.AgentOptions{})
	if errors.Is(err, bridge.ErrAgentNotFound) {
		fmt.Println("it is gone; make another")
	}
	// Output: it is gone; make another
}

// Agents outlive the program that made them.
func ExampleAgents_List() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "example-")
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	client, err := bridge.New(bridge.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close(ctx) }()

	here := &bridge.LocalOptions{Dir: dir}
	agent, err := client.Agents().Create(ctx, bridge.AgentOptions{Name: "reviewer", Model: "liaison-echo", Local: here})
	if err != nil {
		log.Fatal(err)
	}
	for info, err := range client.Agents().List(ctx, bridge.ListAgentsOptions{Dir: dir}) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(info.Name)
	}
	if err := agent.Delete(ctx); err != nil {
		log.Fatal(err)
	}
	_, err = client.Agents().Get(ctx, agent.ID())
	fmt.Println(errors.Is(err, bridge.ErrNotFound))
	// Output:
	// reviewer
	// true
}

// A bridge that someone else runs is attached to by its address and token, and
// is not stopped.
func ExampleNew_attach() {
	ctx := context.Background()
	url, token, stop, err := startBridge()
	if err != nil {
		log.Fatal(err)
	}
	defer stop()
	client, err := bridge.New(bridge.Options{URL: url, Token: token, APIKey: "any"})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close(ctx) }()

	version, err := client.Version(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(version.Protocol)
	// Output: sdk.v1
}
