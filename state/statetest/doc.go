// Package statetest proves that an engine of state keeps its promises. Every
// guarantee of state's comments is a named subtest; an engine runs the suites
// in its own tests.
package statetest
