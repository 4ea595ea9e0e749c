// Package chattest is a chat completions endpoint for tests, on loopback. It
// answers by a script and refuses what real endpoints refuse, the strict ones
// included: roles that do not take turns, a tool's message without its call, a
// call without its result, arguments that are no JSON, unknown fields, a wrong key.
package chattest
