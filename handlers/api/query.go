package api

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	// defaultLimit and maxLimit bound the entries of one page.
	defaultLimit = 50
	maxLimit     = 500
)

// checkQuery refuses what a route does not know, so that a misspelt parameter is
// not taken for its default.
func checkQuery(r *http.Request, known []string) error {
	if r.URL.RawQuery == "" {
		return nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return badRequest("the query is not well-formed")
	}
	for name, values := range query {
		switch {
		case !slices.Contains(known, name) && len(known) == 0:
			return badRequest("unknown query parameter %q; this path takes none", clip(name))
		case !slices.Contains(known, name):
			return badRequest("unknown query parameter %q; known are %s", clip(name), strings.Join(known, ", "))
		case len(values) > 1:
			return badRequest("the query has %q twice", name)
		}
	}
	return nil
}

// number returns a whole number of the query, or a default when it is left out.
func number(r *http.Request, name string, missing, least, most int64) (int64, error) {
	query := r.URL.Query()
	if !query.Has(name) {
		return missing, nil
	}
	return parseNumber(name, query.Get(name), least, most)
}

func parseNumber(name, text string, least, most int64) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least || n > most || text[0] == '+' {
		return 0, badRequest("%s must be a whole number from %d to %d", name, least, most)
	}
	return n, nil
}

func limit(r *http.Request) (int, error) {
	n, err := number(r, "limit", defaultLimit, 1, maxLimit)
	return int(n), err
}

// word returns a parameter that fits, or nothing when it is left out.
func word(r *http.Request, name string, fits func(string) bool) (string, error) {
	query := r.URL.Query()
	if !query.Has(name) {
		return "", nil
	}
	if s := query.Get(name); fits(s) {
		return s, nil
	}
	return "", badRequest("%s is not one that can exist", name)
}

// channelName reports whether s can be the name of a surface: 1 to 64 lower-case
// letters, digits, hyphens and underscores, beginning with a letter.
func channelName(s string) bool {
	if s == "" || len(s) > 64 || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' && r != '_'
	})
}
