package evidence

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/go-github/v66/github"
)

// Request says which evidence is wanted, and where.
type Request struct {
	// Client is authorised to read this one repository.
	Client *github.Client
	Owner  string
	Repo   string
	// RepoID is the repository's id; zero takes whatever stands under the name.
	// A name can change hands, an id cannot.
	RepoID int64
	Number int
	// Head is the SHA that the caller expects; empty takes whatever it is.
	Head string
	// Dir is the workspace, which exists. The evidence replaces Dir/pr.
	Dir string
	// Cache is optional.
	Cache Cache
	// Now and Marker are the clock, and the source of fence markers that nobody
	// can guess; nil means time.Now and 128 random bits.
	Now    func() time.Time
	Marker func() string
	Budget Budget

	// Since is the commit up to which an earlier review went; empty when there was none.
	Since string
	// Instructions are paths of the base branch, for Summary.Instructions.
	Instructions []string
	// Questions are what was asked, where the evidence is for an answer. What was
	// written or edited after them is left out.
	Questions []Question
}

// Summary says what was prepared.
type Summary struct {
	// Head and Base are the SHAs that everything is pinned to.
	Head, Base string
	// Files is how many files the manifest lists.
	Files int
	// Note is one line for the record: what was prepared, and what was left out.
	Note string
	// Pull is the pull request as it was at the end: it may have been closed meanwhile.
	Pull PullRequest
	// Paths are the changed files' names, the earlier ones of renamed files
	// included, and Complete is set when no changed file is missing there.
	Paths    []string
	Complete bool
	// Since is set when Request.Since was.
	Since *Since
	// Instructions are those of Request.Instructions that exist.
	Instructions []Instruction
	// Calls is how many API requests were made.
	Calls int
	// Bytes is the size of diff, patches and contents.
	Bytes int64
}

// MovedError says that the head is not, or no longer, the one that was asked
// for. No evidence was put in place.
type MovedError struct {
	// Head is where the pull request stands now.
	Head string
	// Pull is the pull request as it is now.
	Pull PullRequest
}

// Error implements error.
func (e *MovedError) Error() string {
	return "the pull request's head has moved to " + e.Head
}

// RepositoryError says that the name leads to another repository than the one asked for.
type RepositoryError struct{ Want, Got int64 }

// Error implements error.
func (e *RepositoryError) Error() string {
	return fmt.Sprintf("the name belongs to repository %d, not to %d: it was renamed or replaced", e.Got, e.Want)
}

// errRetargeted is returned when the base branch was exchanged during the work.
var errRetargeted = errors.New("the pull request's base branch was changed while the evidence was prepared")

// Build fetches the evidence of a pull request and puts it in place whole.
//
// It fails with a [*MovedError] when the head moves meanwhile, and with a
// [*RepositoryError]. Errors of the client that concern authorisation, rate
// limits, connections, the pull request itself or its list of files are in the
// returned error's chain; what else GitHub refuses is named in README.md.
func Build(ctx context.Context, r Request) (Summary, error) {
	if err := r.check(); err != nil {
		return Summary{}, fmt.Errorf("build evidence: %w", err)
	}
	r.Budget = r.Budget.orDefault()
	if r.Now == nil {
		r.Now = time.Now
	}
	if r.Marker == nil {
		r.Marker = rand.Text
	}
	s, err := build(ctx, r)
	if errors.Is(err, errRetargeted) {
		// What was fetched mixes two bases. People do this once, not all the time.
		s, err = build(ctx, r)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("build evidence: %w", err)
	}
	return s, nil
}

func (r Request) check() error {
	if r.Client == nil || r.Dir == "" || r.Number <= 0 {
		return errors.New("the request lacks a client, a folder or a number")
	}
	return checkName(r.Owner, r.Repo)
}

// checkName refuses names that GitHub does not give, since they go into URLs.
func checkName(owner, repo string) error {
	for _, name := range []string{owner, repo} {
		if name == "" || name == "." || name == ".." || strings.ContainsFunc(name, func(r rune) bool {
			return r != '-' && r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
		}) {
			return fmt.Errorf("%q is not a name of a repository at GitHub", owner+"/"+repo)
		}
	}
	return nil
}

// part orders what README.md names as left out.
type part int

const (
	partManifest part = iota
	partDiff
	partPatches
	partMergeBase
	partTrees
	partContents
	partCommits
	partChecks
	partConversation
	partOwners
	partInstructions
	partSince
	partBase
)

// evidence is what was gathered.
type evidence struct {
	pull     PullRequest
	manifest Manifest
	diff     []byte
	commits  *Commits
	checks   *Checks
	talk     *conversation
	owners   ownership
	since    *Since
	// asked is what the evidence is to answer, and instructions what the
	// maintainers say.
	asked        []Question
	instructions []Instruction
	threads      int
	hidden       int
	cacheErr     error

	mu      sync.Mutex
	missing []omission
}

type omission struct {
	part part
	text string
}

// leave notes that something was left out.
func (e *evidence) leave(p part, format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.missing = append(e.missing, omission{p, fmt.Sprintf(format, args...)})
}

// leftOut is all that was left out, in a fixed order.
func (e *evidence) leftOut() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	slices.SortStableFunc(e.missing, func(a, b omission) int {
		if a.part != b.part {
			return int(a.part - b.part)
		}
		return strings.Compare(a.text, b.text)
	})
	out := make([]string, 0, len(e.missing))
	for _, m := range e.missing {
		out = append(out, m.text)
	}
	return out
}

// isNotFound tells a 404.
func isNotFound(err error) bool {
	var answer *github.ErrorResponse
	return errors.As(err, &answer) && answer.Response != nil && answer.Response.StatusCode == http.StatusNotFound
}
