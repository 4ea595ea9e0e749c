package agent

import (
	"errors"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	def, problems := Load(minimal(map[string]string{
		"mcp-connections/linear.yaml": "url: https://${HOST}/mcp\nheaders:\n  Authorization: Bearer ${TOKEN}\n  X-Price: $5 and $${TOKEN}\nheadersCommand: [./grant, \"${HOST}\"]\n",
		"mcp-connections/files.yaml":  "command: [npx, \"-y\", \"${PACKAGE}\"]\nargs: [\"${ROOT}\"]\nenv:\n  KEY: ${TOKEN}\n",
	}), "/agent", testChecks())
	if def == nil {
		t.Fatal(problems)
	}
	environ := map[string]string{"HOST": "mcp.example.com", "TOKEN": "tok-1", "PACKAGE": "server", "ROOT": "/srv"}
	lookup := func(name string) (string, bool) { v, ok := environ[name]; return v, ok }
	files, err := def.Connections[0].Resolve(lookup)
	if err != nil || strings.Join(files.Args, " ") != "-y server /srv" || files.Env["KEY"] != "tok-1" {
		t.Errorf("files is %+v, %v", files, err)
	}
	linear, err := def.Connections[1].Resolve(lookup)
	if err != nil || linear.URL != "https://mcp.example.com/mcp" || linear.Headers["Authorization"] != "Bearer tok-1" || linear.Headers["X-Price"] != "$5 and ${TOKEN}" ||
		linear.HeadersCommand[1] != "mcp.example.com" {
		t.Errorf("linear is %+v, %v", linear, err)
	}
	if def.Connections[1].Headers["Authorization"] != "Bearer ${TOKEN}" || def.Connections[0].Args[1] != "${PACKAGE}" ||
		def.Connections[1].HeadersCommand[1] != "${HOST}" {
		t.Error("the definition has a secret in it now")
	}

	// What a variable makes of an address is held to what is written out in a file.
	for host, want := range map[string]string{
		"ada:hunter2@mcp.example.com": "connection linear: its url has a password in it; use headers and a variable of the environment",
		" ":                           "connection linear: its url is not an address",
	} {
		environ["HOST"] = host
		if _, err := def.Connections[1].Resolve(lookup); err == nil || err.Error() != want {
			t.Errorf("the host %q: %v, want %s", host, err, want)
		}
	}
	environ["HOST"] = "mcp.example.com"

	environ["TOKEN"] = "" // is as good as none
	_, err = def.Connections[1].Resolve(lookup)
	unset, ok := errors.AsType[*UnsetError](err)
	if !ok || *unset != (UnsetError{Variable: "TOKEN", File: "mcp-connections/linear.yaml", Line: 3}) {
		t.Fatalf("without the token: %v", err)
	}
	const want = "connection linear: mcp-connections/linear.yaml:3 refers to ${TOKEN}, which is not set where the service runs"
	if err.Error() != want {
		t.Errorf("it says %q, want %q", err, want)
	}
	delete(environ, "PACKAGE")
	_, err = def.Connections[0].Resolve(lookup)
	if unset, ok := errors.AsType[*UnsetError](err); !ok || unset.Line != 2 && unset.Line != 1 {
		t.Errorf("without the package: %v", err)
	}
}
