package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/sessions"
)

// request is what a turn carries from the event to the work.
type request struct {
	Installation int64 `json:"installation"`
	// Repository is the id, which stays when FullName changes.
	Repository int64  `json:"repository"`
	FullName   string `json:"fullName"`
	Number     int    `json:"number"`
	Head       string `json:"head"`
	// Previous is the head that this one replaced, where the event said so.
	Previous string `json:"previous,omitempty"`
	Base     string `json:"base"`
	Title    string `json:"title"`
	// UpdatedAt is when the pull request was in this state, at GitHub; zero if
	// the event did not say.
	UpdatedAt time.Time `json:"updatedAt,omitzero"`

	// Kind is what is asked for; empty is a review.
	Kind kind `json:"kind,omitempty"`
	// Trigger says what asked, as "event.action" or "command", and Label which
	// label was set or taken away.
	Trigger string `json:"trigger,omitempty"`
	Label   string `json:"label,omitempty"`
	// Team is the slug of the team that was asked for a review.
	Team string `json:"team,omitempty"`
	// Issue is set when Number is that of an issue, which has no head.
	Issue bool `json:"issue,omitempty"`
	// Actor is who asked, and Author whose pull request or issue it is.
	Actor  account `json:"actor,omitzero"`
	Author account `json:"author,omitzero"`
	// Command is the verb of a command and what was written after it.
	Command command `json:"command,omitzero"`
	// Comment is what was written, where somebody wrote.
	Comment *remark `json:"comment,omitempty"`
	// Draft, Labels and HeadRepository are the pull request's own; the last is 0
	// where the fork is gone.
	Draft          bool     `json:"draft,omitempty"`
	Labels         []string `json:"labels,omitempty"`
	HeadRepository int64    `json:"headRepository,omitempty"`
	// Full asks for a review of everything, whatever was reviewed before.
	Full bool `json:"full,omitempty"`
	// Caller asked for it on another channel, and is told how it goes.
	Caller *sessions.Caller `json:"caller,omitempty"`
	// Decision is what somebody says about a call that waits for people.
	Decision *decision `json:"decision,omitempty"`
	// HeadAuthor wrote the head's commit, as far as GitHub knows.
	HeadAuthor account `json:"headAuthor,omitzero"`
	// Settings is what the repository's configuration says of this turn, once it
	// was weighed.
	Settings *settings `json:"settings,omitempty"`
}

// kind is what a turn is about.
type kind string

const (
	// kindReview judges a head. It is the empty word in what is stored.
	kindReview kind = ""
	// kindAsk answers a question in words, where it was asked.
	kindAsk kind = "ask"
	// kindResumed hears what became of a call about which people decided, and answers
	// in words where the call was asked for.
	kindResumed kind = "resumed"
	// kindMergeGroup concludes the check of a merge group, and runs no agent.
	kindMergeGroup kind = "merge_group"
)

// account is somebody at GitHub. The id alone says who it is; a zero id is
// nobody, as with deleted accounts.
type account struct {
	ID    int64  `json:"id,omitempty"`
	Login string `json:"login,omitempty"`
	// Bot is set for the accounts of Apps.
	Bot bool `json:"bot,omitempty"`
}

// command is a verb and its argument, which is a stranger's text.
type command struct {
	Verb     string `json:"verb,omitempty"`
	Argument string `json:"argument,omitempty"`
	// Addressed is set when we were named, by @mention or "/liaison"; only then is
	// help given.
	Addressed bool `json:"addressed,omitempty"`
	// Reason is what was written behind a decision.
	Reason string `json:"reason,omitempty"`
}

// The places in which somebody can write.
const (
	onIssue  = "issue"  // a comment on an issue or in a pull request's conversation
	onReview = "review" // the body of a review; it takes no reactions
	onThread = "thread" // a review comment on a line, or a reply to one
)

// remark is something that was written.
type remark struct {
	ID int64 `json:"id"`
	// On is the place, one of the constants above.
	On string `json:"on"`
	// Thread is the first comment's id of a review thread.
	Thread int64  `json:"thread,omitempty"`
	URL    string `json:"url,omitempty"`
	// Body is the text as it was when we heard of it, of at most 64 KiB.
	Body string    `json:"body,omitempty"`
	At   time.Time `json:"at,omitzero"`
	// Path, Line and Hunk say what a thread is about.
	Path string `json:"path,omitempty"`
	Line int    `json:"line,omitempty"`
	Hunk string `json:"hunk,omitempty"`
}

func parseRequest(raw json.RawMessage) (request, error) {
	var r request
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, unreadable("turn's request", err)
	}
	return r, r.check()
}

// parseUnweighed reads a request as mapping made it, before it was weighed: the
// head of a pull request that somebody wrote on may be missing, and the number
// where only a commit is named. One about an installation names no repository.
func parseUnweighed(raw json.RawMessage) (request, error) {
	var r request
	if err := json.Unmarshal(raw, &r); err != nil {
		return r, unreadable("delivery's request", err)
	}
	if r.Repository == 0 && r.Caller != nil {
		if _, _, ok := splitName(r.FullName); !ok {
			return r, errors.New("the delivery's request names no repository")
		}
		return r, nil
	}
	if r.Repository == 0 && r.FullName == "" {
		if r.Installation <= 0 {
			return r, errForeignHook
		}
		return r, nil
	}
	return r, r.checkOrigin()
}

// unreadable hides the cause of what was stored in a form that is not ours:
// the same cause in an answer of GitHub's would be worth another try.
func unreadable(what string, err error) error {
	return errors.New("read the " + what + ": " + err.Error())
}

// checkOrigin refuses what could not have come from mapping, before it gets near a URL.
func (r request) checkOrigin() error {
	if r.Installation <= 0 {
		return errForeignHook
	}
	if _, _, ok := splitName(r.FullName); !ok || r.Repository <= 0 {
		return errors.New("the turn's request names no repository")
	}
	return nil
}

// check refuses what no turn can be about.
func (r request) check() error {
	if err := r.checkOrigin(); err != nil {
		return err
	}
	switch {
	case r.Kind == kindMergeGroup:
	case r.Number <= 0:
		return errors.New("the turn's request names no pull request and no issue")
	case r.Issue, r.Command.Verb == verbStop, r.Decision != nil: // about no commit
		return nil
	}
	if !validSHA(r.Head) {
		return errors.New("the turn's request names no commit")
	}
	return nil
}

func (r request) encode() json.RawMessage {
	raw, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings, numbers and a time always encode
	}
	return raw
}

// key is the continuation key: ids only, so that it survives a rename. Where only
// a commit is known it is the alias of its pull request.
func (r request) key() string {
	switch {
	case r.Kind == kindMergeGroup:
		return fmt.Sprintf("github:repo:%d:merge:%s", r.Repository, r.Head)
	case r.Issue:
		return fmt.Sprintf("github:repo:%d:issue:%d", r.Repository, r.Number)
	case r.Number == 0:
		return headAlias(r.Repository, r.Head)
	}
	return fmt.Sprintf("github:repo:%d:pull:%d", r.Repository, r.Number)
}

// headAlias names the session of the pull request whose head a commit is: events
// about a fork's commits name no pull request.
func headAlias(repository int64, sha string) string {
	return fmt.Sprintf("github:repo:%d:head:%s", repository, sha)
}

// repositoryKeys is what the keys of everything in a repository begin with.
func repositoryKeys(repository int64) string {
	return fmt.Sprintf("github:repo:%d:", repository)
}

// name is how people call the pull request or issue.
func (r request) name() string {
	if r.Number == 0 {
		return r.FullName
	}
	return fmt.Sprintf("%s#%d", r.FullName, r.Number)
}

// subject is the name with the commit, where there is one.
func (r request) subject() string {
	if r.Head == "" {
		return r.name()
	}
	return r.name() + " at " + short(r.Head)
}

// aliases are what else finds the session: the name that people use, and the
// head, by which events about commits find it.
func (r request) aliases() []string {
	switch {
	case r.Number == 0:
		return nil
	case r.Issue:
		return []string{"issue:" + r.name()}
	case r.Head == "":
		return []string{"pr:" + r.name()}
	}
	return []string{"pr:" + r.name(), headAlias(r.Repository, r.Head)}
}

// identify makes an intent one about the request as it is now.
func (r request) identify(in *sessions.Intent) {
	in.Key, in.Aliases, in.Title, in.Request = r.key(), r.aliases(), r.name(), r.encode()
	if r.Title != "" {
		in.Title += " " + r.Title
	}
}

// short is the part of a SHA that people read.
func short(sha string) string {
	return sha[:min(7, len(sha))]
}

// maxTitle bounds the title in bytes; GitHub's own form allows 256 characters.
const maxTitle = 1024

// oneLine makes a stranger's text safe to keep on a line of a record.
func oneLine(s string) string {
	out := make([]rune, 0, min(len(s), maxTitle))
	size := 0
	for _, r := range s {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			r = ' '
		}
		if size += utf8.RuneLen(r); size > maxTitle {
			break
		}
		out = append(out, r)
	}
	return string(out)
}
