// Package bridge is a Go SDK for sdk.v1, the protocol behind which coding agents
// run: it starts a bridge executable (or attaches to one), makes and resumes
// agents, sends them messages and follows their runs.
//
// One prompt:
//
//	result, err := bridge.Prompt(ctx, "Summarise this repository.", bridge.PromptOptions{})
//	if err != nil {
//		return err
//	}
//	fmt.Println(result.Text)
//
// # Bridges
//
// A [Client] has one bridge. It starts it when it is first needed, starts it again
// after a crash, and stops it at Close, which must be called. With empty [Options]
// the bridge is found by [FindExecutable]: the vendor's when CURSOR_SDK_BRIDGE_BIN
// names it, or Liaison's own, which needs no account. Options.URL attaches to a
// bridge that someone else runs.
//
// The child's environment is what Options.Env says, PATH and what the protocol
// needs, and nothing else of this program's.
//
// # Agents
//
// An [Agent] is one conversation, made by [Agents.Create] and found again, also by
// a later program, by [Agents.Resume]. The bridge remembers what was said, and
// nothing of [AgentOptions]: pass them each time, above all Tools and
// DisallowedTools. After a crash of the bridge this package resumes its agents by
// itself, with the options that they were made with.
//
// Custom tools are Go functions that the agent may call: see [NewTool].
//
// # Runs
//
// [Agent.Send] starts a [Run] and returns. The run's stream is read whether or not
// anybody looks at it, so it can be watched ([Run.Events], [Run.TextStream]), or
// just waited for ([Run.Wait], [Run.Text]), or both, in any order. A stream that
// breaks is continued, and no event is told twice; where one may be missing there
// is a [Gap]. Leaving the loop, or the end of a context, never cancels a run;
// [Run.Cancel] does. An agent has one run at a time.
//
// What a newer bridge says that this version does not know is an [Unknown] event,
// with its JSON.
//
// # Errors
//
// What the bridge refuses is an [*Error]; tell them apart with errors.Is and the
// sentinels, such as [ErrAgentBusy] and [ErrRateLimited], or ask [ClassOf] what to
// do. A process that could not start, or has died, is a [*ProcessError]. A run that
// failed is no error but a [Result]; [Run.Text] and [Prompt] make a
// [*RunFailedError] of it.
//
// # Lists
//
// Lists are iterators over pages that are fetched as the caller reads; an error is
// the last thing that they yield.
//
// No generated or transport type appears in the exported API. The package imports
// nothing of ours but gen.
package bridge
