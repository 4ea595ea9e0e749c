package slack

import (
	"context"
	"errors"
	"strings"

	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/markup"
	"github.com/liaison-bot/liaison/slack/web"
)

// pieceLength is how much text one streamed message holds before the next one
// begins, in characters. It leaves room for what neutralising adds, and so that
// the message can become an edited one.
const pieceLength = limits.StreamText * 3 / 4

// errRewritten says that what was streamed is not how the text begins any more.
var errRewritten = errors.New("the text has changed where it was shown already")

// grow streams text as far as it is not there yet. Where that cannot be, the show
// goes on with edits. An error means that it is worth another try.
func (l *live) grow(ctx context.Context, s *showing, text string) error {
	for s.sent < len(text) && s.mode == ReplyStream && !s.lost {
		var err error
		switch {
		case s.open:
			err = l.extend(ctx, s, text)
		case len(s.pieces) >= limits.Messages:
			return nil // the rest of so long an answer is a file
		default:
			err = l.start(ctx, s, text)
		}
		if err == nil {
			continue
		}
		switch judge(err) {
		case notYet:
			return err
		case closedStream:
			s.open = false // and the next one takes what this one did not
		case goneAway:
			s.forget()
			return nil
		default:
			l.logger.Debug("an answer is edited in place of being streamed", "session", s.session, "turn", s.turn, "error", err)
			return l.turnToEdits(ctx, s)
		}
	}
	return nil
}

// start begins the next message of a stream.
func (l *live) start(ctx context.Context, s *showing, text string) error {
	if l.unable.has(shownStream, s.at.Team, s.at.Channel) || s.at.Thread == "" || !s.direct && s.to.User == "" {
		return l.turnToEdits(ctx, s)
	}
	p := piece{from: s.sent, lead: openFence(text[:s.sent])}
	cut := p.reach(text, s.sent)
	p.text = markup.Neutralise(p.lead + text[p.from:cut])
	if err := s.announce(ctx, l.now(), true); err != nil {
		return err
	}
	to := s.to
	if s.direct {
		to = web.Recipient{}
	}
	ts, err := l.stage.StartStream(ctx, s.at, to, p.text)
	switch {
	case err == nil:
	case judge(err) == notYet:
		s.starting = false
		return err
	case judge(err) == notKnown:
		// It is looked for before anything is written anew.
		s.known, s.unsureAt = false, l.now()
		return err
	default:
		s.starting = false
		if judge(err) != goneAway && !ofThisCall(err) {
			l.unable.add(shownStream, s.at.Team, s.at.Channel)
		}
		return l.turnToEdits(ctx, s)
	}
	p.TS = ts
	s.started(p)
	s.open, s.sent = true, cut
	l.keepRecord(ctx, s)
	return nil
}

// keepRecord has the session remember the show. Where it cannot, what is missing
// is found in the thread.
func (l *live) keepRecord(ctx context.Context, s *showing) {
	if err := s.store(ctx); err != nil {
		l.logger.Warn("what is shown of a turn is not remembered", "session", s.session, "turn", s.turn, "error", err)
	}
}

// extend adds to the message that is open, and closes it once it is full.
func (l *live) extend(ctx context.Context, s *showing, text string) error {
	p := s.last()
	cut := p.reach(text, s.sent)
	clean := markup.Neutralise(p.lead + text[p.from:cut])
	more, ok := strings.CutPrefix(clean, p.text)
	if !ok {
		return errRewritten
	}
	if more != "" {
		if err := l.stage.AppendStream(ctx, s.at, p.TS, more); err != nil {
			if judge(err) == notKnown {
				s.known = false
			}
			return err
		}
	}
	p.text, s.sent = clean, cut
	if cut == len(text) {
		return nil
	}
	err := l.stage.StopStream(ctx, s.at, p.TS, web.Message{Key: s.key()})
	if err == nil || judge(err) == notKnown {
		s.open = false // the next message goes on either way
		return nil
	}
	return err
}

// turnToEdits ends what is streamed, so that it can be edited.
func (l *live) turnToEdits(ctx context.Context, s *showing) error {
	if err := l.shut(ctx, s); err != nil {
		return err
	}
	s.mode, s.known = ReplyEdit, false
	return nil
}

// shut stops the stream that is open. One that is closed already is shut.
func (l *live) shut(ctx context.Context, s *showing) error {
	if !s.open || len(s.pieces) == 0 {
		return nil
	}
	err := l.stage.StopStream(ctx, s.at, s.last().TS, web.Message{Key: s.key()})
	if err != nil && judge(err) == notYet {
		return err
	}
	s.open = false
	return nil
}

// reach is how much of a text the piece can hold: all of it, or up to the end of a
// line or a word, but no less than was sent.
func (p piece) reach(text string, sent int) int {
	rest := text[p.from:]
	n := limits.Prefix(rest, pieceLength-limits.Length(p.lead))
	if n == len(rest) {
		return len(text)
	}
	at := strings.LastIndexByte(rest[:n], '\n') + 1
	if at < n/2 {
		at = strings.LastIndexAny(rest[:n], " \t\n") + 1
	}
	if at < n/2 {
		at = n
	}
	return max(p.from+at, sent)
}

// language is what a fence is opened with again: one short word, as nothing else of
// that line is of use to anybody.
func language(info string) string {
	word, _, _ := strings.Cut(info, " ")
	if len(word) > maxLanguage {
		return ""
	}
	return word
}

// maxLanguage bounds the name of a language, in bytes.
const maxLanguage = 40

// openFence returns the line that opens the fence of code in which a text ends,
// with its line break, or nothing.
func openFence(text string) string {
	open, mark := "", ""
	for line := range strings.Lines(text) {
		bare := strings.TrimLeft(line, " ")
		if len(line)-len(bare) > 3 {
			continue
		}
		run := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		if run == "" {
			run = bare[:len(bare)-len(strings.TrimLeft(bare, "~"))]
		}
		rest := strings.TrimSpace(bare[len(run):])
		switch {
		case len(run) < 3:
		case open == "" && (run[0] == '~' || !strings.Contains(rest, "`")):
			open, mark = run+language(rest)+"\n", run
		case open != "" && run[0] == mark[0] && len(run) >= len(mark) && rest == "":
			open, mark = "", ""
		}
	}
	return open
}
