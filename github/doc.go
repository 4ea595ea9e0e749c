// Package github is everything that knows GitHub: which events ask for work,
// how the App signs in, what is written to a pull request and when it may be.
//
// It implements sessions.Channel. Mapping a delivery and deciding what is owed
// are pure; Deliver reads the live pull request before each write, finds its
// own earlier writes again by marks that only its own App can have set, and
// never waits: whatever can be tried later is returned as a sessions.RetryError.
// What the agent says is data on its way out too: fit.go and what it uses take
// away what could reach other people or imitate our own marks.
//
// Evidence is fetched by the sub-package evidence.
package github
