package install

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

const (
	// releases is where the vendor publishes the bridge.
	releases = "https://github.com/cursor/sdk-bridge/releases"
	// LatestURL is the folder of the latest release.
	LatestURL = releases + "/latest/download"
	// maxRedirects is Go's own limit; GitHub needs two.
	maxRedirects = 10
)

// VersionURL is the folder of one release; its tag has a "v".
func VersionURL(version string) string {
	return releases + "/download/v" + strings.TrimPrefix(version, "v")
}

// parseBaseURL reads a URL that holds no secret and is safe to fetch from.
func parseBaseURL(text string, allowInsecure bool) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		// The parser's error quotes the URL, which may hold a password.
		return nil, fmt.Errorf("%w: the base URL cannot be parsed", ErrOptions)
	}
	if u.Host == "" || u.Opaque != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("%w: the base URL must be https://HOST/FOLDER, the folder with the archives and %s", ErrOptions, SumsFile)
	}
	if u.User != nil {
		return nil, fmt.Errorf("%w: the base URL must hold no user or password; download the archive another way and install the file", ErrOptions)
	}
	return u, checkTransport(u, allowInsecure)
}

// checkTransport wants TLS, except on this machine or where it was said otherwise.
func checkTransport(u *url.URL, allowInsecure bool) error {
	switch {
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return fmt.Errorf("%w: %q is not https", ErrInsecure, u.Scheme)
	case allowInsecure || isLoopback(u.Hostname()):
		return nil
	default:
		return fmt.Errorf("%w: http://%s; use https", ErrInsecure, u.Host)
	}
}

func isLoopback(host string) bool {
	return host == "localhost" || net.ParseIP(host).IsLoopback()
}

// checkRedirect follows redirects, as GitHub's downloads need, but never from TLS
// to none.
func checkRedirect(allowInsecure bool) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, before []*http.Request) error {
		if len(before) >= maxRedirects {
			return fmt.Errorf("%w after %d", errRedirects, maxRedirects)
		}
		if before[len(before)-1].URL.Scheme == "https" && next.URL.Scheme != "https" {
			return fmt.Errorf("%w: redirected to %s://%s", ErrInsecure, next.URL.Scheme, next.URL.Host)
		}
		return checkTransport(next.URL, allowInsecure)
	}
}
