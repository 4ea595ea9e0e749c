package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/liaison-bot/liaison/cmd/liaison/internal/remote"
	"github.com/liaison-bot/liaison/config"
)

// maxTokenFile bounds the file with a token, in bytes.
const maxTokenFile = 4 << 10

// connection says which service a command talks to, and as whom.
type connection struct {
	con *console
	// url, tokenFile and config are flags.
	url, tokenFile, config string
	// json is set when a program reads the answer.
	json bool
}

// newConnection adds its flags to a command and the commands below it.
func newConnection(con *console, c *cobra.Command) *connection {
	conn := &connection{con: con}
	f := c.PersistentFlags()
	f.StringVar(&conn.url, "url", "", "root of the service, such as https://liaison.example.com (default: where the settings let it listen)")
	f.StringVar(&conn.tokenFile, "token-file", "", "file with the API token (default: LIAISON_API_TOKEN)")
	f.StringVar(&conn.config, "config", "", "settings file (default: "+config.DefaultFile+", if it exists)")
	f.BoolVar(&conn.json, "json", false, "print JSON, as the HTTP API has it")
	return conn
}

// open returns the service. The settings say where it listens and its token, as
// they do for "serve"; with --url only the environment's token is used, since
// the settings here are another service's.
func (c *connection) open() (*remote.Service, error) {
	o := remote.Options{URL: c.url, Token: c.con.getenv(config.EnvAPIToken), UserAgent: "liaison/" + buildVersion()}
	if c.url == "" {
		cfg, err := config.Load(c.con.environ, c.config)
		if err != nil {
			return nil, unusable(err)
		}
		if o.URL, err = listenerURL(cfg.Addr); err != nil {
			return nil, unusable(err)
		}
		o.Token = cfg.APIToken
	}
	if c.tokenFile != "" {
		token, err := readSmall(c.tokenFile, maxTokenFile)
		if err != nil {
			return nil, unusable(fmt.Errorf("--token-file: %w", err))
		}
		if o.Token = strings.TrimSpace(string(token)); o.Token == "" {
			return nil, unusable(fmt.Errorf("--token-file: %s is empty", c.tokenFile))
		}
	}
	s, err := remote.New(o)
	if err != nil {
		return nil, unusable(err)
	}
	return s, nil
}

// listenerURL is where a service that listens on addr is reached from this machine.
func listenerURL(addr string) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("%s: %w", config.EnvAddr, err)
	}
	if port == "0" {
		return "", fmt.Errorf("%s lets the service choose its port: say with --url where it is (its log has a line \"listening\")", config.EnvAddr)
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
		if ip != nil && ip.To4() == nil {
			host = "::1"
		}
	}
	return "http://" + net.JoinHostPort(host, port), nil
}

// readSmall reads a file that must not be longer than limit bytes. The file is
// never read further than that.
func readSmall(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAtMost(f, name, limit)
}

func readAtMost(r io.Reader, name string, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is longer than %d bytes", name, limit)
	}
	return data, nil
}
