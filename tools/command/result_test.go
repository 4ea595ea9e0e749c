package command

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	for printed, want := range map[string]Output{
		"hello\n":                       {Text: "hello"},
		"[1,2]":                         {Text: "[1,2]"},
		"{not json":                     {Text: "{not json"},
		`{"a":1} {"b":2}`:               {Text: `{"a":1} {"b":2}`},
		` {"a":1}` + "\n":               {Text: `{"a":1}`, Structured: []byte(`{"a":1}`)},
		`{"content":"a text"}`:          {Text: `{"content":"a text"}`, Structured: []byte(`{"content":"a text"}`)},
		`{"content":[1],"page":2}`:      {Text: `{"content":[1],"page":2}`, Structured: []byte(`{"content":[1],"page":2}`)},
		`{"isError":true}`:              {Text: `{"isError":true}`, Structured: []byte(`{"isError":true}`)},
		`{"content":[],"isError":true}`: {IsError: true},
		`{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"n":1}}`: {Text: "a\nb", Structured: []byte(`{"n":1}`)},
		`{"content":[],"structuredContent":{"n":1}}`:                                                      {Text: `{"n":1}`, Structured: []byte(`{"n":1}`)},
		`{"content":[],"structuredContent":null}`:                                                         {},
		`{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}`:                             {Images: []Image{{[]byte("hi"), "image/png"}}},
		`{"content":[{"type":"image","data":"aGk=","mimeType":"text/html"}]}`:                             {IsError: true, Text: "content 0 of its answer is no picture"},
		`{"content":[{"type":"image","mimeType":"image/png"}]}`:                                           {IsError: true, Text: "content 0 of its answer is no picture"},
		`{"content":[{"type":"image","data":"%%%","mimeType":"image/png"}]}`:                              {IsError: true, Text: `its answer has a "content" that is not understood`},
		`{"content":[{"type":"text","text":"a"},{"type":"audio"}]}`:                                       {IsError: true, Text: `content 1 of its answer is of type "audio"`},
		`{"content":[],"structuredContent":[1]}`:                                                          {IsError: true, Text: "is not a JSON object"},
		`{"content":[7]}`:                                                                                 {IsError: true, Text: "is not understood"},
	} {
		got := read([]byte(printed))
		same := string(got.Structured) == string(want.Structured) && len(got.Images) == len(want.Images) && got.IsError == want.IsError
		if want.IsError {
			same = same && strings.Contains(got.Text, want.Text)
		} else {
			same = same && got.Text == want.Text
		}
		if !same || len(want.Images) > 0 && string(got.Images[0].Data) != "hi" {
			t.Errorf("%s: got %+v, want %+v", printed, got, want)
		}
	}
}

func TestTheEndOfStderrIsKept(t *testing.T) {
	t.Parallel()
	end := &tail{limit: 10}
	for _, part := range []string{"first\n", "second\n", "third\n"} {
		if n, err := end.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := end.String(); got != "third\n" {
		t.Errorf("got %q", got)
	}
	_, _ = end.Write([]byte("a line that is longer than all"))
	if got := end.String(); got != "r than all" {
		t.Errorf("got %q", got)
	}
	_, _ = end.Write([]byte("€€€€"))
	if got := end.String(); !utf8.ValidString(got) || !strings.HasSuffix(got, "€€€") {
		t.Errorf("got %q", got)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk=","mimeType":"image/png"}],"isError":false,"structuredContent":{"n":1}}`))
	f.Add([]byte("\x00\xff"))
	f.Add([]byte(`{"a":`))
	f.Fuzz(func(t *testing.T, printed []byte) {
		if binary(printed) {
			return
		}
		out := read(printed)
		if !utf8.ValidString(out.Text) {
			t.Fatalf("%q: an invalid text %q", printed, out.Text)
		}
		var object map[string]any
		if out.Structured != nil && json.Unmarshal(out.Structured, &object) != nil {
			t.Fatalf("%q: structured is no object: %q", printed, out.Structured)
		}
		for _, image := range out.Images {
			if len(image.Data) == 0 || !pictures[image.MIMEType] {
				t.Fatalf("%q: %+v", printed, image)
			}
		}
	})
}
