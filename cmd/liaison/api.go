package main

import (
	"github.com/liaison-bot/liaison/config"
	"github.com/liaison-bot/liaison/handlers/api"
)

// newAPI makes the HTTP API of a service whose engine exists.
func newAPI(s *service, cfg *config.Config, info *information, logs *api.Logs) *api.API {
	o := api.Options{
		Runtime: s.engine,
		Store:   s.store,
		Keeping: s.keeper,
		Info:    info.snapshot,
		Logs:    logs,
		Token:   cfg.APIToken,
		Logger:  s.log,
	}
	for _, t := range cfg.APITokens {
		o.Tokens = append(o.Tokens, api.Token{Name: t.Name, Token: t.Token})
	}
	if cfg.PublicURL != nil {
		o.PublicURL = cfg.PublicURL.String()
	}
	return api.New(o)
}
