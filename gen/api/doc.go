// Package api is a client of Liaison's own HTTP API, generated from
// handlers/api/openapi.yaml. It is committed so that building needs nothing but
// Go; `make generate` writes it again. The command line and the API's tests
// use it; the service itself does not.
package api
