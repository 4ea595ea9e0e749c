package local

import (
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/structpb"
)

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, answer, text string
		images             []image
		failed             bool
	}{
		{"a scalar", `{"value":"plain"}`, "plain", nil, false},
		{"a number", `{"value":1.5}`, "1.5", nil, false},
		{"null", `{"value":null}`, "null", nil, false},
		{"a list", `{"value":[1,"a"]}`, `[1,"a"]`, nil, false},
		{"an object", `{"b":1,"a":{"c":true}}`, `{"a":{"c":true},"b":1}`, nil, false},
		{"an object with a value", `{"value":1,"unit":"m"}`, `{"unit":"m","value":1}`, nil, false},
		{"empty", `{}`, `{}`, nil, false},
		{"rich", `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, "a\nb", nil, false},
		{"rich and failed", `{"content":[{"type":"text","text":"a"}],"isError":true}`, "a", nil, true},
		{"an image", `{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]}`, "", []image{{Data: "aGk=", MIMEType: "image/png"}}, false},
		{"structured only", `{"content":[],"structuredContent":{"a":1}}`, `{"a":1}`, nil, false},
		{"nothing", `{"content":[]}`, "no result", nil, false},
		{"unknown parts", `{"content":[{"type":"audio"},7,"x",{"type":"text","text":"a"}]}`, "a", nil, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			object := new(structpb.Struct)
			if err := object.UnmarshalJSON([]byte(tt.answer)); err != nil {
				t.Fatal(err)
			}
			text, images, failed := readAnswer(object.AsMap())
			if text != tt.text || !slices.Equal(images, tt.images) || failed != tt.failed {
				t.Errorf("got %q, %v, %v; want %q, %v, %v", text, images, failed, tt.text, tt.images, tt.failed)
			}
		})
	}
}

func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"a"},{"type":"image","data":"aGk="}],"isError":true}`))
	f.Add([]byte(`{"value":{"a":[1,null]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		object := new(structpb.Struct)
		if object.UnmarshalJSON(data) != nil {
			return
		}
		if text, images, _ := readAnswer(object.AsMap()); text == "" && len(images) == 0 && !strings.Contains(string(data), `""`) {
			if v, ok := object.AsMap()["value"]; !ok || v != "" {
				t.Errorf("%q is nothing to read", data)
			}
		}
	})
}
