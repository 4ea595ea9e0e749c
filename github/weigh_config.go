package github

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	gh "github.com/google/go-github/v66/github"

	"github.com/liaison-bot/liaison/github/evidence"
	"github.com/liaison-bot/liaison/github/repoconfig"
	"github.com/liaison-bot/liaison/sessions"
)

// configPaths are where a configuration can stand; the first that exists counts.
var configPaths = [...]string{".github/liaison.yml", ".github/liaison.yaml"}

const (
	// freshConfig is how long a repository's file is gone by without asking again,
	// and freshOwner that of its owner, which changes less and costs a token.
	freshConfig = time.Minute
	freshOwner  = 5 * time.Minute
	// ownerRepository holds what goes for all repositories of an account.
	ownerRepository = ".github"
)

// configured is the configuration that holds for a turn.
type configured struct {
	repoconfig.Effective
	// files are those that were read, the owner's first.
	files []repoconfig.State
}

// broken reports whether a file cannot be understood and never could, so that
// nobody knows what is wanted.
func (c configured) broken() bool {
	for _, f := range c.files {
		if f.Broken {
			return true
		}
	}
	return false
}

// troubles says in Markdown what is wrong with the files; "" when nothing is.
func (c configured) troubles() string {
	var b strings.Builder
	for _, f := range c.files {
		if len(f.Problems) > 0 {
			fmt.Fprintf(&b, "\n%s in %s cannot be used", code(f.File.Path), code(f.File.Source))
			if f.Broken {
				b.WriteString(":\n\n")
			} else {
				b.WriteString(", so that an earlier version of it holds:\n\n")
			}
			for _, p := range f.Problems {
				fmt.Fprintf(&b, "- %s\n", code(p.Error()))
			}
		}
		if f.Outage != nil {
			fmt.Fprintf(&b, "\nThe file in %s could not be read just now; what was read last holds.\n", code(f.File.Source))
		}
	}
	return b.String()
}

// blobs names the contents that have problems.
func (c configured) blobs() string {
	var names []string
	for _, f := range c.files {
		if len(f.Problems) > 0 {
			names = append(names, f.File.Blob)
		}
	}
	return strings.Join(names, "+")
}

// configuration reads what holds for a base branch; an empty one is the default
// branch. The name is the repository's present one. A file that could not be
// read, and is not known from before, is an error and never the defaults: a
// repository must not be written to because of an outage
// (https://github.com/palantir/policy-bot/issues/533).
func (c *Channel) configuration(ctx context.Context, t target, fullName, base string) (configured, error) {
	owner, repo, ok := splitName(fullName)
	if !ok {
		return configured{}, fmt.Errorf("read the configuration of %s: %w", quote(fullName), evidence.ErrNoAnswer)
	}
	var got configured
	var layers []repoconfig.Layer
	read := func(key string, fresh time.Duration, fetch repoconfig.Fetch) error {
		state, err := c.configs.Read(ctx, key, fresh, fetch)
		if err != nil {
			err = fmt.Errorf("read the configuration of %s: %w", fullName, err)
			if status(err) == http.StatusForbidden {
				return &sessions.RetryError{Err: err}
			}
			return err
		}
		if state.Outage != nil {
			c.app.log.Warn("a configuration cannot be read; the last good one goes on", "source", state.File.Source, "error", state.Outage)
		}
		got.files, layers = append(got.files, state), append(layers, state.Layer)
		return nil
	}
	if !strings.EqualFold(repo, ownerRepository) {
		installation := t.repo.transport.actual()
		client := c.owners.client(installation)
		fetch := fetchConfig(client, owner, ownerRepository, "", owner+"/"+ownerRepository)
		err := read(fmt.Sprintf("owner:%d", installation), freshOwner, func(ctx context.Context, known repoconfig.File) (repoconfig.File, error) {
			file, err := fetch(ctx, known)
			if errors.Is(err, errNotInstalled) {
				return repoconfig.File{Source: owner + "/" + ownerRepository, Missing: true}, nil
			}
			return file, err
		})
		if err != nil {
			return configured{}, err
		}
	}
	source := fullName
	if base != "" {
		source += "@" + base
	}
	err := read(fmt.Sprintf("repo:%d:%s", t.Repository, base), freshConfig, fetchConfig(t.repo.client, owner, repo, base, source))
	if err != nil {
		return configured{}, err
	}
	got.Effective = repoconfig.Resolve(layers...)
	got.Limit(c.budgets)
	return got, nil
}

// fetchConfig reads the file of one repository at a ref.
func fetchConfig(client *gh.Client, owner, repo, ref, source string) repoconfig.Fetch {
	return func(ctx context.Context, known repoconfig.File) (repoconfig.File, error) {
		for _, path := range configPaths {
			etag := ""
			if known.Path == path {
				etag = known.ETag
			}
			file, err := readConfig(ctx, client, fmt.Sprintf("repos/%s/%s/contents/%s", owner, repo, path), ref, etag)
			if notFound(err) {
				continue
			}
			file.Path, file.Source = path, source
			return file, err
		}
		return repoconfig.File{Source: source, Missing: true}, nil
	}
}

// readConfig reads one path.
func readConfig(ctx context.Context, client *gh.Client, path, ref, etag string) (repoconfig.File, error) {
	if ref != "" {
		path += "?ref=" + url.QueryEscape("refs/heads/"+ref)
	}
	req, err := client.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		return repoconfig.File{}, err
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	var answer struct {
		Type     string `json:"type"`
		Encoding string `json:"encoding"`
		Size     int64  `json:"size"`
		Content  string `json:"content"`
		SHA      string `json:"sha"`
	}
	resp, err := client.Do(ctx, req, &answer)
	if status(err) == http.StatusNotModified {
		return repoconfig.File{}, repoconfig.ErrUnchanged
	}
	if err != nil {
		return repoconfig.File{}, err
	}
	if answer.Type != "file" || !validSHA(answer.SHA) {
		return repoconfig.File{}, evidence.ErrNoAnswer
	}
	file := repoconfig.File{Blob: answer.SHA, ETag: resp.Header.Get("ETag")}
	if answer.Size > repoconfig.MaxFile {
		file.Refused = fmt.Sprintf("the file has %d bytes; at most %d are read", answer.Size, repoconfig.MaxFile)
		return file, nil
	}
	if answer.Encoding != "base64" {
		return repoconfig.File{}, evidence.ErrNoAnswer
	}
	file.Text, err = base64.StdEncoding.DecodeString(strings.ReplaceAll(answer.Content, "\n", ""))
	if err != nil {
		return repoconfig.File{}, evidence.ErrNoAnswer
	}
	return file, nil
}
