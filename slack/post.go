package slack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"strings"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

// surfaceDetached remembers, of a session, why its place is not there for us. Who
// asked is told once of each reason.
const surfaceDetached = "detached"

// rootDeleted is the reason that lasts: a thread does not come back.
const rootDeleted = "root_deleted"

// post posts a message, or several, once each. An interrupted one is taken up where
// it stopped: the parts that are there are told by their markers.
func (c *Channel) post(ctx context.Context, item sessions.Item, p postPayload) (sessions.Receipt, error) {
	if item.Surface[surfaceDetached] == rootDeleted {
		return sessions.Receipt{Note: "not posted: the first message of the thread was deleted"}, nil
	}
	r := c.render(item, p)
	done, err := c.live.finish(ctx, item, p, r.messages())
	if err != nil {
		c.refused.note(p.To.install(), err)
		return sessions.Receipt{}, err
	}
	w := c.writer(item, p.To.place(), p.Since)
	w.skipped = done.Parts
	err = w.all(ctx, r.after(done))
	c.refused.note(p.To.install(), err)
	switch {
	case displaced(err):
		receipt, err := c.elsewhere(ctx, item, p, err)
		receipt.Remember = merged(receipt.Remember, done.Remember)
		return receipt, err
	case err != nil:
		return sessions.Receipt{}, err
	}
	receipt := sessions.Receipt{Note: w.note(), Remember: done.Remember}
	if item.Surface[surfaceDetached] != "" {
		receipt.Remember = merged(receipt.Remember, map[string]string{surfaceDetached: ""})
	}
	return receipt, nil
}

// merged is what both want to be remembered.
func merged(a, b map[string]string) map[string]string {
	if a == nil {
		return b
	}
	maps.Copy(a, b)
	return a
}

// displaced reports whether a place takes no more of our messages.
func displaced(err error) bool { return errors.Is(err, web.ErrGone) || errors.Is(err, web.ErrDetached) }

// writer writes into one place for one item.
type writer struct {
	c     *Channel
	item  sessions.Item
	at    web.Place
	since string

	// there holds the keys and the names of files of ours that are there, once it was
	// looked.
	there map[string]bool
	// posted and skipped count messages, for the note.
	posted, skipped int
}

func (c *Channel) writer(item sessions.Item, at web.Place, since string) *writer {
	return &writer{c: c, item: item, at: at, since: since}
}

func (w *writer) note() string {
	if w.skipped > 0 {
		return fmt.Sprintf("posted %d messages, %d were there", w.posted, w.skipped)
	}
	return fmt.Sprintf("posted %d messages", w.posted)
}

// all writes the parts that are not there, in order, and the file behind them.
func (w *writer) all(ctx context.Context, r rendered) error {
	if w.item.Attempts > 1 {
		if err := w.look(ctx); err != nil {
			return err
		}
	}
	for _, m := range r.parts {
		if err := w.part(ctx, m); err != nil {
			return err
		}
	}
	return w.share(ctx, r.file)
}

// look finds what is there of ours already.
func (w *writer) look(ctx context.Context) error {
	there := map[string]bool{}
	for r, err := range w.c.web.Own(ctx, w.at, w.since) {
		if err != nil {
			return fmt.Errorf("look for what is posted already: %w", err)
		}
		if r.Key != "" {
			there[r.Key] = true
		}
		for _, name := range r.FileNames {
			there[name] = true
		}
	}
	w.there = there
	return nil
}

// part writes one message: as it is, or else as text, or else as a file.
func (w *writer) part(ctx context.Context, m part) error {
	first := textKey(m.Key, 0)
	if !w.there[first] {
		err := w.put(ctx, m.Message)
		if !errors.Is(err, web.ErrRefused) {
			return err
		}
		w.c.log.Warn("Slack does not take a message as it is; it goes as text", "session", w.item.SessionID, "effect", w.item.ID, "error", err)
	}
	for i, text := range m.texts {
		err := w.put(ctx, web.Message{Text: text, Key: textKey(m.Key, i)})
		if errors.Is(err, web.ErrRefused) {
			w.c.log.Warn("Slack does not take a message as text; it goes as a file", "session", w.item.SessionID, "effect", w.item.ID, "error", err)
			return w.share(ctx, web.Snippet{Name: fileName(m.Key, "message"), Title: "Message", Content: m.source})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func textKey(key string, i int) string { return fmt.Sprintf("%s/text/%d", key, i) }

// put posts one message unless it is there.
func (w *writer) put(ctx context.Context, m web.Message) error {
	if w.there[m.Key] {
		w.skipped++
		return nil
	}
	_, err := w.c.web.Post(ctx, w.at, m)
	if !errors.Is(err, web.ErrAmbiguous) {
		if err == nil {
			w.posted++
		}
		return err
	}
	if found := w.look(ctx); found == nil && w.there[m.Key] {
		w.posted++
		return nil
	}
	return err // Slack may still be at it: the next attempt looks again before it repeats
}

// share puts a text as a file behind the messages, unless it is there. Where Slack
// takes no file from the app, a message says so.
func (w *writer) share(ctx context.Context, s web.Snippet) error {
	if s.Content == "" || w.there[s.Name] {
		return nil
	}
	err := w.c.web.Share(ctx, w.at, s)
	switch {
	case errors.Is(err, web.ErrAmbiguous):
		if found := w.look(ctx); found == nil && w.there[s.Name] {
			return nil
		}
		return err
	case err == nil || !lasting(err) || revoked(err) || displaced(err) && !strings.HasPrefix(web.Code(err), "file"):
		return err
	}
	w.c.log.Warn("Slack takes no file", "session", w.item.SessionID, "effect", w.item.ID, "error", err)
	text := "There is more, but I may not share it as a file here (" + because(err) + ")."
	if page := w.c.page(w.item.SessionID); page != "" {
		text += " All of it is at " + page
	}
	return w.put(ctx, web.Message{Text: text, Key: w.item.SessionID + "/" + s.Name})
}

// because is a failure in few words, for people.
func because(err error) string {
	code := web.Code(err)
	switch {
	case code == "":
		return "Slack does not take it"
	case code == "is_archived":
		return "it is archived"
	case strings.HasPrefix(code, "restricted_action"):
		return "it is restricted there"
	}
	return `Slack says "` + strings.ReplaceAll(code, "_", " ") + `"`
}

// page is the address of a session's own page, or nothing.
func (c *Channel) page(session string) string {
	if c.publicURL == nil || session == "" {
		return ""
	}
	u := *c.publicURL
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	u.RawQuery = url.Values{"sessionId": {session}}.Encode()
	return u.String()
}
