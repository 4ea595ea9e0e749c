package slack

import (
	"context"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/markup"
	"github.com/liaison-bot/liaison/slack/web"
)

// draw shows text in one message, which is edited while the text grows. An error
// means that it is worth another try.
func (l *live) draw(ctx context.Context, s *showing, text string) error {
	text = strings.TrimSpace(text)
	if text == "" || s.lost || text == s.drawn {
		return nil
	}
	if err := l.shut(ctx, s); err != nil {
		return err
	}
	if s.starting {
		if err := l.findLost(ctx, s); err != nil {
			return err
		}
	}
	m := frame(s.turn, text)
	m.Key = s.key()
	var err error
	if len(s.pieces) == 0 {
		err = l.first(ctx, s, m)
	} else {
		err = l.stage.Update(ctx, s.at, s.pieces[0].TS, m, web.Live)
	}
	if err == nil {
		s.drawn = text
		if len(s.pieces) > 1 {
			l.trim(ctx, s, 1)
			l.keepRecord(ctx, s)
		}
		return nil
	}
	switch judge(err) {
	case goneAway:
		s.forget()
	case notHere, notThis:
		s.drawn = text // and what comes next may be taken
	default:
		return err
	}
	return nil
}

// first posts the message that is edited later.
func (l *live) first(ctx context.Context, s *showing, m web.Message) error {
	if err := s.announce(ctx, l.now(), false); err != nil {
		return err
	}
	ts, err := l.stage.Post(ctx, s.at, m)
	if err != nil {
		s.starting = judge(err) == notKnown // it is looked for before it is repeated
		s.unsureAt = l.now()
		return err
	}
	s.started(piece{TS: ts})
	l.keepRecord(ctx, s)
	return nil
}

// trim deletes the pieces from n on, whose text is shown elsewhere. What cannot be
// deleted is left.
func (l *live) trim(ctx context.Context, s *showing, n int) {
	for _, p := range s.pieces[n:] {
		if err := l.stage.Delete(ctx, s.at, p.TS); err != nil {
			l.logger.Warn("a message that is not needed any more could not be deleted",
				"session", s.session, "turn", s.turn, "ts", p.TS, "error", err)
		}
	}
	s.pieces = s.pieces[:n]
}

// frame is a message that holds the beginning of a text, with a button that stops
// its turn.
func frame(turn, text string) web.Message {
	m := drawn(text)
	if len(m.Blocks) > 0 {
		stop := slackgo.NewButtonBlockElement(actionStop, turn, slackgo.NewTextBlockObject(slackgo.PlainTextType, "Stop", false, false))
		m.Blocks = append(m.Blocks, slackgo.NewActionBlock("", stop))
	}
	return m
}

// drawn is a message that holds a text as far as one message can.
func drawn(text string) web.Message {
	head := text[:limits.Prefix(text, limits.Markdown)]
	r := markup.Render(head, markup.Options{})
	if len(r.Messages) == 0 {
		return web.Message{Text: "…"}
	}
	m := web.Message{Text: r.Messages[0].Text, Blocks: r.Messages[0].Blocks()}
	if len(m.Blocks) > 0 && (len(head) < len(text) || len(r.Messages) > 1) {
		m.Blocks = append(m.Blocks, slackgo.NewContextBlock("", slackgo.NewTextBlockObject(slackgo.PlainTextType, "…", false, false)))
	}
	return m
}
