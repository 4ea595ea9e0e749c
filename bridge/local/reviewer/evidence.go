package reviewer

import (
	"encoding/json"
	"errors"
	"fmt"
)

// facts is pull_request.json, as far as rules need it.
type facts struct {
	Number     int    `json:"number"`
	Title      string `json:"title"`
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
	Author struct {
		Login string `json:"login"`
	} `json:"author"`
	Head struct {
		SHA string `json:"sha"`
		Ref string `json:"ref"`
	} `json:"head"`
	ChangedFiles int `json:"changed_files"`
}

// manifest is files.json.
type manifest struct {
	HeadSHA  string          `json:"head_sha"`
	Complete *bool           `json:"complete"`
	Missing  string          `json:"missing"`
	Files    []manifestEntry `json:"files"`
}

type manifestEntry struct {
	Path         string   `json:"path"`
	PreviousPath string   `json:"previous_path"`
	Status       string   `json:"status"`
	Additions    int      `json:"additions"`
	Deletions    int      `json:"deletions"`
	CountsKnown  bool     `json:"counts_known"`
	Kind         string   `json:"kind"`
	Size         *int64   `json:"size"`
	Patch        string   `json:"patch"`
	Head         string   `json:"head"`
	Base         string   `json:"base"`
	Owners       []string `json:"owners"`
	AgentConfig  bool     `json:"agent_config"`
}

// The statuses and kinds of a changed file that rules ask for.
const (
	statusAdded    = "added"
	statusRemoved  = "removed"
	statusModified = "modified"
	statusRenamed  = "renamed"

	kindText      = "text"
	kindBinary    = "binary"
	kindSymlink   = "symlink"
	kindSubmodule = "submodule"
)

// decode fills target with what fits. A value of another type counts as
// missing, since readers of evidence treat a missing key as its zero value; only
// JSON that cannot be read at all is an error.
func decode(data []byte, target any) error {
	err := json.Unmarshal(data, target)
	var wrongType *json.UnmarshalTypeError
	if err == nil || errors.As(err, &wrongType) {
		return nil
	}
	return fmt.Errorf("decode evidence: %w", err)
}

// namesTests reports whether a list of check runs, of whatever shape, has one
// that is named for tests.
func namesTests(data []byte) bool {
	var value any
	if decode(data, &value) != nil {
		return false
	}
	return walkNames(value, func(name string) bool { return testCheck.MatchString(name) })
}

// walkNames calls yes for each string under a key "name", until it says yes.
func walkNames(value any, yes func(string) bool) bool {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			if walkNames(item, yes) {
				return true
			}
		}
	case map[string]any:
		if name, ok := v["name"].(string); ok && yes(name) {
			return true
		}
		for _, item := range v {
			if walkNames(item, yes) {
				return true
			}
		}
	}
	return false
}
