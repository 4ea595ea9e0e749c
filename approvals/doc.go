// Package approvals is the room for tool calls that wait for a person: the
// record of a call, the policy that says who may decide about it, and the state
// machine that it goes through.
//
// Everything here is pure: a step takes a [Record] and says what it becomes,
// what the audit log and the session's record are told, and what is to be done
// next. Whoever takes the step stores all of it in one transaction, so that one
// decision wins among any number that race. No surface is known: what people see
// is drawn from a [View], which has no secret in it.
package approvals
