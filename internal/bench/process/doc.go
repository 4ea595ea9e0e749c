// Package process runs the service as a process of its own and tells what it
// costs: processor time and memory, as the operating system counts them.
package process
