package config

import (
	"os/exec"
	"path/filepath"
)

// buildBridge reads what decides which bridge runs.
func buildBridge(c *Config, v *values, p *problems) {
	c.Bridge = Bridge{
		VendorExecutable: v.textOf(EnvBridgeBin),
		CursorAPIKey:     v.textOf(EnvCursorAPIKey),
		OpenAIBaseURL:    v.textOf(EnvOpenAIBaseURL),
		OpenAIAPIKey:     v.textOf(EnvOpenAIAPIKey),
	}
	var err error
	if bin := c.Bridge.VendorExecutable; bin != "" {
		if c.Bridge.VendorExecutable, err = findExecutable(bin); err != nil {
			p.add(EnvBridgeBin, "%v; name the bridge's executable, or unset it to run Liaison's own bridge", err)
		}
	}
	dir := v.textOf(EnvBridgeDir)
	if dir == "" {
		dir = filepath.Join(v.textOf(EnvStateDir), "bridge-bin")
	}
	if c.Bridge.Dir, err = filepath.Abs(dir); err != nil {
		p.add(EnvBridgeDir, "cannot be made absolute: %v", err)
	}
	if s := c.Bridge.OpenAIBaseURL; s != "" {
		if _, err := parseHTTPURL(s); err != nil {
			p.add(EnvOpenAIBaseURL, "%v", err)
		}
	}
}

// findExecutable finds a program as a shell would, and returns its absolute
// path, so that it is the same one wherever it is started from.
func findExecutable(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}
