// Package sessions is the runtime that every surface shares: it turns stored
// deliveries into turns of durable sessions, runs them one at a time per
// session through the bridge, records what happened, and hands what is owed to
// the world to the outbox.
//
// Surfaces take part by implementing [Channel]; the package knows none of them.
// Everything that must survive a crash is committed to state before it is acted
// on, so that a new process can go on from any point.
//
// A delivery goes through the dispatcher, which has it mapped, to the actor of
// its session, the only writer of that session's rows. The actor drafts one
// decision at a time and commits it whole: what becomes of the delivery, of the
// turns, what the world is owed, and what the record will say. A turn waits in
// the turn queue for one of a few places, gets a goroutine that prepares the
// evidence and runs the agent, and comes back to the actor to be concluded. The
// outbox performs what is owed, in order within a session.
//
// People also talk into a session directly: [Engine.Send] and [Engine.Stop] are
// decided by the same actor. A turn is prepared by, and told to, the channel that
// asked for it, which need not be the one that the session is on.
package sessions
