package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// payload is the part of a webhook's body that mapping uses. It is our own and
// small on purpose: GitHub removes and nulls fields over the years, and a field
// that nobody reads shall break nothing.
type payload struct {
	Action       string     `json:"action"`
	Number       int        `json:"number"`
	Before       string     `json:"before"`
	Installation hookObject `json:"installation"`
	Repository   hookRepo   `json:"repository"`
	Sender       hookUser   `json:"sender"`
	PullRequest  hookPull   `json:"pull_request"`
	Issue        hookIssue  `json:"issue"`
	Label        hookLabel  `json:"label"`
	Changes      struct {
		Base *struct{} `json:"base"`
	} `json:"changes"`
	RequestedTeam struct {
		ID   int64  `json:"id"`
		Slug string `json:"slug"`
	} `json:"requested_team"`
	Comment    hookComment `json:"comment"`
	Review     hookReview  `json:"review"`
	CheckRun   hookCheck   `json:"check_run"`
	CheckSuite hookSuite   `json:"check_suite"`
	// RequestedAction is the button of a check run that somebody pressed.
	RequestedAction struct {
		Identifier string `json:"identifier"`
	} `json:"requested_action"`
	// SHA and State are those of a commit status.
	SHA         string `json:"sha"`
	State       string `json:"state"`
	WorkflowRun struct {
		HeadSHA string `json:"head_sha"`
	} `json:"workflow_run"`
	MergeGroup hookMergeGroup `json:"merge_group"`
	// Repositories are those of an installation, Removed those that it lost.
	Repositories []hookRepo `json:"repositories"`
	Removed      []hookRepo `json:"repositories_removed"`
}

// object is something of which only the id matters.
type hookObject struct {
	ID int64 `json:"id"`
}

type hookRepo struct {
	ID       int64  `json:"id"`
	FullName string `json:"full_name"`
}

// user is an account. Who was deleted is null at GitHub, and has no id here.
type hookUser struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
	Type  string `json:"type"`
}

// account returns who that is. A login that could not stand in a URL is left out.
func (u hookUser) account() account {
	if u.ID <= 0 {
		return account{}
	}
	a := account{ID: u.ID, Bot: u.Type == "Bot"}
	if validName(strings.TrimSuffix(u.Login, botSuffix)) {
		a.Login = u.Login
	}
	return a
}

type hookLabel struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type hookPull struct {
	Number    int         `json:"number"`
	Title     string      `json:"title"`
	State     string      `json:"state"`
	Draft     bool        `json:"draft"`
	UpdatedAt string      `json:"updated_at"`
	User      hookUser    `json:"user"`
	Labels    []hookLabel `json:"labels"`
	Head      struct {
		SHA  string     `json:"sha"`
		Repo hookObject `json:"repo"`
	} `json:"head"`
	Base struct {
		Ref string `json:"ref"`
	} `json:"base"`
}

type hookIssue struct {
	Number      int         `json:"number"`
	Title       string      `json:"title"`
	Body        string      `json:"body"`
	UpdatedAt   string      `json:"updated_at"`
	Draft       bool        `json:"draft"`
	User        hookUser    `json:"user"`
	Labels      []hookLabel `json:"labels"`
	PullRequest *struct{}   `json:"pull_request"`
	App         hookObject  `json:"performed_via_github_app"`
}

// writing is what comments and reviews have in common.
type hookText struct {
	ID      int64      `json:"id"`
	Body    string     `json:"body"`
	URL     string     `json:"html_url"`
	User    hookUser   `json:"user"`
	App     hookObject `json:"performed_via_github_app"`
	Created string     `json:"created_at"`
}

type hookComment struct {
	hookText
	InReplyTo    int64  `json:"in_reply_to_id"`
	Path         string `json:"path"`
	Line         int    `json:"line"`
	OriginalLine int    `json:"original_line"`
	Hunk         string `json:"diff_hunk"`
}

type hookReview struct {
	hookText
	Submitted string `json:"submitted_at"`
}

// headOf is a pull request as checks name it: those of forks name none.
type hookHead struct {
	Number int `json:"number"`
	Base   struct {
		Repo hookObject `json:"repo"`
	} `json:"base"`
}

type hookCheck struct {
	ID           int64      `json:"id"`
	HeadSHA      string     `json:"head_sha"`
	ExternalID   string     `json:"external_id"`
	App          hookObject `json:"app"`
	PullRequests []hookHead `json:"pull_requests"`
}

type hookSuite struct {
	hookCheck
	UpdatedAt string `json:"updated_at"`
}

type hookMergeGroup struct {
	HeadSHA string `json:"head_sha"`
	HeadRef string `json:"head_ref"`
	BaseRef string `json:"base_ref"`
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
	shaPattern = lazyregexp.New(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	// namePattern is what GitHub allows in the names of accounts and repositories,
	// up to maxName bytes. Names become parts of URLs, so nothing else may pass.
	namePattern = lazyregexp.New(`^[A-Za-z0-9._-]+$`)
)

const maxName = 100

func validSHA(s string) bool { return shaPattern.MatchString(s) }

// splitName cuts "owner/repo" and reports whether both parts are names.
func splitName(full string) (owner, repo string, ok bool) {
	owner, repo, _ = strings.Cut(full, "/")
	return owner, repo, validName(owner) && validName(repo)
}

func validName(s string) bool {
	return len(s) <= maxName && namePattern.MatchString(s) && s != "." && s != ".."
}

// parseTime returns the zero time for what is no time.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
