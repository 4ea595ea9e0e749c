package install

import (
	"fmt"
	"runtime"
)

// Platform is an operating system and an architecture in the vendor's words.
type Platform struct {
	OS   string // linux, darwin or win32
	Arch string // x64 or arm64
}

// Host is the platform of this program.
func Host() (Platform, error) { return PlatformOf(runtime.GOOS, runtime.GOARCH) }

// PlatformOf translates Go's words. The error is [ErrUnsupported] when the
// vendor builds no bridge for them.
func PlatformOf(goos, goarch string) (Platform, error) {
	systems := map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}
	architectures := map[string]string{"amd64": "x64", "arm64": "arm64"}
	p := Platform{OS: systems[goos], Arch: architectures[goarch]}
	if p.OS == "" || p.Arch == "" || p == (Platform{"win32", "arm64"}) {
		return Platform{}, fmt.Errorf("%w: %s/%s; there are builds for linux and darwin (x64, arm64) and win32 (x64)", ErrUnsupported, goos, goarch)
	}
	return p, nil
}

// String is the platform as archive names have it.
func (p Platform) String() string { return p.OS + "-" + p.Arch }

// Archive is the name of the platform's archive in a release.
func (p Platform) Archive() string {
	return "cursor-sdk-bridge-standalone-" + p.String() + ".tar.gz"
}

// Executable is the bridge's usual place in an archive, with slashes.
func (p Platform) Executable() string {
	if p.OS == "win32" {
		return "bin/cursor-sdk-bridge.exe"
	}
	return "bin/cursor-sdk-bridge"
}
