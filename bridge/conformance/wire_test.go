package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge"
)

func wireBoxes() []box {
	return []box{
		{"token: a call without it is unauthenticated, bare of details", nothing, callWithoutToken},
		{"token: a stream without it is unauthenticated too", nothing, streamWithoutToken},
		{"token: a wrong one is told apart from a refused API key", nothing, wrongToken},
		{"token: in a file that only its owner reads", nothing, tokenFileIsPrivate},
		{"errors: a failed call has the bridge's own code and the whole request id", anAccount, failedCall},
		{"errors: what is not in the contract yet does not break the bridge", nothing, unknownFields},
		{"shutdown: the call ends the process", nothing, shutdownCall},
	}
}

// raw is a bridge that was started without the SDK.
type raw struct {
	url, token, tokenFile string
	exited                <-chan struct{}
}

// startRaw starts the bridge by hand and ends it with the test.
func startRaw(t *testing.T, to target) raw {
	t.Helper()
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(testContext(t))
	cmd := exec.CommandContext(ctx, to.executable, append(to.args, "--workspace", dir, "--state-root", dir)...)
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir, "SYSTEMROOT=" + os.Getenv("SYSTEMROOT"),
		"CURSOR_SDK_CLIENT_LANGUAGE=go",
	}, to.env...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		lines := bufio.NewReader(stderr)
		for {
			line, err := lines.ReadString('\n')
			if text, ok := strings.CutPrefix(line, "cursor-sdk-bridge ready "); ok {
				ready <- text
			}
			if err != nil {
				break
			}
		}
		_ = cmd.Wait() // killed, or ended by the test
	}()
	t.Cleanup(func() { cancel(); <-exited })
	var said struct{ URL, AuthTokenFile, AuthToken string }
	select {
	case line := <-ready:
		if err := json.Unmarshal([]byte(line), &said); err != nil {
			t.Fatal(err)
		}
	case <-exited:
		t.Fatal("the bridge has ended before its ready line")
	}
	if said.AuthToken == "" {
		token, err := os.ReadFile(said.AuthTokenFile)
		if err != nil {
			t.Fatal(err)
		}
		said.AuthToken = strings.TrimSpace(string(token))
	}
	return raw{url: said.URL, token: said.AuthToken, tokenFile: said.AuthTokenFile, exited: exited}
}

// post sends a body as it stands and returns the status and what was answered.
func (r raw) post(t *testing.T, method, token, contentType string, body []byte) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(testContext(t), http.MethodPost, r.url+"/sdk.v1."+method, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := (&http.Client{Transport: transport}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, answer
}

func callWithoutToken(t *testing.T, to target) {
	status, body := startRaw(t, to).post(t, "SdkBridgeControlService/Ping", "", "application/json", []byte("{}"))
	var answer struct {
		Code    string            `json:"code"`
		Details []json.RawMessage `json:"details"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || status != http.StatusUnauthorized || answer.Code != "unauthenticated" || len(answer.Details) != 0 {
		t.Errorf("a call without the token is answered with %d %s", status, body)
	}
}

func streamWithoutToken(t *testing.T, to target) {
	message := []byte(`{"agentId":"nobody","message":{"text":"hello"}}`)
	frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	status, body := startRaw(t, to).post(t, "SdkAgentService/Send", "", "application/connect+json", append(frame, message...))
	if !bytes.Contains(body, []byte("unauthenticated")) && status != http.StatusUnauthorized {
		t.Errorf("a stream without the token is answered with %d %q", status, body)
	}
}

func wrongToken(t *testing.T, to target) {
	client, err := bridge.New(bridge.Options{URL: startRaw(t, to).url, Token: "not-the-token", APIKey: to.key})
	if err != nil {
		t.Fatal(err)
	}
	ctx := testContext(t)
	defer func() { _ = client.Close(ctx) }()
	if err := client.Ping(ctx); !errors.Is(err, bridge.ErrBridgeToken) || errors.Is(err, bridge.ErrAPIKey) || !errors.Is(err, bridge.ErrUnauthenticated) {
		t.Errorf("got %v", err)
	}
}

func failedCall(t *testing.T, to target) {
	_, err := to.client(t, nil).Agents().Get(testContext(t), "agent-that-nobody-made")
	var failed *bridge.Error
	if !errors.As(err, &failed) || !errors.Is(err, bridge.ErrNotFound) || failed.SDKCode == "" || failed.RequestID == "" {
		t.Errorf("got %#v", err)
	}
}

// unknownFields sends what a later version of the contract may have.
func unknownFields(t *testing.T, to target) {
	r := startRaw(t, to)
	status, body := r.post(t, "SdkBridgeControlService/Ping", r.token, "application/json", []byte(`{"fieldOfALaterVersion":{"deep":[1,2]}}`))
	if status != http.StatusOK || !bytes.Contains(body, []byte("pong")) {
		t.Errorf("answered with %d %s", status, body)
	}
}

func shutdownCall(t *testing.T, to target) {
	r := startRaw(t, to)
	status, body := r.post(t, "SdkBridgeControlService/Shutdown", r.token, "application/json", []byte(`{"graceSeconds":1}`))
	if status != http.StatusOK {
		t.Errorf("answered with %d %s", status, body)
	}
	select {
	case <-r.exited:
	case <-testContext(t).Done():
		t.Error("the process is still there")
	}
}
