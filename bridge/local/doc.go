// Package local is Liaison's own server of sdk.v1, the protocol behind which
// coding agents run. It takes the flags of the vendor's bridge, prints the same
// ready line and answers the same calls, so that whatever drives the one drives
// the other; it needs no account and no network.
//
// [Main] is the whole command line, used by cmd/liaison-bridge and by
// "liaison bridge serve". What answers is an engine, chosen by model id: the
// built-in reviewer, any model behind an endpoint of the chat completions
// protocol when the environment names one, and a test model. Agents, runs and the
// record of what each run said survive kill -9: as plain JSON files below the
// state root, or in a store that the caller serves.
//
// The package imports nothing of ours but gen and its own sub-packages.
package local
