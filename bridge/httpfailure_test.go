package bridge

import (
	"context"
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// What stands between a client and its bridge may answer in the bridge's place.
func TestAnswersOfAProxy(t *testing.T) {
	t.Parallel()
	observe, send := sdkv1connect.SdkAgentServiceObserveRunProcedure, sdkv1connect.SdkAgentServiceSendProcedure
	tests := []struct {
		name   string
		status int
		path   string
		times  int
		cut    int // bytes of Send
		listed bool
		want   error
	}{
		{"ObserveRun is unavailable for a while", http.StatusServiceUnavailable, observe, 5, 100, true, nil},
		{"ObserveRun is a bad gateway once", http.StatusBadGateway, observe, 1, 100, true, nil},
		{"ObserveRun is too much once", http.StatusTooManyRequests, observe, 1, 100, true, nil},
		{"Send is a bad gateway, but has arrived", http.StatusBadGateway, send, 1, 0, true, nil},
		{"Send is a bad gateway", http.StatusBadGateway, send, 1, 0, false, ErrUnknownOutcome},
		{"Send has timed out", http.StatusGatewayTimeout, send, 1, 0, false, ErrUnknownOutcome},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newCutBridge(t)
			synctest.Test(t, func(t *testing.T) {
				b.cutSend = tt.cut
				if tt.listed {
					b.created = time.Now().Add(time.Hour)
				}
				var seen atomic.Int32
				rest := b.handler()
				agent, end := pipedAgent(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if r.URL.Path == tt.path && int(seen.Add(1)) <= tt.times {
						w.WriteHeader(tt.status)
						return
					}
					rest.ServeHTTP(w, r)
				}), Options{})
				defer end()
				if tt.want == nil {
					if err := b.check(agent); err != nil {
						t.Error(err)
					}
					return
				}
				if _, err := agent.Send(context.Background(), Message{Text: "go"}, SendOptions{}); !errors.Is(err, tt.want) {
					t.Errorf("send = %v, want %v", err, tt.want)
				}
			})
		})
	}
}
