// Package load sends signed webhooks to a service on this machine and measures
// the answers.
//
// The bodies have the shape and the size of real ones and are made here. A
// request is laid out once; what makes each unique (ids, numbers, revisions, the
// signature) is patched in place, so that the sender costs little more than its
// signature and is not what is measured. [Run] keeps a number of connections
// busy (closed loop) or sends at a fixed rate, where latency counts from the
// moment at which a request was due (open loop).
package load
