package local

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// post sends what curl would.
func post(t *testing.T, url, contentType, token string, body io.Reader) (status int, header http.Header, answer []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(testContext(t), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", contentType)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	transport := &http.Transport{DisableKeepAlives: true}
	res, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	answer, err = io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, answer
}

// frame puts the five bytes before a streamed message.
func frame(payload string) string {
	head := make([]byte, 5)
	binary.BigEndian.PutUint32(head[1:], uint32(len(payload)))
	return string(head) + payload
}

// unframe takes a streamed answer apart; the last part is the end's.
func unframe(t *testing.T, data []byte) (messages []map[string]any, end map[string]any) {
	t.Helper()
	for len(data) > 0 {
		if len(data) < 5 {
			t.Fatalf("a frame is cut: %q", data)
		}
		n := 5 + int(binary.BigEndian.Uint32(data[1:]))
		var message map[string]any
		if err := json.Unmarshal(data[5:n], &message); err != nil {
			t.Fatal(err)
		}
		if data[0] == 2 {
			return messages, message
		}
		messages = append(messages, message)
		data = data[n:]
	}
	t.Fatal("the end frame is missing")
	return nil, nil
}

const (
	jsonType       = "application/json"
	streamJSONType = "application/connect+json"
)

func TestPlainHTTPDrivesTheBridge(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	dir, err := json.Marshal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	call := func(procedure, body string) map[string]any {
		t.Helper()
		status, _, data := post(t, b.url+"/sdk.v1."+procedure, jsonType, testToken, strings.NewReader(body))
		var out map[string]any
		if err := json.Unmarshal(data, &out); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s %v", procedure, status, data, err)
		}
		return out
	}
	if got := call("SdkBridgeControlService/Ping", "{}"); got["message"] != "pong" {
		t.Errorf("Ping: %v", got)
	}
	if got := call("SdkBridgeControlService/GetVersion", "{}"); got["protocolVersion"] != "sdk.v1" || got["bridgeVersion"] != "test" {
		t.Errorf("GetVersion: %v", got)
	}
	if got := call("SdkCursorService/ListModels", `{"options":{"apiKey":"any"}}`); len(got["items"].([]any)) != 1 {
		t.Errorf("ListModels: %v", got)
	}
	created := call("SdkAgentService/CreateAgent", `{"options":{"apiKey":"any","model":{"id":"scripted"},"local":{"cwd":[`+string(dir)+`]},"someFutureOption":1}}`)
	agent := created["agentId"].(string)

	status, header, data := post(t, b.url+"/sdk.v1.SdkAgentService/Send", streamJSONType, testToken,
		strings.NewReader(frame(`{"agentId":"`+agent+`","message":{"text":"Say hello."}}`)))
	if status != http.StatusOK || header.Get("Content-Type") != streamJSONType {
		t.Fatalf("Send: %d %v", status, header)
	}
	messages, end := unframe(t, data)
	if first := messages[0]["sdkMessage"].(map[string]any); first["type"] != "status" {
		t.Errorf("the first message is %v", first)
	}
	if r := messages[len(messages)-2]["result"].(map[string]any); r["status"] != "RUN_LIFECYCLE_STATUS_FINISHED" {
		t.Errorf("the result is %v", r)
	}
	if _, ok := messages[len(messages)-1]["done"]; !ok {
		t.Errorf("the last message is %v", messages[len(messages)-1])
	}
	if len(end) != 0 {
		t.Errorf("the stream ended with %v", end)
	}

	// Errors of a stream come in its end frame, with the detail.
	_, _, data = post(t, b.url+"/sdk.v1.SdkAgentService/Send", streamJSONType, testToken,
		strings.NewReader(frame(`{"agentId":"agent-x","message":{"text":"x"}}`)))
	if _, end := unframe(t, data); detailOfJSON(t, end["error"].(map[string]any)).GetSdkErrorCode() != sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND {
		t.Errorf("the stream ended with %v", end)
	}

	call("SdkBridgeControlService/Shutdown", `{"graceSeconds":4}`)
	if grace := <-b.server.shutdownAsked(); grace != 4*time.Second {
		t.Errorf("the grace is %v", grace)
	}
}

func TestPlainHTTPGetsErrorsItCanRead(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	status, _, data := post(t, b.url+"/sdk.v1.SdkCursorService/ListModels", jsonType, testToken, strings.NewReader("{}"))
	var failed map[string]any
	if err := json.Unmarshal(data, &failed); err != nil {
		t.Fatal(err)
	}
	if status != http.StatusUnauthorized || failed["code"] != "unauthenticated" {
		t.Errorf("without a key: %d %s", status, data)
	}
	if d := detailOfJSON(t, failed); d.GetSdkErrorCode() != sdkv1.SdkErrorCode_SDK_ERROR_CODE_API_KEY_NOT_FOUND || d.GetRequestId() == "" {
		t.Errorf("the detail is %v", d)
	}
}

// detailOfJSON decodes the detail of a Connect error in JSON.
func detailOfJSON(t *testing.T, failed map[string]any) *sdkv1.SdkErrorDetails {
	t.Helper()
	details, _ := failed["details"].([]any)
	for _, d := range details {
		d := d.(map[string]any)
		if d["type"] != "sdk.v1.SdkErrorDetails" {
			continue
		}
		raw, err := base64.RawStdEncoding.DecodeString(d["value"].(string))
		if err != nil {
			t.Fatal(err)
		}
		out := new(sdkv1.SdkErrorDetails)
		if err := proto.Unmarshal(raw, out); err != nil {
			t.Fatal(err)
		}
		return out
	}
	t.Fatalf("%v has no SdkErrorDetails", failed)
	return nil
}

func TestWithoutTheTokenNothingIsAnswered(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	const bare = `{"code":"unauthenticated","message":"Unauthorized"}`
	for _, token := range []string{"", "wrong", testToken + "x", testToken[:4], " " + testToken} {
		for _, procedure := range []string{"/sdk.v1.SdkBridgeControlService/Ping", "/sdk.v1.SdkBridgeControlService/Shutdown", "/", "/nothing"} {
			status, _, data := post(t, b.url+procedure, jsonType, token, strings.NewReader("{}"))
			if status != http.StatusUnauthorized || string(data) != bare {
				t.Errorf("%s with %q: %d %s", procedure, token, status, data)
			}
		}
		status, _, data := post(t, b.url+"/sdk.v1.SdkAgentService/Send", streamJSONType, token, strings.NewReader(frame("{}")))
		if _, end := unframe(t, data); status != http.StatusOK || !bytes.Contains(data, []byte(bare)) || len(end) != 1 {
			t.Errorf("Send with %q: %d %q", token, status, data)
		}
	}
	select {
	case <-b.server.shutdownAsked():
		t.Error("a stranger shut the bridge down")
	default:
	}
}

// rawConnection speaks HTTP by hand.
func rawConnection(t *testing.T, b *testBridge, text string) *bufio.Reader {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(b.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return bufio.NewReader(conn)
}

func TestTheTokenIsCheckedBeforeABodyIsRead(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	// The body never comes.
	answer := rawConnection(t, b, "POST /sdk.v1.SdkBridgeControlService/Ping HTTP/1.1\r\nHost: x\r\n"+
		"Content-Type: application/json\r\nContent-Length: 1000000\r\n\r\n")
	res, err := http.ReadResponse(answer, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusUnauthorized || !res.Close {
		t.Errorf("got %v, closing %v", res.Status, res.Close)
	}
}

func TestHTTP2IsRefused(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	line, err := rawConnection(t, b, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 505 ") {
		t.Errorf("prior knowledge: %q %v", line, err)
	}
	line, err = rawConnection(t, b, "POST /sdk.v1.SdkBridgeControlService/Ping HTTP/1.1\r\nHost: x\r\n"+
		"Authorization: Bearer "+testToken+"\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n"+
		"Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}").ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 200 ") {
		t.Errorf("an offered upgrade is answered by %q %v, want HTTP/1.1 as before", line, err)
	}
}
