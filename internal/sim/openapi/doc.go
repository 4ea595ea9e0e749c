// Package openapi judges traffic by GitHub's own description of its REST API.
//
// Tests put its [Transport] beneath a client: what the client sends and what
// the simulated GitHub answers must both fit the description. It keeps the
// fake honest where a hand-written rule would repeat its author's mistake. The
// description does not know everything (a completed check run may lack a
// conclusion), so it stands beside the simulator's own rules.
//
// github.json is a slice of the description, made by slice.go; its head names
// the version and the licence.
package openapi
