package main_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/liaison-bot/liaison/internal/bench/load"
	"github.com/liaison-bot/liaison/internal/sim"
)

// disk is a place for the state that can be full.
type disk interface {
	// fill leaves no room; what is there can still be read.
	fill(p *process)
	// free makes room again.
	free(p *process)
}

// While there is no room webhooks are refused with 503, and so is the question
// whether the service is ready. What was acknowledged takes effect once there is
// room, what was refused does not, and the service need not be started again.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	for name, newDisk := range map[string]func(w *world) disk{
		"limit on the size of files": func(w *world) disk { return &sizeLimit{w} },
		"full volume":                newVolume,
	} {
		for _, killed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, killed=%t", name, killed), func(t *testing.T) {
				t.Parallel()
				fullDisk(t, newDisk, killed)
			})
		}
	}
}

func fullDisk(t *testing.T, newDisk func(w *world) disk, killed bool) {
	w := newWorld(t)
	d := newDisk(w)
	pulls := w.openMany(12)
	// GitHub answers only later, so that much is undecided and undone when the
	// disk is full.
	gate := hold(w.hub)
	p := w.serve("LIAISON_MAX_RUNNING_TURNS=2")
	acknowledged := map[int]bool{}
	for _, pull := range pulls[:4] {
		acknowledged[pull.Number] = p.deliver(w.hub.Event(repo, pull.Number, "opened")) == http.StatusAccepted
		if !acknowledged[pull.Number] {
			t.Fatal("a webhook is refused while there is room")
		}
	}
	d.fill(p)
	p.exhaust()
	p.answers("/readyz", http.StatusServiceUnavailable)
	p.answers("/healthz", http.StatusOK)
	refused := 0
	for _, pull := range pulls[4:] {
		switch status := p.deliver(w.hub.Event(repo, pull.Number, "opened")); status {
		case http.StatusAccepted:
			acknowledged[pull.Number] = true
		case http.StatusServiceUnavailable:
			refused++
		default:
			t.Errorf("a full disk answers with %d", status)
		}
	}
	if refused == 0 {
		t.Error("no webhook is refused while there is no room")
	}
	gate()
	if killed {
		p.kill()
		d.free(p)
		p = w.serve()
	} else {
		d.free(p)
	}
	p.answers("/readyz", http.StatusOK)

	for _, pull := range pulls {
		if acknowledged[pull.Number] {
			w.reviewed(pull.Number, pull.HeadSHA)
		}
	}
	for _, pull := range pulls {
		if acknowledged[pull.Number] {
			continue
		}
		if n, m := len(w.hub.CheckRuns(repo, pull.HeadSHA)), len(w.hub.Comments(repo, pull.Number)); n+m > 0 {
			t.Errorf("a refused delivery led to %d checks and %d comments", n, m)
		}
		p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	}
	for _, pull := range pulls {
		w.reviewed(pull.Number, pull.HeadSHA)
	}
	if status := p.terminate(); status != 0 {
		t.Errorf("stopped with %d", status)
	}
	for _, pull := range pulls {
		w.once(pull.Number, pull.HeadSHA)
	}
	if n := denseRecords(t, w.dir); n != len(pulls) {
		t.Errorf("%d sessions for %d pull requests", n, len(pulls))
	}
	orphans(t, w.dir)
}

// hold holds back what GitHub says of files, until the returned function is called.
func hold(hub *sim.GitHub) (open func()) {
	gate := make(chan struct{})
	undo := hub.Fail(sim.Fault{Method: http.MethodGet, PathPattern: "/repos/*/*/pulls/*/files", Times: -1, Gate: gate})
	return func() {
		undo()
		close(gate)
	}
}

// exhaust sends deliveries that ask for nothing until one is refused.
func (p *process) exhaust() {
	p.w.t.Helper()
	var number atomic.Uint64
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		result, err := load.Run(ctx, load.Plan{
			Addr: strings.TrimPrefix(p.url, "http://"), Secret: webhookSecret, Hook: load.IssueComment(), Number: &number,
			Connections: 4, Count: 100,
		})
		if err != nil || ctx.Err() != nil {
			p.w.t.Fatalf("fill the disk: %v", err)
		}
		for status := range result.Refused {
			if status != http.StatusServiceUnavailable {
				p.w.t.Fatalf("a disk that fills up answers with %d", status)
			}
		}
		if len(result.Refused) > 0 {
			return
		}
	}
}

// answers waits until a path answers with a status. Refusals name the time after
// which to try again where that makes sense.
func (p *process) answers(path string, want int) {
	p.w.t.Helper()
	for end := time.Now().Add(patience); ; {
		response, err := http.Get(p.url + path)
		if err != nil {
			p.w.t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode == want {
			return
		}
		if time.Now().After(end) {
			p.w.t.Fatalf("%s answers %d, want %d", path, response.StatusCode, want)
		}
		<-time.After(100 * time.Millisecond)
	}
}

// sizeLimit is a limit of the process on the size of its files, which it meets
// as EFBIG.
type sizeLimit struct{ w *world }

func (d *sizeLimit) fill(p *process) {
	// No file may have a second byte: also what could be put into free pages fails.
	d.set(p, 1)
}

func (d *sizeLimit) free(p *process) {
	select {
	case <-p.done: // the next process has no limit
	default:
		d.set(p, unix.RLIM_INFINITY)
	}
}

func (d *sizeLimit) set(p *process, most uint64) {
	d.w.t.Helper()
	var limit unix.Rlimit
	if err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_FSIZE, nil, &limit); err != nil {
		d.w.t.Fatal(err)
	}
	limit.Cur = min(most, limit.Max)
	if err := unix.Prlimit(p.Process.Pid, unix.RLIMIT_FSIZE, &limit, nil); err != nil {
		d.w.t.Fatal(err)
	}
}

// volume is a small file system of its own, which is full as disks are: ENOSPC.
type volume struct {
	w       *world
	ballast string
}

// volumeSize is room for the database and for what is fetched for some pull requests.
const volumeSize = 48 << 20

func newVolume(w *world) disk {
	if os.Geteuid() != 0 {
		w.t.Skip("only root can mount a small volume")
	}
	if err := unix.Mount("tmpfs", w.dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=700", volumeSize)); err != nil {
		w.t.Skipf("a small volume cannot be mounted here: %v", err)
	}
	w.t.Cleanup(func() {
		if err := unix.Unmount(w.dir, unix.MNT_DETACH); err != nil {
			w.t.Error(err)
		}
	})
	return &volume{w, filepath.Join(w.dir, "ballast")}
}

// fill takes all that is left, to the last page.
func (d *volume) fill(*process) {
	d.w.t.Helper()
	f, err := os.Create(d.ballast)
	if err != nil {
		d.w.t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size >= 4<<10; size /= 2 {
		block := bytes.Repeat([]byte{1}, size)
		for err == nil {
			_, err = f.Write(block)
		}
		err = nil
	}
}

func (d *volume) free(*process) {
	d.w.t.Helper()
	if err := os.Remove(d.ballast); err != nil {
		d.w.t.Fatal(err)
	}
}
