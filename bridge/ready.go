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

// ready is what the ready line says, checked.
type ready struct {
	// url is the root of the bridge's server: http, a loopback host, a port.
	url string
	// token is set by old bridges only; the others name a tokenFile.
	token     string
	tokenFile string
	version   string
	// maxMessageBytes is what the bridge accepts in one message; 0 means not said.
	maxMessageBytes int
}

// parseReady reads the JSON of a ready line that the process pid printed. Its
// errors never quote the line, since old bridges put the token into it.
func parseReady(line []byte, pid int) (ready, error) {
	var doc struct {
		SchemaVersion   int    `json:"schemaVersion"`
		ServerVersion   string `json:"serverVersion"`
		PID             int    `json:"pid"`
		Transport       string `json:"transport"`
		Protocol        string `json:"protocol"`
		Host            string `json:"host"`
		Port            int    `json:"port"`
		URL             string `json:"url"`
		AuthTokenFile   string `json:"authTokenFile"`
		AuthToken       string `json:"authToken"`
		MaxMessageBytes int    `json:"maxMessageBytes"`
	}
	if err := json.Unmarshal(line, &doc); err != nil {
		// The decoder's text may quote a value.
		return ready{}, errors.New("the ready line is not the JSON object that sdk.v1 asks for")
	}
	switch {
	case doc.SchemaVersion != 1:
		return ready{}, fmt.Errorf("the ready line has schemaVersion %d; this version knows 1", doc.SchemaVersion)
	case doc.Transport != "tcp":
		return ready{}, fmt.Errorf("the ready line has transport %.20q; only tcp is known", doc.Transport)
	case doc.Protocol != "connect":
		return ready{}, fmt.Errorf("the ready line has protocol %.20q; only connect is known", doc.Protocol)
	case doc.PID != pid:
		return ready{}, fmt.Errorf("the ready line comes from process %d, but process %d was started (a wrapper script must exec the bridge)", doc.PID, pid)
	case doc.AuthToken == "" && doc.AuthTokenFile == "":
		return ready{}, errors.New("the ready line names no token file")
	}
	root, err := readyURL(doc.URL, doc.Host, doc.Port)
	if err != nil {
		return ready{}, err
	}
	return ready{
		url:             root,
		token:           doc.AuthToken,
		tokenFile:       doc.AuthTokenFile,
		version:         doc.ServerVersion,
		maxMessageBytes: max(doc.MaxMessageBytes, 0),
	}, nil
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

// bearer returns the token of the ready line. A relative path is below dir.
func (r ready) bearer(dir string) (string, error) {
	token := r.token
	if token == "" {
		path := r.tokenFile
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
	// A pipe or a device in its place would block the start or never end.
	if info, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("read the bridge's token: %w", err)
	} else if !info.Mode().IsRegular() {
		return "", fmt.Errorf("read the bridge's token: %s is not a regular file", path)
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
