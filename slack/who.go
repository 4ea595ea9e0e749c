package slack

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/liaison-bot/liaison/slack/web"
	"github.com/liaison-bot/liaison/slack/workspace"
)

// denial says why somebody is not answered.
type denial string

// The denials. Who is admitted has none.
const (
	admitted       denial = ""
	deniedApp      denial = "an app that is not on the list of bots"
	deniedNobody   denial = "no account of a person, or one that is deactivated"
	deniedGuest    denial = "a guest of the workspace"
	deniedExternal denial = "somebody of another organisation"
	deniedUser     denial = "not on the list of users"
	deniedChannel  denial = "in a channel that is not on the list"
)

// admittedFor is how long somebody counts as a member after Slack said so.
const admittedFor = 5 * time.Minute

// takes reports whether the operator's list of channels lets anybody speak where a
// request comes from. What comes from no channel, and direct messages, are in no list.
func (s Settings) takes(r request) bool {
	return len(s.Channels) == 0 || r.Channel == "" || r.isDirect() || slices.Contains(s.Channels, r.Channel)
}

// admit says whether somebody may ask for anything here. Ids decide, never names;
// what cannot be read admits nobody.
func (c *Channel) admit(ctx context.Context, r request) (denial, error) {
	s := c.settings
	switch {
	case r.App != "" && !slices.Contains(s.Bots, r.App), r.User == slackbot:
		return deniedApp, nil
	case r.App == "" && r.User == "":
		return deniedNobody, nil
	case !s.takes(r):
		return deniedChannel, nil
	case r.App == "" && len(s.Users) > 0 && !slices.Contains(s.Users, r.User):
		return deniedUser, nil
	}
	who, err := c.standing(ctx, r)
	switch {
	case errors.Is(err, workspace.ErrNotInstalled) && r.interacts():
		// In a shared channel others click too, for whose workspace there is no token.
		return deniedExternal, nil
	case err != nil:
		return deniedNobody, err
	}
	switch {
	case who.gone:
		return deniedNobody, nil
	case who.bot && r.App == "":
		return deniedApp, nil
	case who.external && !s.AllowExternal:
		return deniedExternal, nil
	case who.guest && !s.AllowGuests:
		return deniedGuest, nil
	}
	return admitted, nil
}

// interacts reports whether something was clicked, sent or typed as a command.
func (r request) interacts() bool {
	switch r.Trigger {
	case byCommand, byShortcut, byClick, bySubmit, byAnswer:
		return true
	}
	return false
}

// standing is what somebody is in the workspace in which we are asked.
type standing struct {
	gone, bot, guest, external bool
	// admin is set for admins and owners of the workspace.
	admin bool
}

// standing finds out what who asks is. An app is no more than where it is at home.
func (c *Channel) standing(ctx context.Context, r request) (standing, error) {
	return c.standingAsOf(ctx, r, admittedFor)
}

// standingAsOf is [Channel.standing] where what Slack said may be no older than within.
func (c *Channel) standingAsOf(ctx context.Context, r request, within time.Duration) (standing, error) {
	w, err := c.installation(ctx, r)
	if err != nil {
		return standing{}, err
	}
	at := inside{r.Team, w.Team, r.Enterprise, w.Enterprise}
	if r.App != "" {
		return standing{bot: true, external: r.UserTeam != "" && !at.has(r.UserTeam)}, nil
	}
	u, err := c.web.UserAsOf(ctx, r.place(), r.User, within)
	if errors.Is(err, web.ErrGone) {
		return standing{gone: true}, nil
	}
	if err != nil {
		return standing{}, fmt.Errorf("find out who %s is: %w", r.User, err)
	}
	return standing{
		gone: u.Deleted, bot: u.Bot, guest: u.Guest, admin: u.Admin,
		external: at.foreign(u, r.UserTeam),
	}, nil
}

// installation returns the app's installation where it is asked. That there is none
// is what a token that is not accepted is.
func (c *Channel) installation(ctx context.Context, r request) (workspace.Workspace, error) {
	w, err := c.web.Workspace(ctx, r.place())
	if errors.Is(err, workspace.ErrNotInstalled) || errors.Is(err, workspace.ErrRefused) {
		err = &web.Error{Class: web.ErrAuth, Method: "find the workspace", Err: err}
	}
	return w, err
}

// inside are the ids of the workspaces and organisations of which somebody may be to
// be one of us; empty ones are nobody's.
type inside [4]string

func (in inside) has(id string) bool { return id != "" && slices.Contains(in[:], id) }

// foreign reports whether an account is of another organisation. Home is where what
// it wrote says that it is at home, or empty. Colleagues of another workspace are
// known by the organisation of both.
func (in inside) foreign(u web.User, home string) bool {
	colleague := in.has(u.Enterprise)
	return u.Stranger || !colleague && (!in.has(u.Team) || home != "" && !in.has(home))
}
