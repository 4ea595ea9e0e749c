package web

import (
	"context"
	"errors"

	"github.com/slack-go/slack"
)

// GroupMembers returns the ids of who is in a user group (S…), which may be two
// minutes old. That there is no such group is an error of class [ErrGone].
func (c *Client) GroupMembers(ctx context.Context, at Place, group string) ([]string, error) {
	key := knownKey{at.Team, group}
	if e, ok := c.members.get(key); ok {
		return e.value, e.err
	}
	var said struct {
		Users []string `json:"users"`
	}
	err := c.do(ctx, call{method: "usergroups.users.list", at: at, into: &said}, func(ctx context.Context, api *slack.Client) error {
		var options []slack.GetUserGroupMembersOption
		if at.Enterprise != "" { // a token of an organisation has to say of which workspace
			options = append(options, slack.GetUserGroupMembersOptionTeamID(at.Team))
		}
		_, err := api.GetUserGroupMembersContext(ctx, group, options...)
		return err
	})
	if err == nil || errors.Is(err, ErrGone) {
		c.members.put(key, said.Users, err, refusedFor)
	}
	return said.Users, err
}

// GroupHandle returns what people write after the "@" for a user group, which may
// be an hour old, and nothing for a group that is not there.
func (c *Client) GroupHandle(ctx context.Context, at Place, group string) (string, error) {
	key := knownKey{at.Team, "usergroups"}
	e, ok := c.handles.get(key)
	if ok {
		return e.value[group], e.err
	}
	var said struct {
		Groups []struct {
			ID     string `json:"id"`
			Handle string `json:"handle"`
		} `json:"usergroups"`
	}
	err := c.do(ctx, call{method: "usergroups.list", at: at, into: &said}, func(ctx context.Context, api *slack.Client) error {
		var options []slack.GetUserGroupsOption
		if at.Enterprise != "" {
			options = append(options, slack.GetUserGroupsOptionTeamID(at.Team))
		}
		_, err := api.GetUserGroupsContext(ctx, options...)
		return err
	})
	handles := make(map[string]string, len(said.Groups))
	for _, g := range said.Groups {
		handles[g.ID] = g.Handle
	}
	lasts := knownFor
	if err != nil {
		lasts = refusedFor
	}
	if err == nil || errors.Is(err, ErrAuth) { // without the scope there are only ids
		c.handles.put(key, handles, err, lasts)
	}
	return handles[group], err
}
