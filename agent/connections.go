package agent

import (
	"errors"
	"maps"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

const connectionsDir = "mcp-connections"

var (
	// headerName and headerValue are those of RFC 9110, 5.1 and 5.5, in ASCII.
	headerName  = lazyregexp.New("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	headerValue = lazyregexp.New(`^[\t\x20-\x7e]*$`)
)

// connectionSettings are what mcp-connections/<name>.yaml holds.
type connectionSettings struct {
	Transport      Transport         `json:"transport,omitempty" jsonschema:"How the server is reached: stdio, http or sse; stdio where a command is given, else http"`
	Command        command           `json:"command,omitempty" jsonschema:"Starts a server that speaks on its standard streams"`
	Args           []string          `json:"args,omitempty" jsonschema:"Further words of the command"`
	Env            map[string]string `json:"env,omitempty" jsonschema:"Variables of its environment"`
	URL            string            `json:"url,omitempty" jsonschema:"Address of a server that is reached over HTTP"`
	Headers        map[string]string `json:"headers,omitempty" jsonschema:"Headers of each request"`
	HeadersCommand command           `json:"headersCommand,omitempty" jsonschema:"Run on the host before each turn; prints further headers as one JSON object. A turn fails when it does."`
	HostOnly       bool              `json:"hostOnly,omitempty" jsonschema:"Whether the agent does not get it"`
}

// connections reads the files of MCP servers.
func (l *loader) connections() {
	for _, e := range l.tree.list(connectionsDir) {
		name, isYAML := strings.CutSuffix(e.name, ".yaml")
		if e.dir || !isYAML {
			continue // misplaced says where it belongs
		}
		f := l.tree.file(path.Join(connectionsDir, e.name))
		if !plainName.MatchString(name) {
			l.fail(f.path, 0, "is not a name for a connection: at most 64 lower-case letters, digits, '-' and '_', then .yaml")
			continue
		}
		var s connectionSettings
		if r, ok := l.problems.settings(f, &s); ok {
			c := r.connection(s)
			c.Name = name
			l.def.Connections = append(l.def.Connections, c)
		}
	}
}

func (r *reader) connection(s connectionSettings) Connection {
	c := Connection{
		Transport: s.Transport, Env: s.Env, URL: s.URL, Headers: s.Headers,
		HeadersCommand: s.HeadersCommand, HostOnly: s.HostOnly, file: r.file, lines: r.lines,
	}
	if len(s.Command) > 0 {
		c.Command = s.Command[0]
		c.Args = append(append([]string(nil), s.Command[1:]...), s.Args...)
	}
	if c.Transport == "" {
		c.Transport = HTTP
		if r.has("command") {
			c.Transport = Stdio
		}
	}
	switch c.Transport {
	case Stdio:
		r.only("stdio", "command", []string{"command", "args", "env"}, []string{"url", "headers", "headersCommand"})
	case HTTP, SSE:
		r.only(string(c.Transport), "url", []string{"url", "headers", "headersCommand"}, []string{"command", "args", "env"})
		r.address(s.URL)
		r.headers(s.Headers)
	default:
		r.at("transport", "must be stdio, http or sse, not %.100q", c.Transport)
	}
	if !r.has("args") {
		r.lines["args"] = r.line("command") // which can have arguments in it
	}
	for at, text := range c.texts() {
		if err := checkReferences(text); err != nil {
			r.at(at, "%v", err)
		}
	}
	return c
}

// only checks that a transport has what it needs, and nothing of another one.
func (r *reader) only(transport, needed string, own, foreign []string) {
	if !r.has(needed) {
		r.fail(r.file, 0, "%s is missing: the transport %s needs it", needed, transport)
	}
	for _, key := range foreign {
		if r.has(key) {
			r.at(key, "does not hold for the transport %s, which has %s", transport, strings.Join(own, ", "))
		}
	}
}

func (r *reader) address(text string) {
	if text == "" || strings.Contains(text, "${") {
		return // what a variable holds is seen by Resolve
	}
	if err := checkAddress(text); err != nil {
		r.at("url", "%v", err)
	}
}

// checkAddress says what is wrong with where a server is, without the address. What
// the server is told may be secret, so that it is told over TLS, or stays on this
// machine.
func checkAddress(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "":
		return errors.New("is not an address")
	case u.User != nil:
		return errors.New("has a password in it; use headers and a variable of the environment")
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return errors.New("must begin with https://, or with http:// on this machine")
	case !loopback(u.Hostname()):
		return errors.New("must begin with https://: what is sent there can be read on the way")
	}
	return nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// ValidHeaderName reports whether a name is a token
// (https://www.rfc-editor.org/rfc/rfc9110#name-tokens).
func ValidHeaderName(name string) bool { return headerName.MatchString(name) }

func (r *reader) headers(all map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		at, value := within("headers", name), all[name]
		switch {
		case !ValidHeaderName(name):
			r.at(at, "is not the name of a header")
		case !headerValue.MatchString(value):
			r.at(at, "has characters that a header cannot have")
		case secretHeader(name) && !strings.Contains(value, "${"):
			r.warn(r.file, r.line(at), "%s stands in the file; write ${NAME} and set the variable NAME where the service runs", at)
		}
	}
}

// secretHeader reports whether a header usually holds a credential.
func secretHeader(name string) bool {
	switch http.CanonicalHeaderKey(name) {
	case "Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "Api-Key", "X-Auth-Token":
		return true
	}
	return false
}
