// Package gen holds the code that buf generates from proto/ (see buf.gen.yaml):
// the messages of the bridge protocol in sdk/v1, its Connect clients and
// handlers in sdk/v1/sdkv1connect. Beside them, api is a client of the service's
// own HTTP API. All of it is committed so that building needs nothing but Go;
// `make generate` writes it again. The test here keeps the contract's names and
// numbers from changing by accident.
package gen
