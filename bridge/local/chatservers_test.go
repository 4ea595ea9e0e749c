package local

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// toolServerMode makes the test's own executable a server of tools.
const toolServerMode = "LIAISON_TEST_TOOL_SERVER"

type asked struct {
	Word string `json:"word"`
}

// echoServer has a tool that says what it was given, and one that fails.
func echoServer() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "say", Description: "Says a word."}, func(_ context.Context, _ *mcp.CallToolRequest, in asked) (*mcp.CallToolResult, any, error) {
		text := in.Word + " " + os.Getenv("GREETING") + os.Getenv("OPENAI_API_KEY")
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
	})
	mcp.AddTool(s, &mcp.Tool{Name: "fail", Description: "Fails."}, func(context.Context, *mcp.CallToolRequest, asked) (*mcp.CallToolResult, any, error) {
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no such word"}}}, nil, nil
	})
	return s
}

// TestServeTools is no test: it is what a run starts as a server of tools.
func TestServeTools(t *testing.T) {
	if os.Getenv(toolServerMode) == "" {
		t.Skip("this is started by other tests")
	}
	_ = echoServer().Run(t.Context(), &mcp.StdioTransport{}) // until its input ends
}

func httpServer(url string, kind sdkv1.HttpMcpTransportType) *sdkv1.McpServerConfig {
	return &sdkv1.McpServerConfig{Config: &sdkv1.McpServerConfig_Http{Http: &sdkv1.HttpMcpServerConfig{
		Url: url, Type: kind, Headers: map[string]string{"Authorization": "Bearer hunter2-hunter2"},
	}}}
}

func TestAModelCallsToolsOfServers(t *testing.T) {
	t.Parallel()
	me, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	guarded := func(h http.Handler) *httptest.Server {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer hunter2-hunter2" {
				http.Error(w, "no", http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		return server
	}
	of := func(*http.Request) *mcp.Server { return echoServer() }
	for name, config := range map[string]*sdkv1.McpServerConfig{
		"a program": {Config: &sdkv1.McpServerConfig_Stdio{Stdio: &sdkv1.StdioMcpServerConfig{
			Command: me, Args: []string{"-test.run=^TestServeTools$"}, Env: map[string]string{toolServerMode: "1", "GREETING": "world"},
		}}},
		"over HTTP": httpServer(guarded(mcp.NewStreamableHTTPHandler(of, nil)).URL, sdkv1.HttpMcpTransportType_HTTP_MCP_TRANSPORT_TYPE_HTTP),
		"over SSE":  httpServer(guarded(mcp.NewSSEHandler(of, nil)).URL, sdkv1.HttpMcpTransportType_HTTP_MCP_TRANSPORT_TYPE_SSE),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := chattest.Start(t, chattest.Call("echo_say", `{"word":"hello"}`, "echo_fail", `{"word":"x"}`), chattest.Say("Done."))
			b := startBridge(t, t.TempDir(), chatOver(t, server, nil))
			agent := b.createAgent(onModel("test-model"), in(t.TempDir()), func(o *sdkv1.AgentOptions) {
				o.McpServers = map[string]*sdkv1.McpServerConfig{"echo": config}
			})
			rest(t, b.send(agent, "Go."))
			requests := server.Asked()
			if offered := requests[0].Offered(); !slices.Contains(offered, "echo_say") || !slices.Contains(offered, "echo_fail") {
				t.Fatalf("it is offered %v: %s", offered, requests[0].Messages[0].Text())
			}
			results := requests[1].Messages[3:]
			if !strings.HasPrefix(results[0].Text(), "hello") || results[1].Text() != "Error: no such word" {
				t.Errorf("it reads %q and %q", results[0].Text(), results[1].Text())
			}
			if name == "a program" && results[0].Text() != "hello world" {
				t.Errorf("the program's environment makes it say %q", results[0].Text())
			}
		})
	}
}

func TestServersThatCannotBeUsedAreTold(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t, chattest.Say("Done."), chattest.Say("Done."))
	log := new(stderr)
	b := startBridge(t, t.TempDir(), chatOver(t, server, slog.New(slog.NewTextHandler(log, nil))))
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "not with "+r.Header.Get("Authorization"), http.StatusForbidden)
	}))
	t.Cleanup(refusing.Close)
	servers := func(o *sdkv1.AgentOptions) {
		o.McpServers = map[string]*sdkv1.McpServerConfig{
			"gone":   {Config: &sdkv1.McpServerConfig_Stdio{Stdio: &sdkv1.StdioMcpServerConfig{Command: "/nowhere/server"}}},
			"closed": httpServer(refusing.URL, sdkv1.HttpMcpTransportType_HTTP_MCP_TRANSPORT_TYPE_HTTP),
		}
	}
	rest(t, b.send(b.createAgent(onModel("test-model"), in(t.TempDir()), servers), "Go."))
	system := server.Asked()[0].Messages[0].Text()
	if !strings.Contains(system, "- closed: the connection failed\n- gone: it cannot be started\n") {
		t.Errorf("it is told %s", system)
	}
	if said := log.String(); strings.Count(said, "a server of tools cannot be used") != 2 || strings.Contains(said, "hunter2") {
		t.Errorf("the log says %s", said)
	}
	// Whose policy leaves no "mcp" is connected to nothing.
	denied := func(o *sdkv1.AgentOptions) { o.DisallowedTools = []string{"mcp"} }
	rest(t, b.send(b.createAgent(onModel("test-model"), in(t.TempDir()), servers, denied), "Go."))
	if system := server.Asked()[1].Messages[0].Text(); strings.Contains(system, "gone") {
		t.Errorf("it is told %s", system)
	}
}
