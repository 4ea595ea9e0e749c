package local

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

const (
	// maxRefusalBytes bounds what is kept of an answer to look at it; errors are
	// short, as [maxRefusalText] is for those that quote a request.
	maxRefusalBytes = 64 << 10
	maxRefusalText  = 1 << 10
)

// explained gives the protocol's detail to the refusals of requests that never
// become a call: an unknown path, a wrong content type, JSON that is none, a
// body that is too long. Connect answers those before any interceptor is asked.
func (s *server) explained(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Connect reads what is too long to its end, to keep the connection. What is
		// much too long, or has no end, is not worth that.
		r.Body = http.MaxBytesReader(w, r.Body, 2*int64(s.maxMessageBytes)+maxRefusalBytes)
		held := &heldErrors{ResponseWriter: w}
		next.ServeHTTP(held, r)
		if held.status != 0 {
			s.writeRefusal(w, r, held)
		}
	})
}

// writeRefusal sends an error answer on, with a detail when it has none.
func (s *server) writeRefusal(w http.ResponseWriter, r *http.Request, held *heldErrors) {
	var refusal struct {
		Code    connect.Code      `json:"code"`
		Message string            `json:"message"`
		Details []json.RawMessage `json:"details"`
	}
	body := held.body.Bytes()
	if json.Unmarshal(body, &refusal) != nil || refusal.Code == 0 {
		refusal.Code, refusal.Message = plainRefusal(held.status)
	}
	if len(refusal.Details) == 0 {
		f := &fault{code: refusal.Code, sdk: sdkCodeOf(refusal.Code), text: cut(refusal.Message, maxRefusalText)}
		requestID := s.ids.request()
		s.logger.Debug("request refused", "path", cut(r.URL.Path, maxIDBytes), "request_id", requestID, "code", f.code.String())
		if data, err := f.json(requestID); err == nil {
			body = data
			w.Header().Set("Content-Type", "application/json")
		}
	}
	w.Header().Del("Content-Length")
	w.WriteHeader(held.status)
	_, _ = w.Write(body) // a caller that is gone needs no answer
}

// plainRefusal says what an answer means that has no body, or one that quotes so
// much of the request that it was not kept whole.
func plainRefusal(status int) (connect.Code, string) {
	switch status {
	case http.StatusBadRequest:
		return connect.CodeInvalidArgument, "the request is not the message that this call takes"
	case http.StatusNotFound:
		return connect.CodeUnimplemented, "there is no such call; the path is /sdk.v1.<service>/<method>"
	case http.StatusMethodNotAllowed:
		return connect.CodeInvalidArgument, "calls are made with POST"
	case http.StatusUnsupportedMediaType:
		return connect.CodeInvalidArgument, "the content type is not one of this call: application/json or application/proto, " +
			"and application/connect+json or application/connect+proto for a call that streams"
	default:
		return connect.CodeUnknown, http.StatusText(status)
	}
}

// sdkCodeOf is the protocol's code of an error that has Connect's only.
func sdkCodeOf(code connect.Code) sdkv1.SdkErrorCode {
	switch code {
	case connect.CodeInvalidArgument, connect.CodeResourceExhausted, connect.CodeOutOfRange:
		return sdkv1.SdkErrorCode_SDK_ERROR_CODE_VALIDATION_ERROR
	case connect.CodeUnimplemented:
		return sdkv1.SdkErrorCode_SDK_ERROR_CODE_FEATURE_UNAVAILABLE
	case connect.CodeCanceled, connect.CodeDeadlineExceeded:
		return sdkv1.SdkErrorCode_SDK_ERROR_CODE_CLIENT_CANCELLED
	default:
		return sdkv1.SdkErrorCode_SDK_ERROR_CODE_INTERNAL_ERROR
	}
}

// json is the fault as the body of a unary answer.
func (f *fault) json(requestID string) ([]byte, error) {
	type detail struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	details := f.details(requestID)
	data, err := proto.Marshal(details)
	if err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Code    connect.Code `json:"code"`
		Message string       `json:"message"`
		Details []detail     `json:"details"`
	}{f.code, f.text, []detail{{string(details.ProtoReflect().Descriptor().FullName()), base64.RawStdEncoding.EncodeToString(data)}}})
}

// heldErrors keeps an answer back when its status says that it is an error.
type heldErrors struct {
	http.ResponseWriter
	// status is 0 unless the answer is an error.
	status int
	body   bytes.Buffer
}

func (h *heldErrors) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		h.status = status
		return
	}
	h.ResponseWriter.WriteHeader(status)
}

func (h *heldErrors) Write(p []byte) (int, error) {
	if h.status == 0 {
		return h.ResponseWriter.Write(p)
	}
	room := max(maxRefusalBytes-h.body.Len(), 0)
	h.body.Write(p[:min(len(p), room)])
	return len(p), nil
}

// Flush is asked for by streams, whose status is never an error.
func (h *heldErrors) Flush() {
	if f, ok := h.ResponseWriter.(http.Flusher); ok && h.status == 0 {
		f.Flush()
	}
}

// Unwrap lets a response controller reach the connection.
func (h *heldErrors) Unwrap() http.ResponseWriter { return h.ResponseWriter }
