// Package openapi judges traffic by GitHub's own description of its REST API.
//
// Tests put its [Transport] beneath a client: what the client sends and what
// the simulated GitHub answers must both fit the description. It keeps the
// fake honest where a hand-written rule would repeat its author's mistake. The
// description does not know everything (a completed check run may lack a
// conclusion), so it stands beside the simulator's own rules.
//
// The description is GitHub's, so it is not kept here: "make contract" fetches
// it, cuts out what is used with slice.go, and runs the tests with it. Without
// it, in "make test", nothing is judged.
package openapi
