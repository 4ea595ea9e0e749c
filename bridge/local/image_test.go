package local

import (
	"context"
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

func imageOf(mime, data string) *sdkv1.SdkImage {
	return &sdkv1.SdkImage{Source: &sdkv1.SdkImage_Data{Data: &sdkv1.SdkImageData{Data: data, MimeType: mime}}}
}

func imageAt(url string) *sdkv1.SdkImage {
	return &sdkv1.SdkImage{Source: &sdkv1.SdkImage_Url{Url: &sdkv1.SdkImageUrl{Url: url}}}
}

func TestImagesAreChecked(t *testing.T) {
	t.Parallel()
	bytes := func(n int) string { return base64.StdEncoding.EncodeToString(make([]byte, n)) }
	tests := []struct {
		name   string
		images []*sdkv1.SdkImage
		ok     bool
	}{
		{"bytes", []*sdkv1.SdkImage{imageOf("image/png", "iVBORw0KGgo=")}, true},
		{"a URL", []*sdkv1.SdkImage{imageAt("https://example.com/a.png")}, true},
		{"no source", []*sdkv1.SdkImage{{}}, false},
		{"not base64", []*sdkv1.SdkImage{imageOf("image/png", "@@@")}, false},
		{"no bytes", []*sdkv1.SdkImage{imageOf("image/png", "")}, false},
		{"not an image", []*sdkv1.SdkImage{imageOf("text/html", "aGk=")}, false},
		{"no type", []*sdkv1.SdkImage{imageOf("", "aGk=")}, false},
		{"a type that holds a header", []*sdkv1.SdkImage{imageOf("image/png;x=1", "aGk=")}, false},
		{"a file", []*sdkv1.SdkImage{imageAt("file:///etc/passwd")}, false},
		{"no host", []*sdkv1.SdkImage{imageAt("https:///a.png")}, false},
		{"a URL of the longest", []*sdkv1.SdkImage{imageAt("http://e.example/" + strings.Repeat("a", maxImageURL-17))}, true},
		{"a URL one byte longer", []*sdkv1.SdkImage{imageAt("http://e.example/" + strings.Repeat("a", maxImageURL-16))}, false},
		{"as many as there may be", slices.Repeat([]*sdkv1.SdkImage{imageAt("https://e.example/a")}, maxImages), true},
		{"one more", slices.Repeat([]*sdkv1.SdkImage{imageAt("https://e.example/a")}, maxImages+1), false},
		{"the largest", []*sdkv1.SdkImage{imageOf("image/png", bytes(maxImageBytes))}, true},
		{"one byte larger", []*sdkv1.SdkImage{imageOf("image/png", bytes(maxImageBytes+1))}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := readImages(tt.images)
			if tt.ok {
				if err != nil || len(got) != len(tt.images) {
					t.Errorf("got %d images and %v", len(got), err)
				}
				return
			}
			f, _ := faultOf(err)
			if err == nil || f.code != connect.CodeInvalidArgument || len(f.text) > 1000 {
				t.Errorf("got %v, want a short refusal", err)
			}
		})
	}
}

func TestImagesReachAnEngineThatTakesThem(t *testing.T) {
	t.Parallel()
	seen := make(chan []image, 1)
	b := startBridge(t, t.TempDir(), scripted{can: abilities{Images: true}, run: func(_ context.Context, tk task, _ func(event)) (answer, error) {
		seen <- tk.Images
		return answer{}, nil
	}})
	rest(t, b.send(b.createAgent(), "look", func(r *sdkv1.SendRequest) {
		r.Message.Images = []*sdkv1.SdkImage{imageOf("image/png", "iVBORw0KGgo="), imageAt("https://e.example/a.png")}
	}))
	want := []image{{Data: "iVBORw0KGgo=", MIMEType: "image/png"}, {URL: "https://e.example/a.png"}}
	if got := <-seen; !slices.Equal(got, want) {
		t.Errorf("the engine got %v, want %v", got, want)
	}
}
