package handlers

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// operatorOnly admits the operator: by bearer token, or, while no token is set,
// whoever calls directly from this machine.
func operatorOnly(apiToken string, next http.Handler) http.Handler {
	want := sha256.Sum256([]byte(apiToken))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if apiToken == "" {
			if !directLoopback(r) {
				fail(w, http.StatusUnauthorized, "unauthorized", "set LIAISON_API_TOKEN and send it as a bearer token; without one only direct callers on this machine are admitted")
				return
			}
			next.ServeHTTP(w, r)
			return
		}
		given, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		// Hashes have one length, so that the time tells nothing about the token's.
		got := sha256.Sum256([]byte(given))
		if !ok || subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
			w.Header().Set("WWW-Authenticate", `Bearer realm="liaison"`)
			fail(w, http.StatusUnauthorized, "unauthorized", "send the operator's token as a bearer token")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// directLoopback reports whether r came from this machine without a proxy or a
// browser of another site in between: a page that rebinds its name to 127.0.0.1
// has its own name in Host and Origin.
func directLoopback(r *http.Request) bool {
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Fly-Client-Ip", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	if origin := r.Header.Get("Origin"); origin != "" && origin != "http://"+r.Host {
		return false
	}
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && remote.Addr().Unmap().IsLoopback() && loopbackName(r.Host)
}

// loopbackName reports whether a Host header names this machine.
func loopbackName(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// infoHandler shows what the process is and how its platforms are.
func infoHandler(info func() any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, info())
	})
}
