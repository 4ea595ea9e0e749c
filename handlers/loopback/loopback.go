// Package loopback tells by its name whether a caller means this machine.
package loopback

import (
	"net"
	"net/netip"
	"strings"
)

// Host reports whether a Host header names this machine. A page that makes its
// own name point here still sends that name.
func Host(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
