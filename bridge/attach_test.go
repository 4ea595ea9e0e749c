package bridge

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestAttach(t *testing.T) {
	// A proxy of the environment must not see calls to the bridge.
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	record := recordFile(t)
	fake := &fakeBridge{script: fakeScript{Record: record, Run: finished("ok")}, cancelled: make(chan struct{}, 4), known: map[string]bool{}}
	server := httptest.NewServer(fake.handler())
	defer server.Close()

	c := newClient(t, Options{URL: server.URL, Token: fakeToken, APIKey: "k"})
	ctx := testContext(t)
	run := send(t, newAgent(t, c))
	if text, err := run.Text(ctx); err != nil || text != "ok" {
		t.Fatalf("text = %q, %v", text, err)
	}
	if c.Exited() != nil {
		t.Error("Exited knows of a process that is not ours")
	}
	if err := c.Close(ctx); err != nil {
		t.Fatal(err)
	}
	if got := recorded(t, record, "Shutdown"); len(got) != 0 {
		t.Error("a bridge that someone else runs was shut down")
	}

	wrong := newClient(t, Options{URL: server.URL, Token: "wrong-token-000"})
	err := wrong.Ping(ctx)
	if !errors.Is(err, ErrBridgeToken) {
		t.Errorf("ping with a wrong token = %v, want ErrBridgeToken", err)
	}
	if strings.Contains(err.Error(), "wrong-token-000") {
		t.Errorf("the error has the token: %v", err)
	}

	server.Close()
	gone := newClient(t, Options{URL: server.URL, Token: fakeToken})
	if err := gone.Ping(ctx); !errors.Is(err, ErrUnavailable) || ClassOf(err) != ClassRetry {
		t.Errorf("ping of nobody = %v, want ErrUnavailable", err)
	}
}
