// Package handlers is the HTTP side of the service: it verifies webhooks over
// their raw bytes, has them stored, and only then acknowledges; and it serves
// health, readiness and information to operators.
//
// Nothing of a body is parsed, logged or echoed before its signature is
// verified, and nothing is decided here about what a delivery means.
package handlers
