package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/terminal"
	"github.com/liaison-bot/liaison/slack/setup"
)

// update shows where an app is not as its manifest has it, and changes that.
func (s *setupSlack) update(ctx context.Context) error {
	token, err := s.configToken(ctx, "")
	if err != nil {
		return err
	}
	if token == "" {
		return unusable(errors.New("an app can only be updated with a configuration token (" + envSlackConfigToken + "); " +
			"or put what --manifest-only prints in on the app's page, under \"App Manifest\""))
	}
	r := setup.NewRegistrar(s.site, s.client(), token)
	has, err := r.Export(ctx, s.app)
	if err != nil {
		return err
	}
	manifest, differences, err := s.manifest.Onto(has)
	if err != nil {
		return err
	}
	if len(differences) == 0 {
		_, err := fmt.Fprintf(s.con.out, "The app %s is as it should be.\n", s.app)
		return err
	}
	fmt.Fprintf(s.con.out, "The app %s differs from its manifest:\n\n", s.app)
	for _, d := range differences {
		fmt.Fprintln(s.con.out, terminal.Text(d.String()))
	}
	if !s.yes {
		fmt.Fprint(s.con.out, "\nUpdate it? [y/N] ")
		answer, err := s.answers.Next(ctx, false)
		if ctx.Err() != nil {
			return err
		}
		if !strings.HasPrefix(strings.ToLower(answer), "y") {
			_, err := fmt.Fprintln(s.con.out, "\nNothing was changed.")
			return err
		}
	}
	reinstall, err := r.Update(ctx, s.app, manifest)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.con.out, "\nUpdated the app %s.\n", s.app)
	if reinstall {
		fmt.Fprintf(s.con.out, "It asks for other scopes now, which count once it is installed again: %s\n", s.site.AppPage(s.app, "install-on-team"))
	}
	return nil
}
