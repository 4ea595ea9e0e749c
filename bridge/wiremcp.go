package bridge

import (
	"net/url"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func wireMCPServers(op string, servers map[string]MCPServer) (map[string]*sdkv1.McpServerConfig, error) {
	if len(servers) == 0 {
		return nil, nil
	}
	all := make(map[string]*sdkv1.McpServerConfig, len(servers))
	for name, s := range servers {
		if name == "" {
			return nil, invalid(op, "an MCP server has no name")
		}
		w, err := wireMCPServer(op, name, s)
		if err != nil {
			return nil, err
		}
		all[name] = w
	}
	return all, nil
}

// wireMCPServer checks a server and puts it on the wire. Errors name it and
// never show what is in it: commands, headers and variables may hold secrets.
func wireMCPServer(op, name string, s MCPServer) (*sdkv1.McpServerConfig, error) {
	switch {
	case (s.Command == "") == (s.URL == ""):
		return nil, invalid(op, "the MCP server %.80q needs either a Command or a URL", name)
	case s.Command != "" && (s.Transport != "" || s.Headers != nil || s.OAuth != nil):
		return nil, invalid(op, "the MCP server %.80q has a Command; Transport, Headers and OAuth are of servers with a URL", name)
	case s.URL != "" && (s.Args != nil || s.Env != nil || s.Dir != ""):
		return nil, invalid(op, "the MCP server %.80q has a URL; Args, Env and Dir are of servers with a Command", name)
	case s.Command != "":
		return &sdkv1.McpServerConfig{Config: &sdkv1.McpServerConfig_Stdio{Stdio: &sdkv1.StdioMcpServerConfig{
			Command: s.Command, Args: s.Args, Env: s.Env, Cwd: s.Dir,
		}}}, nil
	}
	if u, err := url.Parse(s.URL); err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, invalid(op, "the URL of the MCP server %.80q must begin with http:// or https:// and name a host", name)
	}
	w := &sdkv1.HttpMcpServerConfig{Url: s.URL, Headers: s.Headers}
	switch s.Transport {
	case "", MCPStreamableHTTP:
		w.Type = sdkv1.HttpMcpTransportType_HTTP_MCP_TRANSPORT_TYPE_HTTP
	case MCPSSE:
		w.Type = sdkv1.HttpMcpTransportType_HTTP_MCP_TRANSPORT_TYPE_SSE
	default:
		return nil, invalid(op, "the transport %.40q of the MCP server %.80q is not one of %q and %q",
			s.Transport, name, MCPStreamableHTTP, MCPSSE)
	}
	if s.OAuth != nil {
		w.Auth = &sdkv1.McpAuthConfig{ClientId: s.OAuth.ClientID, ClientSecret: s.OAuth.ClientSecret, Scopes: s.OAuth.Scopes}
	}
	return &sdkv1.McpServerConfig{Config: &sdkv1.McpServerConfig_Http{Http: w}}, nil
}
