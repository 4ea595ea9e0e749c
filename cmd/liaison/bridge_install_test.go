package main_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/liaison-bot/liaison/bridge/install"
)

// vendorScript plays the vendor's executable: it notes what it was started with
// below its HOME and then is our own bridge.
func vendorScript() string {
	return "#!/bin/sh\nenv > \"$HOME/started-environment\"\nprintf '%s\\n' \"$@\" > \"$HOME/started-arguments\"\nexec '" + binary + "' bridge serve \"$@\"\n"
}

// vendorArchive is a release's archive for this machine with this executable.
func vendorArchive(version, executable string) (name string, data []byte, err error) {
	platform, err := install.Host()
	if err != nil {
		return "", nil, err
	}
	manifest, err := json.Marshal(map[string]string{
		"bridgeVersion": "1.0.0", "sdkVersion": version, "os": platform.OS, "arch": platform.Arch,
		"entrypoint": platform.Executable(), "protocol": "sdk.v1", "distribution": "standalone",
	})
	if err != nil {
		return "", nil, err
	}
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	w := tar.NewWriter(zip)
	for _, f := range []struct {
		name string
		mode int64
		body string
	}{{platform.Executable(), 0o755, executable}, {"manifest.json", 0o644, string(manifest)}} {
		err = errors.Join(err, w.WriteHeader(&tar.Header{Name: f.name, Mode: f.mode, Size: int64(len(f.body)), Typeflag: tar.TypeReg}))
		_, writeErr := io.WriteString(w, f.body)
		err = errors.Join(err, writeErr)
	}
	err = errors.Join(err, w.Close(), zip.Close())
	return platform.Archive(), b.Bytes(), err
}

// releases serves archives as GitHub does: a folder for each version.
func releases(archives map[string][]byte, name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		version, file := filepath.Split(strings.TrimPrefix(r.URL.Path, "/"))
		data, ok := archives[strings.TrimSuffix(version, "/")]
		switch {
		case ok && file == name:
			_, _ = w.Write(data)
		case ok && file == install.SumsFile:
			sum := sha256.Sum256(data)
			fmt.Fprintf(w, "%s  %s\n", hex.EncodeToString(sum[:]), name)
		default:
			http.NotFound(w, r)
		}
	})
}

// vendorBuildsForUs says whether there is a vendor's bridge for this machine.
func vendorBuildsForUs() bool {
	_, err := install.Host()
	return err == nil
}

// setUpReleases gives a script two releases on loopback and one of them as files.
func setUpReleases(env *testscript.Env) error {
	if !vendorBuildsForUs() {
		return nil
	}
	name, first, err := vendorArchive("1.0.0", vendorScript())
	if err != nil {
		return err
	}
	_, second, err := vendorArchive("2.0.0", vendorScript()+"# of another release\n")
	if err != nil {
		return err
	}
	_, broken, err := vendorArchive("3.0.0", "#!/bin/sh\necho a library is missing >&2\nexit 1\n")
	if err != nil {
		return err
	}
	server := httptest.NewServer(releases(map[string][]byte{"v1": first, "v2": second, "v3": broken}, name))
	env.Defer(server.Close)
	sum := sha256.Sum256(first)
	env.Setenv("RELEASES", server.URL)
	env.Setenv("ARCHIVE", name)
	env.Setenv("SHA256", hex.EncodeToString(sum[:]))
	return errors.Join(
		os.WriteFile(filepath.Join(env.WorkDir, name), first, 0o600),
		os.WriteFile(filepath.Join(env.WorkDir, "tampered.tar.gz"), append(first[:len(first)-1:len(first)-1], first[len(first)-1]^1), 0o600),
		os.WriteFile(filepath.Join(env.WorkDir, install.SumsFile), []byte(hex.EncodeToString(sum[:])+" *"+name+"\r\n"), 0o600),
	)
}

// The whole way: install over the network, serve, review a pull request with
// what was installed. It gets the vendor's key, and nothing of anyone else's.
func TestServiceRunsTheInstalledBridge(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for the vendor's executable is a shell script")
	}
	name, data, err := vendorArchive("1.0.0", vendorScript())
	if err != nil {
		t.Skip(err)
	}
	server := httptest.NewServer(releases(map[string][]byte{"v1": data}, name))
	t.Cleanup(server.Close)
	w := newWorld(t)
	keys := []string{"CURSOR_API_KEY=planted-vendor-key-77aa", "OPENAI_API_KEY=planted-model-key-88bb", "OPENAI_BASE_URL=http://127.0.0.1:1/v1"}
	// While the service runs and holds its database, too.
	p := w.serve(keys...)
	c := exec.Command(binary, "bridge", "install", "--base-url", server.URL+"/v1", "--check")
	c.Env, c.Dir = w.environment(keys...), t.TempDir()
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "Installed cursor-sdk-bridge 1.0.0") {
		t.Fatalf("%v: %s", err, out)
	}
	p.terminate()

	p = w.serve(keys...)
	pull := w.open("Reviewed by what was installed")
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	w.reviewed(pull.Number, pull.HeadSHA)
	response, err := http.Get(p.url + "/v1/info")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var info struct {
		Bridge struct{ Name, Reason, Version, SHA256 string }
	}
	if err := json.NewDecoder(response.Body).Decode(&info); err != nil {
		t.Fatal(err)
	}
	if b := info.Bridge; !strings.HasPrefix(b.Name, filepath.Join(w.dir, "bridge-bin")) || b.Version != "1.0.0" || b.Reason == "" {
		t.Errorf("info says %+v", b)
	}
	if status := p.terminate(); status != 0 {
		t.Errorf("stopped with %d", status)
	}

	environment, err := os.ReadFile(filepath.Join(w.dir, "bridge", "started-environment"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(environment), "CURSOR_API_KEY=planted-vendor-key-77aa\n") {
		t.Error("the vendor's bridge was not given its key")
	}
	// This one is the protocol between a host in Go and a bridge of ours; to others it says nothing.
	given := strings.ReplaceAll(string(environment), "LIAISON_BRIDGE_EXIT_WITH_PARENT=1\n", "")
	for _, secret := range []string{"planted-model-key", "OPENAI_", webhookSecret, "PRIVATE KEY", "LIAISON_", "GITHUB_"} {
		if strings.Contains(given, secret) {
			t.Errorf("%s is in the bridge's environment", secret)
		}
	}
	arguments, err := os.ReadFile(filepath.Join(w.dir, "bridge", "started-arguments"))
	if err != nil || !strings.Contains(string(arguments), `{"rootDir":"`+filepath.Join(w.dir, "bridge", "vendor-store")+`","type":"jsonl"}`) {
		t.Errorf("arguments %s, %v", arguments, err)
	}
	if strings.Contains(w.log.String(), "planted-") {
		t.Error("a key is in the log")
	}
	orphans(t, w.dir)
}

// Our own bridge is never given the vendor's key.
func TestOwnBridgeIsNotGivenTheVendorsKey(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows the environment of a process")
	}
	w := newWorld(t)
	p := w.serve("CURSOR_API_KEY=planted-vendor-key-77aa", "OPENAI_API_KEY=planted-model-key-88bb",
		"OPENAI_BASE_URL=http://127.0.0.1:1/v1", "LIAISON_MODEL=liaison-reviewer")
	pull := w.open("Which keys")
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	w.reviewed(pull.Number, pull.HeadSHA)
	environment := bridgeEnvironment(t, w.dir)
	if !strings.Contains(environment, "OPENAI_API_KEY=planted-model-key-88bb") {
		t.Errorf("our bridge was not given the model's key: %q", environment)
	}
	for _, secret := range []string{"CURSOR_API_KEY", "planted-vendor-key", webhookSecret, "PRIVATE KEY", "GITHUB_"} {
		if strings.Contains(environment, secret) {
			t.Errorf("%s is in our bridge's environment", secret)
		}
	}
	p.terminate()
}

// bridgeEnvironment is that of the running process that has this state root.
func bridgeEnvironment(t *testing.T, dir string) string {
	t.Helper()
	commands, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range commands {
		command, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(command, []byte("bridge\x00serve\x00")) || !bytes.Contains(command, []byte(dir)) {
			continue
		}
		environment, err := os.ReadFile(filepath.Join(filepath.Dir(path), "environ"))
		if err != nil {
			t.Fatal(err)
		}
		return string(environment)
	}
	t.Fatal("no bridge is running")
	return ""
}
