package evidence

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/internal/unseen"
)

// maxCompared is where GitHub's comparison of two commits stops listing files
// (https://docs.github.com/rest/commits/commits#compare-two-commits).
const maxCompared = 300

// Since is since.json: what came after the commit up to which an earlier review went.
type Since struct {
	From string `json:"from"`
	To   string `json:"to"`
	// Incremental is set when To was built on From, so that looking at what came
	// since is enough. Otherwise Reason says why it is not.
	Incremental bool   `json:"incremental"`
	Reason      string `json:"reason"`
	Commits     int    `json:"commits"`
	// Elsewhere counts files that changed since and are not among the pull request's:
	// its branch took over what the base branch had gained, or took changes back.
	Elsewhere int         `json:"elsewhere"`
	Files     []SinceFile `json:"files"`

	diff []byte
}

// SinceFile is a file of the pull request that changed since.
type SinceFile struct {
	// Number is that of the manifest.
	Number       int    `json:"number"`
	Path         string `json:"path"`
	PreviousPath string `json:"previous_path"`
	Status       string `json:"status"`
	Additions    int    `json:"additions"`
	Deletions    int    `json:"deletions"`
	PatchMissing string `json:"patch_missing"`
}

// since compares the head with the commit that was reviewed last. What GitHub
// answers about neither is trusted to be an ancestor: only its own merge base is.
func (f *fetcher) since(ctx context.Context, from string, m Manifest) (*Since, error) {
	s := &Since{From: from, To: m.HeadSHA, Files: []SinceFile{}}
	if from == s.To {
		s.Reason = "this head was reviewed before"
		return s, nil
	}
	var answer *github.CommitsComparison
	err := f.call(ctx, needFull, "compare with what was reviewed", func(ctx context.Context) (resp *github.Response, err error) {
		answer, resp, err = f.client.Repositories.CompareCommits(ctx, f.owner, f.repo, from, s.To, &github.ListOptions{PerPage: pageSize})
		return resp, err
	})
	switch why, left := whyMissing(err); {
	case err == nil:
	case isNotFound(err):
		s.Reason = "the commit that was reviewed is gone, as after a forced push"
		return s, nil
	case left:
		s.Reason = "the comparison with it could not be read: " + why
		return s, nil
	default:
		return nil, err
	}
	switch {
	case answer.GetStatus() != "ahead" || answer.GetMergeBaseCommit().GetSHA() != from:
		s.Reason = "the branch was rewritten, and does not build on what was reviewed"
		return s, nil
	case len(answer.Files) >= maxCompared:
		s.Reason = fmt.Sprintf("more changed than the %d files that GitHub compares", maxCompared)
		return s, nil
	}
	s.Incremental, s.Commits = true, answer.GetTotalCommits()
	s.take(answer.Files, m)
	return s, nil
}

// take keeps what concerns the pull request: a merge of the base branch brings
// changes that were reviewed elsewhere.
func (s *Since) take(files []*github.CommitFile, m Manifest) {
	var diff strings.Builder
	for _, c := range files {
		i := slices.IndexFunc(m.Files, func(have File) bool {
			return have.Path == c.GetFilename() || have.Path == c.GetPreviousFilename() ||
				have.PreviousPath != "" && have.PreviousPath == c.GetFilename()
		})
		if i < 0 {
			s.Elsewhere++
			continue
		}
		n := SinceFile{
			Number: m.Files[i].Number, Path: c.GetFilename(), PreviousPath: c.GetPreviousFilename(), Status: c.GetStatus(),
			Additions: c.GetAdditions(), Deletions: c.GetDeletions(),
		}
		switch patch := c.GetPatch(); {
		case patch == "" && n.Status == statusRenamed && n.Additions+n.Deletions == 0:
			n.PatchMissing = "the content did not change"
		case patch == "":
			n.PatchMissing = noPatch
		case diff.Len()+len(patch) > maxDiff:
			n.PatchMissing = "larger than the limit of " + bytesText(maxDiff)
		default:
			before := n.PreviousPath
			if before == "" {
				before = n.Path
			}
			fmt.Fprintf(&diff, "diff --git %[1]s %[2]s\n--- %[1]s\n+++ %[2]s\n%[3]s\n",
				gitName("a/", before, n.Status == statusAdded), gitName("b/", n.Path, n.Status == statusRemoved), strings.TrimSuffix(patch, "\n"))
		}
		s.Files = append(s.Files, n)
	}
	s.diff = []byte(diff.String())
}

// gitName writes a path as diffs do: quoted where it has characters that would
// end the line or look like another one.
func gitName(prefix, path string, missing bool) string {
	if missing {
		return "/dev/null"
	}
	if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == 0x7f || r == '"' || r == '\\' || unseen.Invisible(r) }) {
		return strconv.QuoteToASCII(prefix + path)
	}
	return prefix + path
}
