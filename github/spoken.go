package github

import (
	"fmt"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/tools"
)

// Bounds of what somebody wrote, in bytes.
const (
	// maxRemark is how much of a text is read and kept; GitHub takes 65,536 characters.
	maxRemark = 64 << 10
	// maxHunk is how much is kept of the hunk that a thread is about.
	maxHunk = 16 << 10
	// maxPath is the longest path that Git on Linux can check out.
	maxPath = 4096
)

// spoken maps what somebody wrote: a command, a question, or words that are not
// for us. Each text is taken up once, by its id, whatever event and delivery
// told of it. about says what it was written on.
func (e event) spoken(on string, w hookText, about func() (request, error)) (sessions.Intent, error) {
	if e.self.wrote(w) {
		return ignore("%s: our own doing", e.word()), nil
	}
	if e.old(w.Created) {
		return ignore("%s: it was written %s, too long ago to be taken up", e.word(), quote(w.Created)), nil
	}
	body := tools.Cut(w.Body, maxRemark, "")
	if body == "" {
		return ignore("%s: there is no text", e.word()), nil
	}
	r, err := about()
	if err != nil {
		return sessions.Intent{}, err
	}
	if w.ID <= 0 {
		return sessions.Intent{}, missing("id of what was written")
	}
	// Who writes is who sends. Where GitHub says otherwise nobody can vouch.
	r.Actor = same(r.Actor, w.User.account())
	r.Comment = e.remark(on, w, body)
	r.Trigger = e.name
	cmd, named := parseCommand(body, e.self.Handle, true)
	switch {
	case named:
		r.Command, r.Trigger = cmd, cmd.trigger()
	case on == onThread && e.Comment.InReplyTo > 0 && !r.Actor.Bot:
		// In a thread that we began nobody has to name us; who began it is to be
		// looked up.
	default:
		return ignore("%s on %s: nobody spoke to us", e.word(), r.name()), nil
	}
	return e.asked(r, body)
}

// asked makes the intent of a request that somebody put in words.
func (e event) asked(r request, body string) (sessions.Intent, error) {
	fact := fmt.Sprintf("github:remark:%d/%s:%d", r.Repository, r.Comment.On, r.Comment.ID)
	var in sessions.Intent
	switch r.Command.Verb {
	case verbStop:
		if r.Actor.ID == 0 {
			return ignore("%s on %s: nobody knows who wants to stop it", e.word(), r.name()), nil
		}
		// A stop waits for nothing, unless it has to be asked whether the bare
		// word is ours in this repository.
		in = e.intent(sessions.ActionStop, r)
		in.Weigh = !r.Command.Addressed
	case verbReview:
		r.Full = r.Command.everything()
		in = e.intent(sessions.ActionRun, r)
		in.Weigh, in.Force, in.Admission = true, true, sessions.AdmitPreempt
		in.Message = fmt.Sprintf("Review pull request %s.", r.name())
	case verbApprove, verbDeny:
		return e.decides(r, fact), nil
	default:
		r.Kind = kindAsk
		in = e.intent(sessions.ActionRun, r)
		in.Weigh, in.Admission = true, sessions.AdmitCoalesce
		in.Message = body
	}
	in.Fact = fact
	in.Reason = fmt.Sprintf("%s on %s", r.Trigger, r.name())
	if r.Command.Verb == verbStop {
		in.Reason = fmt.Sprintf("%s by %s on %s", r.Trigger, oneLine(r.Actor.Login), r.name()) // people read it
	}
	return in, nil
}

// remark is a text with its place.
func (e event) remark(on string, w hookText, body string) *remark {
	m := &remark{ID: w.ID, On: on, URL: oneLine(w.URL), Body: body, At: parseTime(w.Created)}
	if on != onThread {
		return m
	}
	m.Thread = w.ID
	if e.Comment.InReplyTo > 0 {
		m.Thread = e.Comment.InReplyTo
	}
	m.Path = tools.Cut(e.Comment.Path, maxPath, "")
	m.Hunk = tools.Cut(e.Comment.Hunk, maxHunk, "")
	// A comment whose line is gone from the diff keeps only its original one.
	if m.Line = e.Comment.Line; m.Line <= 0 {
		m.Line = max(e.Comment.OriginalLine, 0)
	}
	return m
}

// same returns who acted, if that is who wrote; else nobody.
func same(acted, wrote account) account {
	if acted.ID != wrote.ID {
		return account{}
	}
	acted.Bot = acted.Bot || wrote.Bot
	return acted
}
