package github

import (
	"encoding/json"
	"fmt"
	"maps"

	gh "github.com/google/go-github/v66/github"
)

// Permission is one permission of the App: what for, and what is lost without it.
// https://docs.github.com/rest/authentication/permissions-required-for-github-apps
type Permission struct {
	// Name and Level are GitHub's words, such as "checks" and "write".
	Name, Level string
	// Feature is what it is for, and Lost what happens where it is not granted.
	Feature, Lost string
	// Essential is set where nothing works without it.
	Essential bool
	// Optional is set where the manifest does not ask for it: it widens what a
	// stolen token could do, and the feature is worth that to some only.
	Optional bool

	use permissionUse
}

// permissionUse says which tokens carry a permission.
type permissionUse int

const (
	// always: in each token of a repository.
	always permissionUse = iota
	// instead: in each token where the permission that it stands in for is missing.
	instead
	// once: only in the token of the one call that needs it.
	once
	// events: in no token, because only webhook events need it.
	events
)

// Permissions lists what the App can use, the essential ones first.
func Permissions() []Permission {
	return []Permission{
		{Name: "metadata", Level: "read", Essential: true,
			Feature: "Every App has it: the repository's name and id, and what a person may do in it.",
			Lost:    "Nothing works."},
		{Name: "contents", Level: "read", Essential: true,
			Feature: "Reads files at head and base, commits, CODEOWNERS, the repository's configuration.",
			Lost:    "Nothing can be reviewed."},
		{Name: "pull_requests", Level: "write", Essential: true,
			Feature: "Reads pull requests, their files and reviews; writes reviews, comments and reactions.",
			Lost:    "Nothing can be reviewed or answered."},
		{Name: "checks", Level: "write",
			Feature: `Creates and concludes the check run "Liaison" with its annotations; reads the other checks of a head.`,
			Lost: `There is no check run: no annotations and no "Re-run". Where "statuses: write" is granted a commit status takes its place. ` +
				"A review does not wait for other checks."},
		{Name: "issues", Level: "write",
			Feature: "Reads issues and answers on them.",
			Lost:    "Questions on issues are not answered. Pull requests are not affected."},
		{Name: "statuses", Level: "read",
			Feature: `Sees the commit statuses that "review.after: checks" waits for.`,
			Lost:    "A review does not wait for services that report by commit status."},
		{Name: "actions", Level: "read", use: events,
			Feature: "Hears that a workflow run ended, for reviews that wait for checks.",
			Lost:    "A waiting review goes on only at its check suites' ends or at its time limit."},
		{Name: "merge_queues", Level: "read", use: events,
			Feature: "Hears of merge groups, to conclude their check at once.",
			Lost:    `A merge queue that requires the check "Liaison" waits until it gives up.`},
		{Name: "statuses", Level: "write", Optional: true, use: instead,
			Feature: "Sets a commit status where the App may not write checks.",
			Lost:    `Without "checks: write" as well, a review is seen in its comment only.`},
		{Name: "contents", Level: "write", Optional: true, use: once,
			Feature: "Resolves review threads of its own that are dealt with, and merges a pull request where a person approved that. Only the token of that one call has it.",
			Lost:    "Its threads are answered when they are dealt with, and stay open. It cannot merge."},
		{Name: "members", Level: "read", Optional: true, use: once,
			Feature: "Finds out whether somebody is in a team that may approve calls. Only the token of that one call has it.",
			Lost:    "Nobody can decide about a call as the member of a team; people who are named can."},
	}
}

// Lost is a permission that is not granted, and what that means.
type Lost struct {
	Permission
	// Has is the level that is granted, or empty.
	Has string
}

// Lost says what does not work with the permissions that were granted, by name
// and level, as [AppInfo] or an installation has them.
func (c *Channel) Lost(granted map[string]string) []Lost { return lostWith(granted) }

func lostWith(granted map[string]string) []Lost {
	var all []Lost
	for _, p := range Permissions() {
		covered := p.use == instead && atLeast(granted["checks"], "write")
		if !covered && !atLeast(granted[p.Name], p.Level) {
			all = append(all, Lost{Permission: p, Has: granted[p.Name]})
		}
	}
	return all
}

// atLeast compares levels; a level that is not known grants nothing.
func atLeast(have, want string) bool {
	rank := map[string]int{"read": 1, "write": 2, "admin": 3}
	return rank[want] > 0 && rank[have] >= rank[want]
}

// tokenPermissions are those of a repository's token. With granted nil, which
// means not known, it is what the manifest asks for; GitHub gives no token for
// more than was granted.
func tokenPermissions(granted map[string]string) map[string]string {
	want := map[string]string{}
	for _, p := range Permissions() {
		switch {
		case p.use == always, p.use == instead && granted != nil && !atLeast(granted["checks"], "write"):
			want[p.Name] = p.Level
		}
	}
	if granted == nil {
		return want
	}
	for name, level := range maps.Clone(want) {
		switch have := granted[name]; {
		case atLeast(have, level):
		case atLeast(have, "read"):
			want[name] = "read"
		default:
			delete(want, name)
		}
	}
	return want
}

// typedPermissions is the form in which tokens are asked for. A name that it
// has no place for is an error: a token that is asked for no permission at all
// gets every one.
func typedPermissions(perms map[string]string) (*gh.InstallationPermissions, error) {
	raw, err := json.Marshal(perms)
	if err != nil {
		return nil, err
	}
	var typed gh.InstallationPermissions
	if err := json.Unmarshal(raw, &typed); err != nil {
		return nil, err
	}
	if raw, err = json.Marshal(&typed); err != nil {
		return nil, err
	}
	var kept map[string]string
	if err := json.Unmarshal(raw, &kept); err != nil {
		return nil, err
	}
	if len(perms) == 0 || !maps.Equal(kept, perms) {
		return nil, fmt.Errorf("no token can be asked for the permissions %v", perms)
	}
	return &typed, nil
}
