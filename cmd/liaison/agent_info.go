package main

import (
	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/tools"
)

// info describes the agent that turns are run with now, and what is wrong with its
// folder, which may be newer. Of tools it has those that the agent is offered.
func (a *agents) info() agentInfo {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.look()
	info := describeAgent(a.def, a.source.Problems())
	info.Model = a.current.Model
	info.Tools = offeredInfo(info.Tools, a.tools)
	if a.unusable != nil {
		info.Problems = append(info.Problems, problemInfo{Severity: agent.Error, Text: a.unusable.Error()})
	}
	return info
}

// offeredInfo describes the tools that the host offers, and those of the folder that
// run where the agent does.
func offeredInfo(ofFolder []toolInfo, offered []tools.Tool) []toolInfo {
	all := []toolInfo{}
	flavors := make(map[string]agent.Flavor, len(ofFolder))
	for _, t := range ofFolder {
		flavors[t.Name] = t.Flavor
		if t.Flavor == agent.OnAgent {
			all = append(all, t)
		}
	}
	for _, t := range offered {
		one := toolInfo{
			namedInfo: namedInfo{t.Name, t.Description}, Flavor: agent.Host,
			Effect: t.DescribeEffect(), NeedsApproval: t.DescribeGate(), Timeout: t.Timeout.Seconds(),
		}
		if flavor, named := flavors[t.Name]; named {
			one.Flavor = flavor
		}
		if t.Gate != nil {
			one.Risk = t.Gate.Risk
		}
		all = append(all, one)
	}
	return all
}
