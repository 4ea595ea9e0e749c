// Package api is the service's own HTTP API under /v1: sessions for people and
// programs, deliveries and dead letters for the operator. openapi.yaml describes
// it, is served by it, and is what its tests and the client in gen/api come from.
//
// A request is admitted as a principal, its body and query are checked against
// the description's limits before anything is asked of the engine, and every
// refusal has one shape. The package also holds the http channel, the surface
// of turns that were asked for here.
package api
