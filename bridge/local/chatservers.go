package local

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/bridge/local/chat"
	"github.com/liaison-bot/liaison/bridge/local/toolserver"
	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// readServers orders servers of tools by name. Errors show nothing of what is in
// one: commands, headers and variables may hold secrets.
func readServers(defined map[string]*sdkv1.McpServerConfig) ([]toolserver.Server, error) {
	var out []toolserver.Server
	for _, name := range slices.Sorted(maps.Keys(defined)) {
		if !callable(name) {
			return nil, invalid("options.mcp_servers has the name %.80q; a name has 1 to 64 letters, digits, _ and -", name)
		}
		s := toolserver.Server{Name: name}
		switch program, service := defined[name].GetStdio(), defined[name].GetHttp(); {
		case program.GetCommand() != "":
			s.Command, s.Args, s.Env, s.Dir = program.GetCommand(), program.GetArgs(), program.GetEnv(), program.GetCwd()
		case service.GetAuth() != nil:
			return nil, unavailableFeature("this bridge does not sign in to MCP servers with OAuth; give server " + name + " headers instead")
		case service.GetUrl() != "":
			s.URL, s.Headers = service.GetUrl(), service.GetHeaders()
			s.SSE = service.GetType() == sdkv1.HttpMcpTransportType_HTTP_MCP_TRANSPORT_TYPE_SSE
		default:
			return nil, invalid("the MCP server %s has neither a command nor a url", name)
		}
		out = append(out, s)
	}
	return out, nil
}

// inDir starts programs that name no directory in the agent's.
func inDir(servers []toolserver.Server, dir string) []toolserver.Server {
	servers = slices.Clone(servers)
	for i := range servers {
		if servers[i].Command != "" && servers[i].Dir == "" {
			servers[i].Dir = dir
		}
	}
	return servers
}

// serverTools adds the tools of the run's servers, each as SERVER_TOOL. One whose
// name is taken gets another, which its description says.
func (r *chatRun) serverTools(out []chat.Tool) []chat.Tool {
	if r.servers == nil {
		return out
	}
	for _, t := range r.servers.Tools {
		wanted := t.Server + "_" + t.Name
		name := chat.OfferedName(wanted, func(n string) bool {
			return slices.ContainsFunc(out, func(t chat.Tool) bool { return t.Name == n })
		})
		description := t.Description
		if name != wanted {
			description = fmt.Sprintf("The tool %q of the server %s. %s", t.Name, t.Server, description)
			r.engine.logger.Info("a tool of a server is offered under another name", "server", t.Server, "tool", cut(t.Name, maxIDBytes), "name", name)
		}
		out = append(out, chat.Tool{
			Name: name, Description: description, Schema: t.Schema,
			Call: func(ctx context.Context, c chat.Invocation) chat.Output {
				shown := chat.Invocation{ID: c.ID, Args: map[string]any{"providerIdentifier": t.Server, "toolName": t.Name, "args": c.Args}}
				return r.showCall(ctx, toolMCP, shown, func(ctx context.Context) chat.Output {
					text, failed, err := t.Call(ctx, c.Args)
					if err != nil {
						return chat.Output{Text: err.Error(), Failed: true}
					}
					return chat.Output{Text: text, Failed: failed}
				})
			},
		})
	}
	return out
}

// serversPrompt tells a model of servers that it does not have after all.
func serversPrompt(set *toolserver.Set) string {
	if set == nil || len(set.Failures) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\nThese servers of tools cannot be used now. Say so if the answer depends on one:\n\n")
	for _, name := range slices.Sorted(maps.Keys(set.Failures)) {
		fmt.Fprintf(&b, "- %s: %s\n", name, set.Failures[name])
	}
	return b.String()
}
