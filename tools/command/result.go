package command

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/liaison-bot/liaison/redact"
)

// answer makes an answer of what a tool printed, and of how it ended.
func (p *process) answer(masker *redact.Redactor, stderr string) Output {
	data, over := p.stdout.bytes()
	switch {
	case over:
		return failed("it printed more than %d bytes, and was ended; print less, or write a file to $LIAISON_WORKSPACE and print its name", maxStdout)
	case !p.exit.ok && len(bytes.TrimSpace(data)) == 0:
		return failed("%s%s", p.exit.text, quoted(stderr))
	}
	if binary(data) {
		return failed("it printed %d bytes that are not text; print text or JSON, and pictures as {\"content\":[{\"type\":\"image\",\"data\":…,\"mimeType\":…}]}", len(data))
	}
	out := read([]byte(masker.String(string(data))))
	if !p.exit.ok {
		out.IsError = true
		out.Text = fmt.Sprintf("%s%s\nIt printed:\n%s", p.exit.text, quoted(stderr), out.Text)
	}
	return out
}

func failed(format string, args ...any) Output {
	return Output{Text: fmt.Sprintf(format, args...), IsError: true}
}

// binary reports whether bytes are no text.
func binary(data []byte) bool { return !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 }

// envelope is the answer of a tool that says more than a text or an object.
type envelope struct {
	Content    []part          `json:"content"`
	IsError    bool            `json:"isError"`
	Structured json.RawMessage `json:"structuredContent"`
}

type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     []byte `json:"data"`
	MIMEType string `json:"mimeType"`
}

// read makes an answer of a text: an envelope, an object, or the text itself.
func read(data []byte) Output {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return Output{Text: "It succeeded, and printed nothing."}
	}
	text := Output{Text: string(data)}
	var fields map[string]json.RawMessage
	if data[0] != '{' || json.Unmarshal(data, &fields) != nil {
		return text
	}
	text.Structured = data
	if !enveloped(fields) {
		return text
	}
	var e envelope
	if err := json.Unmarshal(data, &e); err != nil {
		return failed("its answer has a \"content\" that is not understood: %v", err)
	}
	return e.output()
}

// enveloped reports whether an object is an envelope: it has a list of contents,
// and nothing that an envelope has not.
func enveloped(fields map[string]json.RawMessage) bool {
	content := bytes.TrimSpace(fields["content"])
	if len(content) == 0 || content[0] != '[' {
		return false
	}
	for name := range fields {
		if name != "content" && name != "isError" && name != "structuredContent" {
			return false
		}
	}
	return true
}

func (e envelope) output() Output {
	out := Output{IsError: e.IsError}
	var texts [][]byte
	for i, p := range e.Content {
		switch {
		case p.Type == "text":
			texts = append(texts, []byte(p.Text))
		case p.Type == "image" && pictures[p.MIMEType] && len(p.Data) > 0:
			out.Images = append(out.Images, Image{p.Data, p.MIMEType})
		case p.Type == "image":
			return failed("content %d of its answer is no picture: it needs \"data\" in base64 and a \"mimeType\" of image/png, image/jpeg, image/gif or image/webp", i)
		default:
			return failed("content %d of its answer is of type %.40q; there are \"text\" and \"image\"", i, p.Type)
		}
	}
	out.Text = string(bytes.Join(texts, []byte("\n")))
	if s := bytes.TrimSpace(e.Structured); len(s) > 0 && !bytes.Equal(s, []byte("null")) {
		if s[0] != '{' {
			return failed("the \"structuredContent\" of its answer is not a JSON object")
		}
		out.Structured = s
		if out.Text == "" && len(out.Images) == 0 {
			out.Text = string(s)
		}
	}
	return out
}

// pictures are the types of images that models take.
var pictures = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true}
