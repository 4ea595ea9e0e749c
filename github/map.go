package github

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

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
	switch d.Event {
	case "pull_request":
		return mapPullRequest(d, self)
	case "ping":
		return ignore("ping: GitHub tests the webhook"), nil
	case "":
		return sessions.Intent{}, errors.New("the delivery names no event (X-GitHub-Event)")
	default:
		return ignore("event %s asks for nothing", quote(d.Event)), nil
	}
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
	if updatedAt != "" {
		return updatedAt
	}
	sum := sha256.Sum256(body)
	return "sha256:" + hex.EncodeToString(sum[:])
}
