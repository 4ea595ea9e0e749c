package process

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Secrets that the services started here are given.
const (
	GitHubSecret = "the-github-secret-of-a-measurement"
	SlackSecret  = "the-slack-secret-of-a-measurement"
)

// nowhere is a port of this machine at which nobody answers: what the service
// would write to GitHub fails at once, and waits to be tried again.
const nowhere = "http://127.0.0.1:1/"

// Options says how to start a service.
type Options struct {
	// Binary is the service's executable and Dir its state directory.
	Binary, Dir string
	// Log is a file to which the service's log is appended.
	Log string
	// CPUs are those that the service may use, as taskset writes them; empty
	// means all of them.
	CPUs string
	// Env is set besides what every measurement needs.
	Env []string
}

// Service is one run of the service.
type Service struct {
	// Addr is its host:port.
	Addr string
	// Started is the moment just before it was started.
	Started time.Time

	// cmd is the service's process also when taskset starts it, which then becomes it.
	cmd  *exec.Cmd
	log  *os.File
	done chan struct{}
}

var key = sync.OnceValues(func() (string, error) {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(k)})), nil
})

// Start starts a service and returns at once; [Service.Ready] waits until it
// listens. It ends with Stop, Kill or ctx.
func Start(ctx context.Context, o Options) (*Service, error) {
	pemKey, err := key()
	if err != nil {
		return nil, fmt.Errorf("make a key for the App: %w", err)
	}
	addr, err := freeAddr(ctx)
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	args := []string{o.Binary, "serve"}
	if o.CPUs != "" {
		args = append([]string{"taskset", "-c", o.CPUs}, args...)
	}
	s := &Service{Addr: addr, cmd: exec.CommandContext(ctx, args[0], args[1:]...), done: make(chan struct{})}
	if s.log, err = os.OpenFile(o.Log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	s.cmd.Stderr = s.log
	s.cmd.Dir = o.Dir
	s.cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(),
		"LIAISON_ADDR=" + addr, "LIAISON_ADMIN_ADDR=off", "LIAISON_STATE_DIR=" + o.Dir,
		"GITHUB_APP_ID=1", "GITHUB_PRIVATE_KEY=" + pemKey, "GITHUB_API_URL=" + nowhere,
		"GITHUB_WEBHOOK_SECRET=" + GitHubSecret, "SLACK_SIGNING_SECRET=" + SlackSecret,
	}, o.Env...)
	s.Started = time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start the service: %w", err), s.log.Close())
	}
	go func() {
		_ = s.cmd.Wait()
		_ = s.log.Close()
		close(s.done)
	}()
	return s, nil
}

// freeAddr returns an address at which nobody listened a moment ago.
func freeAddr(ctx context.Context) (string, error) {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// pollEvery is how often a service that starts is looked for: a small part of
// the shortest start.
const pollEvery = time.Millisecond

// Ready waits until the service takes connections.
func (s *Service) Ready(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.Addr)
		if err == nil {
			return conn.Close()
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the service: %w", ctx.Err())
		case <-s.done:
			return fmt.Errorf("the service left with %s; its log says why: %s", s.cmd.ProcessState, s.log.Name())
		case <-tick.C:
		}
	}
}

// Kill ends the service as a power failure would.
func (s *Service) Kill() {
	_ = s.cmd.Process.Kill()
	<-s.done
}

// Stop asks the service to end and waits until it has.
func (s *Service) Stop() {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		_ = s.cmd.Process.Kill()
	}
	<-s.done
}
