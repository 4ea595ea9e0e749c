package main_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	usage "github.com/liaison-bot/liaison/internal/bench/process"
)

// streamMemory is what the service may take with two thousand live streams.
const streamMemory = 300 << 20

// Very many sessions are followed at once while they are talked to. Whoever
// reads sees every event once and in order; whoever does not read harms nobody;
// other requests are served, and the memory stays within bounds.
func TestManyStreams(t *testing.T) {
	t.Parallel()
	n := descriptors(t, soakOr(100, 2000))
	w := newWorld(t)
	measured := raceFlag == "-race=false"
	if soakOr(0, 1) == 1 && !measured {
		// The race detector takes several times as much memory.
		w.binary, measured = plainBinary(t), true
	}
	p := w.serve("CURSOR_SDK_BRIDGE_BIN="+testModelBridge(w), "LIAISON_MODEL=liaison-echo", "LIAISON_MAX_RUNNING_TURNS=4", "LIAISON_LOG_LEVEL=info")
	c := &streamClient{t: t, p: p, http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
	defer c.http.CloseIdleConnections()
	p.awaitRunning()

	// One in twenty never reads, and one in twenty only at the end. The first two such
	// sessions say more than the buffers of a connection hold.
	talks := make([]*talk, n)
	c.many(n, func(i int) {
		talks[i] = &talk{manner: reading, message: "say hello\nthink well\nrepeat 5 say and some words more"}
		switch i % 20 {
		case 0:
			talks[i].manner = dead
		case 1:
			talks[i].manner = slow
		case 2:
			talks[i].manner = serverSent
		}
		if i < 2 {
			talks[i].message = "repeat 10 fill 500000"
		}
		c.start(talks[i])
	})
	var readers sync.WaitGroup
	defer readers.Wait()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	opened := make(chan struct{}, n)
	for _, k := range talks {
		stream, err := c.open(ctx, k, 0)
		if err != nil {
			t.Fatal(err)
		}
		k.stream = stream
		if k.manner == reading || k.manner == serverSent {
			readers.Go(func() { c.read(k, opened) })
		}
	}
	following := 0
	for _, k := range talks {
		if k.manner == reading || k.manner == serverSent {
			following++
		}
	}
	// Each has seen its first turn: from here on everything comes live.
	for range following {
		<-opened
	}
	c.many(n, func(i int) { c.followUp(talks[i]) })

	// Meanwhile the service does what it is there for.
	pull := w.open("Meanwhile")
	if status := p.deliver(w.hub.Event(repo, pull.Number, "opened")); status != http.StatusAccepted {
		t.Errorf("a webhook beside %d streams: %d", n, status)
	}
	for _, path := range []string{"/healthz", "/readyz", "/v1/sessions", "/v1/info"} {
		p.answers(path, http.StatusOK)
	}
	for range following {
		<-opened
	}
	used, err := usage.Of(p.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d streams: %d MiB anonymous, %d MiB of files, %d MiB at the peak", n, used.Anonymous>>20, used.Mapped>>20, used.Peak>>20)
	if measured && used.Peak > streamMemory {
		t.Errorf("%d streams took %d bytes at the peak, more than %d", n, used.Peak, streamMemory)
	}

	// Who was slow reads what there is, and goes on where it was left.
	for _, k := range talks {
		if k.manner == slow {
			c.catchUp(ctx, k)
		}
	}
	// A stop does not wait for those who follow.
	if status := p.terminate(); status != 0 {
		t.Errorf("stopped with %d", status)
	}
	readers.Wait()
	for _, k := range talks {
		k.stream.Close()
	}
	orphans(t, w.dir)
}

// descriptors returns how many streams this process can have beside the
// service's: each costs a descriptor on both sides.
func descriptors(t *testing.T, wanted int) int {
	t.Helper()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	const others = 500
	if most := int(min(limit.Max, 1<<20)) - others; most < wanted {
		t.Logf("no more than %d files may be open here: %d streams instead of %d", limit.Max, most, wanted)
		return most
	}
	return wanted
}

// testModelBridge is our own bridge with its test model, which does what the
// lines of a message say.
func testModelBridge(w *world) string {
	w.t.Helper()
	path := filepath.Join(w.t.TempDir(), "bridge")
	script := fmt.Sprintf("#!/bin/sh\nLIAISON_BRIDGE_TEST_MODEL=1 exec '%s' bridge serve \"$@\"\n", w.binary)
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// plainBinary builds the program as it is shipped.
func plainBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "liaison")
	build := exec.Command("go", "build", "-o", path, ".")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return path
}

// manner is how a follower reads.
type manner int

const (
	reading manner = iota
	serverSent
	slow
	dead
)

// talk is a session with one follower.
type talk struct {
	manner      manner
	message     string
	id, token   string
	stream      io.ReadCloser
	next, turns int64
}

type streamClient struct {
	t    *testing.T
	p    *process
	http *http.Client
}

// many does something for each of n, sixteen at a time.
func (c *streamClient) many(n int, do func(i int)) {
	next := make(chan int)
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	all.Wait()
}

func (c *streamClient) start(k *talk) {
	k.id, k.token = c.post("/v1/session", map[string]string{"message": k.message})
}

func (c *streamClient) followUp(k *talk) {
	c.post("/v1/session/"+k.id, map[string]string{"message": k.message, "continuationToken": k.token, "admission": "coalesce"})
}

func (c *streamClient) post(path string, body any) (id, token string) {
	data, err := json.Marshal(body)
	if err != nil {
		c.t.Error(err)
		return "", ""
	}
	response, err := c.http.Post(c.p.url+path, "application/json", bytes.NewReader(data))
	if err != nil {
		c.t.Error(err)
		return "", ""
	}
	defer response.Body.Close()
	var sent struct{ SessionID, ContinuationToken, Message string }
	if err := json.NewDecoder(response.Body).Decode(&sent); err != nil || response.StatusCode != http.StatusOK {
		c.t.Errorf("%s: %s, %s, %v", path, response.Status, sent.Message, err)
	}
	return sent.SessionID, sent.ContinuationToken
}

// open follows a session on a connection of its own, whose buffer is small.
func (c *streamClient) open(ctx context.Context, k *talk, from int64) (io.ReadCloser, error) {
	dialer := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 16<<10)
		})
	}}
	transport := &http.Transport{DisableKeepAlives: true, DialContext: dialer.DialContext}
	url := fmt.Sprintf("%s/v1/session/%s/stream?startIndex=%d", c.p.url, k.id, from)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if k.manner == serverSent {
		request.Header.Set("Accept", "text/event-stream")
	}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		response.Body.Close()
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return response.Body, nil
}

// read reads a stream until it ends, and tells of each turn that is over.
func (c *streamClient) read(k *talk, over chan<- struct{}) {
	lines := bufio.NewReader(k.stream)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			if !errors.Is(err, io.EOF) {
				c.t.Errorf("session %s: its stream broke: %v", k.id, err)
			}
			if k.turns < 2 {
				c.t.Errorf("session %s: its stream ended after %d turns", k.id, k.turns)
			}
			return
		}
		if k.manner == serverSent {
			data, isData := bytes.CutPrefix(line, []byte("data: "))
			if !isData {
				continue
			}
			line = data
		}
		if c.take(k, line) {
			over <- struct{}{}
		}
	}
}

// take checks one event, and reports whether it ends a turn.
func (c *streamClient) take(k *talk, line []byte) (over bool) {
	var event struct {
		Type, SessionID string
		Index           int64
		Data            json.RawMessage
	}
	switch err := json.Unmarshal(line, &event); {
	case err != nil:
		c.t.Errorf("session %s: %v: %.200s", k.id, err, line)
	case event.SessionID != k.id || event.Index != k.next:
		c.t.Errorf("session %s: event %d of %s comes where %d should", k.id, event.Index, event.SessionID, k.next)
	case event.Type == "turn.failed":
		c.t.Errorf("session %s: a turn failed: %s", k.id, event.Data)
	}
	k.next = event.Index + 1
	if event.Type != "turn.completed" && event.Type != "turn.failed" {
		return false
	}
	k.turns++
	return true
}

// catchUp reads a stream that nobody has read so far, and where the service has
// dropped it follows again from the index behind the last whole event.
func (c *streamClient) catchUp(ctx context.Context, k *talk) {
	for k.turns < 2 {
		lines := bufio.NewReader(k.stream)
		before := k.next
		for k.turns < 2 {
			line, err := lines.ReadString('\n')
			if err != nil {
				break
			}
			c.take(k, []byte(strings.TrimSpace(line)))
		}
		k.stream.Close()
		stream, err := c.open(ctx, k, k.next)
		if err != nil {
			c.t.Errorf("session %s: follow again from %d: %v", k.id, k.next, err)
			return
		}
		if k.stream = stream; k.next == before && k.turns < 2 {
			c.t.Errorf("session %s: nothing comes after %d", k.id, k.next)
			return
		}
	}
}
