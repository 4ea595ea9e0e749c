package install

import (
	"fmt"
	"path/filepath"
	"strings"
)

const (
	// maxName bounds a path in an archive, in bytes. It leaves room for the folder
	// above it in the 260 characters that many Windows programs know.
	maxName = 180
	// forbidden are characters that some system gives a meaning to in a file name.
	forbidden = `\:*?"<>|`
)

// checkName returns an entry's path without a leading "./" and a trailing
// slash, "" for the top itself. Only names that mean the same on every system
// are let through: relative, printable ASCII, no "..", no backslash, drive
// letter or device, nothing that Windows would trim.
func checkName(name string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", fmt.Errorf("%w: the name %.200q %s", ErrArchive, name, why)
	}
	if len(name) > maxName {
		return refuse(fmt.Sprintf("has more than %d bytes", maxName))
	}
	for _, c := range []byte(name) {
		if c < ' ' || c > '~' || strings.IndexByte(forbidden, c) >= 0 {
			return refuse("has a character that not every system takes")
		}
	}
	if name == "." || name == "./" {
		return "", nil
	}
	clean := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	for part := range strings.SplitSeq(clean, "/") {
		switch {
		case part == "":
			return refuse("is absolute or has an empty part")
		case part == "." || part == "..":
			return refuse("leads elsewhere")
		case strings.TrimRight(part, ". ") != part:
			return refuse("has a part that ends in a dot or a space")
		case isDevice(part):
			return refuse("is a device on Windows")
		}
	}
	if !filepath.IsLocal(filepath.FromSlash(clean)) {
		return refuse("leads elsewhere")
	}
	return clean, nil
}

// isDevice says whether Windows takes a file's name for a device, whatever
// follows its first dot.
func isDevice(part string) bool {
	base, _, _ := strings.Cut(strings.ToUpper(part), ".")
	switch base = strings.TrimRight(base, " "); base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	return len(base) == 4 && (base[:3] == "COM" || base[:3] == "LPT") && base[3] >= '0' && base[3] <= '9'
}
