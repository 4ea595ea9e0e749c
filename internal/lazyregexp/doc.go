// Package lazyregexp has regular expressions that are compiled when they are first
// used. A start of the service needs few of the expressions that the program has,
// and compiling them all took a fifth of the time until it listens.
package lazyregexp
