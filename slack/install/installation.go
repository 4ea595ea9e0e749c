package install

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/liaison-bot/liaison/slack/workspace"
)

// Installation is what is known of one, without its tokens.
type Installation struct {
	Workspace workspace.Workspace
	// Whole is set for the installation in a whole organisation.
	Whole bool
	// Installer is the user who installed the app.
	Installer   string
	InstalledAt time.Time
	// Expires is when the token ends; zero where it does not.
	Expires time.Time
	// Spent is set when the token cannot be replaced any more: the app has to be
	// installed anew before Expires.
	Spent bool
}

// record is an installation as it is kept, and sealed before.
type record struct {
	Team        string    `json:"team,omitempty"`
	Enterprise  string    `json:"enterprise,omitempty"`
	Whole       bool      `json:"isEnterpriseInstall,omitempty"`
	BotUser     string    `json:"botUser"`
	BotID       string    `json:"botId,omitempty"`
	App         string    `json:"app,omitempty"`
	Name        string    `json:"name,omitempty"`
	URL         string    `json:"url,omitempty"`
	Scopes      []string  `json:"scopes,omitempty"`
	Token       string    `json:"token"`
	Refresh     string    `json:"refreshToken,omitempty"`
	Expires     time.Time `json:"expires,omitzero"`
	Installer   string    `json:"installer,omitempty"`
	InstalledAt time.Time `json:"installedAt"`
	// Refreshing is set while the refresh token is being used. Found after a crash,
	// it tells why Slack does not take that token any more.
	Refreshing bool `json:"refreshing,omitempty"`
	// Spent is set when Slack refused the refresh token.
	Spent bool `json:"spent,omitempty"`
}

// prefix begins the ids of all records.
const prefix = "slack:"

// The ids of records. Slack's ids have letters and digits only.
func teamID(team string) string             { return prefix + "team:" + team }
func enterpriseID(enterprise string) string { return prefix + "enterprise:" + enterprise }

func (r record) id() string {
	if r.Whole {
		return enterpriseID(r.Enterprise)
	}
	return teamID(r.Team)
}

// expired reports whether the token has ended by a time.
func (r record) expired(at time.Time) bool { return !r.Expires.IsZero() && !at.Before(r.Expires) }

// workspace is the record as the callers of Slack's API need it. The id of the
// team that was asked for is part of an organisation's, which has none itself.
func (r record) workspace(team string) workspace.Workspace {
	if !r.Whole {
		team = r.Team
	}
	return workspace.Workspace{
		Team: team, Enterprise: r.Enterprise, BotUser: r.BotUser, BotID: r.BotID, AppID: r.App,
		Name: r.Name, URL: r.URL, Scopes: r.Scopes, Token: r.Token,
	}
}

func (r record) installation() Installation {
	w := r.workspace("")
	w.Token = ""
	return Installation{
		Workspace: w, Whole: r.Whole, Installer: r.Installer, InstalledAt: r.InstalledAt, Expires: r.Expires, Spent: r.Spent,
	}
}

// encode and decode turn a record into what is sealed.
func (r record) encode() ([]byte, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("slack: the record of %s: %w", r.id(), err)
	}
	return data, nil
}

func decode(id string, data []byte) (record, error) {
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("slack: the record of %s is no JSON object of ours: %w", id, err)
	}
	if r.id() != id {
		return r, fmt.Errorf("slack: the record of %s is that of %s", id, r.id())
	}
	return r, nil
}
