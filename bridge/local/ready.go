package local

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
)

// readyPrefix begins the one line that tells the adapter where the bridge
// listens. The name is the protocol's, whichever bridge prints it.
const readyPrefix = "cursor-sdk-bridge ready "

// ready is the JSON of the ready line.
type ready struct {
	SchemaVersion       int    `json:"schemaVersion"`
	ServerVersion       string `json:"serverVersion"`
	PID                 int    `json:"pid"`
	Transport           string `json:"transport"`
	Protocol            string `json:"protocol"`
	Host                string `json:"host"`
	Port                int    `json:"port"`
	URL                 string `json:"url"`
	AuthTokenFile       string `json:"authTokenFile"`
	WorkspaceRef        string `json:"workspaceRef"`
	StateRoot           string `json:"stateRoot"`
	MaxConcurrentAgents int    `json:"maxConcurrentAgents"`
	MaxMessageBytes     int    `json:"maxMessageBytes"`
}

// newReady describes a bridge that listens on addr, a [net.TCPAddr].
func newReady(conf config, addr net.Addr, tokenFile, version string) ready {
	r := ready{
		SchemaVersion:       1,
		ServerVersion:       version,
		PID:                 os.Getpid(),
		Transport:           "tcp",
		Protocol:            "connect",
		URL:                 "http://" + addr.String(),
		AuthTokenFile:       tokenFile,
		WorkspaceRef:        conf.workspace,
		StateRoot:           conf.stateRoot,
		MaxConcurrentAgents: conf.maxAgents,
		MaxMessageBytes:     conf.maxMessageBytes,
	}
	if tcp, ok := addr.(*net.TCPAddr); ok {
		r.Host, r.Port = tcp.IP.String(), tcp.Port
	}
	return r
}

// writeReadyLine writes it in one piece.
func writeReadyLine(w io.Writer, r ready) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode the ready line: %w", err)
	}
	line := append([]byte(readyPrefix), data...)
	if _, err := w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write the ready line: %w", err)
	}
	return nil
}
