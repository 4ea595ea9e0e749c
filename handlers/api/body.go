package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxBody bounds a request's body in bytes, workspace files included.
const maxBody = 1 << 20

// fields are the names that a body may have, each with where its value goes.
type fields map[string]any

// decode reads a body that must be one JSON object with no other fields than these.
func decode(w http.ResponseWriter, r *http.Request, known fields, required ...string) error {
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	return decodeObject(body, known, required...)
}

// decodeOptional does the same with a body that may be left out.
func decodeOptional(w http.ResponseWriter, r *http.Request, known fields) error {
	if r.ContentLength == 0 {
		return nil
	}
	return decode(w, r, known)
}

func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	// A form of another site's page has no JSON content type.
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if charset := params["charset"]; err != nil || kind != "application/json" || charset != "" && !strings.EqualFold(charset, "utf-8") {
		return nil, refusef(http.StatusUnsupportedMediaType, "not_json", "send the body with the content type application/json")
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return nil, refusef(http.StatusUnsupportedMediaType, "encoded", "send the body without a content encoding")
	}
	tooLarge := refusef(http.StatusRequestEntityTooLarge, "too_large", "the body is longer than %d bytes", maxBody)
	if r.ContentLength > maxBody {
		return nil, tooLarge
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, tooLarge
	}
	if err != nil {
		return nil, badRequest("the body did not arrive whole")
	}
	return body, nil
}

// decodeObject is stricter than encoding/json: a name counts only as it is
// written and only once, and null is no value.
func decodeObject(body []byte, known fields, required ...string) error {
	if !utf8.Valid(body) {
		return badRequest("the body is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return badRequest("the body is not a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return notWellFormed()
		}
		target, ok := known[name]
		switch {
		case !ok:
			return badRequest("the body has an unknown field %q; known are %s", clip(name), strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case seen[name]:
			return badRequest("the body has %q twice", name)
		}
		seen[name] = true
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return notWellFormed()
		}
		if texts, ok := target.(*map[string]string); ok {
			if err := decodeTexts(raw, name, texts); err != nil {
				return err
			}
			continue
		}
		if string(raw) == "null" || json.Unmarshal(raw, target) != nil {
			return badRequest("the field %q has the wrong type", name)
		}
	}
	if _, err := dec.Token(); err != nil {
		return notWellFormed()
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return badRequest("something follows the JSON object in the body")
	}
	for _, name := range required {
		if !seen[name] {
			return badRequest("the field %q is missing", name)
		}
	}
	return nil
}

// decodeTexts reads an object of strings, as strictly.
func decodeTexts(raw json.RawMessage, field string, texts *map[string]string) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return badRequest("the field %q has the wrong type", field)
	}
	*texts = map[string]string{}
	for dec.More() {
		t, err := dec.Token()
		name, isName := t.(string)
		if err != nil || !isName {
			return notWellFormed()
		}
		if _, twice := (*texts)[name]; twice {
			return badRequest("the field %q has %q twice", field, clip(name))
		}
		value, err := dec.Token()
		text, isText := value.(string)
		if err != nil || !isText {
			return badRequest("the field %q has something else than a text at %q", field, clip(name))
		}
		(*texts)[name] = text
	}
	return nil
}

func notWellFormed() *refusal { return badRequest("the body is not well-formed JSON") }

// clip bounds what of a caller's text is said back.
func clip(s string) string {
	const most = 64
	if len(s) <= most {
		return s
	}
	for s = s[:most]; !utf8.ValidString(s); {
		s = s[:len(s)-1]
	}
	return s + "…"
}
