package evidence

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
)

// contentsOverhead is how much larger than a file the contents API's answer may
// be: base64 with line breaks, and the JSON around it.
const contentsOverhead = 64 << 10

// contentsAnswer is what the contents API says of one path.
type contentsAnswer struct {
	Type     string `json:"type"`
	Encoding string `json:"encoding"`
	Size     int64  `json:"size"`
	Content  string `json:"content"`
	Target   string `json:"target"`
	SHA      string `json:"sha"`
}

// contentsAt reads a file by its path at a commit. It is the way for a tree that
// could not be read whole. It fails with [errTooLarge], with [errUnusable], or as
// the client does.
func (f *fetcher) contentsAt(ctx context.Context, path, commit string, limit int64) ([]byte, entry, error) {
	escaped, ok := escapePath(path)
	if !ok {
		return nil, entry{}, errUnusable
	}
	address := f.repoPath("contents/%s?ref=%s", escaped, commit)
	// At 1 MB the API stops sending content, whatever the limit.
	body, err := f.raw(ctx, needFull, "read contents", address, "application/vnd.github+json", 2*min(limit, 1<<20)+contentsOverhead)
	if err != nil {
		return nil, entry{}, err
	}
	var a contentsAnswer
	// A folder is answered with a list.
	if json.Unmarshal(body, &a) != nil {
		return nil, entry{}, errUnusable
	}
	e := entry{size: a.Size}
	if isObjectID(a.SHA) {
		e.blob = a.SHA
	}
	switch {
	case a.Type == "symlink":
		e.mode = modeSymlink
		return []byte(a.Target), e, nil
	case a.Type == "submodule":
		e.mode = modeSubmodule
		return nil, e, nil
	case a.Type != "file":
		return nil, e, errUnusable
	case a.Size > limit:
		return nil, e, errTooLarge
	case a.Encoding == "base64":
		content, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(a.Content, "\n", ""))
		if err != nil {
			return nil, e, errUnusable
		}
		return content, e, nil
	case e.blob != "":
		content, err := f.blobRaw(ctx, e.blob, limit)
		return content, e, err
	default:
		return nil, e, errUnusable
	}
}

// errUnusable is returned for an answer that holds no content of a file.
var errUnusable = errors.New("GitHub gave no content for this path")

// escapePath escapes a path of a repository for use in a URL, segment by
// segment. Segments that a URL would resolve are refused.
func escapePath(path string) (string, bool) {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if s == "" || s == "." || s == ".." {
			return "", false
		}
		segments[i] = url.PathEscape(s)
	}
	return strings.Join(segments, "/"), true
}
