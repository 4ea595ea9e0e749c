package slack

import (
	"context"
	"slices"
	"strings"

	slackgo "github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/slack/limits"
	"github.com/liaison-bot/liaison/slack/web"
)

// finished says what became of the messages that showed a turn.
type finished struct {
	// Parts is how many of the answer's messages are in the thread now, from the
	// first on; the others are still to be posted. Whole says that all of the answer
	// is there, also what would be a file.
	Parts int
	Whole bool
	// TS is the first of them, where there is one.
	TS string
	// Remember is for the receipt.
	Remember map[string]string
}

// finish makes the answer of a turn of what was shown of it: the messages that are
// there become the first of those it shall be, whatever state they are in, and
// what is left over is deleted. It may be called again after any failure, and in
// another process. Failures are [*sessions.RetryError].
func (l *live) finish(ctx context.Context, item sessions.Item, p postPayload, messages []web.Message) (finished, error) {
	s, err := l.shown(ctx, item, p.To, p.Turn)
	if s == nil || err != nil {
		return finished{}, err
	}
	done, err := l.settle(ctx, s, item, p, messages)
	if err != nil {
		l.giveBack(s)
		return finished{}, again("end what was shown of the turn", err)
	}
	done.Remember = map[string]string{recordKey(p.Turn): ""}
	if len(s.pieces) > 0 && done.Parts > 0 {
		done.TS = s.pieces[0].TS
	}
	s.ended = true
	l.giveBack(s)
	return done, nil
}

// shown returns what was shown of a turn, here or by another process, and nil for
// nothing.
func (l *live) shown(ctx context.Context, item sessions.Item, to address, turn string) (*showing, error) {
	if turn == "" {
		return nil, nil
	}
	s, err := l.take(ctx, turn)
	if err != nil {
		return nil, again("wait for what is shown of the turn", err)
	}
	if s != nil && !s.ended {
		return s, nil
	}
	if s != nil {
		l.giveBack(s) // for its status
	}
	left, ok := parseRecord(item.Surface[recordKey(turn)])
	if !ok {
		return nil, nil
	}
	s = &showing{
		turn: turn, session: item.SessionID, at: to.place(), script: newScript(), written: make(chan struct{}),
		// What it says is committed with the receipt.
		remember: func(context.Context, map[string]string) error { return nil },
	}
	close(s.written)
	s.adopt(left)
	return s, nil
}

// settle brings the thread to hold the answer.
func (l *live) settle(ctx context.Context, s *showing, item sessions.Item, p postPayload, messages []web.Message) (finished, error) {
	if s.starting {
		if err := l.findLost(ctx, s); err != nil {
			return finished{}, err
		}
	}
	if len(s.pieces) == 0 || len(messages) == 0 {
		return finished{}, nil
	}
	whole := messages[0].Key + "/whole"
	if item.Attempts > 1 {
		there, err := l.hasMarker(ctx, s, whole)
		if there || err != nil {
			return finished{Parts: len(messages), Whole: there}, err
		}
	}
	if s.streamed && l.astray(ctx, s) {
		l.trim(ctx, s, 0)
		return finished{}, nil
	}
	if s.known && s.mode == ReplyStream {
		ended, err := l.endStream(ctx, s, p, messages, whole)
		if ended || err != nil {
			return finished{Parts: len(messages), Whole: ended}, err
		}
	}
	if err := l.shut(ctx, s); err != nil {
		return finished{}, err
	}
	if p.Failed && s.drawn != "" {
		if m, ok := ended(s.drawn, p.Markdown, messages); ok {
			done, err := l.replace(ctx, s, []web.Message{m})
			done.Parts *= len(messages)
			return done, err
		}
	}
	return l.replace(ctx, s, messages)
}

// endStream streams what is missing of the answer, and stops the stream with what
// stands below an answer. It reports false where the answer does not go on from
// what was streamed, or the stream did not take it.
func (l *live) endStream(ctx context.Context, s *showing, p postPayload, messages []web.Message, marker string) (bool, error) {
	text, ok := s.continued(p)
	if !ok {
		return false, nil
	}
	if err := l.grow(ctx, s, text); err != nil {
		return false, err
	}
	if s.mode != ReplyStream || !s.open || !s.known || s.sent < len(text) {
		return false, nil
	}
	err := l.stage.StopStream(ctx, s.at, s.last().TS, web.Message{Blocks: below(messages), Key: marker})
	switch {
	case err == nil:
		s.open = false
		return true, nil
	case judge(err) == notYet:
		return false, err
	case judge(err) == closedStream:
		s.open = false
	}
	return false, nil
}

// continued returns the whole text that the stream shall hold, and false if that is
// not how the streamed text goes on.
func (s *showing) continued(p postPayload) (string, bool) {
	whole := s.script.whole()
	sent := whole[:min(s.sent, len(whole))]
	if p.Failed {
		return withReason(sent, p.Markdown), true
	}
	answer := strings.TrimSpace(p.Markdown)
	return answer, strings.HasPrefix(answer, sent)
}

// withReason is what there was of an answer, with why there is no more.
func withReason(text, reason string) string {
	if fence := openFence(text); fence != "" {
		text = strings.TrimRight(text, "\n") + "\n" + fence[:len(fence)-len(strings.TrimLeft(fence, fence[:1]))]
	}
	return text + "\n\n" + reason
}

// replace gives the pieces the content of the answer's messages, one for one. A
// piece that cannot have it is deleted, and what follows is posted anew.
func (l *live) replace(ctx context.Context, s *showing, messages []web.Message) (finished, error) {
	n := 0
	for n < min(len(s.pieces), len(messages)) {
		err := l.stage.Update(ctx, s.at, s.pieces[n].TS, messages[n], web.Answer)
		if err != nil && (judge(err) == notYet || judge(err) == notKnown) {
			return finished{}, err // which may be repeated
		}
		if err != nil {
			l.logger.Info("what was shown of an answer cannot become the answer, which is posted anew",
				"session", s.session, "turn", s.turn, "error", err)
			break
		}
		n++
	}
	l.trim(ctx, s, n)
	return finished{Parts: n}, nil
}

// ended is a message that holds what there was of an answer and why there is no
// more, and false where that is too long for one.
func ended(text, reason string, messages []web.Message) (web.Message, bool) {
	text = withReason(text, reason)
	if limits.Length(text) > limits.Markdown*3/4 { // neutralising adds to it
		return web.Message{}, false
	}
	m := drawn(text)
	m.Blocks, m.Key = append(m.Blocks, below(messages)...), messages[0].Key
	return m, true
}

// below are the blocks that stand below the text of an answer, and those that
// would stand before it: a stream has its text first.
func below(messages []web.Message) []slackgo.Block {
	isText := func(b slackgo.Block) bool { return b.BlockType() == slackgo.MBTMarkdown }
	first, last := messages[0].Blocks, messages[len(messages)-1].Blocks
	text := slices.IndexFunc(first, isText)
	if text < 0 {
		return nil
	}
	blocks := slices.Clone(first[:text])
	if text = slices.IndexFunc(last, isText); text >= 0 {
		blocks = append(blocks, last[text+1:]...)
	}
	return blocks
}

// cutShort is what a message ends with when its turn is over and nothing else says why.
const cutShort = "_This stopped here, without an answer._"

// abandon ends what is shown of a turn that got no answer, and returns what the
// session shall remember.
func (l *live) abandon(ctx context.Context, s *showing, item sessions.Item) (map[string]string, error) {
	m := drawn(cutShort)
	m.Key = item.SessionID + "/" + item.ID
	done, err := l.settle(ctx, s, item, postPayload{Markdown: cutShort, Failed: true}, []web.Message{m})
	if err != nil {
		return nil, err
	}
	if done.Parts == 0 && len(s.pieces) > 0 {
		l.logger.Warn("what was shown of a turn is left as it is", "session", s.session, "turn", s.turn)
	}
	s.ended = true
	return map[string]string{recordKey(s.turn): ""}, nil
}
