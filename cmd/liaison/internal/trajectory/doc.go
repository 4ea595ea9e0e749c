// Package trajectory reads a session's saved record, events.ndjson, into what a
// person asks of it: the turns, the tools that the agent called with their
// results, the reply, the usage.
//
// It takes what it is given: types of events that it does not know, fields that
// are missing, a last line that a crash cut short.
package trajectory
