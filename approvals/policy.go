package approvals

import "time"

// Policy says who decides about a call, and for how long. The zero value lets
// nobody decide.
type Policy struct {
	// Approvers may decide. Nobody else may but the operator.
	Approvers Approvers `json:"approvers"`
	// Escalation are further groups, each of which may decide too, and is told,
	// after another half of the time has passed in vain.
	Escalation []Approvers `json:"escalation,omitempty"`
	// MinApprovals is how many people must approve, at least one.
	MinApprovals int `json:"minApprovals"`
	// SelfApproval lets the person for whom the agent works approve.
	SelfApproval bool `json:"selfApproval,omitempty"`
	// OperatorMayDecide lets the principal api:operator deny, and approve where one
	// approval is enough.
	OperatorMayDecide bool `json:"operatorMayDecide"`
	// ExpiresAfter is how long people have. HoldFor is how long the agent waits
	// inside its call before it is told to go on: [DefaultHoldFor] if it is zero.
	ExpiresAfter time.Duration `json:"expiresAfter"`
	HoldFor      time.Duration `json:"holdFor"`
}

// The limits of a policy.
const (
	DefaultExpiresAfter = 24 * time.Hour
	// MaxExpiresAfter keeps a forgotten card from running years later.
	MaxExpiresAfter = 30 * 24 * time.Hour
	// DefaultHoldFor is time for somebody who is looking, and less than any limit that
	// bridges are known to have for a tool; what limit the vendor's has is not known.
	DefaultHoldFor = 45 * time.Second
	MaxHoldFor     = 10 * time.Minute
	// NoHold tells the agent at once to go on.
	NoHold = time.Duration(-1)
	// MaxMinApprovals is more people than any card can name.
	MaxMinApprovals = 10
)

// Approvers names people. An empty one names nobody.
type Approvers struct {
	// Slack are user ids (U…), SlackGroups ids of user groups (S…).
	Slack       []string `json:"slack,omitempty"`
	SlackGroups []string `json:"slackGroups,omitempty"`
	// GitHub are logins, GitHubTeams are "org/team"; both without regard to case.
	GitHub      []string `json:"github,omitempty"`
	GitHubTeams []string `json:"githubTeams,omitempty"`
	// CodeOwners are those that the base branch's CODEOWNERS names for the changed
	// files; only where the call is about a pull request.
	CodeOwners bool `json:"codeowners,omitempty"`
}

// Nobody reports whether it names no one.
func (a Approvers) Nobody() bool {
	return len(a.Slack)+len(a.SlackGroups)+len(a.GitHub)+len(a.GitHubTeams) == 0 && !a.CodeOwners
}
