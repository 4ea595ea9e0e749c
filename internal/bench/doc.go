// Command bench measures the service: the real binary, over signed webhooks on
// this machine, and its store.
//
//	go run ./internal/bench            everything, some ten minutes
//	go run ./internal/bench -quick     the same with small numbers, for a look
//	go run ./internal/bench -run acknowledge,memory
//	go run ./internal/bench -list      what there is
//
// Tables go to standard error as they grow, and JSON to standard output at the
// end. Where there are two processors and taskset, the service has one half of
// them and the load the other. docs/performance.md says what the figures mean.
package main
