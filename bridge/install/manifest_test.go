package install

import (
	"errors"
	"strings"
	"testing"
)

func TestManifest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		files   []entry
		version string // asked for
		want    string // installed version; "-" when it is refused
		binary  string
	}{
		{name: "as released", files: bridgeEntries(goodManifest, "b"), want: "1.2.3"},
		{name: "as released and asked for", files: bridgeEntries(goodManifest, "b"), version: "v1.2.3", want: "1.2.3"},
		{name: "only the protocol", files: bridgeEntries(`{"protocol":"sdk.v1"}`, "b"), want: ""},
		{name: "only the protocol, with a version asked for", files: bridgeEntries(`{"protocol":"sdk.v1"}`, "b"), version: "1.2.3", want: "1.2.3"},
		{name: "in proto", files: []entry{{name: "bin/cursor-sdk-bridge", body: "b", mode: 0o755}, {name: "proto/manifest.json", body: goodManifest}}, want: "1.2.3"},
		{name: "executable bit missing", files: []entry{{name: "bin/cursor-sdk-bridge", body: "b"}, {name: "manifest.json", body: goodManifest}}, want: "1.2.3"},
		{name: "unknown fields", files: bridgeEntries(`{"protocol":"sdk.v1","sdkVersion":"9.9.9","new":{"a":[1]}}`, "b"), want: "9.9.9"},
		{name: "other entry point", files: append(bridgeEntries(strings.Replace(goodManifest, "bin/cursor-sdk-bridge", "lib/bridge", 1), "b"), entry{name: "lib/bridge", body: "b", mode: 0o755}), want: "1.2.3"},

		{name: "no manifest", files: []entry{{name: "bin/cursor-sdk-bridge", body: "b"}}, want: "-"},
		{name: "manifest is a folder", files: []entry{{name: "bin/cursor-sdk-bridge", body: "b"}, {name: "manifest.json/x", body: goodManifest}}, want: "-"},
		{name: "not JSON", files: bridgeEntries("sdk.v1", "b"), want: "-"},
		{name: "no object", files: bridgeEntries(`["sdk.v1"]`, "b"), want: "-"},
		{name: "too large", files: bridgeEntries(`{"protocol":"sdk.v1","x":"`+strings.Repeat("x", maxManifest)+`"}`, "b"), want: "-"},
		{name: "no protocol", files: bridgeEntries(`{}`, "b"), want: "-"},
		{name: "later protocol", files: bridgeEntries(strings.Replace(goodManifest, "sdk.v1", "sdk.v2", 1), "b"), want: "-"},
		{name: "bad manifest above a good one", files: append(bridgeEntries(`{"protocol":"sdk.v2"}`, "b"), entry{name: "proto/manifest.json", body: goodManifest}), want: "-"},
		{name: "other system", files: bridgeEntries(strings.Replace(goodManifest, "linux", "darwin", 1), "b"), want: "-"},
		{name: "other architecture", files: bridgeEntries(strings.Replace(goodManifest, "x64", "arm64", 1), "b"), want: "-"},
		{name: "other version", files: bridgeEntries(goodManifest, "b"), version: "v1.2.4", want: "-"},
		{name: "version with a path", files: bridgeEntries(strings.Replace(goodManifest, "1.2.3", "../1", 1), "b"), want: "-"},
		{name: "version with an escape", files: bridgeEntries(strings.Replace(goodManifest, "1.2.3", `1\u001b[2J`, 1), "b"), want: "-"},
		{name: "endless version", files: bridgeEntries(strings.Replace(goodManifest, "1.2.3", strings.Repeat("1", 65), 1), "b"), want: "-"},
		{name: "no executable", files: []entry{{name: "manifest.json", body: goodManifest}, {name: "bin/other", body: "x"}}, want: "-"},
		{name: "executable is a folder", files: []entry{{name: "manifest.json", body: goodManifest}, {name: "bin/cursor-sdk-bridge/x", body: "x"}}, want: "-"},
		{name: "entry point outside", files: bridgeEntries(strings.Replace(goodManifest, "bin/cursor-sdk-bridge", "../../bin/sh", 1), "b"), want: "-"},
		{name: "absolute entry point", files: bridgeEntries(strings.Replace(goodManifest, "bin/cursor-sdk-bridge", "/bin/sh", 1), "b"), want: "-"},
		{name: "entry point not clean", files: bridgeEntries(strings.Replace(goodManifest, "bin/cursor-sdk-bridge", "bin/../bin/cursor-sdk-bridge", 1), "b"), want: "-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			o := fromFile(t, dir, archive(t, tt.files...))
			o.Version = tt.version
			got, err := Install(t.Context(), o)
			if tt.want == "-" {
				if !errors.Is(err, ErrManifest) {
					t.Errorf("got %v", err)
				}
				if _, err := Current(dir); !errors.Is(err, ErrNotInstalled) {
					t.Errorf("after the refusal: %v", err)
				}
				expectNoLitter(t, dir)
				return
			}
			if err != nil || got.Version != tt.want {
				t.Fatalf("got %q, %v; want %q", got.Version, err, tt.want)
			}
			expectCurrent(t, dir, "b")
		})
	}
}
