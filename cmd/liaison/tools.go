package main

import "github.com/liaison-bot/liaison/tools"

// toolsOfService gathers the service's own tools: each surface brings those that act on it.
func toolsOfService(s *service) []tools.Tool {
	var all []tools.Tool
	if s.github != nil {
		all = append(all, s.github.Tools()...)
	}
	if s.slack != nil {
		all = append(all, s.slack.Tools()...)
	}
	return all
}
