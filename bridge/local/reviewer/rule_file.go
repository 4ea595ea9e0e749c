package reviewer

import (
	"fmt"
	"path"
	"strings"
)

// checkFiles finds files that a diff does not show well: built, packed, large,
// generated, vendored, or executable.
func checkFiles(p *pull, found *collector) {
	var generated, vendored []string
	for _, c := range p.changes {
		if c.Status == statusRemoved {
			continue
		}
		switch {
		case c.vendored:
			vendored = append(vendored, c.Path)
			continue
		case c.generated || c.minified:
			generated = append(generated, c.Path)
		}
		checkBinary(c, found)
		checkText(c, found)
		checkExecutable(c, found)
	}
	if len(generated) > 0 {
		body := quoteNames(generated) + ": review what they are made from, and that they are what it makes."
		found.add(Finding{Severity: SeverityInfo, Title: count(len(generated), "generated file") + " changed", Body: body})
	}
	if len(vendored) > 0 {
		body := "Other people's code: compare it with its origin rather than line by line."
		found.add(Finding{Severity: SeverityInfo, Title: count(len(vendored), "vendored file") + " changed", Body: body})
	}
}

func checkBinary(c *change, found *collector) {
	size := ""
	if c.size >= 0 {
		size = " (" + bytesText(c.size) + ")"
	}
	switch {
	case isProgram(c.base()) && c.Kind != kindText && c.Kind != kindSymlink:
		found.add(c.about(SeverityWarning, "Built or packed file"+size,
			"Nobody can review what is in it. Build it from source in CI, or fetch a published one by digest."))
	case c.size >= largeBinary && (c.Kind == kindBinary || c.role == roleAsset):
		found.add(c.about(SeverityWarning, "Large file"+size,
			"Every clone carries it from now on, also after it is deleted. Does it belong in the repository?"))
	case c.Kind == kindBinary && !isAsset(c.base()) && c.role != roleTest && c.Status == statusAdded:
		found.add(c.about(SeverityInfo, "Binary file added"+size, "Its content cannot be reviewed here."))
	}
}

func isProgram(base string) bool {
	base = strings.ToLower(base)
	if hasAnySuffix(base, ".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2") {
		return true
	}
	switch path.Ext(base) {
	case ".exe", ".dll", ".so", ".dylib", ".jar", ".war", ".class", ".pyc", ".pyd", ".o", ".a", ".lib", ".wasm",
		".zip", ".7z", ".rar", ".tgz", ".whl", ".gem", ".nupkg", ".apk", ".aab", ".ipa", ".deb", ".rpm", ".msi", ".dmg", ".pkg", ".iso":
		return true
	}
	return false
}

// checkText finds text that is too much for a reviewer's eyes.
func checkText(c *change, found *collector) {
	if c.generated || c.minified || c.role == roleDependencies || c.role == roleDocs || c.Kind == kindBinary {
		return
	}
	if c.role == roleCode && c.Additions >= largeTextLines {
		found.add(c.about(SeverityInfo, "Very large change in one file",
			fmt.Sprintf("%s added. Can it come in parts that can be reviewed?", count(c.Additions, "line"))))
	}
	if !c.language.isScript() && !hasAnySuffix(c.Path, ".css", ".html") || c.role == roleTest {
		return
	}
	for i := range c.patch.lines {
		if l := &c.patch.lines[i]; l.kind == lineAdded && len(l.text) >= minifiedLine && !strings.Contains(l.text[:minifiedLine], "data:") {
			found.add(c.at(l, SeverityInfo, "Minified or generated code",
				fmt.Sprintf("The line has %s characters. Keep the source, and build this.", thousands(len(l.text)))))
			return
		}
	}
}

// checkExecutable finds files that become programs.
func checkExecutable(c *change, found *collector) {
	if c.newMode != gitModeExecutable || c.oldMode == gitModeExecutable {
		return
	}
	if c.oldMode == 0 && (c.language == langShell || c.shebang()) {
		return // a new script
	}
	severity := SeverityInfo
	if c.language == "" && c.Kind == kindBinary {
		severity = SeverityWarning
	}
	found.add(c.about(severity, "File became executable", "Is that meant?"))
}

func (c *change) shebang() bool {
	return len(c.patch.lines) > 0 && strings.HasPrefix(c.patch.lines[0].text, "#!")
}

// bytesText writes a size in the unit that people would use.
func bytesText(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return count(int(n), "byte")
	}
}
