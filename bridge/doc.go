// Package bridge is a Go SDK for sdk.v1, the protocol behind which coding
// agents run: it starts the bridge executable (or attaches to one), creates and
// resumes agents, sends messages and follows their runs.
//
//	client, err := bridge.New(bridge.Options{Executable: "liaison-bridge", StateRoot: dir})
//	agent, err := client.Agents().Create(ctx, bridge.AgentOptions{Model: "m", Local: &bridge.LocalOptions{Dir: dir}})
//	run, err := agent.Send(ctx, bridge.Message{Text: "Summarise this repository."}, bridge.SendOptions{})
//	result, err := run.Wait(ctx)
//	err = client.Close(ctx)
//
// No generated or transport type appears in the exported API. The package
// imports nothing of ours but gen.
package bridge
