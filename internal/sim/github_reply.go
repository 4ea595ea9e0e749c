package sim

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// object is a JSON object on its way to a client.
type object = map[string]any

// docs is the root of the documentation links in GitHub's errors.
const docs = "https://docs.github.com/"

// reply is what an endpoint answers, before the common headers are added.
type reply struct {
	status int
	header http.Header
	json   any    // encoded when raw is nil
	raw    []byte // sent as it is, with ctype
	ctype  string
}

// fieldError is one entry of the "errors" of a 422.
type fieldError struct {
	Resource string `json:"resource"`
	Code     string `json:"code"`
	Field    string `json:"field,omitempty"`
	Message  string `json:"message,omitempty"`
	Value    any    `json:"value,omitempty"`
}

func ok(v any) reply      { return reply{status: http.StatusOK, json: v} }
func created(v any) reply { return reply{status: http.StatusCreated, json: v} }
func noContent() reply    { return reply{status: http.StatusNoContent} }

// failed is an error in GitHub's shape; the route's page is added on the way out.
func failed(status int, message string) reply {
	return reply{status: status, json: object{"message": message, "status": strconv.Itoa(status)}}
}

func notFound() reply { return failed(http.StatusNotFound, "Not Found") }

func notAccessible() reply {
	return failed(http.StatusForbidden, "Resource not accessible by integration")
}

// invalidRequest is the 422 of GitHub's schema check, which comes before any meaning.
func invalidRequest(detail string) reply {
	return failed(http.StatusUnprocessableEntity, "Invalid request.\n\n"+detail)
}

func notSupplied(field string) reply {
	return invalidRequest(`"` + field + `" wasn't supplied.`)
}

// invalidFields is the 422 of GitHub's models.
func invalidFields(errs ...fieldError) reply {
	r := failed(http.StatusUnprocessableEntity, "Validation Failed")
	r.json.(object)["errors"] = errs
	return r
}

// withDocs sets the documentation link of an error that has none yet.
func (r reply) withDocs(page string) reply {
	if o, isObject := r.json.(object); isObject && r.status >= 400 {
		if _, has := o["documentation_url"]; !has {
			o["documentation_url"] = docs + page
		}
	}
	return r
}

func (r reply) set(key, value string) reply {
	if r.header == nil {
		r.header = http.Header{}
	}
	r.header.Set(key, value)
	return r
}

// encode returns the body and its type.
func (r reply) encode() ([]byte, string) {
	switch {
	case r.raw != nil:
		return r.raw, r.ctype
	case r.status == http.StatusNoContent || r.status == http.StatusNotModified:
		return nil, ""
	case r.json == nil:
		return nil, ""
	}
	b, err := json.Marshal(r.json)
	if err != nil {
		panic("sim: encode answer: " + err.Error()) // a value that is not JSON is a bug here
	}
	return b, "application/json; charset=utf-8"
}

// stamp prints a time as GitHub does, and null for none.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Format("2006-01-02T15:04:05Z")
}

// nullable is null for an empty text.
func nullable(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// accepts reports whether the Accept header asks for a media type such as
// "diff", in any of GitHub's spellings (vnd.github.diff, .v3.diff, +json).
func accepts(h http.Header, kind string) bool {
	for _, part := range strings.Split(strings.Join(h.Values("Accept"), ","), ",") {
		media, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		media, isGitHub := strings.CutPrefix(media, "application/vnd.github.")
		if !isGitHub {
			continue
		}
		media, _, _ = strings.Cut(media, "+")
		if media == kind || media == "v3."+kind {
			return true
		}
	}
	return false
}
