package evidence

import (
	"context"

	"github.com/google/go-github/v66/github"
)

// The modes of git's tree entries that are not plain files.
const (
	modeSymlink   = "120000"
	modeSubmodule = "160000"
)

// entry is a file as a git tree knows it.
type entry struct {
	blob string
	mode string
	size int64 // -1 when unknown
}

// tree holds the entries of one commit that a review asks for. Reading whole
// trees by commit, and contents by blob, keeps the names that a pull request
// brings out of the requests, and lets blobs be reused.
type tree struct {
	entries map[string]entry
	// unread says why the tree could not be read whole; empty when it was.
	unread string
}

// tree reads the entries of the commit for the wanted paths.
func (f *fetcher) tree(ctx context.Context, commit string, wanted map[string]bool) (tree, error) {
	t := tree{entries: make(map[string]entry, len(wanted))}
	var answer *github.Tree
	err := f.call(ctx, needFull, "read the tree of "+commit, func(ctx context.Context) (resp *github.Response, err error) {
		answer, resp, err = f.client.Git.GetTree(ctx, f.owner, f.repo, commit, true)
		return resp, err
	})
	if err != nil {
		why, ok := whyMissing(err)
		if !ok {
			return tree{}, err
		}
		t.unread = why
		return t, nil
	}
	if answer.GetTruncated() {
		t.unread = "the repository is too large for one listing"
	}
	for _, e := range answer.Entries {
		if e == nil || !wanted[e.GetPath()] || e.GetType() == "tree" || !isObjectID(e.GetSHA()) {
			continue
		}
		size := int64(-1)
		if e.Size != nil {
			size = int64(e.GetSize())
		}
		t.entries[e.GetPath()] = entry{blob: e.GetSHA(), mode: e.GetMode(), size: size}
	}
	return t, nil
}

// mergeBase asks for the commit that head left base at. Without it the second
// result says why.
func (f *fetcher) mergeBase(ctx context.Context, base, head string) (sha, why string, err error) {
	var answer *github.CommitsComparison
	err = f.call(ctx, needFull, "find the merge base", func(ctx context.Context) (resp *github.Response, err error) {
		answer, resp, err = f.client.Repositories.CompareCommits(ctx, f.owner, f.repo, base, head, &github.ListOptions{PerPage: 1})
		return resp, err
	})
	if err != nil {
		why, ok := whyMissing(err)
		if !ok {
			return "", "", err
		}
		return "", why, nil
	}
	if sha = answer.GetMergeBaseCommit().GetSHA(); !isObjectID(sha) {
		return "", "GitHub named none", nil
	}
	return sha, "", nil
}

// readTrees finds the merge base and reads both trees for the files of m. What
// could not be had is noted in e.
func (f *fetcher) readTrees(ctx context.Context, e *evidence) (sides [2]tree, err error) {
	m := &e.manifest
	base, why, err := f.mergeBase(ctx, m.BaseSHA, m.HeadSHA)
	if err != nil {
		return sides, err
	}
	m.MergeBaseSHA = base
	if why != "" {
		base = m.BaseSHA
		e.leave(partMergeBase, "the merge base: %s; contents \"at base\" are those of the base SHA, which may be newer than what the patches start from", why)
	}
	wanted := [2]map[string]bool{{}, {}}
	for i := range m.Files {
		wanted[headSide][m.Files[i].Path] = true
		wanted[baseSide][m.Files[i].basePath()] = true
	}
	g := newGroup(ctx)
	for side, commit := range [2]string{m.HeadSHA, base} {
		g.run(func(ctx context.Context) (err error) {
			sides[side], err = f.tree(ctx, commit, wanted[side])
			return err
		})
	}
	if err := g.wait(); err != nil {
		return sides, err
	}
	for side, t := range sides {
		if t.unread != "" {
			e.leave(partTrees, "the git tree of %s: %s; modes and sizes there may be unknown", sideName(side), t.unread)
		}
	}
	return sides, nil
}

// sideName names a side for people.
func sideName(side int) string {
	return [2]string{"head", "base"}[side]
}

// blobRaw reads a blob of at most limit bytes.
func (f *fetcher) blobRaw(ctx context.Context, blob string, limit int64) ([]byte, error) {
	return f.raw(ctx, needFull, "read blob "+blob, f.repoPath("git/blobs/%s", blob), "application/vnd.github.raw+json", limit)
}
