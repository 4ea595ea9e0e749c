package slack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/event"
	"github.com/liaison-bot/liaison/slack/web"
)

// The bounds of the files that are fetched for one turn: how many, how many are
// asked for at all, as anybody can fill a thread with those that fail, and in bytes
// each and together.
const (
	maxFetched    = 20
	maxTried      = 40
	maxFileBytes  = 10 << 20
	maxFilesBytes = 30 << 20
)

// filesFolder is where fetched files are, within [threadFolder].
const filesFolder = "files"

// fileAgain is the wait before a file of a question is tried once more.
const fileAgain = 10 * time.Second

// sharedFile is a file that somebody shared, and what became of it.
type sharedFile struct {
	event.File
	// asked is set on files of the questions, which nobody wants to be without.
	asked bool
	// path is where it is, within [threadFolder]; empty where it was not fetched, and
	// why says the reason.
	path, why string
	content   []byte
	kind      string // such as "text" or "image/png"
	// picture is its place among the images that the model is shown, from 1.
	picture int
}

// sharedFiles are the files to fetch: those of the questions first, then the others, the
// newest first. Each is there once.
func (b *briefing) sharedFiles() []sharedFile {
	var all []sharedFile
	add := func(f event.File, asked bool) {
		if f.ID != "" && !slices.ContainsFunc(all, func(s sharedFile) bool { return s.ID == f.ID }) {
			all = append(all, sharedFile{File: f, asked: asked})
		}
	}
	for _, q := range b.asked {
		for _, f := range q.Files {
			add(event.File{ID: event.ID(f.ID), Name: f.Name, MIME: f.MIME, Size: f.Size, URL: f.URL, External: f.External}, true)
		}
	}
	for _, u := range slices.Backward(b.said) {
		asked := slices.ContainsFunc(b.asked, func(q question) bool { return q.TS == u.ts || q.MessageTS == u.ts })
		for _, f := range u.files {
			add(f, asked)
		}
	}
	return all
}

// fetch gets the files within their bounds. One that cannot be had is named with the
// reason; only Slack's rate limit, and a moment's failure, are worth waiting for.
func (c *Channel) fetch(ctx context.Context, t sessions.Turn, at web.Place, all []sharedFile) error {
	fetched, tried, left := 0, 0, int64(maxFilesBytes)
	outage := "" // why nobody waits for the older files any more
	for i := range all {
		f := &all[i]
		switch {
		case f.External:
			f.why = "it is not at Slack, and the host fetches nothing from elsewhere"
		case f.URL == "":
			f.why = "Slack gives the app no access to it"
		case f.Size > maxFileBytes:
			f.why = fmt.Sprintf("it has more than %d MiB", maxFileBytes>>20)
		case fetched == maxFetched || tried == maxTried:
			f.why = fmt.Sprintf("there are more than %d files", maxFetched)
		case f.Size > left:
			f.why = fmt.Sprintf("the files have more than %d MiB together", maxFilesBytes>>20)
		case outage != "" && !f.asked:
			f.why = outage
		default:
			tried++
			failed, err := c.fetchOne(ctx, t, at, f, min(left, maxFileBytes))
			if err != nil {
				return err
			}
			if failed {
				outage = f.why
			}
		}
		if f.why == "" {
			fetched++
			left -= int64(len(f.content))
		}
	}
	return nil
}

// fetchOne gets one file. Outage says that Slack would not give another one either.
func (c *Channel) fetchOne(ctx context.Context, t sessions.Turn, at web.Place, f *sharedFile, most int64) (outage bool, err error) {
	content, _, err := c.web.Download(ctx, at, f.URL, most)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case errors.Is(err, web.ErrLimited) && f.asked:
		return false, fmt.Errorf("fetch a file: %w", err)
	case errors.Is(err, web.ErrUnsent) && f.asked && t.Attempt <= 1:
		return false, &sessions.RetryError{After: fileAgain, Err: fmt.Errorf("fetch a file: %w", err)}
	case errors.Is(err, web.ErrLimited):
		f.why = "Slack's rate limit did not let the host fetch it in time"
	case errors.Is(err, web.ErrRefused):
		f.why = fmt.Sprintf("it has more than %d bytes", most)
	case errors.Is(err, web.ErrGone):
		f.why = "it is gone, or the app may not read it"
	case err != nil:
		f.why = "the host could not fetch it"
	case isHTML(content) && (!strings.HasPrefix(f.MIME, "text/html") || f.Size > 0 && f.Size != int64(len(content))):
		// Slack answers so where the token may not read a file, with status 200.
		f.why = "Slack answered with a page to sign in: the app may not read it"
	case len(content) == 0:
		f.why = "it is empty"
	default:
		f.content, f.kind = content, kindOf(content)
		f.path = path.Join(filesFolder, savedName(f.File))
	}
	return errors.Is(err, web.ErrLimited) || errors.Is(err, web.ErrUnsent), nil
}

// isHTML reports whether content is a page, whatever its name says.
func isHTML(content []byte) bool {
	return strings.HasPrefix(http.DetectContentType(content), "text/html")
}

// kindOf says what content is by its bytes.
func kindOf(content []byte) string {
	if format, _, _ := pictureOf(content); format != "" {
		return format
	}
	if utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 {
		return textKind
	}
	kind, _, _ := strings.Cut(http.DetectContentType(content), ";")
	if strings.HasPrefix(kind, "text/") {
		return "text of an unknown encoding"
	}
	return kind
}

// textKind is a file that can be read as text.
const textKind = "text"
