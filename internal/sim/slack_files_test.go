package sim_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"github.com/liaison-bot/liaison/internal/sim"
)

func TestSlackUpload(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	asked := w.Mention(slackChannel, ann, "all of it?")
	f, err := w.api.UploadFileContext(t.Context(), slack.UploadFileParameters{
		Filename: "answer.md", Title: "The rest", Content: "long text", FileSize: len("long text"), Channel: slackChannel, ThreadTimestamp: asked.TS,
	})
	if err != nil {
		t.Fatal(err)
	}
	m := w.Thread(slackChannel, asked.TS)[1]
	if len(m.Files) != 1 || m.Files[0].ID != f.ID || string(m.Files[0].Content) != "long text" || m.Files[0].Title != "The rest" {
		t.Errorf("people see %+v", m)
	}
	o := w.call("files.getUploadURLExternal", w.team.BotToken, "filename", "a", "length", "5")
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, o["upload_url"].(string), strings.NewReader("four"))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := oneShot().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusBadRequest {
		t.Errorf("another length than announced: %d", resp.StatusCode)
	}
	w.wantError("file_not_found", "files.completeUploadExternal", "files", `[{"id":"`+o["file_id"].(string)+`"}]`)
}

func TestSlackPrivateFile(t *testing.T) {
	t.Parallel()
	w := newSlackWorld(t)
	f := w.AddFile(sim.SlackFile{User: ann, Name: "shot.png", Mimetype: "image/png", Content: []byte("\x89PNG")})
	w.Post(sim.Saying{Channel: slackChannel, User: ann, Text: "see", Files: []string{f.ID}})
	info, _, _, err := w.api.GetFileInfoContext(t.Context(), f.ID, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := w.api.GetFileContext(t.Context(), info.URLPrivateDownload, &got); err != nil || got.String() != "\x89PNG" {
		t.Errorf("got %q %v", got.String(), err)
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, info.URLPrivateDownload, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := oneShot().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
		t.Errorf("without a token: %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	if d := w.Deliveries()[0]; !strings.Contains(string(d.Payload), `"subtype":"file_share"`) {
		t.Errorf("the app is told %s", d.Payload)
	}
}
