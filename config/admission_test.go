package config_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/config"
)

func TestAdmissionByGitHub(t *testing.T) {
	t.Parallel()
	c, err := config.Load(gitHubOn(t), noFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if want := (config.Admission{ActorPerDay: 50, PullPerDay: 50, RepositoryPerDay: 500}); !reflect.DeepEqual(c.GitHub.Admission, want) {
		t.Errorf("by default %+v", c.GitHub.Admission)
	}
	c, err = config.Load(gitHubOn(t, "LIAISON_GITHUB_BOTS=7, 8", "LIAISON_GITHUB_ACTOR_PER_DAY=1", "LIAISON_GITHUB_PULL_PER_DAY=2",
		"LIAISON_GITHUB_REPOSITORY_PER_DAY=100000"), noFile(t))
	if err != nil {
		t.Fatal(err)
	}
	if want := (config.Admission{AllowedBots: []int64{7, 8}, ActorPerDay: 1, PullPerDay: 2, RepositoryPerDay: 100_000}); !reflect.DeepEqual(c.GitHub.Admission, want) {
		t.Errorf("got %+v", c.GitHub.Admission)
	}
	for setting, says := range map[string]string{
		"LIAISON_GITHUB_BOTS=renovate[bot]":        "Names prove nothing",
		"LIAISON_GITHUB_BOTS=0":                    "numeric user id",
		"LIAISON_GITHUB_ACTOR_PER_DAY=0":           "from 1 to 100000",
		"LIAISON_GITHUB_PULL_PER_DAY=many":         "from 1 to 100000",
		"LIAISON_GITHUB_REPOSITORY_PER_DAY=100001": "from 1 to 100000",
	} {
		_, err := config.Load(gitHubOn(t, strings.Fields(setting)...), noFile(t))
		if (says == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", setting, err)
		}
	}
}
