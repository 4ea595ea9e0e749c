package bridge

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

const (
	// readyPrefix begins the one line of stderr that says where the bridge listens.
	readyPrefix = "cursor-sdk-bridge ready "
	// maxTokenFile is far above any token (a few dozen bytes) and keeps a wrong
	// path, say of a log file, from being sent as a header.
	maxTokenFile = 64 << 10
)

// readyLine is the JSON of the ready line. Fields that are not here are ignored.
type readyLine struct {
	SchemaVersion   int    `json:"schemaVersion"`
	PID             int    `json:"pid"`
	Transport       string `json:"transport"`
	Protocol        string `json:"protocol"`
	Host            string `json:"host"`
	Port            int    `json:"port"`
	URL             string `json:"url"`
	MaxMessageBytes int    `json:"maxMessageBytes"`
}

// ready is what the ready line says, checked, but for the token.
type ready struct {
	// url is the root of the bridge's server: http, a loopback host, a port.
	url string
	// maxMessageBytes is what the bridge accepts in one message; 0 means not said.
	maxMessageBytes int
}

// errNotReady hides the decoder's text, which may quote a value.
var errNotReady = errors.New("the ready line is not the JSON object that sdk.v1 asks for")

// parseReady reads the JSON of a ready line that the process pid printed. Its
// errors never quote the line, since old bridges put the token into it.
func parseReady(line []byte, pid int) (ready, error) {
	var doc readyLine
	if json.Unmarshal(line, &doc) != nil {
		return ready{}, errNotReady
	}
	switch {
	case doc.SchemaVersion != 1:
		return ready{}, fmt.Errorf("the ready line has schemaVersion %d; this version knows 1", doc.SchemaVersion)
	case doc.Transport != "tcp":
		return ready{}, errors.New("the ready line has another transport than tcp")
	case doc.Protocol != "connect":
		return ready{}, errors.New("the ready line has another protocol than connect")
	case doc.PID != pid:
		return ready{}, fmt.Errorf("the ready line comes from process %d, but process %d was started (a wrapper script must exec the bridge)", doc.PID, pid)
	}
	root, err := readyURL(doc.URL, doc.Host, doc.Port)
	if err != nil {
		return ready{}, err
	}
	return ready{url: root, maxMessageBytes: max(doc.MaxMessageBytes, 0)}, nil
}

// readyURL prefers the URL of the ready line to its host and port. Only
// loopback is accepted: the bearer token must not leave the machine.
func readyURL(raw, host string, port int) (string, error) {
	if raw == "" {
		if port < 1 || port > 65535 {
			return "", fmt.Errorf("the ready line has port %d", port)
		}
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
		raw = "http://" + net.JoinHostPort(host, strconv.Itoa(port))
	}
	u, err := url.Parse(raw)
	if err != nil {
		return "", errors.New("the ready line has a url that cannot be read")
	}
	if u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" || strings.Trim(u.Path, "/") != "" {
		return "", errors.New("the ready line has a url that is not of the form http://host:port")
	}
	if p, err := strconv.Atoi(u.Port()); err != nil || p < 1 || p > 65535 {
		return "", errors.New("the ready line has a url without a usable port")
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return "", errors.New("the ready line has a host that is not loopback")
	}
	return "http://" + u.Host, nil
}

// readyToken returns the token that a ready line holds or names a file of. A
// relative path is below dir.
func readyToken(line []byte, dir string) (string, error) {
	var doc struct {
		AuthToken     string `json:"authToken"`
		AuthTokenFile string `json:"authTokenFile"`
	}
	if json.Unmarshal(line, &doc) != nil {
		return "", errNotReady
	}
	token := doc.AuthToken
	if token == "" {
		if doc.AuthTokenFile == "" {
			return "", errors.New("the ready line names no token file")
		}
		path := doc.AuthTokenFile
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		var err error
		if token, err = readToken(path); err != nil {
			return "", err
		}
	}
	token = strings.TrimSpace(token)
	if token == "" {
		return "", errors.New("the bridge's token is empty")
	}
	if strings.ContainsFunc(token, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return "", errors.New("the bridge's token has characters that no header may have")
	}
	return token, nil
}

func readToken(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", fmt.Errorf("read the bridge's token: %w", err)
	case !info.Mode().IsRegular():
		// A pipe or a device in its place would block the start or never end.
		return "", fmt.Errorf("read the bridge's token: %s is not a regular file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		// Whoever reads it drives the agents. Windows has no such bits.
		return "", fmt.Errorf("read the bridge's token: other users may read or change %s (mode %04o); its bridge must make it 0600",
			path, info.Mode().Perm())
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read the bridge's token: %w", err)
	}
	defer func() { _ = f.Close() }()
	data, err := io.ReadAll(io.LimitReader(f, maxTokenFile+1))
	if err != nil {
		return "", fmt.Errorf("read the bridge's token: %w", err)
	}
	if len(data) > maxTokenFile {
		return "", fmt.Errorf("read the bridge's token: %s is larger than %d bytes", path, maxTokenFile)
	}
	return string(data), nil
}
