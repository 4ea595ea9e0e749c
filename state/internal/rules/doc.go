// Package rules holds what every engine of state must decide alike: which
// changes are valid, which preconditions they have, and what an update makes of
// a row. It reads through a small View and writes nothing.
package rules
