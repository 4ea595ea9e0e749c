package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/liaison-bot/liaison/internal/sim"
)

// scriptService is the service of one script.
type scriptService struct {
	cmd  *exec.Cmd
	log  *lockedBuffer
	done chan struct{}
}

// serviceKey finds a script's service among its values.
type serviceKey struct{}

// setUpService prepares a script for having a service of its own.
func setUpService(env *testscript.Env) {
	env.Values[serviceKey{}] = &scriptService{}
	env.Setenv("LIAISON_ADMIN_ADDR", "off")
	env.Setenv("LIAISON_STATE_DIR", filepath.Join(env.WorkDir, "state"))
	env.Setenv("TMPDIR", os.TempDir())
	// The address is replaced once a service listens; until then nothing does there.
	env.Setenv("LIAISON_ADDR", "127.0.0.1:1")
}

// passedOn are the variables of a script that its service gets.
var passedOn = []string{
	"PATH", "TMPDIR", "TMP", "TEMP", "HOME", "SYSTEMROOT", "LIAISON_ADMIN_ADDR", "LIAISON_STATE_DIR", "LIAISON_API_TOKEN", "LIAISON_API_TOKENS",
	"GITHUB_APP_ID", "GITHUB_PRIVATE_KEY_PATH", "GITHUB_WEBHOOK_SECRET", "GITHUB_API_URL", "SLACK_SIGNING_SECRET",
}

// startService runs "liaison serve" beside the script until its end, and lets
// LIAISON_ADDR and URL say where it is. Its arguments are more of its environment.
func startService(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: serve [NAME=VALUE...]")
	}
	s := ts.Value(serviceKey{}).(*scriptService)
	if s.cmd != nil {
		ts.Fatalf("there is a service already")
	}
	s.log, s.done = &lockedBuffer{}, make(chan struct{})
	s.cmd = exec.Command(binary, "serve")
	s.cmd.Dir = ts.Getenv("WORK")
	for _, name := range passedOn {
		if value := ts.Getenv(name); value != "" {
			s.cmd.Env = append(s.cmd.Env, name+"="+value)
		}
	}
	s.cmd.Env = append(append(s.cmd.Env, "LIAISON_ADDR=127.0.0.1:0", "LIAISON_LOG_FORMAT=json"), args...)
	listening := make(chan string, 1)
	s.cmd.Stderr = &lineWatcher{to: s.log, line: func(line []byte) {
		var entry struct{ Msg, Addr string }
		if json.Unmarshal(line, &entry) == nil && entry.Msg == "listening" {
			listening <- entry.Addr
		}
	}}
	s.cmd.WaitDelay = 10 * time.Second
	ts.Check(s.cmd.Start())
	cmd, done := s.cmd, s.done
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	ts.Defer(func() {
		_ = cmd.Process.Kill()
		<-done
	})
	select {
	case addr := <-listening:
		ts.Setenv("LIAISON_ADDR", addr)
		ts.Setenv("URL", "http://"+addr)
	case <-s.done:
		ts.Fatalf("the service left with %s:\n%s", s.cmd.ProcessState, s.log.String())
	case <-time.After(patience):
		ts.Fatalf("the service does not listen:\n%s", s.log.String())
	}
}

// stopService ends the script's service. Its address stays known.
func stopService(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(serviceKey{}).(*scriptService)
	if neg || len(args) > 0 || s.cmd == nil {
		ts.Fatalf("usage: stop, after serve")
	}
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		ts.Check(s.cmd.Process.Kill())
	}
	select {
	case <-s.done:
	case <-time.After(patience):
		ts.Fatalf("the service does not stop:\n%s", s.log.String())
	}
	s.cmd = nil
}

// startGitHub simulates GitHub with one pull request for the script, sets what
// turns the channel on, and saves the delivery that tells of the pull request,
// in each of the forms in which people have deliveries.
func startGitHub(ts *testscript.TestScript, neg bool, args []string, watch func(sim.Exchange)) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: github")
	}
	hub := sim.NewGitHub(sim.GitHubOptions{AppID: appID, Slug: "liaison", PublicKey: &appKey().PublicKey, WebhookSecret: webhookSecret, Watch: watch})
	api, err := hub.Start()
	ts.Check(err)
	ts.Defer(func() { _ = hub.Close() })
	hub.CreateRepository(repo, map[string]string{"main.go": "package main\n\nfunc main() {}\n"})
	hub.Install(installation, "octo", repo)
	pull := hub.OpenPullRequest(repo, sim.NewPullRequest{
		Title: "A change\x1b[2J", Author: "mona", Branch: "topic",
		Files: map[string]sim.Change{"main.go": sim.Write("package main\n\nfunc main() { println() }\n")},
	})
	ts.Setenv("GITHUB_APP_ID", fmt.Sprint(appID))
	ts.Setenv("GITHUB_PRIVATE_KEY_PATH", filepath.Join(ts.Getenv("WORK"), "key.pem"))
	ts.Setenv("GITHUB_WEBHOOK_SECRET", webhookSecret)
	ts.Setenv("GITHUB_API_URL", api)

	hook := hub.Event(repo, pull.Number, "opened")
	request := hook.Request(context.Background(), "http://liaison.test/webhooks/github", webhookSecret)
	var headers bytes.Buffer
	flat := map[string]string{}
	for name, values := range request.Header {
		flat[name] = values[0]
		fmt.Fprintf(&headers, "%s: %s\r\n", name, values[0])
	}
	saved, err := json.Marshal(struct {
		Event, ID string
		Headers   map[string]string
		Body      json.RawMessage
	}{hook.Event, hook.DeliveryID, flat, hook.Body})
	ts.Check(err)
	message := []byte("POST /webhooks/github HTTP/1.1\r\n" + headers.String() + "\r\n" + string(hook.Body))
	for name, text := range map[string][]byte{
		"opened.json": saved, "opened.headers": headers.Bytes(), "opened.body": hook.Body, "opened.http": message,
	} {
		ts.Check(os.WriteFile(ts.MkAbs(name), text, 0o600))
	}
	ts.Setenv("DELIVERY", hook.DeliveryID)

	// One of an hour ago, which GitHub remembers and another service answered.
	earlier := hub.Event(repo, pull.Number, "ready_for_review")
	ts.Setenv("EARLIER", earlier.DeliveryID)
	ts.Setenv("ATTEMPT", fmt.Sprint(hub.Lose(earlier, sim.Attempt{Ago: time.Hour, Status: http.StatusOK})))
	startChannel(ts, request.Header, hook.Body)
}

// startChannel runs a smee channel on which the delivery is relayed, and another
// one that changes a byte of it.
func startChannel(ts *testscript.TestScript, headers http.Header, body []byte) {
	serve := func(body string) string {
		fields := map[string]any{"body": json.RawMessage(body)}
		for name, values := range headers {
			fields[strings.ToLower(name)] = values[0]
		}
		data, err := json.Marshal(fields)
		ts.Check(err)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "event: ready\ndata: {}\n\nid: 1\ndata: %s\n\n", data)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
		ts.Defer(func() {
			server.CloseClientConnections()
			server.Close()
		})
		return server.URL + "/channel"
	}
	ts.Setenv("CHANNEL", serve(string(body)))
	ts.Setenv("FORGED_CHANNEL", serve(strings.Replace(string(body), "mona", "lisa", 1)))
}

// logged waits until the script's service has logged something that matches.
func logged(ts *testscript.TestScript, neg bool, args []string) {
	s := ts.Value(serviceKey{}).(*scriptService)
	if neg || len(args) != 1 || s.cmd == nil {
		ts.Fatalf("usage: logged 'expression', after serve")
	}
	expression, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for deadline := time.Now().Add(patience); !expression.MatchString(s.log.String()); {
		if time.Now().After(deadline) {
			ts.Fatalf("nothing is logged that matches %s:\n%s", args[0], s.log.String())
		}
		<-time.After(50 * time.Millisecond)
	}
}

// capture sets a variable to what the first group of an expression matches in
// the standard output of the command before.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME 'expression with a (group)'")
	}
	expression, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := expression.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("nothing matches %s", args[1])
	}
	ts.Setenv(args[0], found[1])
}

// until runs a program again and again until it succeeds and its output matches.
// The service is another process: there is nothing else to wait for.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until 'expression' program [argument...]")
	}
	expression, err := regexp.Compile("(?m)" + args[0])
	ts.Check(err)
	for deadline := time.Now().Add(patience); ; {
		err := ts.Exec(args[1], args[2:]...)
		out := ts.ReadFile("stdout")
		if err == nil && expression.MatchString(out) {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("%s does not come to match %s: %v\n%s", strings.Join(args[1:], " "), args[0], err, out)
		}
		<-time.After(50 * time.Millisecond)
	}
}
