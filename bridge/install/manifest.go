package install

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
)

// protocol is what the bridge must speak.
const protocol = "sdk.v1"

// maxManifest bounds the manifest, in bytes; it has some ten fields.
const maxManifest = 1 << 20

// manifest describes an archive. Fields that are not here are ignored, and all
// but the protocol may be missing.
type manifest struct {
	Protocol      string `json:"protocol"`
	SDKVersion    string `json:"sdkVersion"`
	BridgeVersion string `json:"bridgeVersion"`
	OS            string `json:"os"`
	Arch          string `json:"arch"`
	Entrypoint    string `json:"entrypoint"`
}

// versionPattern is what a version may look like: it becomes part of a folder's
// name.
var versionPattern = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$`)

// readManifest reads the manifest of an unpacked archive. Releases have it at the
// top; the vendor's repository keeps it in proto.
func readManifest(root *os.Root) (manifest, error) {
	for _, name := range []string{"manifest.json", "proto/manifest.json"} {
		m, err := parseManifest(root, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return m, err
	}
	return manifest{}, fmt.Errorf("%w: it has no manifest.json", ErrManifest)
}

func parseManifest(root *os.Root, name string) (manifest, error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return manifest{}, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return manifest{}, errors.Join(fmt.Errorf("%w: %s is not a file", ErrManifest, name), err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err != nil {
		return manifest{}, fmt.Errorf("read %s: %w", name, err)
	}
	if len(data) > maxManifest {
		return manifest{}, fmt.Errorf("%w: %s has more than %d bytes", ErrManifest, name, maxManifest)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return manifest{}, fmt.Errorf("%w: %s is not the JSON object that it should be: %w", ErrManifest, name, err)
	}
	return m, nil
}

// check compares the manifest with what was asked for. An empty version takes any.
func (m manifest) check(p Platform, version string) error {
	if m.Protocol != protocol {
		return fmt.Errorf("%w: it speaks %.40q, and %q is needed", ErrManifest, m.Protocol, protocol)
	}
	if m.OS != "" && m.OS != p.OS || m.Arch != "" && m.Arch != p.Arch {
		return fmt.Errorf("%w: it is built for %.40q, and %s is needed", ErrManifest, m.OS+"-"+m.Arch, p)
	}
	if v := m.version(); v != "" && !versionPattern.MatchString(v) {
		return fmt.Errorf("%w: its version %.80q is none", ErrManifest, v)
	}
	if version != "" && m.SDKVersion != "" && m.SDKVersion != version {
		return fmt.Errorf("%w: it is version %s, and %s is needed", ErrManifest, m.SDKVersion, version)
	}
	if m.Entrypoint != "" && (path.Clean(m.Entrypoint) != m.Entrypoint || !filepath.IsLocal(filepath.FromSlash(m.Entrypoint))) {
		return fmt.Errorf("%w: its entry point %.80q is not a path inside it", ErrManifest, m.Entrypoint)
	}
	return nil
}

// version is the release's version, which is the SDK's; "" when it is not said.
func (m manifest) version() string {
	if m.SDKVersion != "" {
		return m.SDKVersion
	}
	return m.BridgeVersion
}

// executable is the bridge's place in the archive, with slashes.
func (m manifest) executable(p Platform) string {
	if m.Entrypoint != "" {
		return m.Entrypoint
	}
	return p.Executable()
}
