// Package processgroup starts programs so that all that they start in turn can be
// ended with them: a process group where the system has signals, a job object on
// Windows.
package processgroup
