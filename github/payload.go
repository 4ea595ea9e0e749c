package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
)

// payload is the part of a webhook's body that mapping uses. It is our own and
// small on purpose: GitHub removes and nulls fields over the years, and a field
// that nobody reads shall break nothing.
type payload struct {
	Action       string `json:"action"`
	Number       int    `json:"number"`
	Before       string `json:"before"`
	Installation struct {
		ID int64 `json:"id"`
	} `json:"installation"`
	Repository struct {
		ID       int64  `json:"id"`
		FullName string `json:"full_name"`
	} `json:"repository"`
	Sender struct {
		ID int64 `json:"id"`
	} `json:"sender"`
	PullRequest struct {
		Number    int    `json:"number"`
		Title     string `json:"title"`
		State     string `json:"state"`
		Draft     bool   `json:"draft"`
		UpdatedAt string `json:"updated_at"`
		Head      struct {
			SHA string `json:"sha"`
		} `json:"head"`
		Base struct {
			Ref string `json:"ref"`
		} `json:"base"`
	} `json:"pull_request"`
}

// decode reads body. A field of another type than expected counts as absent;
// whether it is needed is for the reader to say. Only a body that is no JSON
// object is an error.
func decode(body []byte) (payload, error) {
	var p payload
	err := json.Unmarshal(body, &p)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		if wrong.Field == "" {
			return p, fmt.Errorf("the body is a JSON %s, not an object", wrong.Value)
		}
		err = nil
	}
	if err != nil {
		return p, fmt.Errorf("the body is not JSON: %w", err)
	}
	return p, nil
}

var (
	// shaPattern is a full object name: SHA-1 or SHA-256.
	shaPattern = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	// namePattern is what GitHub allows in the names of accounts and
	// repositories. Names become parts of URLs, so nothing else may pass.
	namePattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
)

func validSHA(s string) bool { return shaPattern.MatchString(s) }

// splitName cuts "owner/repo" and reports whether both parts are names.
func splitName(full string) (owner, repo string, ok bool) {
	owner, repo, _ = strings.Cut(full, "/")
	return owner, repo, validName(owner) && validName(repo)
}

func validName(s string) bool {
	return namePattern.MatchString(s) && s != "." && s != ".."
}

// parseTime returns the zero time for what is no time.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
