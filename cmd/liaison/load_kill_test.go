package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/bench/load"
	"github.com/liaison-bot/liaison/internal/sim"
)

// The service is killed over and over under load: many pull requests are opened
// and pushed to, their deliveries come twice, late and in any order, among
// others that ask for nothing. Whatever was acknowledged takes effect once,
// whatever was refused never does.
func TestKillUnderLoad(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t)
	pulls := w.openMany(soakOr(12, 40))
	forged := w.openRefused()
	s := &mortal{w: w, changed: make(chan struct{})}
	s.start()
	var noise atomic.Uint64
	loud := s.loud(&noise)

	heads := map[int][]string{}
	var sent sync.WaitGroup
	var late []sim.Webhook
	kills := soakOr(4, 55)
	for kill := range kills {
		hooks := late
		late = nil
		for _, pull := range pulls {
			head, action := pull.HeadSHA, "opened"
			if kill > 0 {
				if random.IntN(3) > 0 {
					continue
				}
				more := fmt.Sprintf("package main\n\nvar more = %d\n", kill)
				head, action = w.hub.Push(repo, pull.Number, map[string]sim.Change{"more.go": sim.Write(more)}), "synchronize"
			}
			heads[pull.Number] = append(heads[pull.Number], head)
			hook := w.hub.Event(repo, pull.Number, action)
			if random.IntN(4) == 0 {
				late = append(late, hook)
			} else {
				hooks = append(hooks, hook)
			}
			if random.IntN(4) == 0 {
				hooks = append(hooks, hook)
			}
		}
		random.Shuffle(len(hooks), func(i, j int) { hooks[i], hooks[j] = hooks[j], hooks[i] })
		for _, hook := range hooks {
			sent.Go(func() { s.insist(hook) })
		}
		for _, pull := range forged {
			sent.Go(func() { s.forge(w.hub.Event(repo, pull.Number, "opened")) })
		}
		<-time.After(time.Duration(random.Int64N(int64(1500 * time.Millisecond))))
		s.kill()
		// GitHub dates what happens to the second, and order is told by it.
		<-time.After(time.Until(time.Now().Truncate(time.Second).Add(time.Second)))
		s.start()
		w.hub.ForgetRequests()
	}
	for _, hook := range late {
		sent.Go(func() { s.insist(hook) })
	}
	sent.Wait()
	for _, pull := range pulls {
		all := heads[pull.Number]
		w.reviewed(pull.Number, all[len(all)-1])
	}
	loud()
	w.settled(pulls, heads)
	s.get().decided()
	if status := s.get().terminate(); status != 0 {
		t.Errorf("stopped with %d", status)
	}
	orphans(t, w.dir)
	t.Logf("%d kills, %d deliveries besides", kills, noise.Load())

	for _, pull := range pulls {
		all := heads[pull.Number]
		w.once(pull.Number, all[len(all)-1])
	}
	for _, pull := range forged {
		if n, m := len(w.hub.CheckRuns(repo, pull.HeadSHA)), len(w.hub.Comments(repo, pull.Number)); n+m > 0 {
			t.Errorf("a refused delivery led to %d checks and %d comments", n, m)
		}
	}
	if n := denseRecords(t, w.dir); n != len(pulls) {
		t.Errorf("%d sessions for %d pull requests", n, len(pulls))
	}
}

// openRefused opens pull requests whose deliveries are all refused.
func (w *world) openRefused() []*sim.PullRequest {
	var pulls []*sim.PullRequest
	for i := range 2 {
		pulls = append(pulls, w.hub.OpenPullRequest(repo, sim.NewPullRequest{
			Title: "Never heard of", Author: "mona", Branch: fmt.Sprintf("refused-%d", i),
			Files: map[string]sim.Change{"refused.go": sim.Write("package main\n")},
		}))
	}
	return pulls
}

// settled waits until no head has an open check, and fails where one has several.
func (w *world) settled(pulls []*sim.PullRequest, heads map[int][]string) {
	w.t.Helper()
	for _, pull := range pulls {
		for _, head := range heads[pull.Number] {
			w.wait("the end of "+head, func() bool {
				for _, c := range w.hub.CheckRuns(repo, head) {
					if c.Status != "completed" {
						return false
					}
				}
				return true
			})
			if n := len(w.hub.CheckRuns(repo, head)); n > 1 {
				w.t.Errorf("%d checks on %s", n, head)
			}
		}
	}
}

// decided waits until nothing that was stored waits for a decision, and fails if
// something was given up.
func (p *process) decided() {
	p.w.t.Helper()
	var page struct {
		Deliveries []json.RawMessage
		Dead       []json.RawMessage
		Next       int64
	}
	ask := func(path string) {
		response, err := http.Get(p.url + path)
		if err != nil {
			p.w.t.Fatal(err)
		}
		defer response.Body.Close()
		page.Next = 0
		if err := json.NewDecoder(response.Body).Decode(&page); err != nil || response.StatusCode != http.StatusOK {
			p.w.t.Fatalf("%s: %s, %v", path, response.Status, err)
		}
	}
	for end := time.Now().Add(patience); ; <-time.After(retryAfter) {
		ask("/v1/deliveries?status=pending&limit=1")
		for page.Next > 0 && len(page.Deliveries) == 0 {
			ask(fmt.Sprintf("/v1/deliveries?status=pending&limit=1&before=%d", page.Next))
		}
		if len(page.Deliveries) == 0 {
			break
		}
		if time.Now().After(end) {
			p.w.t.Fatalf("still undecided: %s", page.Deliveries[0])
		}
	}
	if ask("/v1/dead"); len(page.Dead) > 0 {
		p.w.t.Errorf("given up: %s", page.Dead)
	}
}

// mortal is a service that is killed and started again while others talk to it.
type mortal struct {
	w *world

	mu      sync.Mutex
	process *process
	changed chan struct{} // closed when there is another process
}

// start is for the test's own goroutine.
func (s *mortal) start() {
	p := s.w.serve("LIAISON_MAX_RUNNING_TURNS=4", "LIAISON_LOG_LEVEL=info")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process = p
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *mortal) kill() { s.get().kill() }

func (s *mortal) get() *process {
	p, _ := s.now()
	return p
}

func (s *mortal) now() (*process, <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process, s.changed
}

// retryAfter is how soon a sender tries again, unless a new process comes first.
const retryAfter = 500 * time.Millisecond

// insist sends a delivery until it is acknowledged.
func (s *mortal) insist(hook sim.Webhook) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for {
		p, changed := s.now()
		status, err := s.w.hub.Deliver(ctx, p.url+"/webhooks/github", hook)
		switch {
		case err == nil && status == http.StatusAccepted:
			return
		case err == nil && status != http.StatusServiceUnavailable:
			s.w.t.Errorf("%s: status %d", hook.DeliveryID, status)
			return
		}
		select {
		case <-changed:
		case <-time.After(retryAfter):
		case <-ctx.Done():
			s.w.t.Errorf("%s was never acknowledged: %v", hook.DeliveryID, err)
			return
		}
	}
}

// forge sends a delivery that must be refused: signed with another secret, and
// signed well but larger than any that GitHub sends.
func (s *mortal) forge(hook sim.Webhook) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	url := s.get().url + "/webhooks/github"
	large := hook
	large.Body = append(bytes.Clone(hook.Body), bytes.Repeat([]byte(" "), 26<<20)...)
	for want, request := range map[int]*http.Request{
		http.StatusUnauthorized:          hook.Request(ctx, url, "another secret"),
		http.StatusRequestEntityTooLarge: large.Request(ctx, url, webhookSecret),
	} {
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			continue // it was killed, or hung up on so much
		}
		response.Body.Close()
		if response.StatusCode != want {
			s.w.t.Errorf("status %d, want %d", response.StatusCode, want)
		}
	}
}

// loud keeps connections busy with deliveries that ask for nothing, so that
// each process leaves many undecided to the next. It returns how to end that.
func (s *mortal) loud(count *atomic.Uint64) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() {
		for ctx.Err() == nil {
			p, changed := s.now()
			// The error is that the process was killed.
			_, _ = load.Run(ctx, load.Plan{
				Addr: strings.TrimPrefix(p.url, "http://"), Secret: webhookSecret, Hook: load.IssueComment(), Number: count,
				Connections: soakOr(4, 16), Duration: time.Hour,
			})
			select {
			case <-changed:
			case <-time.After(retryAfter):
			case <-ctx.Done():
			}
		}
	})
	return func() {
		cancel()
		ended.Wait()
	}
}

// denseRecords reads the record of every session and returns how many there
// are. Indexes have no gap, and each turn that was queued has ended once.
func denseRecords(t *testing.T, dir string) int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "sessions", "*", "events.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var next int64
		ends := map[string]int{}
		for line := range bytes.Lines(data) {
			var event struct {
				Type, TurnID string
				Index        int64
			}
			if err := json.Unmarshal(line, &event); err != nil {
				t.Fatalf("%s: %v: %s", path, err, line)
			}
			if event.Index != next {
				t.Fatalf("%s: index %d comes where %d should", path, event.Index, next)
			}
			next++
			switch event.Type {
			case "turn.queued":
				ends[event.TurnID] += 0
			case "turn.completed", "turn.failed":
				ends[event.TurnID]++
			}
		}
		for turn, n := range ends {
			if n != 1 {
				t.Errorf("%s: turn %s ended %d times", path, turn, n)
			}
		}
	}
	return len(paths)
}
