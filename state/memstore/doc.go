// Package memstore keeps everything in memory, with the semantics of the
// durable engines. It is the model that they are checked against, and what the
// tests of other packages run on.
package memstore
