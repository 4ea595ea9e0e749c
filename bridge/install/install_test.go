package install

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// patience bounds every wait; it is long because the machine may be busy.
const patience = 5 * time.Minute

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// release is a server with one release, and what was asked of it.
type release struct {
	*httptest.Server
	mu      sync.Mutex
	archive []byte
	sums    string
	asked   []string
	// first, when set, answers the first request for the archive in its own way.
	first http.HandlerFunc
}

func newRelease(t testing.TB, archive []byte) *release {
	t.Helper()
	r := &release{archive: archive, sums: sumsOf(archive)}
	r.Server = httptest.NewUnstartedServer(r)
	r.Config.ErrorLog = quiet()
	r.StartTLS()
	t.Cleanup(r.Close)
	return r
}

func (r *release) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r.mu.Lock()
	name := strings.TrimPrefix(request.URL.Path, "/release/")
	r.asked = append(r.asked, name)
	archive, sums, first := r.archive, r.sums, r.first
	if name == testPlatform.Archive() {
		r.first = nil
	}
	r.mu.Unlock()
	switch {
	case name == SumsFile && sums != "":
		_, _ = io.WriteString(w, sums)
	case name == testPlatform.Archive() && first != nil:
		first(w, request)
	case name == testPlatform.Archive() && archive != nil:
		_, _ = w.Write(archive)
	default:
		http.NotFound(w, request)
	}
}

func (r *release) requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.asked)
}

// options install from the release into dir.
func (r *release) options(dir string) Options {
	return Options{Dir: dir, BaseURL: r.URL + "/release", Platform: testPlatform, Transport: r.Client().Transport}
}

func TestInstallFromARelease(t *testing.T) {
	t.Parallel()
	r := newRelease(t, bridgeArchive(t, "bridge"))
	dir := filepath.Join(t.TempDir(), "deep", "bridge-bin")
	o := r.options(dir)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o.Now = func() time.Time { return at }
	var steps []Step
	var last Progress
	o.Progress = func(p Progress) {
		if len(steps) == 0 || steps[len(steps)-1] != p.Step {
			steps = append(steps, p.Step)
		}
		if p.Step == StepDownload {
			last = p
		}
	}
	got, err := Install(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	want := Installed{
		Version: "1.2.3", SHA256: sumOf(r.archive), InstalledAt: at,
		Source:     r.URL + "/release/" + testPlatform.Archive(),
		Executable: filepath.Join(dir, "1.2.3-"+sumOf(r.archive)[:12], "bin", "cursor-sdk-bridge"),
	}
	if got.Already || got.Installed != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if current := expectCurrent(t, dir, "bridge"); current != want {
		t.Errorf("current is %+v, want %+v", current, want)
	}
	if fmt.Sprint(steps) != fmt.Sprint([]Step{StepDownload, StepUnpack, StepSwitch}) {
		t.Errorf("steps %v", steps)
	}
	if size := int64(len(r.archive)); last.Done != size || last.Total != size {
		t.Errorf("progress ended at %+v of %d", last, size)
	}
}

func TestInstallIsIdempotent(t *testing.T) {
	t.Parallel()
	r := newRelease(t, bridgeArchive(t, "bridge"))
	dir := t.TempDir()
	first, err := Install(t.Context(), r.options(dir))
	if err != nil {
		t.Fatal(err)
	}
	before := r.requests()
	second, err := Install(t.Context(), r.options(dir))
	if err != nil || !second.Already || second.Installed != first.Installed {
		t.Errorf("again: %+v, %v", second, err)
	}
	if n := r.requests() - before; n != 1 {
		t.Errorf("%d requests for what is there, want one for the sums", n)
	}
	pinned := r.options(dir)
	pinned.SHA256 = strings.ToUpper(first.SHA256)
	before = r.requests()
	if third, err := Install(t.Context(), pinned); err != nil || !third.Already || r.requests() != before {
		t.Errorf("pinned: %+v, %v, %d requests", third, err, r.requests()-before)
	}

	forced := r.options(dir)
	forced.Force = true
	anew, err := Install(t.Context(), forced)
	if err != nil || anew.Already || anew.Executable == first.Executable {
		t.Errorf("forced: %+v, %v", anew, err)
	}
	expectCurrent(t, dir, "bridge")
	if _, err := os.Stat(first.Executable); err != nil {
		t.Errorf("the copy that may be running is gone: %v", err)
	}
}

// The copy that was current stays for whoever runs it; older ones go, and what
// is not ours is left alone.
func TestOldCopies(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "theirs"), 0o755); err != nil {
		t.Fatal(err)
	}
	one := mustInstall(t, dir, versionArchive(t, "1.0.0"))
	two := mustInstall(t, dir, versionArchive(t, "2.0.0"))
	if _, err := os.Stat(one.Executable); err != nil {
		t.Errorf("the one before is gone: %v", err)
	}
	three := mustInstall(t, dir, versionArchive(t, "3.0.0"))
	if _, err := os.Stat(one.Executable); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the one before that is still there: %v", err)
	}
	for _, path := range []string{two.Executable, three.Executable, filepath.Join(dir, "theirs")} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is gone: %v", path, err)
		}
	}
	// Back to the one before, without unpacking it again.
	back := mustInstall(t, dir, versionArchive(t, "2.0.0"))
	if !back.Already || back.Executable != two.Executable {
		t.Errorf("back: %+v", back)
	}
	if got, err := Current(dir); err != nil || got.Version != "2.0.0" {
		t.Errorf("current is %+v, %v", got, err)
	}
}

// Whatever goes wrong: it is said, nothing is left, and what was installed
// before runs on.
func TestInstallRefuses(t *testing.T) {
	t.Parallel()
	good := bridgeArchive(t, "new bridge")
	tampered := append([]byte{}, good...)
	tampered[len(tampered)/2] ^= 1
	for _, tt := range []struct {
		name   string
		change func(*release, *Options)
		want   error
	}{
		{"tampered archive", func(r *release, _ *Options) { r.archive = tampered }, ErrChecksum},
		{"truncated archive", func(r *release, _ *Options) { r.archive = good[:len(good)-1] }, ErrChecksum},
		{"another release's archive", func(r *release, _ *Options) { r.archive = versionArchive(t, "9.9.9") }, ErrChecksum},
		{"wrong sums", func(r *release, _ *Options) { r.sums = sumsOf(tampered) }, ErrChecksum},
		{"wrong pin", func(_ *release, o *Options) { o.SHA256 = sumOf(tampered) }, ErrChecksum},
		{"sums of other files", func(r *release, _ *Options) { r.sums = sumOf(good) + "  other.tar.gz\n" }, ErrSums},
		{"sums that are a page", func(r *release, _ *Options) { r.sums = "<html>Sign in</html>\n" }, ErrSums},
		{"endless sums", func(r *release, _ *Options) { r.sums = strings.Repeat("\n", maxSums+1) }, ErrTooLarge},
		{"no sums", func(r *release, _ *Options) { r.sums = "" }, &StatusError{}},
		{"no archive", func(r *release, _ *Options) { r.archive = nil }, &StatusError{}},
		{"hostile archive", func(r *release, _ *Options) {
			r.archive = archive(t, append(bridgeEntries(goodManifest, "x"), entry{name: "../../outside", body: "x"})...)
			r.sums = sumsOf(r.archive)
		}, ErrArchive},
		{"an archive with our record", func(r *release, _ *Options) {
			r.archive = archive(t, append(bridgeEntries(goodManifest, "x"), entry{name: recordName, body: "{}"})...)
			r.sums = sumsOf(r.archive)
		}, ErrArchive},
		{"other platform", func(r *release, _ *Options) {
			r.archive = archive(t, bridgeEntries(strings.Replace(goodManifest, "linux", "darwin", 1), "x")...)
			r.sums = sumsOf(r.archive)
		}, ErrManifest},
		{"other version", func(_ *release, o *Options) { o.Version = "v1.2.4" }, ErrManifest},
		{"does not start", func(_ *release, o *Options) {
			o.Check = func(_ context.Context, path string) error {
				if _, err := os.Stat(path); err != nil {
					return err
				}
				return errDoesNotStart
			}
		}, errDoesNotStart},
		{"plain http", func(_ *release, o *Options) { o.BaseURL = "http://mirror.test/" }, ErrInsecure},
		{"bad version", func(_ *release, o *Options) { o.Version = "latest" }, ErrOptions},
		{"version with a path", func(_ *release, o *Options) { o.Version = "v1.2.3/../../x" }, ErrOptions},
		{"bad pin", func(_ *release, o *Options) { o.SHA256 = "abc" }, ErrOptions},
		{"file without a sum", func(_ *release, o *Options) { o.BaseURL, o.Archive = "", "a.tar.gz" }, ErrOptions},
		{"file and URL", func(_ *release, o *Options) { o.Archive, o.SHA256 = "a.tar.gz", sumOf(good) }, ErrOptions},
		{"two sums", func(_ *release, o *Options) { o.Sums, o.SHA256 = "SHA256SUMS.txt", sumOf(good) }, ErrOptions},
		{"no folder", func(_ *release, o *Options) { o.Dir = "" }, ErrOptions},
		{"file that is not there", func(_ *release, o *Options) { o.BaseURL, o.Archive, o.SHA256 = "", "none.tar.gz", sumOf(good) }, fs.ErrNotExist},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRelease(t, good)
			dir := t.TempDir()
			mustInstall(t, dir, bridgeArchive(t, "old bridge"))
			o := r.options(dir)
			tt.change(r, &o)
			_, err := Install(t.Context(), o)
			if _, status := errors.AsType[*StatusError](tt.want); status {
				if _, ok := errors.AsType[*StatusError](err); !ok {
					t.Errorf("got %v", err)
				}
			} else if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			expectCurrent(t, dir, "old bridge")
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 3 {
				t.Errorf("in the folder: %v, %v; want lock, pointer and one copy", entries, err)
			}
		})
	}
}

var errDoesNotStart = errors.New("a library is missing")

func TestInstallOntoAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mustInstall(t, dir, bridgeArchive(t, "old bridge"))
	o := fromFile(t, dir, bridgeArchive(t, "new bridge"))
	base, err := o.complete()
	if err != nil {
		t.Fatal(err)
	}
	in := &installation{Options: o, base: base, limits: defaultLimits, create: func(root *os.Root) func(string, fs.FileMode) (target, error) {
		return func(name string, perm fs.FileMode) (target, error) {
			f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, perm)
			return &fullDisk{target: f, room: 5}, err
		}
	}}
	if _, err := in.run(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("got %v", err)
	}
	expectCurrent(t, dir, "old bridge")
}

func TestDownloadLimit(t *testing.T) {
	t.Parallel()
	data := bridgeArchive(t, "bridge")
	for _, tt := range []struct {
		limit int
		fails bool
	}{{len(data) - 1, true}, {len(data), false}, {len(data) + 1, false}} {
		for name, options := range map[string]Options{
			"file":    fromFile(t, t.TempDir(), data),
			"release": newRelease(t, data).options(t.TempDir()),
		} {
			base, err := options.complete()
			if err != nil {
				t.Fatal(err)
			}
			in := &installation{Options: options, base: base, limits: defaultLimits, fetch: newFetcher(options.Transport, false)}
			in.limits.download = int64(tt.limit)
			if _, err := in.run(t.Context()); tt.fails != errors.Is(err, ErrTooLarge) || !tt.fails && err != nil {
				t.Errorf("%s of %d bytes with limit %d: %v", name, len(data), tt.limit, err)
			}
		}
	}
}

func TestInstallWithASumsFile(t *testing.T) {
	t.Parallel()
	data := bridgeArchive(t, "bridge")
	dir := t.TempDir()
	o := fromFile(t, dir, data)
	o.SHA256, o.Sums = "", filepath.Join(t.TempDir(), SumsFile)
	if err := os.WriteFile(o.Sums, []byte(sumsOf(data)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Install(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	expectCurrent(t, dir, "bridge")
}

// A connection that breaks in the middle of the archive is made again.
func TestInterruptedDownloadIsBegunAnew(t *testing.T) {
	t.Parallel()
	data := bridgeArchive(t, "bridge")
	r := newRelease(t, data)
	r.first = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(data)))
		_, _ = w.Write(data[:len(data)/2])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	}
	dir := t.TempDir()
	if _, err := Install(t.Context(), r.options(dir)); err != nil {
		t.Fatal(err)
	}
	expectCurrent(t, dir, "bridge")
	if n := r.requests(); n != 3 {
		t.Errorf("%d requests, want one for the sums and two for the archive", n)
	}
}

func TestInstallEndsWithItsContext(t *testing.T) {
	t.Parallel()
	r := newRelease(t, bridgeArchive(t, "new bridge"))
	dir := t.TempDir()
	mustInstall(t, dir, bridgeArchive(t, "old bridge"))
	ctx, cancel := context.WithCancel(t.Context())
	r.first = func(w http.ResponseWriter, request *http.Request) {
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		cancel()
		<-request.Context().Done()
	}
	if _, err := Install(ctx, r.options(dir)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	expectCurrent(t, dir, "old bridge")
}

// Many at once take turns; the last one wins whole.
func TestConcurrentInstallations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var all sync.WaitGroup
	var inside, most atomic.Int64
	for i := range 8 {
		o := fromFile(t, dir, versionArchive(t, fmt.Sprintf("1.0.%d", i%4)))
		o.Check = func(context.Context, string) error {
			most.Store(max(most.Load(), inside.Add(1)))
			inside.Add(-1)
			return nil
		}
		all.Go(func() {
			if _, err := Install(context.Background(), o); err != nil {
				t.Errorf("%d: %v", i, err)
			}
			if _, err := Current(dir); err != nil {
				t.Errorf("after %d: %v", i, err)
			}
		})
	}
	all.Wait()
	if most.Load() != 1 {
		t.Errorf("%d installations at once", most.Load())
	}
	got, err := Current(dir)
	if err != nil {
		t.Fatal(err)
	}
	expectCurrent(t, dir, "bridge "+got.Version)
}

// Whoever waits is told, and may stop waiting.
func TestWaitingForAnotherInstallation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	unlock, err := lock(t.Context(), filepath.Join(dir, ".lock"), func() {})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	o := fromFile(t, dir, bridgeArchive(t, "bridge"))
	o.Progress = func(p Progress) {
		if p.Step == StepWait {
			cancel()
		}
	}
	if _, err := Install(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	unlock()
	mustInstall(t, dir, bridgeArchive(t, "bridge"))
}

// kill -9 at any step: what was installed before runs on, and the next
// installation succeeds and cleans up.
func TestKilledInstallation(t *testing.T) {
	t.Parallel()
	data := bridgeArchive(t, "new bridge")
	server := httptest.NewServer(&release{archive: data, sums: sumsOf(data)})
	t.Cleanup(server.Close)
	for _, step := range []Step{StepDownload, StepUnpack, StepCheck, StepSwitch} {
		t.Run(string(step), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			mustInstall(t, dir, bridgeArchive(t, "old bridge"))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			installer := exec.CommandContext(ctx, os.Args[0])
			installer.Env = append(os.Environ(), installerEnv+"="+strings.Join([]string{string(step), dir, server.URL + "/release"}, "|"))
			stdin, err := installer.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			stdout, err := installer.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := installer.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(stdout).ReadString('\n')
			if line != "paused\n" {
				t.Errorf("the installer says %q, %v", line, err)
			}
			if err := installer.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = installer.Wait() // it was killed

			got, err := Current(dir)
			if err != nil {
				t.Fatal(err)
			}
			if body, err := os.ReadFile(got.Executable); err != nil || string(body) != "old bridge" {
				t.Errorf("after the kill the bridge is %q, %v", body, err)
			}
			mustInstall(t, dir, data)
			expectCurrent(t, dir, "new bridge")
		})
	}
}
