package evidence

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// build makes one attempt.
func build(ctx context.Context, r Request) (s Summary, err error) {
	f := newFetcher(r.Client, r.Owner, r.Repo, r.Number, r.Budget)
	e := &evidence{asked: r.Questions}
	if e.pull, err = f.pull(ctx); err != nil {
		return Summary{}, err
	}
	if err := expected(r, e.pull); err != nil {
		return Summary{}, err
	}
	ws, err := openWorkspace(r.Dir, pullFolder)
	if err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, ws.close()) }()

	trees, err := e.gather(ctx, f)
	if err != nil {
		return Summary{}, err
	}
	if err := e.gatherMore(ctx, r, f); err != nil {
		return Summary{}, err
	}
	left, err := e.writeFiles(ctx, r, f, ws, trees)
	if err != nil {
		return Summary{}, err
	}
	now, err := e.confirm(ctx, f)
	if err != nil {
		return Summary{}, err
	}
	if err := e.writeRest(r, ws); err != nil {
		return Summary{}, err
	}
	if err := ws.publish(); err != nil {
		return Summary{}, err
	}
	return Summary{
		Head: e.pull.Head.SHA, Base: e.pull.Base.SHA,
		Files: len(e.manifest.Files), Paths: e.paths(), Complete: e.manifest.Complete, Note: e.note(), Pull: now,
		Since: e.since, Instructions: e.instructions,
		Calls: f.made(), Bytes: r.Budget.Bytes - left,
	}, nil
}

// expected compares what was asked for with what is there.
func expected(r Request, p PullRequest) error {
	if r.RepoID != 0 && p.Repository.ID != 0 && p.Repository.ID != r.RepoID {
		return &RepositoryError{Want: r.RepoID, Got: p.Repository.ID}
	}
	if r.Head != "" && p.Head.SHA != r.Head {
		return &MovedError{Head: p.Head.SHA, Pull: p}
	}
	return nil
}

// gather fetches everything but the contents of files.
func (e *evidence) gather(ctx context.Context, f *fetcher) (trees [2]tree, err error) {
	p := e.pull
	g := newGroup(ctx)
	g.run(func(ctx context.Context) (err error) {
		if e.manifest, err = f.manifest(ctx, p); err != nil {
			return err
		}
		if e.manifest.Missing != "" {
			e.leave(partManifest, "the manifest: %s", e.manifest.Missing)
		}
		if len(e.manifest.Files) > 0 {
			trees, err = f.readTrees(ctx, e)
		}
		return err
	})
	g.run(func(ctx context.Context) (err error) {
		var why string
		if e.diff, why, err = f.diff(ctx); why != "" {
			e.leave(partDiff, "diff.patch: %s", why)
		}
		return err
	})
	g.run(func(ctx context.Context) (err error) {
		var why string
		if e.commits, why, err = f.commits(ctx, p.Commits); why != "" {
			e.leave(partCommits, "commits.json: %s", why)
		}
		if e.commits != nil && e.commits.Missing != "" {
			e.leave(partCommits, "commits: %s", e.commits.Missing)
		}
		return err
	})
	g.run(func(ctx context.Context) (err error) {
		var why string
		if e.checks, why, err = f.checks(ctx, p.Head.SHA); why != "" {
			e.leave(partChecks, "checks.json: %s", why)
		}
		if e.checks != nil && e.checks.Missing != "" {
			e.leave(partChecks, "checks: %s", e.checks.Missing)
		}
		return err
	})
	g.run(func(ctx context.Context) (err error) {
		if e.talk, err = f.conversation(ctx, p); err != nil {
			return err
		}
		for _, why := range e.talk.missing() {
			e.leave(partConversation, "%s", why)
		}
		return nil
	})
	g.run(func(ctx context.Context) (err error) {
		var why string
		if e.owners, why, err = f.codeowners(ctx, p.Base.SHA); why != "" {
			e.leave(partOwners, "code owners: %s", why)
		}
		return err
	})
	err = g.wait()
	return trees, err
}

// gatherMore fetches what only some turns need.
func (e *evidence) gatherMore(ctx context.Context, r Request, f *fetcher) (err error) {
	if len(r.Instructions) > 0 {
		var left []string
		if e.instructions, left, err = f.instructions(ctx, e.pull.Base.SHA, r.Instructions); err != nil {
			return err
		}
		for _, why := range left {
			e.leave(partInstructions, "instructions: %s", why)
		}
	}
	if r.Since != "" {
		if e.since, err = f.since(ctx, r.Since, e.manifest); err != nil {
			return err
		}
	}
	if len(e.asked) > 0 && e.talk != nil {
		if n := e.talk.leaveLater(e.asked); n > 0 {
			e.leave(partConversation, "%s of the conversation: written or edited after what is answered", counted(n, "text"))
		}
	}
	return nil
}

// paths are the names of all changed files.
func (e *evidence) paths() []string {
	var out []string
	for i := range e.manifest.Files {
		f := &e.manifest.Files[i]
		out = append(out, f.Path)
		if f.PreviousPath != "" {
			out = append(out, f.PreviousPath)
		}
	}
	return out
}

// diff reads the whole diff. A second result that is not empty says why it is not there.
func (f *fetcher) diff(ctx context.Context) ([]byte, string, error) {
	diff, err := f.raw(ctx, needDiff, "read the diff", f.repoPath("pulls/%d", f.number), "application/vnd.github.v3.diff", maxDiff)
	switch {
	case err == nil:
		return append([]byte{}, diff...), "", nil // not nil, even when nothing is changed
	case errors.Is(err, errTooLarge):
		return nil, "larger than " + bytesText(maxDiff) + "; the manifest has the patches", nil
	}
	why, ok := whyMissing(err)
	if !ok {
		return nil, "", err
	}
	if strings.HasSuffix(why, fmt.Sprint(http.StatusNotAcceptable)) {
		why += ", as it does above 300 files or 20,000 lines"
	}
	return nil, why + "; the manifest has the patches that GitHub gives for single files", nil
}

// writeFiles writes diff, patches and contents, and returns how many bytes of
// the budget are left.
func (e *evidence) writeFiles(ctx context.Context, r Request, f *fetcher, ws *workspace, trees [2]tree) (int64, error) {
	left := r.Budget.Bytes
	if int64(len(e.diff)) > left {
		e.leave(partDiff, "diff.patch: larger than the budget of %s", bytesText(r.Budget.Bytes))
		e.diff = nil
	}
	if e.diff != nil {
		if err := ws.write("diff.patch", e.diff); err != nil {
			return 0, err
		}
		left -= int64(len(e.diff))
	}
	left, err := e.writePatches(r.Budget, ws, left)
	if err != nil {
		return 0, err
	}
	base := e.manifest.MergeBaseSHA
	if base == "" {
		base = e.manifest.BaseSHA
	}
	c := &contents{
		f: f, ws: ws, cache: r.Cache, repoID: e.pull.Repository.ID,
		commit: [2]string{e.manifest.HeadSHA, base}, trees: trees,
		budget: r.Budget, left: left, seen: map[string][]byte{},
	}
	omitted, err := c.fetch(ctx, e.manifest.Files)
	if err != nil {
		return 0, err
	}
	for why, n := range omitted {
		e.leave(partContents, "%s: %s", counted(n, "content"), why)
	}
	e.cacheErr = c.cacheErr
	e.settleFiles()
	return c.left, e.assignOwners()
}

// settleFiles completes the manifest.
func (e *evidence) settleFiles() {
	patches, counts := 0, 0
	for i := range e.manifest.Files {
		f := &e.manifest.Files[i]
		f.settle()
		if f.PatchMissing == noPatch {
			patches++
		}
		if !f.CountsKnown {
			counts++
		}
	}
	if patches > 0 {
		e.leave(partPatches, "%s: %s", counted(patches, "patch"), noPatch)
	}
	if counts > 0 {
		e.leave(partPatches, "line counts of %s: GitHub sent zeros for what it did not compare", counted(counts, "file"))
	}
}

// writePatches writes the patches that came with the manifest, the riskiest first.
func (e *evidence) writePatches(b Budget, ws *workspace, left int64) (int64, error) {
	byRisk := make([]*File, 0, len(e.manifest.Files))
	for i := range e.manifest.Files {
		byRisk = append(byRisk, &e.manifest.Files[i])
	}
	slices.SortStableFunc(byRisk, func(a, b *File) int { return int(a.risk - b.risk) })
	omitted := 0
	for _, f := range byRisk {
		if f.patch == "" {
			continue
		}
		text := strings.TrimSuffix(f.patch, "\n") + "\n"
		size := int64(len(text))
		if size > left || size > b.FileBytes {
			f.PatchMissing = "larger than the budget"
			omitted++
			continue
		}
		name := fmt.Sprintf("files/%04d/patch.diff", f.Number)
		if err := ws.write(name, []byte(text)); err != nil {
			return 0, err
		}
		f.Patch = name
		left -= size
	}
	if omitted > 0 {
		e.leave(partPatches, "%s: larger than the budget", counted(omitted, "patch"))
	}
	return left, nil
}

func (e *evidence) assignOwners() error {
	skipped, err := e.owners.assign(e.manifest.Files, maxOwnerMatches)
	if err != nil {
		return err
	}
	if skipped > 0 {
		e.leave(partOwners, "the owners of the last %d files: too many rules", skipped)
	}
	if e.owners.ignored > 0 {
		e.leave(partOwners, "code owners: %s of %s could not be read", counted(e.owners.ignored, "line"), e.owners.path)
	}
	return nil
}

// confirm reads the pull request again: lists of files are not pinned to a
// commit, so they are of the right head only if the head has not moved.
func (e *evidence) confirm(ctx context.Context, f *fetcher) (PullRequest, error) {
	now, err := f.pull(ctx)
	switch {
	case err != nil:
		return PullRequest{}, err
	case now.Head.SHA != e.pull.Head.SHA:
		return PullRequest{}, &MovedError{Head: now.Head.SHA, Pull: now}
	case now.Base.Ref != e.pull.Base.Ref:
		return PullRequest{}, errRetargeted
	case now.Base.SHA != e.pull.Base.SHA:
		e.leave(partBase, "what the base branch has gained since: it is at %s by now", now.Base.SHA)
	}
	return now, nil
}

// writeRest writes everything that does not belong to a single file.
func (e *evidence) writeRest(r Request, ws *workspace) error {
	threads := e.talk.threads(e.asked) // before the texts are made visible
	talk, hidden, err := e.talk.render(r.Marker)
	if err != nil {
		return err
	}
	e.hidden = hidden
	shown := e.pull
	var n int
	shown.Title, n = Reveal(shown.Title)
	e.hidden += n
	shown.Body, _ = Reveal(shown.Body) // counted with the conversation
	writes := []func() error{
		func() error { return ws.write("conversation.md", talk) },
		func() error { return ws.writeJSON("pull_request.json", shown) },
		func() error { return ws.writeJSON("files.json", e.manifest) },
	}
	if e.commits != nil {
		writes = append(writes, func() error { return ws.writeJSON("commits.json", e.commits) })
	}
	if e.checks != nil {
		writes = append(writes, func() error { return ws.writeJSON("checks.json", e.checks) })
	}
	if e.owners.path != "" {
		writes = append(writes, func() error { return ws.write("codeowners.txt", e.owners.text) })
	}
	if len(e.asked) > 0 {
		writes = append(writes, func() error { return ws.writeJSON(questionFile, visible(e.asked)) })
	}
	if len(threads.sections) > 0 {
		text, _, err := threads.render(r.Marker)
		if err != nil {
			return err
		}
		e.threads = len(threads.sections)
		writes = append(writes, func() error { return ws.write("thread.md", text) })
	}
	if e.since != nil {
		writes = append(writes, func() error { return ws.writeJSON("since.json", e.since) })
	}
	if e.since != nil && e.since.Incremental {
		writes = append(writes, func() error { return ws.write("since.diff", e.since.diff) })
	}
	writes = append(writes, func() error { return ws.write("README.md", e.readme(r.Now())) })
	for _, write := range writes {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

// note is one line for the record.
func (e *evidence) note() string {
	note := fmt.Sprintf("%s at %s", counted(len(e.manifest.Files), "file"), e.pull.Head.SHA[:min(7, len(e.pull.Head.SHA))])
	if left := e.leftOut(); len(left) > 0 {
		note += "; left out: " + strings.Join(left, "; ")
	}
	if e.cacheErr != nil {
		note += fmt.Sprintf("; the blob cache failed: %v", e.cacheErr)
	}
	return note
}
