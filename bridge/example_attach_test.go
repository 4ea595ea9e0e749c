package bridge_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// startBridge starts a bridge as its operator would, and reads from its ready
// line where it is.
func startBridge() (url, token string, stop func(), err error) {
	root, err := os.MkdirTemp("", "example-")
	if err != nil {
		return "", "", nil, err
	}
	cmd := exec.Command("liaison-bridge", "--state-root", root)
	cmd.Env = append(os.Environ(), "TMPDIR="+root) // its token file goes when root does
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return "", "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", "", nil, err
	}
	stop = func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = os.RemoveAll(root)
	}
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		line, ready := strings.CutPrefix(lines.Text(), "cursor-sdk-bridge ready ")
		if !ready {
			continue
		}
		var where struct{ URL, AuthTokenFile string }
		if err := json.Unmarshal([]byte(line), &where); err != nil {
			break
		}
		secret, err := os.ReadFile(where.AuthTokenFile)
		if err != nil {
			break
		}
		return where.URL, strings.TrimSpace(string(secret)), stop, nil
	}
	stop()
	return "", "", nil, errors.New("the bridge has not become ready")
}
