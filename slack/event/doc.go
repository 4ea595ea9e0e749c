// Package event reads what Slack sends into plain structs: events, interactions
// and slash commands.
//
// Slack's payloads change without notice and hold fields of another kind than
// documented, and a reader that refuses a whole message for one of them loses what
// somebody said. Here each field is read by itself: an odd one is as if it were
// absent. Only what is no JSON object or no form at all is an error. Nothing is
// asked and nothing decided; ids and times stay texts.
package event
