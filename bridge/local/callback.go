package local

import (
	"errors"
	"fmt"
	"net"
	"net/url"
)

// callback is where the adapter serves something to the bridge. The zero value
// means that it does not.
type callback struct {
	url   string
	token string
}

// newCallback checks a URL and its token, which are set together or not at
// all. The names are those that the caller knows them by.
func newCallback(urlName, rawURL, tokenName, token string) (callback, error) {
	switch {
	case rawURL == "" && token == "":
		return callback{}, nil
	case rawURL == "":
		return callback{}, fmt.Errorf("%s is set without %s", tokenName, urlName)
	case token == "":
		return callback{}, fmt.Errorf("%s is set without %s", urlName, tokenName)
	}
	if err := checkCallbackURL(rawURL); err != nil {
		return callback{}, fmt.Errorf("%s: %w", urlName, err)
	}
	return callback{url: rawURL, token: token}, nil
}

// checkCallbackURL accepts http on loopback only, so that whoever may call the
// bridge cannot make it call elsewhere. The URL is not repeated in the error:
// it could hold a password.
func checkCallbackURL(rawURL string) error {
	u, err := url.Parse(rawURL)
	if err != nil {
		return errors.New("not a URL")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("not an http URL")
	}
	if u.User != nil {
		return errors.New("credentials in the URL are not accepted; use the token")
	}
	host := u.Hostname()
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return errors.New("the host is not a loopback address")
	}
	return nil
}
