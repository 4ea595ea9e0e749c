package api

import (
	"net/http"
	"net/netip"

	"github.com/liaison-bot/liaison/handlers/loopback"
)

// proxyHeaders are what proxies add. A request that has one did not come
// directly, even if the proxy runs on this machine.
var proxyHeaders = []string{
	"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Server", "X-Real-Ip",
	"X-Client-Ip", "True-Client-Ip", "Cf-Connecting-Ip", "Fly-Client-Ip", "Fly-Forwarded-Proto",
}

// directLoopback reports whether r came from this machine without a proxy or a
// browser of another site in between: a page that rebinds its name to 127.0.0.1
// has its own name in Host and Origin.
func directLoopback(r *http.Request) bool {
	for _, name := range proxyHeaders {
		if _, there := r.Header[name]; there {
			return false
		}
	}
	if origin, there := r.Header["Origin"]; there && (len(origin) != 1 || origin[0] != "http://"+r.Host) {
		return false
	}
	// A page of another port on this machine is of the same site, not of the same origin.
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return false
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && remote.Addr().Unmap().IsLoopback() && loopback.Host(r.Host)
}
