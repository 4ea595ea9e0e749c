package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
)

// storeDirectory says where agents and runs are kept, from the JSON of
// --local-store. Unknown keys are ignored, as everywhere in the protocol.
func storeDirectory(localStore, stateRoot string) (string, error) {
	if localStore == "" {
		return stateRoot, nil
	}
	var c struct {
		Type    string `json:"type"`
		RootDir string `json:"rootDir"`
	}
	if err := json.Unmarshal([]byte(localStore), &c); err != nil {
		return "", fmt.Errorf("not a JSON object: %w", err)
	}
	switch c.Type {
	case "", "sqlite":
		return stateRoot, nil
	case "jsonl":
		if c.RootDir == "" {
			return stateRoot, nil
		}
		return filepath.Abs(c.RootDir)
	case "custom":
		return "", errors.New(`type "custom" is not offered by this bridge; use "jsonl" with a rootDir`)
	default:
		return "", fmt.Errorf(`unknown type %.40q; use "sqlite" or "jsonl"`, c.Type)
	}
}
