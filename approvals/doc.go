// Package approvals is the room for tool calls that wait for a person: the
// record, the policy and the state machine. It will know no surface, and will
// never call sessions: a decision writes a wake to state in its own transaction.
//
// Nothing of it exists yet. Today's agents have read-only tools, so that there
// is nothing to approve.
package approvals
