// Package untrusted writes what an agent is told so that it can tell the host's words
// from those of strangers: theirs stand between lines with a marker that nobody who
// wrote them can have known.
package untrusted
