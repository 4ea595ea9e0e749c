// Package failpoint lets a test kill the process at a named point, to see what
// the next one makes of what is left. Without the build tag failpoint it does
// nothing and costs nothing.
package failpoint
