package chattest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Key is the key that endpoints want.
const Key = "sk-chattest-0123456789"

// Turn answers one request.
type Turn func(w http.ResponseWriter, r *http.Request, asked Request)

// Endpoint is an endpoint that answers by a script.
type Endpoint struct {
	// URL is what OPENAI_BASE_URL would be, once it has been started.
	URL string

	t       testing.TB
	mu      sync.Mutex
	script  []Turn
	asked   []Request
	models  http.HandlerFunc
	decided func(Request) Turn
}

// Start starts an endpoint that answers the requests one turn each, and lists
// the model "test-model". A request that it has no turn for, or that a real
// endpoint would refuse, fails the test.
func Start(t testing.TB, script ...Turn) *Endpoint {
	t.Helper()
	e := New(t, script...)
	server := httptest.NewServer(e.Handler())
	t.Cleanup(server.Close)
	e.URL = server.URL + "/v1"
	return e
}

// New makes an endpoint as [Start] does, for a server of the test's own.
func New(t testing.TB, script ...Turn) *Endpoint {
	t.Helper()
	e := &Endpoint{t: t, script: script, models: Models("test-model")}
	t.Cleanup(func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if len(e.script) > 0 && !t.Failed() {
			t.Errorf("the endpoint was not asked for the last %d turns of its script", len(e.script))
		}
	})
	return e
}

// Handler answers below /v1.
func (e *Endpoint) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", e.complete)
	mux.HandleFunc("GET /v1/models", e.listModels)
	return mux
}

// Then adds turns to the script.
func (e *Endpoint) Then(turns ...Turn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.script = append(e.script, turns...)
}

// Decide answers every request for which the script has no turn.
func (e *Endpoint) Decide(f func(Request) Turn) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.decided = f
}

// List replaces the list of models.
func (e *Endpoint) List(h http.HandlerFunc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.models = h
}

// Asked are the requests so far.
func (e *Endpoint) Asked() []Request {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Request(nil), e.asked...)
}

func (e *Endpoint) complete(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+Key {
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided: "+r.Header.Get("Authorization"))
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	asked, err := parse(body)
	if err != nil {
		e.t.Errorf("a real endpoint would refuse this request: %v\n%.4000s", err, body)
		refuse(w, http.StatusBadRequest, "invalid_request_error", err.Error())
		return
	}
	e.mu.Lock()
	e.asked = append(e.asked, asked)
	var turn Turn
	switch {
	case len(e.script) > 0:
		turn, e.script = e.script[0], e.script[1:]
	case e.decided != nil:
		turn = e.decided(asked)
	}
	e.mu.Unlock()
	if turn == nil {
		e.t.Errorf("the endpoint was asked once more than its script has turns:\n%.4000s", body)
		refuse(w, http.StatusTeapot, "script_over", "the script is over")
		return
	}
	turn(w, r, asked)
}

func (e *Endpoint) listModels(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+Key {
		refuse(w, http.StatusUnauthorized, "invalid_api_key", "Incorrect API key provided")
		return
	}
	e.mu.Lock()
	h := e.models
	e.mu.Unlock()
	h(w, r)
}

// Models lists models.
func Models(ids ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		type model struct {
			ID     string `json:"id"`
			Object string `json:"object"`
		}
		list := []model{}
		for _, id := range ids {
			list = append(list, model{id, "model"})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": list}) // the client may have gone
	}
}

func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	type said struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code"`
	}
	body := struct {
		Error said `json:"error"`
	}{said{message, "invalid_request_error", code}}
	if err := json.NewEncoder(w).Encode(body); err != nil {
		return // the client has gone
	}
}

// Refuse answers with a status and an error.
func Refuse(status int, code, message string) Turn {
	return func(w http.ResponseWriter, _ *http.Request, _ Request) { refuse(w, status, code, message) }
}

// With sets a header before a turn.
func With(key, value string, turn Turn) Turn {
	return func(w http.ResponseWriter, r *http.Request, asked Request) {
		w.Header().Set(key, value)
		turn(w, r, asked)
	}
}

// Raw answers with bytes as they are.
func Raw(contentType, body string) Turn {
	return func(w http.ResponseWriter, _ *http.Request, _ Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body) // the client may have gone
	}
}

// Cut answers with bytes, then breaks the connection.
func Cut(body string) Turn {
	return func(w http.ResponseWriter, r *http.Request, asked Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(body)+1))
		Raw("text/event-stream", body)(w, r, asked)
	}
}

// Hang answers with bytes, tells that it has, and waits until the client goes.
func Hang(body string, told chan<- struct{}) Turn {
	return func(w http.ResponseWriter, r *http.Request, asked Request) {
		Raw("text/event-stream", body)(w, r, asked)
		_ = http.NewResponseController(w).Flush() // the client may have gone
		if told != nil {
			told <- struct{}{}
		}
		<-r.Context().Done()
	}
}

// RefuseRaw answers with a status and a body as it is.
func RefuseRaw(status int, body string) Turn {
	return func(w http.ResponseWriter, _ *http.Request, _ Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the client may have gone
	}
}
