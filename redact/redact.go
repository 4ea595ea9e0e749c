package redact

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Mask stands where a secret stood.
const Mask = "[redacted]"

// minSecret is the length in bytes below which a registered value is left
// alone: masking every "dev" in a text would hide more than it protects.
const minSecret = 6

// Redactor masks secrets. Its methods may be called by many goroutines. A nil
// Redactor masks the known shapes only.
type Redactor struct {
	exact    atomic.Pointer[exact]
	patterns atomic.Pointer[[]*regexp.Regexp]
}

// exact is the immutable set of registered values.
type exact struct {
	values   []string
	replacer *strings.Replacer
}

// New returns a Redactor for the given secrets.
func New(secrets ...string) *Redactor {
	r := &Redactor{}
	r.Add(secrets...)
	return r
}

// Add registers more secrets, for example a token that was minted at run time.
// Values shorter than 6 bytes and surrounding white space are ignored.
func (r *Redactor) Add(secrets ...string) {
	for {
		old := r.exact.Load()
		var values []string
		if old != nil {
			values = slices.Clone(old.values)
		}
		for _, s := range secrets {
			values = append(values, forms(s)...)
		}
		// Longest first, so that a secret which contains another is masked whole.
		slices.SortFunc(values, func(a, b string) int {
			return cmp.Or(cmp.Compare(len(b), len(a)), strings.Compare(a, b))
		})
		values = slices.Compact(values)
		pairs := make([]string, 0, 2*len(values))
		for _, v := range values {
			pairs = append(pairs, v, Mask)
		}
		if r.exact.CompareAndSwap(old, &exact{values: values, replacer: strings.NewReplacer(pairs...)}) {
			return
		}
	}
}

// forms returns the ways in which a secret may be written.
func forms(secret string) []string {
	secret = strings.TrimSpace(secret)
	if len(secret) < minSecret || strings.Contains(Mask, secret) {
		return nil
	}
	all := []string{
		secret,
		base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.RawStdEncoding.EncodeToString([]byte(secret)),
		base64.URLEncoding.EncodeToString([]byte(secret)),
		base64.RawURLEncoding.EncodeToString([]byte(secret)),
		hex.EncodeToString([]byte(secret)),
		url.QueryEscape(secret),
		url.PathEscape(secret),
		html.EscapeString(secret),
		inQuotes(strconv.Quote(secret)), // also JSON, where its HTML is not escaped
	}
	// As JSON, and as JSON in JSON.
	for _, s := range []string{secret, inQuotes(strconv.Quote(secret))} {
		for range 2 {
			quoted, err := json.Marshal(s)
			if err != nil {
				break
			}
			s = inQuotes(string(quoted))
			all = append(all, s)
		}
	}
	// A key of several lines is a secret line by line, too: a log that splits
	// lines must not show it.
	for line := range strings.Lines(secret) {
		if line = strings.TrimSpace(line); len(line) >= 32 && !strings.HasPrefix(line, "-----") {
			all = append(all, line)
		}
	}
	return all
}

// inQuotes is what stands between a literal's quotes.
func inQuotes(literal string) string { return literal[1 : len(literal)-1] }

// String returns s with every secret masked. It does nothing to what it returned.
func (r *Redactor) String(s string) string {
	if s == "" {
		return s
	}
	return r.encoded(r.plain(s), maxEncoded)
}

// plain masks what a text says as it stands.
func (r *Redactor) plain(s string) string {
	if r != nil {
		if e := r.exact.Load(); e != nil && len(e.values) > 0 {
			s = e.replacer.Replace(s)
		}
		if p := r.patterns.Load(); p != nil {
			for _, re := range *p {
				s = maskPattern(re, s)
			}
		}
	}
	return shapes(s)
}

// Bytes returns b with every secret masked; it does not change b.
func (r *Redactor) Bytes(b []byte) []byte {
	return []byte(r.String(string(b)))
}

// Error returns an error whose text is masked and that still unwraps to err.
// It returns nil for nil.
func (r *Redactor) Error(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	masked := r.String(text)
	if masked == text {
		return err
	}
	return &maskedError{text: masked, cause: err}
}

type maskedError struct {
	text  string
	cause error
}

func (e *maskedError) Error() string { return e.text }
func (e *maskedError) Unwrap() error { return e.cause }
