// Package toolserver uses servers of tools that speak the Model Context Protocol,
// for as long as one run takes: programs on their standard streams, and services
// over HTTP. Everything that comes of one is bounded: in time, size and number.
package toolserver
