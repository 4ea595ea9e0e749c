package slack

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/internal/sim"
	"github.com/liaison-bot/liaison/slack/event"
)

// tinyWebP is a lossless image of one pixel.
const tinyWebP = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="

func pictureBytes(t *testing.T, format string, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	img := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.White, color.Black})
	var err error
	switch format {
	case "image/png":
		err = png.Encode(&b, img)
	case "image/jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "image/gif":
		err = gif.Encode(&b, img, nil)
	case "image/webp":
		raw, decodeErr := base64.StdEncoding.DecodeString(tinyWebP)
		must(t, decodeErr)
		return raw
	}
	must(t, err)
	return b.Bytes()
}

// sharing is a question of Ann's with files, as the event tells of it.
func (w *world) sharing(thread string, files ...sim.SlackFile) sim.SlackMessage {
	w.t.Helper()
	var ids []string
	for _, f := range files {
		f.User = ann
		ids = append(ids, w.AddFile(f).ID)
	}
	return w.Post(sim.Saying{Channel: general, User: ann, ThreadTS: thread, Text: "look at these", Files: ids})
}

// What a file is, is told by its bytes; its name and type are what somebody wrote.
func TestFilesOfAQuestionReachTheAgent(t *testing.T) {
	t.Parallel()
	w := talkWorld(t, sim.SlackOptions{})
	asked := w.sharing(w.root.TS,
		sim.SlackFile{ID: "F0LOG", Name: "../../etc/CON .log\u202e\n", Mimetype: "image/png", Content: []byte("hunter2 failed\n")},
		sim.SlackFile{ID: "F0PNG", Name: "shot.txt", Mimetype: "text/plain", Content: pictureBytes(t, "image/png", 3, 2)},
		sim.SlackFile{ID: "F0BIN", Name: "a.bin", Mimetype: "application/octet-stream", Content: []byte("\x00\x01\x02")},
		sim.SlackFile{ID: "F0GONE", Name: "gone.txt", Content: []byte("x"), Gone: true},
		sim.SlackFile{ID: "F0DRIVE", Name: "plan.doc", ExternalURL: "https://drive.example.com/plan"},
		sim.SlackFile{ID: "F0PAGE", Name: "page.html", Mimetype: "text/html", Content: []byte("<!DOCTYPE html><p>ours")},
	)
	brief, dir := w.prepare(w.asking(asked), t.TempDir())
	if got := read(t, dir, "files", "F0LOG-etc_CON_.log"); got != "[redacted] failed\n" {
		t.Errorf("the log is %q", got)
	}
	if got := read(t, dir, "files", "F0PAGE-page.html"); !strings.Contains(got, "ours") {
		t.Errorf("the page is %q", got)
	}
	if len(brief.Images) != 1 || brief.Images[0].MIMEType != "image/png" || brief.Images[0].Width != 3 || brief.Images[0].Height != 2 {
		t.Errorf("images %v", brief.Images)
	}
	about := read(t, dir, "about.md")
	for _, want := range []string{
		"`thread/files/F0LOG-etc_CON_.log`, text, 15 bytes\n", "F0PNG-shot.txt`, image/png", "shown to you as image 1\n",
		"F0BIN-a.bin`, application/octet-stream, 3 bytes\n", "plan.doc (F0DRIVE): not fetched, because it is not at Slack",
	} {
		if !strings.Contains(about, want) {
			t.Errorf("%q is not in:\n%s", want, about)
		}
	}
	if strings.Contains(about, "F0GONE") || brief.Note != "2 messages, 4 of 5 files" {
		t.Errorf("note %q, about:\n%s", brief.Note, about)
	}
	for _, call := range w.Calls() {
		if strings.Contains(call.Method, "drive") {
			t.Errorf("called %v", call)
		}
	}
}

// Slack answers with a page to sign in where a token may not read a file.
func TestASignInPageIsNoFile(t *testing.T) {
	t.Parallel()
	w := talkWorld(t, sim.SlackOptions{})
	page := sim.SlackFault{Method: "file", Status: http.StatusOK, Body: "<!DOCTYPE html><title>Sign in</title>", Times: -1}
	w.Fail(page)
	asked := w.sharing(w.root.TS,
		sim.SlackFile{ID: "F0TXT", Name: "a.txt", Content: []byte("abc")},
		sim.SlackFile{ID: "F0HTML", Name: "a.html", Mimetype: "text/html", Content: []byte("<html>mine</html>")},
	)
	brief, dir := w.prepare(w.asking(asked), t.TempDir())
	if left, err := os.ReadDir(filepath.Join(dir, "files")); err != nil || len(left) > 0 {
		t.Errorf("saved %v, %v", left, err)
	}
	if strings.Count(brief.Prompt, "page to sign in") != 2 {
		t.Errorf("the prompt:\n%s", brief.Prompt)
	}
}

func TestFilesAreBounded(t *testing.T) {
	t.Parallel()
	w := talkWorld(t, sim.SlackOptions{})
	old := w.sharing(w.root.TS, sim.SlackFile{ID: "F0OLD", Content: []byte("old")})
	for i := range maxFetched {
		w.sharing(w.root.TS, sim.SlackFile{ID: "F0N" + string(rune('A'+i)), Content: []byte("new")})
	}
	asked := w.sharing(w.root.TS, sim.SlackFile{ID: "F0HUGE", Content: make([]byte, maxFileBytes+1)})
	brief, dir := w.prepare(w.asking(asked), t.TempDir())
	saved, err := os.ReadDir(filepath.Join(dir, "files"))
	must(t, err)
	if len(saved) != maxFetched || !strings.Contains(brief.Prompt, "it has more than 10 MiB") {
		t.Errorf("%d files, the prompt:\n%s", len(saved), brief.Prompt)
	}
	if about := read(t, dir, "about.md"); !strings.Contains(about, "F0OLD (F0OLD): not fetched, because there are more than 20 files") {
		t.Errorf("%s: about:\n%s", old.TS, about)
	}
}

// A limit on the files of a question is waited for, one on older ones is not; what
// fails for a moment is tried once more, and then answered without.
func TestFilesThatFail(t *testing.T) {
	t.Parallel()
	w := talkWorld(t, sim.SlackOptions{})
	asked := w.sharing(w.root.TS, sim.SlackFile{ID: "F0TXT", Content: []byte("abc")})
	turn := w.asking(asked)
	w.Fail(sim.SlackRateLimit("file", time.Minute))
	_, err := w.channel.Prepare(t.Context(), turn, t.TempDir())
	if again := retryOf(err); again == nil || again.After != time.Minute || !again.Uncounted {
		t.Errorf("limited: %v", err)
	}
	w.Fail(sim.SlackFault{Method: "file", Status: http.StatusBadGateway, Times: 2})
	_, err = w.channel.Prepare(t.Context(), turn, t.TempDir())
	if again := retryOf(err); again == nil || again.Uncounted {
		t.Errorf("failed once: %v", err)
	}
	turn.Attempt = 2
	brief, _ := w.prepare(turn, t.TempDir())
	if !strings.Contains(brief.Prompt, "the host could not fetch it") {
		t.Errorf("failed twice:\n%s", brief.Prompt)
	}
	w.Fail(sim.SlackRateLimit("file", time.Minute))
	brief, dir := w.prepare(w.asking(w.MentionIn(general, w.root.TS, ann, "and?")), t.TempDir())
	if !strings.Contains(read(t, dir, "about.md"), "rate limit") || brief.Note != "3 messages, 0 of 1 files" {
		t.Errorf("note %q", brief.Note)
	}
}

// Anybody can fill a thread with files that cannot be had. Asking for them ends.
func TestFilesThatFailWithoutEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault sim.SlackFault
		want  int
	}{
		"not for us": {sim.SlackFault{Method: "file", Status: http.StatusForbidden, Times: -1}, maxTried},
		"an outage":  {sim.SlackFault{Method: "file", Status: http.StatusBadGateway, Times: -1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := talkWorld(t, sim.SlackOptions{})
			for i := range maxTried + 5 {
				w.sharing(w.root.TS, sim.SlackFile{ID: fmt.Sprintf("F0N%d", i), Content: []byte("new")})
			}
			w.Fail(tt.fault)
			_, dir := w.prepare(w.asking(w.MentionIn(general, w.root.TS, ann, "and?")), t.TempDir())
			if got := len(w.Calls("file")); got != tt.want {
				t.Errorf("asked for %d files", got)
			}
			if about := read(t, dir, "about.md"); strings.Count(about, "not fetched") != maxTried+5 {
				t.Errorf("about:\n%s", about)
			}
		})
	}
}

func TestNamesOfSavedFiles(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", 200)
	for name, want := range map[string]string{
		"patch.diff": "F1-patch.diff", "../../etc/passwd": "F1-etc_passwd", `..\..\boot.ini`: "F1-boot.ini", "CON": "F1-CON", "nul.txt": "F1-nul.txt",
		"": "F1", "...": "F1", ".bashrc": "F1-bashrc", "a b`c|d:e*f?.txt": "F1-a_b_c_d_e_f_.txt", "e\u0301.txt": "F1-é.txt", "report\u202efdp.exe": "F1-reportfdp.exe",
		"a\x00b\n.txt": "F1-ab_.txt", "\xff\xfe.txt": "F1-txt", "名前.png": "F1-名前.png",
	} {
		if got := savedName(event.File{ID: "F1", Name: name}); got != want {
			t.Errorf("%q is saved as %q, want %q", name, got, want)
		}
	}
	got := savedName(event.File{ID: "F1", Name: long + ".txt"})
	if len(got) > maxSavedName || !strings.HasSuffix(got, ".txt") || !utf8.ValidString(got) {
		t.Errorf("a long one is %q", got)
	}
}

func FuzzSavedName(f *testing.F) {
	for _, s := range []string{"a.txt", "../x", "CON", "e\u0301", "\xff", strings.Repeat("名", 100) + "." + strings.Repeat("x", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := savedName(event.File{ID: "F1", Name: name})
		if !filepath.IsLocal(got) || strings.ContainsAny(got, "/\\:*?\"<>|`\n ") || len(got) > maxSavedName || !utf8.ValidString(got) || !strings.HasPrefix(got, "F1") || strings.HasSuffix(got, ".") {
			t.Errorf("%q is saved as %q", name, got)
		}
	})
}

func TestPicturesAreToldByTheirHeaders(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"image/png", "image/jpeg", "image/gif", "image/webp"} {
		got, width, height := pictureOf(pictureBytes(t, format, 1, 1))
		if got != format || width != 1 || height != 1 {
			t.Errorf("%s is %q, %d×%d", format, got, width, height)
		}
	}
	for _, none := range []string{"", "\x89PNG\r\n\x1a\n", "<svg></svg>", "GIF89a", "BM123456", "RIFF\x00\x00\x00\x00WEBPVP8 " + strings.Repeat("x", 20)} {
		if got, _, _ := pictureOf([]byte(none)); got != "" {
			t.Errorf("%q is %q", none, got)
		}
	}
	wide := sharedFile{content: pictureBytes(t, "image/png", maxPicture+1, 1)}
	small := sharedFile{content: pictureBytes(t, "image/png", 1, 1)}
	all := []sharedFile{wide, small, {content: []byte("text")}}
	if images := pictures(all); len(images) != 1 || all[0].picture != 0 || all[1].picture != 1 {
		t.Errorf("%d images", len(images))
	}
}

func FuzzPictureOf(f *testing.F) {
	raw, err := base64.StdEncoding.DecodeString(tinyWebP)
	must(f, err)
	f.Add(raw)
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00"))
	f.Add([]byte("RIFF\x00\x00\x00\x00WEBPVP8X" + strings.Repeat("\x01", 20)))
	f.Fuzz(func(t *testing.T, content []byte) {
		format, width, height := pictureOf(content)
		if format != "" && (width < 1 || height < 1) {
			t.Errorf("%s of %d×%d", format, width, height)
		}
	})
}
