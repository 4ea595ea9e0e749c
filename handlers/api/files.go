package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
)

const (
	// maxFiles and maxFilePath bound the files that come with a message; their
	// texts are within [maxBody].
	maxFiles    = 100
	maxFilePath = 512
)

// reserved are names at the root of a workspace that callers do not write:
// what instructs the agent is its author's, and evidence is what the host fetched.
var reserved = []string{"AGENTS.md", "CLAUDE.md", ".cursor", ".liaison", "pr", "thread"}

// checkFiles refuses paths that could leave the workspace, take the place of
// what is the service's own, or mean another file on another system.
func checkFiles(files map[string]string) error {
	if len(files) > maxFiles {
		return badRequest(`"workspaceFiles" has %d files; at most %d are taken`, len(files), maxFiles)
	}
	folded := map[string]string{}
	for _, name := range slices.SortedFunc(maps.Keys(files), func(a, b string) int { return cmp.Compare(strings.ToLower(a), strings.ToLower(b)) }) {
		if why := refusePath(name); why != "" {
			return badRequest(`"workspaceFiles" has the path %q, which %s`, clip(name), why)
		}
		lower := strings.ToLower(name)
		if other, twice := folded[lower]; twice {
			return badRequest(`"workspaceFiles" has %q and %q, which are one file on some systems`, clip(other), clip(name))
		}
		folded[lower] = name
	}
	for lower, name := range folded {
		for dir := path.Dir(lower); dir != "."; dir = path.Dir(dir) {
			if file, clash := folded[dir]; clash {
				return badRequest(`"workspaceFiles" has %q, which cannot be a file and the folder of %q`, clip(file), clip(name))
			}
		}
	}
	return nil
}

// refusePath says what is wrong with a path, if anything.
func refusePath(name string) string {
	switch {
	case name == "" || len(name) > maxFilePath:
		return fmt.Sprintf("must have 1 to %d bytes", maxFilePath)
	case strings.ContainsAny(name, `\:*?"<>|`) || strings.ContainsFunc(name, unicode.IsControl):
		return `must not contain \ : * ? " < > | or control characters`
	case name == "." || !fs.ValidPath(name):
		return "must be relative and clean, with slashes"
	}
	segments := strings.Split(name, "/")
	for _, segment := range segments {
		switch {
		case len(segment) > 255:
			return "has a part of more than 255 bytes"
		case strings.HasSuffix(segment, ".") || strings.TrimSpace(segment) != segment:
			return "has a part that ends in a dot, or begins or ends in a space"
		case strings.EqualFold(segment, ".git"):
			return "is inside a repository's own folder"
		case deviceName(segment):
			return "is a device on some systems"
		}
	}
	for _, own := range reserved {
		if strings.EqualFold(segments[0], own) {
			return "is the service's own"
		}
	}
	return ""
}

// deviceName reports whether a part of a path names a device on Windows
// (https://learn.microsoft.com/windows/win32/fileio/naming-a-file).
func deviceName(segment string) bool {
	base, _, _ := strings.Cut(segment, ".")
	base = strings.ToLower(strings.TrimSpace(base))
	switch base {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	rest, ok := strings.CutPrefix(base, "com")
	if !ok {
		rest, ok = strings.CutPrefix(base, "lpt")
	}
	return ok && len([]rune(rest)) == 1 && strings.ContainsAny(rest, "0123456789¹²³")
}

// writeFiles writes files below dir. What an agent left there, links included,
// cannot lead outside: the root is held open, and a link is replaced.
func writeFiles(ctx context.Context, dir string, files map[string]string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open workspace: %w", err)
	}
	defer func() { _ = root.Close() }()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := writeFile(root, name, files[name]); err != nil {
			return fmt.Errorf("write workspace file %q: %w", name, err)
		}
	}
	return nil
}

func writeFile(root *os.Root, name, text string) error {
	if err := makeFolder(root, path.Dir(name)); err != nil {
		return err
	}
	// Whatever has the name goes: following a link of the agent's would write elsewhere.
	info, err := root.Lstat(name)
	switch {
	case err == nil && info.IsDir():
		return fmt.Errorf("%s is a folder in the session's workspace", name)
	case err == nil:
		err = root.Remove(name)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return err
	}
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// makeFolder makes a folder and those above it. A link in its place is replaced:
// it could lead to what callers do not write.
func makeFolder(root *os.Root, dir string) error {
	if dir == "." {
		return nil
	}
	if err := makeFolder(root, path.Dir(dir)); err != nil {
		return err
	}
	info, err := root.Lstat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil && info.Mode().IsRegular():
		return fmt.Errorf("%s is a file in the session's workspace, not a folder", dir)
	case err == nil:
		err = root.Remove(dir)
	case errors.Is(err, fs.ErrNotExist):
		err = nil
	}
	if err != nil {
		return err
	}
	return root.Mkdir(dir, 0o700)
}
