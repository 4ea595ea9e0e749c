package api

import (
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"net/http"

	"go.yaml.in/yaml/v3"

	"github.com/liaison-bot/liaison/handlers/answer"
)

//go:embed openapi.yaml
var descriptionYAML []byte

// description is the description of the API as it is served.
type description struct{ json []byte }

func readDescription() (description, error) {
	var doc map[string]any
	if err := yaml.Unmarshal(descriptionYAML, &doc); err != nil {
		return description{}, fmt.Errorf("read the description of the API: %w", err)
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return description{}, fmt.Errorf("read the description of the API: %w", err)
	}
	return description{append(text, '\n')}, nil
}

func (a *API) describeJSON(w http.ResponseWriter, _ *http.Request, _ Principal) error {
	d, err := a.description()
	if err != nil {
		return err
	}
	serveText(w, "application/json", d.json)
	return nil
}

func (a *API) describeYAML(w http.ResponseWriter, _ *http.Request, _ Principal) error {
	serveText(w, "application/yaml", descriptionYAML)
	return nil
}

func serveText(w http.ResponseWriter, kind string, text []byte) {
	answer.Private(w.Header())
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(text)
}
