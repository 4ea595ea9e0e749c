package main_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/internal/sim/openapi"
)

// binary is the real program, built once. The tests of this package know
// nothing of it but its command line, its files and what it does to the world.
var binary string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == headersMode {
		os.Exit(runHeadersCommand(os.Args))
	}
	os.Exit(runMain(m))
}

func runMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "liaison-test-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	binary = filepath.Join(dir, "liaison")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	build := exec.Command("go", "build", raceFlag, "-ldflags", "-X main.version=v0.0.0-test", "-o", binary, ".")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the binary under test: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

const (
	appID         = 4711
	installation  = 99
	repo          = "octo/shop"
	webhookSecret = "a-webhook-secret-of-the-tests"
	// patience bounds every wait; it is long because the machine may be busy.
	patience = 5 * time.Minute
)

var appKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
})

func appKeyPEM() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(appKey())}))
}

// world is a GitHub with one repository, and the state directory of a service.
type world struct {
	t *testing.T
	// binary is what serves; the one under test unless a test has built another.
	binary string

	hub *sim.GitHub
	api string
	dir string
	log *lockedBuffer
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return newWorldAt(t, time.Now)
}

// newWorldAt returns a world whose GitHub has a clock of its own.
func newWorldAt(t *testing.T, now func() time.Time) *world {
	t.Helper()
	w := &world{
		t: t, binary: binary,
		hub: sim.NewGitHub(sim.GitHubOptions{
			AppID: appID, Slug: "liaison", PublicKey: &appKey().PublicKey, WebhookSecret: webhookSecret, Now: now, Watch: openapi.Watch(t),
		}),
		dir: t.TempDir(),
		log: &lockedBuffer{},
	}
	var err error
	if w.api, err = w.hub.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.hub.Close() })
	w.hub.CreateRepository(repo, map[string]string{
		"go.mod":     "module example.com/shop\n\ngo 1.26\n",
		"main.go":    "package main\n\nfunc main() {}\n",
		"CODEOWNERS": "* @octo/owners\n",
	})
	w.hub.Install(installation, "octo", repo)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the service's log:\n%s", w.log.String())
		}
	})
	return w
}

// open opens a pull request.
func (w *world) open(title string) *sim.PullRequest {
	return w.hub.OpenPullRequest(repo, sim.NewPullRequest{
		Title: title, Body: "A change.", Author: "mona", Branch: "topic",
		Files: map[string]sim.Change{"main.go": sim.Write("package main\n\nfunc main() { println(\"hello\") }\n")},
	})
}

// process is one run of "liaison serve".
type process struct {
	*exec.Cmd
	w    *world
	url  string
	done chan struct{}
}

// environment is what the service is started with: nothing of the host's but PATH.
func (w *world) environment(extra ...string) []string {
	return append([]string{
		"PATH=" + os.Getenv("PATH"),
		"TMPDIR=" + os.TempDir(),
		"LIAISON_ADDR=127.0.0.1:0",
		"LIAISON_ADMIN_ADDR=127.0.0.1:0",
		"LIAISON_STATE_DIR=" + w.dir,
		"LIAISON_LOG_FORMAT=json",
		"LIAISON_LOG_LEVEL=debug",
		fmt.Sprintf("GITHUB_APP_ID=%d", appID),
		"GITHUB_PRIVATE_KEY=" + appKeyPEM(),
		"GITHUB_WEBHOOK_SECRET=" + webhookSecret,
		"GITHUB_API_URL=" + w.api,
		"LIAISON_GITHUB_WRITE_PAUSE=0",
	}, extra...)
}

// serve starts the service and waits until it listens.
func (w *world) serve(extra ...string) *process {
	w.t.Helper()
	return w.serveWith(w.environment(extra...))
}

// awaitRunning waits until sessions can be started: the service listens before it
// has found what an earlier process left.
func (p *process) awaitRunning() {
	p.w.t.Helper()
	eventually(p.w.t, func() bool {
		_, info := get(p.w.t, p.url+"/v1/info")
		return strings.Contains(info, `"running":true`)
	})
}

func (w *world) serveWith(env []string) *process {
	w.t.Helper()
	p := &process{Cmd: exec.Command(w.binary, "serve"), w: w, done: make(chan struct{})}
	p.Env = env
	p.Dir = w.t.TempDir()
	listening := make(chan string, 1)
	p.Stderr = &lineWatcher{to: w.log, line: func(line []byte) {
		var entry struct{ Msg, Addr string }
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "listening" {
			listening <- entry.Addr
		}
	}}
	// The bridge inherits nothing of this pipe for long: it is bounded.
	p.WaitDelay = 10 * time.Second
	if err := p.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		_ = p.Wait()
		close(p.done)
	}()
	w.t.Cleanup(p.kill)
	select {
	case addr := <-listening:
		p.url = "http://" + addr
	case <-p.done:
		w.t.Fatalf("the service left with %s:\n%s", p.ProcessState, w.log.String())
	case <-time.After(patience):
		w.t.Fatal("the service does not listen")
	}
	return p
}

// kill ends the process as a power failure would, and waits for its end.
func (p *process) kill() {
	_ = p.Process.Kill()
	<-p.done
}

// terminate asks the process to stop and returns its exit status.
func (p *process) terminate() int {
	p.w.t.Helper()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		p.w.t.Fatal(err)
	}
	select {
	case <-p.done:
	case <-time.After(patience):
		p.w.t.Fatal("the service does not stop")
	}
	return p.ProcessState.ExitCode()
}

// deliver posts a delivery and returns the status.
func (p *process) deliver(hook sim.Webhook) int {
	p.w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	status, err := p.w.hub.Deliver(ctx, p.url+"/webhooks/github", hook)
	if err != nil {
		p.w.t.Fatal(err)
	}
	return status
}

// wait waits until the simulated GitHub looks as cond wants.
func (w *world) wait(what string, cond func() bool) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := w.hub.Wait(ctx, cond); err != nil {
		w.t.Fatalf("%s: %v", what, err)
	}
}

// concluded waits until a head has that many checks and all are concluded, and
// returns the newest.
func (w *world) concluded(head string, checks int) sim.CheckRun {
	w.t.Helper()
	var newest sim.CheckRun
	w.wait("conclusion of "+head, func() bool {
		runs := w.hub.CheckRuns(repo, head)
		for _, c := range runs {
			if c.Status != "completed" {
				return false
			}
			newest = c
		}
		return len(runs) == checks
	})
	return newest
}

// reviewed waits until a head has its concluded check and its comment, and
// fails if there is more than one of either.
func (w *world) reviewed(number int, head string) (sim.CheckRun, sim.Comment) {
	w.t.Helper()
	var check sim.CheckRun
	var comment sim.Comment
	w.wait("review of "+head, func() bool {
		for _, c := range w.hub.CheckRuns(repo, head) {
			check = c
		}
		for _, c := range w.hub.Comments(repo, number) {
			comment = c
		}
		return check.Status == "completed" && strings.Contains(comment.Body, head[:7])
	})
	w.once(number, head)
	return check, comment
}

// once fails unless a head has exactly one check, and the pull request one comment.
func (w *world) once(number int, head string) {
	w.t.Helper()
	if n := len(w.hub.CheckRuns(repo, head)); n != 1 {
		w.t.Errorf("%d checks on %s", n, head)
	}
	if n := len(w.hub.Comments(repo, number)); n != 1 {
		w.t.Errorf("%d comments", n)
	}
}

// lockedBuffer is a bytes.Buffer for several writers.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// lineWatcher passes output on and calls line for each whole line.
type lineWatcher struct {
	to   *lockedBuffer
	line func([]byte)
	rest []byte
}

func (l *lineWatcher) Write(p []byte) (int, error) {
	// First the log: whoever is woken by a line may look for an earlier one.
	n, err := l.to.Write(p)
	l.rest = append(l.rest, p...)
	for {
		line, rest, whole := bytes.Cut(l.rest, []byte("\n"))
		if !whole {
			return n, err
		}
		l.line(line)
		l.rest = rest
	}
}
