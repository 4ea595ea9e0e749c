package bridge

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

func TestArtifacts(t *testing.T) {
	t.Parallel()
	c := newClient(t, fakeOptions(t, fakeScript{Answers: answers("ListArtifacts",
		`{"artifacts":[{"path":"out/a.txt","sizeBytes":"12","updatedAt":"2026-01-02T03:04:05Z"},{"path":"b","sizeBytes":"18446744073709551615","updatedAt":"?"}]}`)}))
	got, err := newAgent(t, c).Artifacts(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, got, []Artifact{
		{Path: "out/a.txt", Size: 12, Updated: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		{Path: "b", Size: 1<<63 - 1},
	})
}

// fullDisk takes a few bytes and no more.
type fullDisk struct{ room int }

var errFull = errors.New("the disk is full")

func (d *fullDisk) Write(p []byte) (int, error) {
	n := min(len(p), d.room)
	d.room -= n
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestDownload(t *testing.T) {
	t.Parallel()
	text := []fakeChunk{{Text: "one "}, {}, {Text: "two "}, {Text: "three"}}
	t.Run("whole", func(t *testing.T) {
		t.Parallel()
		record := recordFile(t)
		c := newClient(t, fakeOptions(t, fakeScript{Record: record, Chunks: text}))
		var b bytes.Buffer
		n, err := newAgent(t, c).Artifact(testContext(t), "out/a.txt", &b)
		if err != nil || n != 13 || b.String() != "one two three" {
			t.Errorf("%d bytes %q, %v", n, b.String(), err)
		}
		expect(t, recorded(t, record, "DownloadArtifact"), []string{`{"agentId":"agent-1","path":"out/a.txt"}`})
	})
	t.Run("large", func(t *testing.T) {
		t.Parallel()
		const piece, pieces = 1 << 20, 48 // more than one message may have
		chunks := make([]fakeChunk, pieces)
		for i := range chunks {
			chunks[i].Bytes = piece
		}
		c := newClient(t, fakeOptions(t, fakeScript{Chunks: chunks}))
		disk := &fullDisk{room: piece * pieces}
		n, err := newAgent(t, c).Artifact(testContext(t), "big", disk)
		if err != nil || n != piece*pieces || disk.room != 0 {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
	t.Run("cut", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, fakeOptions(t, fakeScript{Chunks: append(text[:1:1], fakeChunk{Break: true})}))
		var b bytes.Buffer
		n, err := newAgent(t, c).Artifact(testContext(t), "p", &b)
		if err == nil || n != 4 || b.String() != "one " {
			t.Errorf("%d bytes %q, %v: half a file must not look like a whole one", n, b.String(), err)
		}
	})
	t.Run("to a full disk", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, fakeOptions(t, fakeScript{Chunks: append(text[:3:3], fakeChunk{Hang: true})}))
		n, err := newAgent(t, c).Artifact(testContext(t), "p", &fullDisk{room: 6})
		if !errors.Is(err, errFull) || n != 6 {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		o := fakeOptions(t, fakeScript{Chunks: append(text[:1:1], fakeChunk{Hang: true})})
		c := newClient(t, o)
		a := newAgent(t, c)
		c.supervisor.last().callTimeout = 50 * time.Millisecond // only the download is to feel it
		n, err := a.Artifact(testContext(t), "p", new(bytes.Buffer))
		var e *Error
		if !errors.As(err, &e) || e.Code != "deadline_exceeded" || !strings.Contains(e.Message, "50ms") || n > 4 {
			t.Errorf("%d bytes, %v", n, err)
		}
	})
	t.Run("given up", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, fakeOptions(t, fakeScript{Chunks: append(text[:1:1], fakeChunk{Hang: true})}))
		ctx, cancel := context.WithCancel(testContext(t))
		_, err := newAgent(t, c).Artifact(ctx, "p", writer(func(p []byte) (int, error) { cancel(); return len(p), nil }))
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, fakeOptions(t, fakeScript{}))
		_, err := newAgent(t, c).Artifact(testContext(t), "", new(bytes.Buffer))
		expectInvalid(t, err, "path")
	})
}

type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }
