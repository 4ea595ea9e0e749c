package sessions

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/liaison-bot/liaison/tools"
)

// equip gives a run what its agent has.
func (e *Engine) equip(ctx context.Context, r *RunRequest, run *runningTurn, turn tools.Turn) error {
	a := run.agent
	r.Model, r.ModelParams = a.Model, a.ModelParams
	r.BuiltIn, r.Denied, r.Subagents = a.BuiltIn, a.Denied, a.Subagents
	r.Cloud, r.Preamble = a.Cloud, a.Preamble
	if a.Cloud == nil { // a machine elsewhere can neither call us nor read our files
		r.Tools = e.hostTools(ctx, turn, run)
		r.Project = a.LayOut != nil
	}
	if a.MCPServers == nil {
		return nil
	}
	return guard("MCPServers of the agent", e.redact, func() (err error) {
		r.MCPServers, err = a.MCPServers(ctx, turn)
		return err
	})
}

// besideLayout lays out a workspace for an agent and has evidence prepared in it.
// Bridges obey what stands in some places of a working directory: evidence that
// gets there, which strangers wrote, fails the turn.
func (e *Engine) besideLayout(ctx context.Context, a Agent, dir string, prepare func() error) error {
	if a.Cloud == nil {
		if err := e.layOut(ctx, a, dir); err != nil {
			return err
		}
	}
	before, err := obeyedIn(dir)
	if err != nil {
		return err
	}
	if err := prepare(); err != nil {
		return err
	}
	after, err := obeyedIn(dir)
	if err == nil && after != before {
		err = errors.New("the evidence has changed the agent's own instructions in its workspace, so that the agent is not run; this is a fault of Liaison's")
	}
	return err
}

// obeyed are the places of a working directory from which coding agents take
// instructions, settings and servers by themselves.
func obeyed() []string {
	return []string{"AGENTS.md", ".cursor", ".cursorrules", ".agents", "CLAUDE.md", ".claude", ".mcp.json"}
}

// obeyedIn identifies everything in those places.
func obeyedIn(dir string) (sum [sha256.Size]byte, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return sum, fmt.Errorf("open the workspace: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	h := sha256.New()
	for _, place := range obeyed() {
		err := fs.WalkDir(root.FS(), place, func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(h, "%q %s\n", path, entry.Type())
			if !entry.Type().IsRegular() {
				return nil
			}
			f, err := root.Open(path)
			if err != nil {
				return err
			}
			_, err = io.Copy(h, f)
			return errors.Join(err, f.Close())
		})
		if err != nil {
			return sum, fmt.Errorf("read the workspace: %w", err)
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
