package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// ErrNoOperation is wrapped by errors about a method and path that the slice
// of the description does not have.
var ErrNoOperation = errors.New("no such operation in the description")

// Judge checks requests, answers and webhooks. It is safe for concurrent use.
type Judge struct {
	operations []operation
	webhooks   map[string]any
	schemas    map[string]any

	mu       sync.Mutex // the compiler is not safe for concurrent use
	compiler *jsonschema.Compiler
}

type operation struct {
	name     string // "GET /repos/{owner}/{repo}"
	method   string
	segments []string
	request  any
	query    map[string]any
	statuses map[string]any
}

const document = "github.json"

// New reads a description that slice.go has cut.
func New(description []byte) (*Judge, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(description))
	if err != nil {
		return nil, fmt.Errorf("openapi: read the description: %w", err)
	}
	j := &Judge{compiler: jsonschema.NewCompiler()}
	j.compiler.DefaultDraft(jsonschema.Draft2020)
	if err := j.compiler.AddResource(document, doc); err != nil {
		return nil, fmt.Errorf("openapi: load the description: %w", err)
	}
	var parsed struct {
		Operations map[string]struct {
			Request   any
			Query     map[string]any
			Responses map[string]any
		}
		Webhooks map[string]any
		Schemas  map[string]any
	}
	if err := json.Unmarshal(description, &parsed); err != nil {
		return nil, fmt.Errorf("openapi: read the description: %w", err)
	}
	for name, op := range parsed.Operations {
		method, path, _ := strings.Cut(name, " ")
		j.operations = append(j.operations, operation{
			name: name, method: method, segments: strings.Split(strings.Trim(path, "/"), "/"),
			request: op.Request, query: op.Query, statuses: op.Responses,
		})
	}
	j.webhooks, j.schemas = parsed.Webhooks, parsed.Schemas
	return j, nil
}

// Request checks the body of a request to an escaped path below the REST root.
// GitHub ignores a field that it does not know, so that a misspelt one does
// nothing, unseen; here it is an error.
func (j *Judge) Request(method, path string, body []byte) error {
	op, err := j.find(method, path)
	if err != nil || op.request == nil || len(bytes.TrimSpace(body)) == 0 || string(bytes.TrimSpace(body)) == "null" {
		return err
	}
	if err := j.check("request of "+op.name, body, "operations", op.name, "request"); err != nil {
		return err
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		return fmt.Errorf("openapi: request of %s: %w", op.name, err)
	}
	if field := j.unknown([]any{op.request}, v); field != "" {
		return fmt.Errorf("openapi: request of %s has the unknown field %s", op.name, field)
	}
	return nil
}

// Query checks the parameters in a request's query: their names, and their
// values as text or as the number or boolean that they stand for.
func (j *Judge) Query(method, path, raw string) error {
	op, err := j.find(method, path)
	if err != nil {
		return err
	}
	values, err := url.ParseQuery(raw)
	if err != nil {
		return fmt.Errorf("openapi: query of %s: %w", op.name, err)
	}
	for name, all := range values {
		if op.query[name] == nil {
			return fmt.Errorf("openapi: query of %s has the unknown parameter %s", op.name, name)
		}
		for _, value := range all {
			what := "parameter " + name + " of " + op.name
			text, err := json.Marshal(value)
			if err != nil {
				return fmt.Errorf("openapi: %s: %w", what, err)
			}
			err = j.check(what, text, "operations", op.name, "query", name)
			if err != nil && json.Valid([]byte(value)) {
				err = j.check(what, []byte(value), "operations", op.name, "query", name)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Response checks the status and the JSON body of an answer.
func (j *Judge) Response(method, path string, status int, body []byte) error {
	op, err := j.find(method, path)
	if err != nil {
		return err
	}
	code := strconv.Itoa(status)
	schema, known := op.statuses[code]
	if !known {
		return nil // 401, 429 and the like are not described for each operation
	}
	if schema == true {
		return nil
	}
	return j.check(code+" of "+op.name, body, "operations", op.name, "responses", code)
}

// Webhook checks the body of a delivery. Events that the slice does not have
// give [ErrNoOperation].
func (j *Judge) Webhook(event string, body []byte) error {
	var v struct{ Action string }
	if err := json.Unmarshal(body, &v); err != nil {
		return fmt.Errorf("openapi: webhook %s: %w", event, err)
	}
	name := event
	if v.Action != "" {
		name += "." + v.Action
	}
	if _, known := j.webhooks[name]; !known {
		return fmt.Errorf("openapi: webhook %s: %w", name, ErrNoOperation)
	}
	return j.check("webhook "+name, body, "webhooks", name)
}

// find picks the operation with the most literal segments among those that fit.
func (j *Judge) find(method, path string) (*operation, error) {
	segs := strings.Split(strings.Trim(path, "/"), "/")
	if len(segs) > 1 && segs[0] == "repositories" { // the form by id has the same answers
		segs = append([]string{"repos", "by", "id"}, segs[2:]...)
	}
	var best *operation
	bestLiterals := -1
	for i := range j.operations {
		op := &j.operations[i]
		if op.method != method {
			continue
		}
		if n := op.fits(segs); n > bestLiterals {
			best, bestLiterals = op, n
		}
	}
	if best == nil {
		return nil, fmt.Errorf("openapi: %s %s: %w", method, path, ErrNoOperation)
	}
	return best, nil
}

// fits counts the literal segments of a match, −1 for none. A last {path} and
// an inner {ref} may span several segments.
func (o *operation) fits(segs []string) int {
	literals := 0
	want := o.segments
	for i, w := range want {
		if w == "{path}" || w == "{ref}" || w == "{basehead}" {
			extra := len(segs) - len(want)
			if extra < 0 {
				return -1
			}
			segs = append(segs[:i:i], segs[i+extra:]...)
			continue
		}
		switch {
		case i >= len(segs):
			return -1
		case strings.HasPrefix(w, "{"):
		case w != segs[i]:
			return -1
		default:
			literals++
		}
	}
	if len(segs) != len(want) {
		return -1
	}
	return literals
}

// check validates a body against the schema at a place of the description.
func (j *Judge) check(what string, body []byte, place ...string) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("openapi: %s is not JSON: %w", what, err)
	}
	pointer := document + "#"
	for _, p := range place {
		p = strings.NewReplacer("~", "~0", "/", "~1").Replace(p)
		pointer += "/" + strings.NewReplacer("{", "%7B", "}", "%7D", " ", "%20").Replace(p)
	}
	j.mu.Lock()
	schema, err := j.compiler.Compile(pointer)
	j.mu.Unlock()
	if err != nil {
		return fmt.Errorf("openapi: schema of %s: %w", what, err)
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("openapi: %s does not fit: %w", what, err)
	}
	return nil
}
