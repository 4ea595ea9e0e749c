// Package remote talks to a running service through its HTTP API. It knows how
// calls fail (nobody answers, the service refuses), reads streams that survive a
// cut connection, and sends a token only where nobody can listen.
package remote
