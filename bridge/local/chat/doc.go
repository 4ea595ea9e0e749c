// Package chat runs an agent on any endpoint that speaks the chat completions
// protocol of OpenAI: it sends the conversation, streams the answer, calls the
// tools that the model asks for, and goes on until the model has answered.
//
// It is written for the endpoints there are, not for the one of the
// specification: tool calls arrive without an id, with the same index twice or
// with arguments that are no JSON; streams end in the middle; options are
// refused. What can be repaired is repaired, what the model can do better is told
// to it, what passes is tried again, all of it a bounded number of times; the rest
// ends the run with an [*Error] that says what a person can do.
//
// The package knows nothing of the bridge. The key is in requests and nowhere else.
package chat
