package main

import "github.com/liaison-bot/liaison/tools"

// newTools gathers what agents may call on the host: each surface brings its own.
func newTools(s *service) (*tools.Registry, error) {
	var all []tools.Tool
	if s.github != nil {
		all = append(all, s.github.Tools()...)
	}
	return tools.New(all...)
}
