package main

import (
	"bytes"
	"context"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/agent"
	"github.com/liaison-bot/liaison/bridge"
	"github.com/liaison-bot/liaison/tools"
)

// headersMode makes the test's own executable the command of a connection.
const headersMode = "headers-command"

func connectorWith(env map[string]string, log *bytes.Buffer) connector {
	return connector{
		lookup: func(name string) (string, bool) { value, set := env[name]; return value, set },
		redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") },
		log:    slog.New(slog.NewTextHandler(log, nil)),
	}
}

func TestConnectionsBecomeServers(t *testing.T) {
	t.Parallel()
	def := &agent.Definition{Dir: "/a", Connections: []agent.Connection{
		{Name: "files", Transport: agent.Stdio, Command: "srv", Args: []string{"--root", "${ROOT}"}, Env: map[string]string{"KEY": "${KEY}"}},
		{Name: "docs", Transport: agent.HTTP, URL: "https://docs.example/mcp", Headers: map[string]string{"X-Key": "${KEY}"}},
		{Name: "old", Transport: agent.SSE, URL: "http://127.0.0.1:1/sse"},
		{Name: "ours", Transport: agent.HTTP, URL: "https://ours.example", HostOnly: true},
	}}
	var log bytes.Buffer
	got, err := connectorWith(map[string]string{"ROOT": "/r", "KEY": "k"}, &log).servers(def)(t.Context(), tools.Turn{})
	want := map[string]bridge.MCPServer{
		"files": {Command: "srv", Args: []string{"--root", "/r"}, Env: map[string]string{"KEY": "k"}, Dir: "/a"},
		"docs":  {URL: "https://docs.example/mcp", Transport: bridge.MCPStreamableHTTP, Headers: map[string]string{"X-Key": "k"}},
		"old":   {URL: "http://127.0.0.1:1/sse", Transport: bridge.MCPSSE},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if f := connectorWith(nil, &log).servers(&agent.Definition{Connections: def.Connections[3:]}); f != nil {
		t.Error("the host's own connection is the agent's too")
	}
	for _, c := range []struct {
		one  agent.Connection
		text string
	}{
		{agent.Connection{Name: "docs", Transport: agent.HTTP, URL: "https://${HOST}/mcp"}, "HOST"},
		{agent.Connection{Name: "docs", Transport: agent.HTTP, URL: "${PLAIN}"}, "its url must begin with https://"},
	} {
		env := map[string]string{"PLAIN": "http://docs.example/?key=hunter2"}
		_, err := connectorWith(env, &log).servers(&agent.Definition{Connections: []agent.Connection{c.one}})(t.Context(), tools.Turn{})
		if err == nil || !strings.Contains(err.Error(), c.text) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v", err)
		}
	}
}

func TestACommandGivesHeadersForASession(t *testing.T) {
	t.Parallel()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"PATH": os.Getenv("PATH"), "SystemRoot": os.Getenv("SystemRoot"), "GITHUB_PRIVATE_KEY": "hunter2"}
	for name, c := range map[string]struct {
		does  string
		want  map[string]string
		wrong string
	}{
		"for whom":        {"principal", map[string]string{"X-Key": "k", "Authorization": "Bearer for slack:user:T1:U1 in ses_1"}, ""},
		"replaces":        {`{"X-Key":"other"}`, map[string]string{"X-Key": "other"}, ""},
		"fails":           {"fail", nil, "failed with exit status 3"},
		"floods":          {"flood", nil, "printed more than 65536 bytes"},
		"no JSON":         {"Bearer hunter2", nil, "did not print one JSON object"},
		"no object":       {"null", nil, "did not print one JSON object"},
		"no texts":        {`{"a":1}`, nil, "did not print one JSON object"},
		"more after it":   {`{"a":"b"} {}`, nil, "did not print one JSON object"},
		"splits a header": {`{"a":"b\r\nc: d"}`, nil, "printed something that is no header of HTTP"},
		"no name":         {`{"a b":"c"}`, nil, "printed something that is no header of HTTP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			one := agent.Connection{
				Name: "docs", Transport: agent.HTTP, URL: "https://docs.example", Headers: map[string]string{"X-Key": "k"},
				HeadersCommand: []string{me, headersMode, c.does},
			}
			servers := connectorWith(env, &log).servers(&agent.Definition{Connections: []agent.Connection{one}})
			got, err := servers(t.Context(), tools.Turn{SessionID: "ses_1", Principal: "slack:user:T1:U1"})
			if c.wrong == "" {
				if err != nil || !maps.Equal(got["docs"].Headers, c.want) {
					t.Errorf("got %+v, %v", got["docs"].Headers, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), "connection docs: its headersCommand "+c.wrong) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v", err)
			}
			if said := log.String(); strings.Contains(said, "hunter2") || c.does == "fail" && !strings.Contains(said, "says no to [redacted]") {
				t.Errorf("the log says %s", said)
			}
		})
	}
	t.Run("nothing of the host's", func(t *testing.T) {
		t.Parallel()
		var log bytes.Buffer
		one := agent.Connection{Name: "docs", Transport: agent.HTTP, URL: "https://docs.example", HeadersCommand: []string{me, headersMode, "environment"}}
		got, err := connectorWith(env, &log).servers(&agent.Definition{Connections: []agent.Connection{one}})(t.Context(), tools.Turn{})
		if names := got["docs"].Headers["X-Names"]; err != nil || strings.Contains(names, "GITHUB") || !strings.Contains(names, "LIAISON_SESSION_ID") {
			t.Errorf("it has %q, %v", names, err)
		}
	})
	t.Run("leaves a child that holds its output", func(t *testing.T) {
		t.Parallel()
		if runtime.GOOS != "linux" {
			t.Skip("what a command has left is found out by its output here")
		}
		var log bytes.Buffer
		one := agent.Connection{Name: "docs", Transport: agent.HTTP, URL: "https://docs.example", HeadersCommand: []string{me, headersMode, "leave a child"}}
		got, err := connectorWith(env, &log).servers(&agent.Definition{Connections: []agent.Connection{one}})(t.Context(), tools.Turn{})
		if err != nil || got["docs"].Headers["X-Key"] != "left" {
			t.Errorf("got %+v, %v: the child is still there", got["docs"].Headers, err)
		}
	})
	t.Run("not there", func(t *testing.T) {
		t.Parallel()
		var log bytes.Buffer
		one := agent.Connection{Name: "docs", Transport: agent.HTTP, URL: "https://docs.example", HeadersCommand: []string{me + "-missing"}}
		_, err := connectorWith(env, &log).servers(&agent.Definition{Connections: []agent.Connection{one}})(t.Context(), tools.Turn{})
		if err == nil || !strings.Contains(err.Error(), "cannot be run") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a turn that is over", func(t *testing.T) {
		t.Parallel()
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		one := agent.Connection{Name: "docs", Transport: agent.HTTP, URL: "https://docs.example", HeadersCommand: []string{me, headersMode, "principal"}}
		_, err := connectorWith(env, &log).servers(&agent.Definition{Connections: []agent.Connection{one}})(ctx, tools.Turn{})
		if err == nil || !strings.Contains(err.Error(), "was cut short") {
			t.Errorf("got %v", err)
		}
	})
}
