package sim

import (
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// SlackFile is a file that somebody has shared.
type SlackFile struct {
	// ID such as "F0PATCH"; made up if empty. User shared it.
	ID, User, Name, Title, Mimetype string
	Content                         []byte
	// Gone is what is left of a file that was deleted.
	Gone bool
	// ExternalURL makes it a file of another host, such as a cloud drive's.
	ExternalURL string
}

type slackFile struct {
	SlackFile
	team string
	// size is what an upload announced; uploaded and shared are its other steps.
	size             int
	uploaded, shared bool
}

// fileMethods read and write files.
func (s *Slack) fileMethods() map[string]slackMethod {
	return map[string]slackMethod{
		"files.info": {token: "bot", scopes: []string{"files:read"}, args: "file | count page cursor limit", handle: (*slackRequest).fileInfo},
		"files.getUploadURLExternal": {
			token: "bot", scopes: []string{"files:write"}, args: "filename length | alt_txt snippet_type", handle: (*slackRequest).uploadURL,
		},
		"files.completeUploadExternal": {
			token: "bot", scopes: []string{"files:write"}, args: "files | channel_id channels thread_ts initial_comment blocks",
			handle: (*slackRequest).completeUpload,
		},
	}
}

// AddFile keeps a file that people then share by [Slack.Post].
func (s *Slack) AddFile(f SlackFile) SlackFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.keepFile(s.mustUser(f.User).Team, f).SlackFile
}

// File returns a file, such as one that the app has uploaded.
func (s *Slack) File(id string) SlackFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mustFile(id).SlackFile
}

func (s *Slack) keepFile(team string, f SlackFile) *slackFile {
	if f.ID == "" {
		f.ID = s.newID("F")
	}
	if f.Name == "" {
		f.Name = f.ID
	}
	if f.Title == "" {
		f.Title = f.Name
	}
	if f.Mimetype == "" {
		f.Mimetype = "text/plain"
	}
	kept := &slackFile{SlackFile: f, team: team, shared: true}
	s.files[f.ID] = kept
	return kept
}

func (s *Slack) mustFile(id string) *slackFile {
	f := s.files[id]
	if f == nil {
		panic("sim: no file " + id)
	}
	return f
}

// fileJSON is a file as messages and files.info show it.
func (s *Slack) fileJSON(f *slackFile) object {
	if f.Gone {
		return object{"id": f.ID, "mode": "tombstone"}
	}
	private := s.base + "/files-pri/" + f.team + "-" + f.ID + "/"
	_, kind, _ := strings.Cut(f.Mimetype, "/")
	o := object{
		"id": f.ID, "created": s.opts.Now().Unix(), "timestamp": s.opts.Now().Unix(), "name": f.Name, "title": f.Title, "mimetype": f.Mimetype,
		"filetype": kind, "pretty_type": strings.ToUpper(kind), "user": f.User, "user_team": f.team, "size": len(f.Content), "mode": "hosted",
		"is_external": false, "is_public": true, "file_access": "visible",
		"url_private": private + escape(f.Name), "url_private_download": private + "download/" + escape(f.Name),
	}
	if f.ExternalURL != "" {
		o["mode"], o["is_external"], o["external_type"], o["url_private"] = "external", true, "gdrive", f.ExternalURL
		delete(o, "url_private_download")
	}
	return o
}

func (q *slackRequest) fileInfo() object {
	f := q.s.files[q.args["file"]]
	switch {
	case f == nil || f.team != q.team.ID || !f.shared:
		return slackFailed("file_not_found")
	case f.Gone:
		return slackFailed("file_deleted")
	}
	return slackDone(object{
		"file": q.s.fileJSON(f), "comments": []any{}, "paging": object{"count": 100, "total": 0, "page": 1, "pages": 0},
	})
}

func (q *slackRequest) uploadURL() object {
	size := q.number("length", 0)
	if size < 1 {
		return slackFailed("invalid_arguments", "[ERROR] must be greater than 0 [json-pointer:/length]")
	}
	f := q.s.keepFile(q.team.ID, SlackFile{User: q.team.BotUser, Name: q.args["filename"]})
	f.size, f.shared = size, false
	return slackDone(object{"file_id": f.ID, "upload_url": q.s.base + "/upload/v1/" + f.ID})
}

// completeUpload gives uploaded files their titles and shares them as one message.
func (q *slackRequest) completeUpload() object {
	var wanted []struct{ ID, Title string }
	if json.Unmarshal([]byte(q.args["files"]), &wanted) != nil || len(wanted) == 0 {
		return slackFailed("invalid_arguments", "[ERROR] must be a list of files [json-pointer:/files]")
	}
	m := &slackMessage{user: q.team.BotUser, byApp: true, text: q.args["initial_comment"], subtype: "file_share"}
	for _, want := range wanted {
		f := q.s.files[want.ID]
		if f == nil || f.team != q.team.ID || !f.uploaded || f.shared {
			return slackFailed("file_not_found")
		}
		if want.Title != "" {
			f.Title = want.Title
		}
		m.files = append(m.files, f)
	}
	blocks, refusal := readBlocks([]byte(q.args["blocks"]))
	if refusal == nil {
		refusal = judgeBlocks(OnMessage, blocks)
	}
	if refusal != nil {
		return slackFailed(refusal.Code, refusal.Messages...)
	}
	m.blocks = blocks
	if id := q.args["channel_id"]; id != "" {
		c, refusal := q.channel(id, true)
		if refusal != nil {
			return refusal
		}
		if refusal := q.thread(c, m); refusal != nil {
			return refusal
		}
		q.s.add(c, m)
	}
	for _, f := range m.files {
		f.shared = true
	}
	return slackDone(object{"files": rows(m.files, q.s.fileJSON)})
}

// takeUpload is the second step of an upload: the bytes, as they are or as a form.
func (s *Slack) takeUpload(r *http.Request, id string, body []byte) slackAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.files[id]
	switch content, err := uploaded(r, body); {
	case f == nil || f.shared || r.Method != http.MethodPost:
		return slackAnswer{status: http.StatusNotFound, raw: []byte("not found"), ctype: "text/plain"}
	case err != nil || len(content) != f.size:
		return slackAnswer{status: http.StatusBadRequest, raw: []byte("the file has not the length that was announced"), ctype: "text/plain"}
	default:
		f.Content, f.uploaded = content, true
		return slackAnswer{raw: []byte("OK - " + strconv.Itoa(f.size)), ctype: "text/plain"}
	}
}

// uploaded reads the bytes of an upload.
func uploaded(r *http.Request, body []byte) ([]byte, error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		return body, nil
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	part, err := parts.NextPart()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(part)
}

// signIn is what Slack shows to whoever may not have a file, with status 200.
const signIn = "<!DOCTYPE html><html><head><title>Sign in | Slack</title></head><body>Sign in to your workspace</body></html>\n"

// serveFile hands a private file to a token of its team that may read files.
func (s *Slack) serveFile(token, place string) slackAnswer {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner, _, _ := strings.Cut(place, "/")
	team, id, _ := strings.Cut(owner, "-")
	f := s.files[id]
	if f == nil || f.Gone || f.team != team {
		return slackAnswer{status: http.StatusNotFound, raw: []byte("not found"), ctype: "text/plain"}
	}
	t := s.tokens[token]
	if t == nil || t.revoked || t.team != team || !slices.Contains(t.scopes, "files:read") {
		return slackAnswer{raw: []byte(signIn), ctype: "text/html; charset=utf-8"}
	}
	return slackAnswer{raw: append([]byte{}, f.Content...), ctype: f.Mimetype}
}
