//go:build !unix

package workspace

// nonBlocking is nothing where no file of a directory can be a pipe.
const nonBlocking = 0
