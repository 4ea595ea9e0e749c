package approvals

import "strings"

// Identity is who somebody is, on every surface where that is known.
type Identity struct {
	// Principal is who they are where they speak: "slack:user:T1:U1",
	// "github:user:42", "api:operator".
	Principal string `json:"principal"`
	// Slack is their Slack user id and GitHub their login, as far as known: one of
	// them from their surface, the other from the operator's list of people.
	Slack  string `json:"slack,omitempty"`
	GitHub string `json:"github,omitempty"`
}

// Is reports whether both are the same human, as far as is known.
func (i Identity) Is(other Identity) bool {
	return i.Principal != "" && i.Principal == other.Principal ||
		i.Slack != "" && i.Slack == other.Slack ||
		i.GitHub != "" && strings.EqualFold(i.GitHub, other.GitHub)
}

// Person is somebody who wants to decide, as their surface vouches for them.
type Person struct {
	Identity
	// Standing is what they are where they ask from. The zero value may do nothing.
	Standing Standing
	// Groups are those of the record's policy in which they are.
	Groups []Group
	// Operator is set for the operator's own token.
	Operator bool
}

// Standing is what somebody is in a workspace or in a repository's eyes.
type Standing string

// The standings. Only a member may decide.
const (
	Member Standing = "member"
	// Guest is a restricted member of a workspace, Stranger one of another
	// organisation's.
	Guest    Standing = "guest"
	Stranger Standing = "stranger"
	Bot      Standing = "bot"
	// Gone is a deleted account.
	Gone Standing = "gone"
)

// Group is one that a policy names.
type Group struct {
	Kind GroupKind
	// Name is the Slack group's id, "org/team", or empty for code owners.
	Name string
}

// GroupKind says where a group is.
type GroupKind string

// The kinds of groups.
const (
	SlackGroup GroupKind = "slackGroup"
	GitHubTeam GroupKind = "githubTeam"
	CodeOwner  GroupKind = "codeowner"
)

// Ballot is what somebody says about a call.
type Ballot struct {
	// ApprovalID names the record. SessionID, where not empty, must be its session.
	ApprovalID string
	SessionID  string
	Verdict    Verdict
	// Reason is theirs, in plain text, and optional.
	Reason string
	By     Person
	// Place is where they said it: "slack", "github", "http".
	Place string
	// Channel and Ref, where not empty, are the card that they saw. A record that
	// has another card there is not what they decided about.
	Channel string
	Ref     string
}
