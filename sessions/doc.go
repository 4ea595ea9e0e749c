// Package sessions is the runtime that every surface shares: it turns stored
// deliveries into turns of durable sessions, runs them one at a time per
// session through the bridge, records what happened, and hands what is owed to
// the world to the outbox.
//
// Surfaces take part by implementing [Channel]; the package knows none of them.
// Everything that must survive a crash is committed to state before it is acted
// on, so that a new process can go on from any point.
package sessions
