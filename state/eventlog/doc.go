// Package eventlog keeps each session's record in an append-only file of lines,
// sessions/<id>/events.ndjson, that people and their tools can read as it is.
//
// A line that a crash tore is cut off when the session is next used. Nothing
// lists folders, and nothing reads a whole file to find its end or an index.
//
// The record of a session that rests is packed: compressed into a segment file
// of many sessions, packed/<number>.seg, while an index elsewhere says where it
// is. It is read as before, and has a file of its own again once it goes on.
package eventlog
