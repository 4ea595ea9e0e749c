package local

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

const (
	validationError    = sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR
	featureUnavailable = sdkv1.SdkErrorCode_SDK_ERROR_CODE_FEATURE_UNAVAILABLE
	agentNotFoundCode  = sdkv1.SdkErrorCode_SDK_ERROR_CODE_AGENT_NOT_FOUND
)

// Whatever is wrong with a request, the caller reads one kind of error.
func TestRequestsThatAreNoCallsAreExplained(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	tests := []struct {
		name, path, contentType, body string
		status                        int
		code                          string
		sdk                           sdkv1.SdkErrorCode
	}{
		{"cut JSON", "SdkAgentService/GetAgent", jsonType, `{"agentId":`, 400, "invalid_argument", validationError},
		{"a number for an id", "SdkAgentService/GetAgent", jsonType, `{"agentId":7}`, 400, "invalid_argument", validationError},
		{"deep JSON", "SdkAgentService/GetAgent", jsonType, strings.Repeat(`{"agentId":`, 1<<10), 400, "invalid_argument", validationError},
		{"no UTF-8", "SdkAgentService/GetAgent", jsonType, `{"agentId":"` + "\xff" + `"}`, 400, "invalid_argument", validationError},
		{"a zero byte", "SdkAgentService/GetAgent", jsonType, `{"agentId":"a` + `\u0000` + `"}`, 400, "invalid_argument", validationError},
		{"an unknown agent", "SdkAgentService/GetAgent", jsonType, `{"agentId":"agent-x"}`, 404, "not_found", agentNotFoundCode},
		{"an unknown field", "SdkAgentService/GetAgent", jsonType, `{"agentId":"agent-x","unknown":[1,2,3]}`, 404, "not_found", agentNotFoundCode},
		{"a value that is too long to quote", "SdkAgentService/ListAgents", jsonType, `{"options":{"limit":"` + strings.Repeat("R", 1<<16) + `"}}`, 400, "invalid_argument", validationError},
		{"a value that an error quotes", "SdkAgentService/ListAgents", jsonType, `{"options":{"limit":"` + strings.Repeat("R", 1<<11) + `"}}`, 400, "invalid_argument", validationError},
		{"too long", "SdkAgentService/GetAgent", jsonType, `"` + strings.Repeat("x", 1<<21-2) + `"`, 429, "resource_exhausted", validationError},
		{"binary that is none", "SdkAgentService/GetAgent", "application/proto", "\xff\xff\xff", 400, "invalid_argument", validationError},
		{"no content type", "SdkAgentService/GetAgent", "", `{}`, 415, "invalid_argument", validationError},
		{"a form", "SdkAgentService/GetAgent", "application/x-www-form-urlencoded", `a=b`, 415, "invalid_argument", validationError},
		{"a stream's type for a call", "SdkAgentService/GetAgent", streamJSONType, `{}`, 415, "invalid_argument", validationError},
		{"a call's type for a stream", "SdkAgentService/Send", jsonType, `{}`, 415, "invalid_argument", validationError},
		{"no such call", "SdkAgentService/NoSuchCall", jsonType, `{}`, 404, "unimplemented", featureUnavailable},
		{"no such service", "NoService/Call", jsonType, `{}`, 404, "unimplemented", featureUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			status, header, data := post(t, b.url+"/sdk.v1."+tt.path, tt.contentType, testToken, strings.NewReader(tt.body))
			var failed map[string]any
			if err := json.Unmarshal(data, &failed); err != nil || header.Get("Content-Type") != jsonType {
				t.Fatalf("%d %v %.200q: %v", status, header, data, err)
			}
			if status != tt.status || failed["code"] != tt.code || len(data) > 4<<10 {
				t.Errorf("got %d %.300q, want %d %s", status, data, tt.status, tt.code)
			}
			d := detailOfJSON(t, failed)
			if d.GetSdkErrorCode() != tt.sdk || d.GetRequestId() == "" || d.GetMessage() != failed["message"] {
				t.Errorf("the detail is %.500v", d)
			}
		})
	}
}

func TestStreamsOfBadFramesAreExplained(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	huge := binary.BigEndian.AppendUint32([]byte{0}, 1<<31)
	tests := []struct {
		name, body string
		code       string
		sdk        sdkv1.SdkErrorCode
	}{
		{"bad JSON", frame(`{"agentId":`), "invalid_argument", validationError},
		{"a frame that is too long", string(huge) + strings.Repeat("x", 1<<22), "resource_exhausted", validationError},
		{"a frame that is cut", string(huge[:3]), "invalid_argument", validationError},
		{"no frame", "", "unimplemented", featureUnavailable},
		{"two frames", frame(`{"agentId":"agent-x"}`) + frame(`{"agentId":"agent-x"}`), "unimplemented", featureUnavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, call := range []string{"Send", "ObserveRun"} {
				_, _, data := post(t, b.url+"/sdk.v1.SdkAgentService/"+call, streamJSONType, testToken, strings.NewReader(tt.body))
				messages, end := unframe(t, data)
				failed, _ := end["error"].(map[string]any)
				if len(messages) != 0 || failed["code"] != tt.code {
					t.Errorf("%s: got %v and %v, want %s", call, messages, failed, tt.code)
					continue
				}
				if d := detailOfJSON(t, failed); d.GetSdkErrorCode() != tt.sdk || d.GetRequestId() == "" {
					t.Errorf("%s: the detail is %v", call, d)
				}
			}
		})
	}
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

func TestABodyWithoutAnEndIsCutOff(t *testing.T) {
	t.Parallel()
	b := startBridge(t, t.TempDir(), answering())
	for _, contentType := range []string{jsonType, "application/proto"} {
		req, err := http.NewRequestWithContext(testContext(t), http.MethodPost, b.url+"/sdk.v1.SdkAgentService/GetAgent", io.NopCloser(endless{}))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Authorization", "Bearer "+testToken)
		transport := &http.Transport{DisableKeepAlives: true}
		// The answer may be lost when the connection is cut; what matters is that it is.
		if res, err := transport.RoundTrip(req); err == nil {
			if res.StatusCode != http.StatusTooManyRequests {
				t.Errorf("got %v", res.Status)
			}
			_ = res.Body.Close()
		}
		transport.CloseIdleConnections()
	}
}

func FuzzRequests(f *testing.F) {
	f.Add([]byte(`{"agentId":"agent-x"}`), false)
	f.Add([]byte(frame(`{"agentId":"agent-x","message":{"text":"x"}}`)), true)
	b := startBridge(f, f.TempDir(), answering())
	handler := b.server.handler()
	f.Fuzz(func(t *testing.T, body []byte, stream bool) {
		call, contentType := "GetAgent", jsonType
		if stream {
			call, contentType = "Send", streamJSONType
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/sdk.v1.SdkAgentService/"+call, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", contentType)
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		switch {
		case stream && w.Code != http.StatusOK, !stream && w.Code < http.StatusBadRequest:
			t.Fatalf("got %d %s", w.Code, w.Body)
		case !bytes.Contains(w.Body.Bytes(), []byte("sdk.v1.SdkErrorDetails")):
			t.Fatalf("there is no detail in %s", w.Body)
		}
	})
}
