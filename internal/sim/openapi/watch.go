package openapi

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// named is the judge of the description that the environment names, nil where it
// names none.
var named = sync.OnceValues(func() (*Judge, error) {
	path := os.Getenv("GITHUB_OPENAPI")
	if path == "" {
		return nil, nil
	}
	description, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("openapi: GITHUB_OPENAPI: %w", err)
	}
	return New(description)
})

// Watch returns what judges everything that a simulated GitHub is asked and
// answers in a test, or nil where GITHUB_OPENAPI names no description. GraphQL and
// the page on which an App is registered are not described there.
func Watch(t testing.TB) func(sim.Exchange) {
	t.Helper()
	judge, err := named()
	if err != nil {
		t.Fatal(err)
	}
	if judge == nil {
		return nil
	}
	return func(x sim.Exchange) {
		if err := judge.Exchange(x); err != nil {
			t.Errorf("%s %s: %v", x.Method, x.Path, err)
		}
	}
}

// Exchange checks a request and its answer.
func (j *Judge) Exchange(x sim.Exchange) error {
	if strings.HasSuffix(x.Path, "/graphql") || strings.HasSuffix(x.Path, "/settings/apps/new") {
		return nil
	}
	if err := j.Request(x.Method, x.Path, x.Request); errors.Is(err, ErrNoOperation) {
		return err
	} else if err = errors.Join(err, j.Query(x.Method, x.Path, x.Query)); err != nil || len(x.Answer) == 0 {
		return err
	}
	return j.Response(x.Method, x.Path, x.Status, x.Answer)
}
