package agent

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/approvals"
	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// approversSetting names people who may decide. Names that people can change are
// not taken: only ids, and GitHub's logins.
type approversSetting struct {
	Slack       []string `json:"slack,omitempty" jsonschema:"Slack user ids, such as U012AB3CD"`
	SlackGroups []string `json:"slackGroups,omitempty" jsonschema:"Ids of Slack user groups, such as S012AB3CD"`
	GitHub      []string `json:"github,omitempty" jsonschema:"GitHub logins"`
	GitHubTeams []string `json:"githubTeams,omitempty" jsonschema:"GitHub teams, as organisation/team"`
	CodeOwners  bool     `json:"codeowners,omitempty" jsonschema:"Whether the code owners of the changed files may decide, where it is about a pull request"`
}

// approvalSettings say who decides about calls.
type approvalSettings struct {
	Approvers         approversSetting            `json:"approvers,omitzero" jsonschema:"Who may decide. Nobody else may but the operator."`
	Escalation        []approversSetting          `json:"escalation,omitempty" jsonschema:"Further people, each group of which may decide too after another half of the time has passed in vain"`
	MinApprovals      *int                        `json:"minApprovals,omitempty" jsonschema:"How many people must approve; 1 by default"`
	SelfApproval      bool                        `json:"selfApproval,omitempty" jsonschema:"Whether the person for whom the agent works may approve; false by default"`
	OperatorMayDecide *bool                       `json:"operatorMayDecide,omitempty" jsonschema:"Whether the operator's token may decide; true by default"`
	ExpiresAfter      *duration                   `json:"expiresAfter,omitempty" jsonschema:"How long people have; 24h by default, 30d at most"`
	HoldFor           *duration                   `json:"holdFor,omitempty" jsonschema:"How long the agent waits within its call before it is told to go on; 45s by default, 10m at most"`
	Repositories      map[string]approversSetting `json:"repositories,omitempty" jsonschema:"Who decides in place of approvers about pull requests of a repository, by owner/name"`
	Channels          map[string]approversSetting `json:"channels,omitempty" jsonschema:"Who decides in place of approvers in threads of a Slack channel, by its id"`
	SlackChannel      string                      `json:"slackChannel,omitempty" jsonschema:"Id of the Slack channel that shows approvals which were not asked for in Slack; without one the listed people are sent direct messages"`
}

var (
	slackUser    = lazyregexp.New(`^[UW][A-Z0-9]{2,20}$`)
	slackGroup   = lazyregexp.New(`^S[A-Z0-9]{2,20}$`)
	slackChannel = lazyregexp.New(`^[CG][A-Z0-9]{2,20}$`)
	// login is GitHub's; one of an enterprise's managed users ends with "_" and the
	// enterprise's short code.
	login      = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9]|-[A-Za-z0-9]){0,38}(?:_[A-Za-z0-9]{1,8})?$`)
	team       = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._-]{1,100}$`)
	repository = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,38}/[A-Za-z0-9._-]{1,100}$`)
)

// approvers checks a list of people.
func (r *reader) approvers(path string, a approversSetting) approvals.Approvers {
	r.each(within(path, "slack"), a.Slack, slackUser, "a Slack user id, such as U012AB3CD; names can be taken by others")
	r.each(within(path, "slackGroups"), a.SlackGroups, slackGroup, "the id of a Slack user group, such as S012AB3CD")
	r.each(within(path, "github"), a.GitHub, login, `a GitHub login without "@"; bots do not decide`)
	r.each(within(path, "githubTeams"), a.GitHubTeams, team, `a GitHub team, such as octo/platform, without "@"`)
	return approvals.Approvers(a)
}

func (r *reader) each(path string, all []string, form *lazyregexp.Regexp, what string) {
	for i, one := range all {
		if !form.MatchString(one) {
			r.at(index(path, i), "is %.100q, which is not %s", one, what)
		}
	}
}

// approvals makes a policy of what is set and what is not.
func (r *reader) approvals(path string, s approvalSettings) Approvals {
	out := Approvals{
		Policy: approvals.Policy{
			Approvers:         r.approvers(within(path, "approvers"), s.Approvers),
			MinApprovals:      1,
			SelfApproval:      s.SelfApproval,
			OperatorMayDecide: s.OperatorMayDecide == nil || *s.OperatorMayDecide,
			ExpiresAfter:      approvals.DefaultExpiresAfter,
			HoldFor:           approvals.DefaultHoldFor,
		},
		Given:        r.has(within(path, "approvers")),
		SlackChannel: s.SlackChannel,
	}
	for i, a := range s.Escalation {
		out.Policy.Escalation = append(out.Policy.Escalation, r.approvers(index(within(path, "escalation"), i), a))
	}
	if s.MinApprovals != nil {
		out.Policy.MinApprovals = r.minApprovals(within(path, "minApprovals"), *s.MinApprovals)
	}
	if d := s.ExpiresAfter; d != nil {
		out.Policy.ExpiresAfter = d.Duration
		if d.Duration <= 0 || d.Duration > approvals.MaxExpiresAfter {
			r.at(within(path, "expiresAfter"), "must be more than nothing and at most %dd", approvals.MaxExpiresAfter/(24*time.Hour))
		}
	}
	if d := s.HoldFor; d != nil {
		out.Policy.HoldFor = d.Duration
		if d.Duration == 0 {
			out.Policy.HoldFor = approvals.NoHold
		}
		if d.Duration < 0 || d.Duration > approvals.MaxHoldFor {
			r.at(within(path, "holdFor"), "must be from 0s to %s", approvals.MaxHoldFor)
		}
	}
	if s.SlackChannel != "" && !slackChannel.MatchString(s.SlackChannel) {
		r.at(within(path, "slackChannel"), "is %.100q, which is not the id of a Slack channel, such as C012AB3CD", s.SlackChannel)
	}
	out.Repositories = r.places(within(path, "repositories"), s.Repositories, repository, "a repository, such as octo/shop", strings.ToLower)
	out.Channels = r.places(within(path, "channels"), s.Channels, slackChannel, "the id of a Slack channel, such as C012AB3CD", strings.Clone)
	r.reachable(within(path, "minApprovals"), out.Policy)
	if out.Given && out.Policy.Approvers.Nobody() && len(out.Policy.Escalation) == 0 {
		r.warn(r.file, r.line(within(path, "approvers")), "approvers names nobody, so that only the operator may decide; "+
			"take it out for LIAISON_APPROVERS_SLACK and LIAISON_APPROVERS_GITHUB to say who may")
	}
	return out
}

// reachable warns of a policy that asks for more people than it names; path is where
// that shows.
func (r *reader) reachable(path string, p approvals.Policy) {
	people := map[string]bool{}
	for _, g := range append([]approvals.Approvers{p.Approvers}, p.Escalation...) {
		if len(g.SlackGroups)+len(g.GitHubTeams) > 0 || g.CodeOwners {
			return // how many those are is seen when it is asked
		}
		for _, id := range g.Slack {
			people["slack:"+id] = true
		}
		for _, name := range g.GitHub {
			people["github:"+strings.ToLower(name)] = true
		}
	}
	if n := len(people); n > 0 && n < p.MinApprovals {
		r.warn(r.file, r.line(path), "%d people must approve, and only %d can: nothing is ever approved", p.MinApprovals, n)
	}
}

// places reads who decides where.
func (r *reader) places(path string, all map[string]approversSetting, form *lazyregexp.Regexp, what string, name func(string) string) map[string]approvals.Approvers {
	var out map[string]approvals.Approvers
	for _, place := range slices.Sorted(maps.Keys(all)) {
		at := within(path, place)
		if !form.MatchString(place) {
			r.at(at, "must be for %s", what)
			continue
		}
		if _, twice := out[name(place)]; twice {
			r.at(at, "is there twice, in another spelling")
			continue
		}
		if out == nil {
			out = map[string]approvals.Approvers{}
		}
		out[name(place)] = r.approvers(at, all[place])
	}
	return out
}

func (r *reader) minApprovals(path string, n int) int {
	if n < 1 || n > approvals.MaxMinApprovals {
		r.at(path, "must be from 1 to %d", approvals.MaxMinApprovals)
	}
	return n
}
