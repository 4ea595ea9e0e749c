package main

import (
	"slices"
	"testing"

	"github.com/liaison-bot/liaison/github"
	"github.com/liaison-bot/liaison/slack"
	"github.com/liaison-bot/liaison/tools"
)

// A folder is held against the tools that the surfaces bring, without any of them.
func TestWhatIsKnownOfTheServicesTools(t *testing.T) {
	t.Parallel()
	var names []string
	for _, one := range append(new(github.Channel).Tools(), new(slack.Channel).Tools()...) {
		names = append(names, one.Name)
		asks := false
		if one.Gate != nil {
			var err error
			if asks, err = one.Gate.Needs(tools.Call{}); err != nil {
				t.Errorf("%s: %v", one.Name, err)
			}
		}
		if asks != asksAlways(one.Name) {
			t.Errorf("%s asks by its code: %t", one.Name, asks)
		}
	}
	slices.Sort(names)
	if !slices.Equal(names, hostTools()) {
		t.Errorf("the surfaces bring %q, and known are %q", names, hostTools())
	}
}
