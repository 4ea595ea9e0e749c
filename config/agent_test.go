package config_test

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/config"
)

func TestWhoRunsAndWhoDecides(t *testing.T) {
	t.Parallel()
	if c := load(t); !reflect.DeepEqual(c.Agent, config.Agent{}) {
		t.Errorf("by itself: %+v", c.Agent)
	}
	c := load(t, "LIAISON_AGENT_DIR=my/agent", "LIAISON_APPROVERS_SLACK=U1,W2 , S3", "LIAISON_APPROVERS_GITHUB=@mona,lisa_octo,octo/Shop-Admins,octo_x/ops")
	dir, err := filepath.Abs("my/agent")
	want := config.Agent{Dir: dir, Approvers: config.Approvers{
		Slack: []string{"U1", "W2"}, SlackGroups: []string{"S3"}, GitHub: []string{"mona", "lisa_octo"}, GitHubTeams: []string{"octo/Shop-Admins", "octo_x/ops"},
	}}
	if err != nil || !reflect.DeepEqual(c.Agent, want) {
		t.Errorf("got %+v, want %+v", c.Agent, want)
	}
}

// A list that names nobody who exists would leave the decision to the operator alone.
func TestApproversThatAreNoIDs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ env, value, text string }{
		{config.EnvApproversSlack, "mona", `"mona" is not the id of a person`},
		{config.EnvApproversSlack, "@U1", `"@U1" is not the id`},
		{config.EnvApproversSlack, "U1,C2", `"C2" is not the id`},
		{config.EnvApproversGitHub, "a__b", `"a__b" is neither a login`},
		{config.EnvApproversGitHub, "octo/shop/admins", "is neither a login"},
		{config.EnvApproversGitHub, "dependabot[bot]", "is neither a login"},
		{config.EnvApproversGitHub, "*", "is neither a login"},
	} {
		_, err := config.Load([]string{c.env + "=" + c.value}, writeFile(t, ""))
		var wrong *config.Error
		if !errors.As(err, &wrong) || wrong.Setting != c.env || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s=%s: %v", c.env, c.value, err)
		}
	}
}
