package github

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/liaison-bot/liaison/sessions"
)

// Name is the channel's word; deliveries with this source are its own.
const Name = "github"

// Self says who we are at GitHub, so that our own doings can be told from
// other people's. Zero means not known.
type Self struct {
	// AppID is the App's numeric id.
	AppID int64
	// BotID is the numeric user id of the App's bot account.
	BotID int64
	// Handle is what people write after "@" to speak to us. While it is not known,
	// only "/liaison" reaches us.
	Handle string
}

// errForeignHook is the refusal of a webhook that belongs to no installation.
// Without the installation's id there is no token to act with.
var errForeignHook = errors.New("this came from a repository webhook, not from the App (it names no installation): " +
	"let the App's own webhook deliver here, and remove the other one")

// targetHeader says whose webhook sent a delivery: "integration" for an App's
// own, "repository" or "organization" for hooks set up by hand.
var targetHeader = http.CanonicalHeaderKey("X-GitHub-Hook-Installation-Target-Type")

// Map reads one delivery and says what it asks for. It is pure. Unknown events
// and actions are ignored with a reason; an error means that the delivery
// cannot be understood or cannot be acted on by this App, and belongs among
// the dead letters.
func Map(d sessions.Delivery, self Self) (sessions.Intent, error) {
	if d.Event == "" {
		return sessions.Intent{}, errors.New("the delivery names no event (X-GitHub-Event)")
	}
	read, known := mapping(d.Event)
	if !known {
		return ignore("event %s asks for nothing", quote(d.Event)), nil
	}
	p, err := decode(d.Body)
	if err != nil {
		return sessions.Intent{}, fmt.Errorf("%s: %w", d.Event, err)
	}
	e := event{payload: p, name: d.Event, delivery: d, self: self}
	if self.isBot(p.Sender) {
		return ignore("%s: our own doing", e.word()), nil
	}
	in, err := read(e)
	if err != nil {
		if errors.Is(err, errForeignHook) && d.Headers[targetHeader] != "" {
			err = fmt.Errorf("%w; %s says %s", err, targetHeader, quote(d.Headers[targetHeader]))
		}
		return sessions.Intent{}, fmt.Errorf("%s: %w", e.word(), err)
	}
	return in, nil
}

// mapping returns what reads an event. Each reader is pure, and small.
func mapping(name string) (read func(event) (sessions.Intent, error), known bool) {
	switch name {
	case "ping":
		return mapPing, true
	case "pull_request":
		return mapPullRequest, true
	case "issue_comment":
		return mapIssueComment, true
	case "pull_request_review":
		return mapPullRequestReview, true
	case "pull_request_review_comment":
		return mapPullRequestReviewComment, true
	case "issues":
		return mapIssues, true
	case "check_run":
		return mapCheckRun, true
	case "check_suite":
		return mapCheckSuite, true
	case "status":
		return mapStatus, true
	case "workflow_run":
		return mapWorkflowRun, true
	case "merge_group":
		return mapMergeGroup, true
	case "installation":
		return mapInstallation, true
	case "installation_repositories":
		return mapInstallationRepositories, true
	case "installation_target":
		return mapInstallationTarget, true
	case "repository":
		return mapRepository, true
	}
	return nil, false
}

func mapPing(event) (sessions.Intent, error) {
	return ignore("ping: GitHub tests the webhook"), nil
}

func ignore(format string, args ...any) sessions.Intent {
	return sessions.Intent{Action: sessions.ActionIgnore, Reason: fmt.Sprintf(format, args...)}
}

// quote shows a word that the payload chose in a reason, on one line and bounded.
func quote(s string) string {
	const most = 40
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	return fmt.Sprintf("%q", s)
}

// version tells apart two deliveries about one object: the object's own time
// of change or, without one, the hash of the body.
func version(updatedAt string, body []byte) string {
	if len(updatedAt) <= len(time.RFC3339Nano) && !parseTime(updatedAt).IsZero() {
		return updatedAt
	}
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:])
}
