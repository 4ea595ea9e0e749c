// Package eventlog keeps each session's record in an append-only file of lines,
// sessions/<id>/events.ndjson, that people and their tools can read as it is.
//
// A line that a crash tore is cut off when the session is next used. Nothing
// lists folders, and nothing reads a whole file to find its end or an index.
package eventlog
