package install

import (
	"errors"
	"testing"
)

func TestPlatformOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ os, arch, archive, executable string }{
		{"linux", "amd64", "cursor-sdk-bridge-standalone-linux-x64.tar.gz", "bin/cursor-sdk-bridge"},
		{"linux", "arm64", "cursor-sdk-bridge-standalone-linux-arm64.tar.gz", "bin/cursor-sdk-bridge"},
		{"darwin", "amd64", "cursor-sdk-bridge-standalone-darwin-x64.tar.gz", "bin/cursor-sdk-bridge"},
		{"darwin", "arm64", "cursor-sdk-bridge-standalone-darwin-arm64.tar.gz", "bin/cursor-sdk-bridge"},
		{"windows", "amd64", "cursor-sdk-bridge-standalone-win32-x64.tar.gz", "bin/cursor-sdk-bridge.exe"},
	} {
		p, err := PlatformOf(tt.os, tt.arch)
		if err != nil || p.Archive() != tt.archive || p.Executable() != tt.executable {
			t.Errorf("%s/%s: %q %q %v", tt.os, tt.arch, p.Archive(), p.Executable(), err)
		}
	}
	for _, pair := range [][2]string{{"windows", "arm64"}, {"linux", "386"}, {"freebsd", "amd64"}, {"", ""}} {
		if p, err := PlatformOf(pair[0], pair[1]); !errors.Is(err, ErrUnsupported) {
			t.Errorf("%v: %v, %v", pair, p, err)
		}
	}
}
