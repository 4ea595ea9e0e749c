package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// operation is one operation of the description.
type operation struct {
	ID          string                     `json:"operationId"`
	RequestBody json.RawMessage            `json:"requestBody"`
	Responses   map[string]json.RawMessage `json:"responses"`

	method, path string
}

// judge holds requests and answers to openapi.yaml.
type judge struct {
	operations []*operation
	mu         sync.Mutex // the compiler is not safe for concurrent use
	compiler   *jsonschema.Compiler
	schemas    map[string]*jsonschema.Schema
}

const document = "openapi.json"

// read once: it is the same for all tests.
var theJudge = sync.OnceValues(func() (*judge, error) {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		return nil, err
	}
	var doc map[string]any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if text, err = json.Marshal(doc); err != nil {
		return nil, err
	}
	var described struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal(text, &described); err != nil {
		return nil, err
	}
	j := &judge{compiler: jsonschema.NewCompiler(), schemas: map[string]*jsonschema.Schema{}}
	j.compiler.DefaultDraft(jsonschema.Draft2020)
	j.compiler.AssertFormat()
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if err := j.compiler.AddResource(document, parsed); err != nil {
		return nil, err
	}
	for path, item := range described.Paths {
		for method, raw := range item {
			if method == "parameters" {
				continue
			}
			op := &operation{method: strings.ToUpper(method), path: path}
			if err := json.Unmarshal(raw, op); err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			j.operations = append(j.operations, op)
		}
	}
	return j, nil
})

func newJudge(t *testing.T) *judge {
	t.Helper()
	j, err := theJudge()
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// find returns the operation of a request, and nil when none is described.
func (j *judge) find(method, escapedPath string) *operation {
	segments := strings.Split(escapedPath, "/")
	var found *operation
	for _, op := range j.operations {
		want := strings.Split(op.path, "/")
		if op.method != method || len(want) != len(segments) {
			continue
		}
		fits := true
		for i, s := range want {
			if s != segments[i] && !strings.HasPrefix(s, "{") {
				fits = false
			}
		}
		if fits && (found == nil || !strings.Contains(op.path, "{")) {
			found = op
		}
	}
	return found
}

// check validates a value against the schema at a place of the description.
func (j *judge) check(body []byte, place ...string) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("not JSON: %w", err)
	}
	pointer := document + "#"
	for _, p := range place {
		p = strings.NewReplacer("~", "~0", "/", "~1").Replace(p)
		pointer += "/" + strings.NewReplacer("{", "%7B", "}", "%7D").Replace(p)
	}
	j.mu.Lock()
	schema, ok := j.schemas[pointer]
	if !ok {
		if schema, err = j.compiler.Compile(pointer); err != nil {
			j.mu.Unlock()
			return err
		}
		j.schemas[pointer] = schema
	}
	j.mu.Unlock()
	return schema.Validate(v)
}

// response judges an answer. Its body is empty for a stream, which is judged line by line.
func (j *judge) response(method, path string, r *http.Response, body []byte) error {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	op := j.find(method, path)
	if op == nil || r.StatusCode == http.StatusMethodNotAllowed {
		if r.StatusCode != http.StatusNotFound && r.StatusCode != http.StatusMethodNotAllowed {
			return fmt.Errorf("%d for what is not described", r.StatusCode)
		}
		return j.refusal(kind, body)
	}
	if r.StatusCode == http.StatusInternalServerError { // described for all at once
		return j.refusal(kind, body)
	}
	status := strconv.Itoa(r.StatusCode)
	raw, ok := op.Responses[status]
	if !ok {
		return fmt.Errorf("status %s is not described", status)
	}
	place := []string{"paths", op.path, strings.ToLower(op.method), "responses", status}
	var response struct {
		Ref     string                     `json:"$ref"`
		Content map[string]json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal(raw, &response); err != nil {
		return err
	}
	if response.Ref != "" {
		return j.refusal(kind, body)
	}
	if len(response.Content) == 0 {
		return nil
	}
	if _, ok := response.Content[kind]; !ok {
		return fmt.Errorf("content type %q is not described", kind)
	}
	if kind != "application/json" {
		return nil
	}
	return j.check(body, append(place, "content", kind, "schema")...)
}

// refusal judges an error.
func (j *judge) refusal(kind string, body []byte) error {
	if kind != "application/json" {
		return fmt.Errorf("an error with content type %q", kind)
	}
	var e struct{ OK bool }
	if err := json.Unmarshal(body, &e); err == nil && e.OK {
		return fmt.Errorf("an error that is ok: %s", body)
	}
	return j.check(body, "components", "schemas", "Error")
}

// event judges one line of a stream.
func (j *judge) event(line []byte) error { return j.check(line, "components", "schemas", "Event") }

// judged is a transport that judges what goes through it.
type judged struct {
	judge *judge
	base  http.RoundTripper
	t     *testing.T
}

func (tr *judged) RoundTrip(r *http.Request) (*http.Response, error) {
	var sent []byte
	if r.Body != nil && r.Body != http.NoBody {
		var err error
		if sent, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body = io.NopCloser(bytes.NewReader(sent))
	}
	response, err := tr.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	var body []byte
	if kind := response.Header.Get("Content-Type"); strings.HasPrefix(kind, "application/json") {
		if body, err = io.ReadAll(response.Body); err != nil {
			return nil, err
		}
		response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	path := r.URL.EscapedPath()
	if err := tr.judge.response(r.Method, path, response, body); err != nil {
		tr.t.Errorf("the answer to %s %s does not fit the description: %v\n%s", r.Method, path, err, body)
	}
	if response.StatusCode < 300 && len(sent) > 0 {
		op := tr.judge.find(r.Method, path)
		place := []string{"paths", op.path, strings.ToLower(op.method), "requestBody"}
		if bytes.Contains(op.RequestBody, []byte(`"$ref":"#/components/requestBodies/`)) {
			place = []string{"components", "requestBodies", "DeadRequest"}
		}
		if err := tr.judge.check(sent, append(place, "content", "application/json", "schema")...); err != nil {
			tr.t.Errorf("a body that the description forbids was taken by %s %s: %v\n%s", r.Method, path, err, sent)
		}
	}
	return response, nil
}
