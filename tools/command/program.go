package command

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// Check says why what a tool runs cannot be started on this machine, in words for
// its author; dir is the tool's folder.
func Check(dir string, run []string) error {
	_, err := (&Command{options: Options{Dir: dir, Run: run}}).program()
	return err
}

// program returns what is run with its arguments, all absolute that are files of
// the tool's folder. The error tells the tool's author what to mend.
func (c *Command) program() ([]string, error) {
	if len(c.options.Run) == 0 || c.options.Run[0] == "" {
		return nil, errors.New("there is nothing to run")
	}
	argv := append([]string(nil), c.options.Run...)
	for i, arg := range argv {
		switch {
		case strings.ContainsRune(arg, 0):
			return nil, fmt.Errorf("the argument %q cannot be passed to a program", arg)
		case i == 0 && !strings.ContainsAny(arg, `/\`):
			path, err := exec.LookPath(arg)
			if err != nil {
				return nil, fmt.Errorf("program %s is not installed: it is not found in PATH", arg)
			}
			if argv[0], err = filepath.Abs(path); err != nil {
				return nil, fmt.Errorf("program %s: %w", arg, err)
			}
		case i == 0 || strings.HasPrefix(arg, "./"):
			path, err := c.file(arg)
			if err != nil {
				return nil, err
			}
			argv[i] = path
			if i > 0 {
				continue
			}
			if err := executable(path, arg); err != nil {
				return nil, err
			}
		}
	}
	return argv, nil
}

// file returns the path of a file of the tool's folder, through all links.
func (c *Command) file(name string) (string, error) {
	dir, err := filepath.EvalSymlinks(c.options.Dir)
	if err != nil {
		return "", fmt.Errorf("the tool's folder is gone: %w", unwrapped(err))
	}
	path := filepath.FromSlash(name)
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	path, err = filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && runtime.GOOS == "windows" {
		path, err = filepath.EvalSymlinks(filepath.Join(dir, filepath.FromSlash(name)) + ".exe")
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s is not in the tool's folder", name)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, unwrapped(err))
	}
	if below, err := filepath.Rel(dir, path); err != nil || !filepath.IsLocal(below) {
		return "", fmt.Errorf("%s is, or links to, a file out of the tool's folder; put the file itself there", name)
	}
	return path, nil
}

// executable says why a file cannot be run, before the system says it in words of
// its own.
func executable(path, name string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%s: %w", name, unwrapped(err))
	}
	switch {
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a file", name)
	case runtime.GOOS == "windows":
		return nil
	case info.Mode()&0o111 == 0:
		return fmt.Errorf("%s cannot be executed; chmod +x it", name)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("%s: %w", name, unwrapped(err))
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 256)) // the kernel reads as much of the first line
	if err != nil {
		return fmt.Errorf("%s: %w", name, unwrapped(err))
	}
	line, script := bytes.CutPrefix(head, []byte("#!"))
	switch {
	case len(head) == 0:
		return fmt.Errorf("%s is empty", name)
	case !script && !bytes.ContainsRune(head, 0):
		return fmt.Errorf("%s is a text whose first line does not say what runs it; begin it with a line such as #!/bin/sh", name)
	case !script:
		return nil
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	return interpreter(string(line), name)
}

// interpreter says why a script's first line cannot be followed.
func interpreter(line, name string) error {
	if strings.HasSuffix(line, "\r") {
		return fmt.Errorf("%s has the line ends of Windows, so that its interpreter is not found; save it with those of Unix", name)
	}
	words := strings.Fields(line)
	if len(words) == 0 {
		return fmt.Errorf("%s has a first line that names no interpreter", name)
	}
	if _, err := os.Stat(words[0]); err != nil {
		return fmt.Errorf("%s is run by %s, which is not on this machine", name, words[0])
	}
	if filepath.Base(words[0]) != "env" {
		return nil
	}
	for _, word := range words[1:] {
		if strings.HasPrefix(word, "-") || strings.Contains(word, "=") {
			continue
		}
		if _, err := exec.LookPath(word); err != nil {
			return fmt.Errorf("%s is run by %s, which is not installed: it is not found in PATH", name, word)
		}
		break
	}
	return nil
}

// unwrapped is an error without the path, which is told in the author's words.
func unwrapped(err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return of.Err
	}
	return err
}
