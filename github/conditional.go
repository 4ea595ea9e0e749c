package github

import (
	"bytes"
	"container/list"
	"io"
	"net/http"
	"path"
	"slices"
	"strings"
	"sync"
)

// revalidator answers reads that are repeated from memory, after GitHub has
// said that nothing changed. It always asks, so that no answer is older than
// the call; what "304 Not Modified" saves is the hourly limit, against which it
// does not count.
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#use-conditional-requests-if-appropriate
type revalidator struct {
	mu    sync.Mutex
	known map[kept]*list.Element
	// used is in order of use, the latest first.
	used  list.List
	bytes int
}

// kept names an answer. What one installation was told is never given to another.
type kept struct {
	repo        repoID
	url, accept string
}

// answer is a whole answer with status 200.
type answer struct {
	key    kept
	tag    string
	header http.Header
	body   []byte
}

// through is a transport of one repository.
func (v *revalidator) through(repo repoID, next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(req *http.Request) (*http.Response, error) {
		if !repeats(req) {
			return next.RoundTrip(req)
		}
		key := kept{repo, req.URL.String(), req.Header.Get("Accept")}
		a := v.find(key)
		if a != nil {
			req = req.Clone(req.Context())
			req.Header.Set("If-None-Match", a.tag)
		}
		resp, err := next.RoundTrip(req)
		switch {
		case err != nil:
			return nil, err
		case a != nil && resp.StatusCode == http.StatusNotModified:
			discard(resp)
			return a.response(resp), nil
		case resp.StatusCode != http.StatusOK || resp.Header.Get("ETag") == "":
			v.drop(key)
			return resp, nil
		}
		return v.keep(key, resp)
	})
}

// repeats reports whether a read is worth keeping: a pull request, and the
// files and folders of a repository's configuration. Nothing else is kept: not
// who may do what, which has to be known now, and nothing that holds a secret.
func repeats(req *http.Request) bool {
	if req.Method != http.MethodGet || req.Header.Get("If-None-Match") != "" || req.Header.Get("Range") != "" {
		return false
	}
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	at := slices.Index(parts, "repos")
	if at < 0 || len(parts) < at+5 {
		return false
	}
	switch rest := parts[at+3:]; {
	case rest[0] == "pulls" && len(rest) == 2:
		// In its other forms a pull request is a diff, which is as large as it likes.
		return !strings.Contains(req.Header.Get("Accept"), "diff") && !strings.Contains(req.Header.Get("Accept"), "patch")
	case rest[0] == "contents":
		name := path.Base(req.URL.Path)
		return rest[1] == ".github" || slices.Contains([]string{"AGENTS.md", "REVIEW.md", "CODEOWNERS"}, name)
	}
	return false
}

func (v *revalidator) find(key kept) *answer {
	v.mu.Lock()
	defer v.mu.Unlock()
	at := v.known[key]
	if at == nil {
		return nil
	}
	v.used.MoveToFront(at)
	return at.Value.(*answer)
}

// keep reads an answer's body and remembers it, unless it is too long.
func (v *revalidator) keep(key kept, resp *http.Response) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxKeptAnswer+1))
	rest := resp.Body
	if err != nil || len(body) > maxKeptAnswer {
		v.drop(key)
		var failed io.Reader = rest
		if err != nil {
			failed = failure{err}
		}
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), failed), rest}
		return resp, nil
	}
	_ = rest.Close()
	resp.Body = io.NopCloser(bytes.NewReader(body))
	a := &answer{key: key, tag: resp.Header.Get("ETag"), header: resp.Header.Clone(), body: body}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.remove(key)
	if v.known == nil {
		v.known = map[kept]*list.Element{}
	}
	v.known[key] = v.used.PushFront(a)
	v.bytes += len(body)
	for v.used.Len() > maxKeptAnswers || v.bytes > maxKeptBytes {
		v.remove(v.used.Back().Value.(*answer).key)
	}
	return resp, nil
}

func (v *revalidator) drop(key kept) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.remove(key)
}

// remove forgets an answer. Callers hold the lock.
func (v *revalidator) remove(key kept) {
	if at := v.known[key]; at != nil {
		v.bytes -= len(v.used.Remove(at).(*answer).body)
		delete(v.known, key)
	}
}

// response is the answer again, with what GitHub said of it just now.
func (a *answer) response(now *http.Response) *http.Response {
	again := *now
	again.StatusCode, again.Status = http.StatusOK, "200 OK"
	again.Header = a.header.Clone()
	for name, values := range now.Header {
		if name != "Content-Length" && name != "Content-Type" {
			again.Header[name] = values
		}
	}
	again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(a.body)), int64(len(a.body))
	return &again
}

// failure is a reader that fails.
type failure struct{ err error }

func (f failure) Read([]byte) (int, error) { return 0, f.err }
