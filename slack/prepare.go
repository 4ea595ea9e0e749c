package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"time"

	"github.com/liaison-bot/liaison/internal/untrusted"
	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/web"
)

// threadFolder is where the evidence of a turn is, in the session's workspace.
const threadFolder = "thread"

// toldWait is how long a wait for Slack's rate limit has to be for people to be told
// of it, by one more message.
const toldWait = 30 * time.Second

// Prepare implements [sessions.Channel]: it writes down what was said where
// somebody asks, and composes what the agent is told.
func (c *Channel) Prepare(ctx context.Context, t sessions.Turn, dir string) (sessions.Brief, error) {
	r, err := parseRequest(t.Request)
	if err != nil {
		return sessions.Brief{}, fmt.Errorf("slack: %w", err)
	}
	brief, err := c.prepare(ctx, t, r, dir)
	if err != nil {
		c.refused.note(r.install(), err)
		return sessions.Brief{}, c.unprepared(ctx, r, err)
	}
	return brief, nil
}

func (c *Channel) prepare(ctx context.Context, t sessions.Turn, r request, dir string) (sessions.Brief, error) {
	own, err := c.installation(ctx, r)
	if err != nil {
		return sessions.Brief{}, err
	}
	talk, err := c.read(ctx, r)
	if err != nil {
		return sessions.Brief{}, fmt.Errorf("read what was said: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return sessions.Brief{}, fmt.Errorf("open the workspace: %w", err)
	}
	defer func() { _ = root.Close() }() // nothing is written through it alone
	marker, err := untrusted.NewMarker(c.entropy)
	if err != nil {
		return sessions.Brief{}, err
	}
	asked := questions(r, t)
	n := c.names(own, r, people(askers(r, t)))
	b := &briefing{names: n, request: r, marker: marker, asked: asked, talk: talk}
	b.said = n.utter(ctx, talk.messages)
	b.scene = n.scene(ctx, r)
	before := readShown(root)
	b.told = before.upTo(t)
	b.files = b.sharedFiles()
	if err := c.fetch(ctx, t, r.place(), b.files); err != nil {
		return sessions.Brief{}, err
	}
	images := pictures(b.files)
	prompt := c.redact(b.prompt(ctx))
	if err := c.writeThread(root, b, before.after(t, b.latest())); err != nil {
		return sessions.Brief{}, fmt.Errorf("write the evidence: %w", err)
	}
	return sessions.Brief{Prompt: prompt, Images: images, Note: b.note()}, nil
}

// briefing is what a turn is prepared from.
type briefing struct {
	*names
	request
	marker string
	asked  []question
	scene  scene
	talk   conversation
	said   []utterance
	files  []sharedFile
	// told is the ts of the newest message that the agent knows from an earlier turn.
	told string
}

// latest is the ts of the newest message that was read.
func (b *briefing) latest() string {
	if len(b.said) == 0 {
		return b.told
	}
	return b.said[len(b.said)-1].ts
}

// note is one line for the record.
func (b *briefing) note() string {
	note := fmt.Sprintf("%d messages", len(b.said))
	if b.talk.older > 0 {
		note += fmt.Sprintf(", %d older ones left out", b.talk.older)
	}
	if b.talk.limited {
		note += ", newer ones left out because of Slack's rate limit"
	}
	if len(b.files) > 0 {
		fetched := 0
		for _, f := range b.files {
			if f.path != "" {
				fetched++
			}
		}
		note += fmt.Sprintf(", %d of %d files", fetched, len(b.files))
	}
	return note
}

// writeThread puts the evidence in the place of that of an earlier turn. It works
// within the workspace only, whatever links are in there.
func (c *Channel) writeThread(root *os.Root, b *briefing, told shown) error {
	if err := root.RemoveAll(threadFolder); err != nil {
		return fmt.Errorf("remove the earlier evidence: %w", err)
	}
	// The agent may run as another user, so it can read, and the folder above keeps
	// everybody else out.
	if err := root.Mkdir(threadFolder, 0o755); err != nil {
		return err
	}
	remembered, err := json.Marshal(told)
	if err != nil {
		return err
	}
	for name, content := range map[string]string{
		"messages.md": c.redact(b.transcript()), "about.md": c.redact(b.about()), shownFile: string(remembered),
	} {
		if err := root.WriteFile(path.Join(threadFolder, name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return c.writeFiles(root, b.files)
}

// writeFiles saves what was fetched. Secrets of ours are masked in what is text.
func (c *Channel) writeFiles(root *os.Root, files []sharedFile) error {
	if err := root.Mkdir(path.Join(threadFolder, filesFolder), 0o755); err != nil {
		return err
	}
	for _, f := range files {
		if f.path == "" {
			continue
		}
		content := f.content
		if f.kind == textKind {
			content = []byte(c.redact(string(content)))
		}
		if err := root.WriteFile(path.Join(threadFolder, f.path), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// unprepared says what a failure means for the turn. Who asked reads it.
func (c *Channel) unprepared(ctx context.Context, r request, err error) error {
	err = fmt.Errorf("slack: %w", err)
	switch web.Code(err) {
	case "thread_not_found", "message_not_found":
		return &sessions.UnneededError{Reason: "the thread does not exist any more"}
	case "not_in_channel", "channel_not_found":
		if isDirect(r.ChannelType, r.Channel) {
			return errors.New("that conversation cannot be read any more; write to me anew")
		}
		return errors.New("I am not in that channel; invite me there with " + c.invitation(ctx, r.place()))
	case "missing_scope":
		return err // it says which; nothing becomes better by waiting
	}
	err = retryable(err)
	var again *sessions.RetryError
	if errors.As(err, &again) && errors.Is(err, web.ErrLimited) && again.After >= toldWait {
		again.WaitsFor = "Slack's rate limit"
	}
	return err
}
