package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
)

// storePlace is where agents and runs are kept.
type storePlace struct {
	// dir holds them, or only the lock and the spool when the caller keeps them.
	dir string
	// custom is the caller's store; the zero value means that it has none.
	custom callback
}

// findStore reads the JSON of --local-store. Unknown keys are ignored, as
// everywhere in the protocol. A store callback without the type "custom" is not
// used, as at the vendor's bridge.
func findStore(localStore, stateRoot string, custom callback) (storePlace, error) {
	var c struct {
		Type    string `json:"type"`
		RootDir string `json:"rootDir"`
	}
	if localStore != "" {
		if err := json.Unmarshal([]byte(localStore), &c); err != nil {
			return storePlace{}, fmt.Errorf("not a JSON object: %w", err)
		}
	}
	switch c.Type {
	case "", "sqlite":
		return storePlace{dir: stateRoot}, nil
	case "jsonl":
		if c.RootDir == "" {
			return storePlace{dir: stateRoot}, nil
		}
		dir, err := filepath.Abs(c.RootDir)
		return storePlace{dir: dir}, err
	case "custom":
		if custom == (callback{}) {
			return storePlace{}, errors.New(`type "custom" needs --store-callback-url and --store-callback-auth-token`)
		}
		return storePlace{dir: stateRoot, custom: custom}, nil
	default:
		return storePlace{}, fmt.Errorf(`unknown type %.40q; use "sqlite", "jsonl" or "custom"`, c.Type)
	}
}

// open makes the directory, if needed, and takes its lock.
func (p storePlace) open(ctx context.Context, logger *slog.Logger) (storage, error) {
	if p.custom != (callback{}) {
		return openCustomStore(ctx, p.custom, p.dir, logger)
	}
	return openStore(ctx, p.dir, logger)
}
