package sim_test

import (
	"net/http"
	"testing"

	"github.com/liaison-bot/liaison/internal/sim"
)

// Without an identity only what everybody may see is answered.
func TestWithoutAnIdentity(t *testing.T) {
	t.Parallel()
	hub := sim.NewGitHub(sim.GitHubOptions{AppID: 1, Slug: "liaison"})
	url, err := hub.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = hub.Close() })
	hub.CreateRepository("octo/shop", nil)
	for path, want := range map[string]int{
		"users/liaison%5Bbot%5D": http.StatusOK,
		"users/nobody-at-all":    http.StatusNotFound,
		"app":                    http.StatusUnauthorized,
		"repos/octo/shop":        http.StatusUnauthorized,
		"rate_limit":             http.StatusUnauthorized,
	} {
		response, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, response.StatusCode, want)
		}
	}
}
