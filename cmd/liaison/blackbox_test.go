package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/internal/sim/openapi"
)

func TestPullRequestIsReviewedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve()
	pull := w.open("Say hello")
	opened := w.hub.Event(repo, pull.Number, "opened")
	if status := p.deliver(opened); status != http.StatusAccepted {
		t.Fatalf("opened: %d", status)
	}
	check, comment := w.reviewed(pull.Number, pull.HeadSHA)
	if check.Name != "Liaison" || check.AppID != appID || check.Conclusion == "failure" {
		t.Errorf("check %+v", check)
	}
	if comment.AppID != appID {
		t.Errorf("comment by App %d", comment.AppID)
	}

	// The same delivery again, fifty times at once.
	var posts sync.WaitGroup
	for range 50 {
		posts.Go(func() {
			if status := p.deliver(opened); status != http.StatusAccepted {
				t.Errorf("repeat: %d", status)
			}
		})
	}
	posts.Wait()

	head := w.hub.Push(repo, pull.Number, map[string]sim.Change{"more.go": sim.Write("package main\n\nvar more = 1\n")})
	if status := p.deliver(w.hub.Event(repo, pull.Number, "synchronize")); status != http.StatusAccepted {
		t.Fatalf("synchronize: %d", status)
	}
	_, second := w.reviewed(pull.Number, head)
	if second.ID != comment.ID || second.Edits == 0 {
		t.Errorf("comment %d became %d with %d edits", comment.ID, second.ID, second.Edits)
	}
	w.once(pull.Number, pull.HeadSHA)
	if status := p.terminate(); status != 0 {
		t.Errorf("stopped with %d", status)
	}
}

// One fact under two delivery ids, as an organisation's and a repository's hook send it.
func TestOneFactUnderTwoDeliveryIDs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve()
	pull := w.open("Twice told")
	first := w.hub.Event(repo, pull.Number, "opened")
	second := first
	second.DeliveryID += "-again"
	p.deliver(first)
	p.deliver(second)
	w.reviewed(pull.Number, pull.HeadSHA)
	p.terminate()
	p = w.serve()
	p.terminate()
	w.once(pull.Number, pull.HeadSHA)
}

// soakOr returns how often to repeat: the sample, or the count of "make soak".
func soakOr(sample, soak int) int {
	if os.Getenv("LIAISON_SOAK") != "" {
		return soak
	}
	return sample
}

// kill -9 at any moment after the 202: after a restart the review appears, once.
func TestKillAtAnyMoment(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	for i := range soakOr(6, 200) {
		// From before the first decision to after the last write.
		after := time.Duration(random.Int64N(int64(1500 * time.Millisecond)))
		if i == 0 {
			after = 0
		}
		t.Run(fmt.Sprintf("seed %d after %s", seed, after), func(t *testing.T) {
			w := newWorld(t)
			p := w.serve()
			pull := w.open("Survive")
			if status := p.deliver(w.hub.Event(repo, pull.Number, "opened")); status != http.StatusAccepted {
				t.Fatalf("opened: %d", status)
			}
			<-time.After(after)
			p.kill()
			p = w.serve()
			w.reviewed(pull.Number, pull.HeadSHA)
			p.terminate()
			w.once(pull.Number, pull.HeadSHA)
			orphans(t, w.dir)
		})
	}
}

// orphans fails if a process that names the state directory is left. Only Linux shows.
func orphans(t *testing.T, dir string) {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range commands {
		data, err := os.ReadFile(path)
		if err == nil && bytes.Contains(data, []byte(dir)) {
			t.Errorf("still running: %s", bytes.ReplaceAll(data, []byte{0}, []byte(" ")))
		}
	}
}

// A stop in the middle of a review hands it over: nobody sees a cancelled check.
func TestStopHandsTheTurnOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := make(chan struct{})
	w.hub.Fail(sim.Fault{Method: http.MethodGet, PathPattern: "/repos/*/*/pulls/*/files", Times: 1, Gate: gate})
	p := w.serve()
	pull := w.open("Interrupted by a deploy")
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	w.wait("the check in progress", func() bool {
		checks := w.hub.CheckRuns(repo, pull.HeadSHA)
		return len(checks) == 1 && checks[0].Status == "in_progress"
	})
	begin := time.Now()
	if status := p.terminate(); status != 0 {
		t.Errorf("stopped with %d", status)
	}
	if took := time.Since(begin); took > 25*time.Second {
		t.Errorf("the stop took %s", took)
	}
	if c := w.hub.CheckRuns(repo, pull.HeadSHA)[0]; c.Status != "in_progress" {
		t.Errorf("after the stop the check is %s %s", c.Status, c.Conclusion)
	}
	close(gate)
	p = w.serve()
	check, _ := w.reviewed(pull.Number, pull.HeadSHA)
	if check.Conclusion == "cancelled" || check.Conclusion == "failure" {
		t.Errorf("conclusion %s: %s", check.Conclusion, check.Summary)
	}
	p.terminate()
}

// A push during a review cancels it and starts on the new head.
func TestPushDuringAReview(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := make(chan struct{})
	w.hub.Fail(sim.Fault{Method: http.MethodGet, PathPattern: "/repos/*/*/pulls/*/files", Times: 1, Gate: gate})
	p := w.serve()
	pull := w.open("Overtaken")
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	w.wait("the first check", func() bool { return len(w.hub.CheckRuns(repo, pull.HeadSHA)) == 1 })
	head := w.hub.Push(repo, pull.Number, map[string]sim.Change{"main.go": sim.Write("package main\n")})
	p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
	w.wait("the cancelled check", func() bool {
		c := w.hub.CheckRuns(repo, pull.HeadSHA)[0]
		return c.Status == "completed" && c.Conclusion == "cancelled"
	})
	close(gate)
	w.reviewed(pull.Number, head)
	for _, c := range w.hub.Comments(repo, pull.Number) {
		if strings.Contains(c.Body, pull.HeadSHA[:7]) {
			t.Errorf("the comment speaks of the old head: %s", c.Body)
		}
	}
	p.terminate()
}

// An older push that arrives after a newer one changes nothing.
func TestLateOldPush(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serve()
	pull := w.open("Out of order")
	opened := w.hub.Event(repo, pull.Number, "opened")
	middle := w.hub.Push(repo, pull.Number, map[string]sim.Change{"a.go": sim.Write("package main\n")})
	late := w.hub.Event(repo, pull.Number, "synchronize")
	head := w.hub.Push(repo, pull.Number, map[string]sim.Change{"b.go": sim.Write("package main\n")})
	p.deliver(w.hub.Event(repo, pull.Number, "synchronize"))
	w.reviewed(pull.Number, head)
	p.deliver(late)
	p.deliver(opened)
	p.terminate()
	w.serve().terminate()
	if n := len(w.hub.CheckRuns(repo, middle)) + len(w.hub.CheckRuns(repo, pull.HeadSHA)); n != 0 {
		t.Errorf("%d checks on old heads", n)
	}
	w.once(pull.Number, head)
}

// GitHub answers 502 after it did what was asked.
func TestLostAnswersDoNotDouble(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/repos/*/*/check-runs", "/repos/*/*/issues/*/comments", "/repos/*/*/check-runs/*"} {
		for _, method := range []string{http.MethodPost, http.MethodPatch} {
			t.Run(method+" "+path, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.hub.Fail(sim.Fault{Method: method, PathPattern: path, Times: 1, Status: http.StatusBadGateway, AfterEffect: true})
				p := w.serve()
				pull := w.open("Lost answer")
				p.deliver(w.hub.Event(repo, pull.Number, "opened"))
				w.reviewed(pull.Number, pull.HeadSHA)
				p.terminate()
				w.once(pull.Number, pull.HeadSHA)
			})
		}
	}
}

// A planted credential appears in no log, event, prompt, comment or answer.
func TestPlantedCredentialsAppearNowhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const (
		inEnvironment = "planted-operator-token-5f2a"
		inBadBody     = "planted-in-a-bad-body-91c4"
	)
	inPayload := "ghp_" + "aB3dE5fG7hJ9kL1m" + "N2pQ4rS6tU8vW0xY2zA4" // in two parts, so that no scanner takes it for a leak
	p := w.serve("LIAISON_API_TOKEN="+inEnvironment, "CURSOR_API_KEY=planted-vendor-key-77aa", "OPENAI_API_KEY=planted-model-key-88bb",
		"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "LIAISON_MODEL=liaison-reviewer") // nobody is there, and nobody else is asked

	bad := sim.Webhook{DeliveryID: "bad-signature", Event: "pull_request", Body: []byte(`{"title":"` + inBadBody + `"}`)}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	response, err := http.DefaultClient.Do(bad.Request(ctx, p.url+"/webhooks/github", "not the secret"))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusUnauthorized {
		t.Errorf("bad signature: %d", response.StatusCode)
	}

	pull := w.hub.OpenPullRequest(repo, sim.NewPullRequest{
		Title: "Use " + inPayload, Body: "The token is " + inPayload, Author: "mona", Branch: "topic",
		Files: map[string]sim.Change{"config.go": sim.Write("package main\n\nconst token = \"" + inPayload + "\"\n")},
	})
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	_, comment := w.reviewed(pull.Number, pull.HeadSHA)
	if !strings.Contains(comment.Body, "config.go") {
		t.Errorf("the review does not warn of the credential: %s", comment.Body)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/v1/info", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+inEnvironment)
	info, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	infoBody, err := io.ReadAll(info.Body)
	if err != nil || info.StatusCode != http.StatusOK {
		t.Fatalf("info: %d %v", info.StatusCode, err)
	}
	info.Body.Close()
	p.terminate()

	seen := map[string]string{
		"the answer to a bad signature": string(answer),
		"the log":                       w.log.String(),
		"GET /v1/info":                  string(infoBody),
	}
	for _, c := range w.hub.CheckRuns(repo, pull.HeadSHA) {
		seen["the check"] = c.Title + c.Summary + c.Text
	}
	for i, c := range w.hub.Comments(repo, pull.Number) {
		seen["comment "+strconv.Itoa(i)] = c.Body
	}
	// What the bridge was told and what it answered is below the state directory,
	// as are the events. The raw delivery and the evidence are kept as they came.
	err = filepath.WalkDir(w.dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			if entry != nil && entry.IsDir() && (entry.Name() == "workspace" || entry.Name() == "blobs" || entry.Name() == "intake") {
				return fs.SkipDir
			}
			return err
		}
		if strings.HasPrefix(entry.Name(), "liaison.db") {
			return nil
		}
		data, err := os.ReadFile(path)
		seen[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range seen {
		for _, planted := range []string{inEnvironment, inBadBody, inPayload, "planted-vendor-key", "planted-model-key", webhookSecret, "PRIVATE KEY"} {
			if strings.Contains(text, planted) {
				t.Errorf("%q is in %s", planted, where)
			}
		}
	}
}

func TestSecondProcessIsTold(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.serve()
	second := exec.Command(binary, "serve")
	second.Env = w.environment()
	out, err := second.CombinedOutput()
	if err == nil || second.ProcessState.ExitCode() != 1 {
		t.Errorf("the second process left with %v", err)
	}
	if !strings.Contains(string(out), "another process") || !strings.Contains(string(out), strconv.Itoa(first.Process.Pid)) {
		t.Errorf("it says %s", out)
	}
	first.terminate()
}

func TestNoChannel(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.serveWith([]string{"PATH=" + os.Getenv("PATH"), "LIAISON_ADDR=127.0.0.1:0", "LIAISON_STATE_DIR=" + w.dir, "LIAISON_LOG_FORMAT=json"})
	if !strings.Contains(w.log.String(), "no webhooks are taken") {
		t.Error("the log does not say that no webhooks are taken")
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 200, "/v1/info": 200, "/webhooks/github": 404} {
		response, err := http.Get(p.url + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want || !json.Valid(body) {
			t.Errorf("%s: %d %s", path, response.StatusCode, body)
		}
	}
	p.terminate()
}

func TestDemo(t *testing.T) {
	t.Parallel()
	exchanges := filepath.Join(t.TempDir(), "exchanges.ndjson")
	c := exec.Command(binary, "demo", "--once", "--exchanges", exchanges)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + t.TempDir()}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"answered 202", "in progress", "evidence: ", "agent calls", "payments/client.go", "updated in place", "I answer this after", ":octagonal_sign:", "Done: octo/shop#2", "Verified on the simulators' side"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not shown:\n%s", want, out)
		}
	}
	judgeExchanges(t, exchanges)
}

// judgeExchanges holds what the demo sent and got to GitHub's description, where
// there is one.
func judgeExchanges(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	watch := openapi.Watch(t)
	written := map[string]bool{}
	for line := range bytes.Lines(data) {
		var x sim.Exchange
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatal(err)
		}
		written[x.Method] = true
		if watch != nil {
			watch(x)
		}
	}
	if !written["POST"] || !written["PATCH"] || !written["GET"] {
		t.Errorf("the demo shows requests of the methods %v only", written)
	}
}
