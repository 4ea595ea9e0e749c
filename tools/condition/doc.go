// Package condition decides, by an expression in CEL (https://cel.dev), which
// calls of a tool wait for a person, and which only read.
//
// An expression is checked when it is compiled, down to the names of the input's
// fields and the values that they can have. It has no loops, and what it may cost
// is bounded. Where it cannot be decided, the caller is told so, and takes the
// careful side.
package condition
