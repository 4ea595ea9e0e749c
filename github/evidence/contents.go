package evidence

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// The two sides of a change, as indexes.
const (
	headSide = iota
	baseSide
)

// contents fetches what the changed files hold on both sides.
type contents struct {
	f      *fetcher
	ws     *workspace
	cache  Cache
	repoID int64
	commit [2]string
	trees  [2]tree
	budget Budget
	// left is how many bytes may still be written.
	left int64

	mu sync.Mutex
	// seen holds the blobs of this review; a pure rename has one for both sides.
	seen map[string][]byte
	// cacheErr is the first failure to keep a blob.
	cacheErr error
}

// binaryName is why a content was not fetched that is binary as far as its name tells.
const binaryName = "binary, by its name"

// result is what came of fetching a side.
type result struct {
	content []byte
	entry   entry
	// missing says why there is no content. When omitted is set, it was left out
	// rather than not there.
	missing string
	omitted bool
}

// fetch gets the contents of files, the riskiest first: per class of risk all
// heads, then all bases. It returns how many sides were left out, by reason.
//
// Requests go out in batches, and a batch is accounted for in order, so that the
// same budget leaves out the same files each time.
func (c *contents) fetch(ctx context.Context, files []File) (map[string]int, error) {
	omitted := map[string]int{}
	sides := c.plan(files)
	for len(sides) > 0 {
		batch := c.batch(sides)
		sides = sides[len(batch):]
		results := make([]result, len(batch))
		limit := min(c.left, c.budget.FileBytes)
		g := newGroup(ctx)
		for i, s := range batch {
			g.run(func(ctx context.Context) (err error) {
				results[i], err = c.get(ctx, s, limit)
				return err
			})
		}
		if err := g.wait(); err != nil {
			return nil, err
		}
		for i, s := range batch {
			if err := c.settle(s, &results[i]); err != nil {
				return nil, err
			}
			if results[i].omitted {
				omitted[results[i].missing]++
			}
		}
	}
	return omitted, nil
}

// get finds the content of a side: in what this review has read, in the cache, or at GitHub.
func (c *contents) get(ctx context.Context, s side, limit int64) (result, error) {
	r := result{entry: s.entry}
	switch {
	case s.known && s.entry.mode == modeSubmodule:
		r.missing = "a submodule: only the id of its commit is known"
		return r, nil
	case s.file.patch == "" && binaryByName(s.path) && s.entry.mode != modeSymlink:
		r.missing = binaryName
		return r, nil
	case s.entry.size > limit:
		r.omit(c.tooLarge(limit))
		return r, nil
	case !s.known && c.trees[s.which].unread == "":
		r.omit(fmt.Sprintf("not found in the tree of %s", sideName(s.which)))
		return r, nil
	}
	if s.known && s.entry.size == 0 {
		r.content = []byte{}
		return r, nil
	}
	if content, ok := c.recall(s.entry.blob); ok && int64(len(content)) <= limit {
		r.content = content
		return r, nil
	}
	var err error
	if s.known {
		r.content, err = c.f.blobRaw(ctx, s.entry.blob, limit)
	} else {
		err = c.byPath(ctx, s, limit, &r)
	}
	if err != nil {
		return r, c.explain(err, limit, &r)
	}
	c.remember(r.entry.blob, r.content)
	return r, nil
}

// byPath reads a side by its name, when the tree could not be read.
func (c *contents) byPath(ctx context.Context, s side, limit int64, r *result) error {
	content, e, err := c.f.contentsAt(ctx, s.path, c.commit[s.which], limit)
	switch {
	case err != nil:
		return err
	case e.mode == modeSubmodule:
		r.missing = "a submodule: only the id of its commit is known"
	// The contents API follows symbolic links: what does not have the name that git
	// gives it is the content of something else.
	case e.blob != "" && (blobID(e.blob, content) != e.blob || s.entry.blob != "" && s.entry.blob != e.blob):
		r.omit("a symbolic link, as it seems: GitHub gave the content of another file")
		return nil
	}
	r.content, r.entry = content, e
	return nil
}

// explain turns an error into the reason why a content is missing, or returns it
// if the review cannot go on.
func (c *contents) explain(err error, limit int64, r *result) error {
	switch {
	case errors.Is(err, errTooLarge):
		r.omit(c.tooLarge(limit))
		return nil
	case errors.Is(err, errUnusable):
		r.omit(errUnusable.Error())
		return nil
	}
	why, ok := whyMissing(err)
	if !ok {
		return err
	}
	r.omit(why)
	return nil
}

func (c *contents) tooLarge(limit int64) string {
	if limit < c.budget.FileBytes {
		return c.usedUp()
	}
	return "larger than " + bytesText(c.budget.FileBytes)
}

func (c *contents) usedUp() string {
	return fmt.Sprintf("the budget of %s is used up", bytesText(c.budget.Bytes))
}

// omit records that the content was left out, and why.
func (r *result) omit(why string) {
	r.content, r.missing, r.omitted = nil, why, true
}

// settle enters a result into the manifest and writes the content.
func (c *contents) settle(s side, r *result) error {
	f := s.file
	var text []byte
	kind, encoding := kindUnknown, ""
	switch {
	case r.entry.mode == modeSubmodule:
		kind = kindSubmodule
	case r.entry.mode == modeSymlink:
		kind = kindSymlink
	case r.missing == binaryName:
		kind = kindBinary
	case r.missing == "":
		var ok bool
		if text, encoding, ok = asText(r.content); !ok {
			kind, r.missing = kindBinary, "binary"
		} else {
			kind = kindText
		}
	}
	if r.missing == "" && kind == kindSymlink {
		text, encoding, _ = asText(r.content)
	}
	if r.missing == "" && int64(len(text)) > c.left {
		r.omit(c.usedUp())
	}
	path := ""
	if r.missing == "" {
		path = fmt.Sprintf("files/%04d/%s.txt", f.Number, sideName(s.which))
		if err := c.ws.write(path, text); err != nil {
			return err
		}
		c.left -= int64(len(text))
		f.lines[s.which] = countLines(text)
	}
	if r.entry.size < 0 && r.content != nil {
		r.entry.size = int64(len(r.content))
	}
	if s.which == headSide {
		f.Head, f.HeadMissing, f.HeadMode, f.Size = path, r.missing, r.entry.mode, r.entry.size
		if r.entry.blob != "" {
			f.HeadBlob = r.entry.blob
		}
	} else {
		f.Base, f.BaseMissing, f.BaseMode = path, r.missing, r.entry.mode
		if r.entry.blob != "" {
			f.BaseBlob = r.entry.blob
		}
	}
	// The head decides what a file is; heads come before bases in each class.
	if f.Kind == kindUnknown {
		f.Kind = kind
	}
	if f.Encoding == "" {
		f.Encoding = encoding
	}
	return nil
}

// recall finds a blob in this review or in the cache.
func (c *contents) recall(blob string) ([]byte, bool) {
	if blob == "" {
		return nil, false
	}
	c.mu.Lock()
	content, ok := c.seen[blob]
	c.mu.Unlock()
	if !ok && c.cache != nil {
		content, ok = c.cache.Get(c.repoID, blob)
	}
	return content, ok
}

// remember keeps a blob whose content has the name that GitHub gave it.
func (c *contents) remember(blob string, content []byte) {
	if blob == "" || blobID(blob, content) != blob {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen[blob] = content
	if c.cache == nil {
		return
	}
	if err := c.cache.Put(c.repoID, blob, content); err != nil && c.cacheErr == nil {
		c.cacheErr = err
	}
}

// bytesText writes a size for people.
func bytesText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
