package reviewer

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
)

// manifestDiff is what changes in one manifest of dependencies.
type manifestDiff struct {
	change    *change
	ecosystem *ecosystem
	added     []declared // not declared before
	upgraded  []declared // to another major version
	changed   int        // any other version
	indirect  int        // new for another dependency's sake
}

// declared is a requirement with the line that declares it.
type declared struct {
	requirement
	line *line
	was  string
}

// diffManifest compares the declarations on removed and added lines.
func diffManifest(c *change) (manifestDiff, bool) {
	e := ecosystemOf(c.base())
	if e == nil || c.vendored || c.fixture || c.Status == statusRemoved {
		return manifestDiff{}, false
	}
	d := manifestDiff{change: c, ecosystem: e}
	sections := c.sections()
	before := map[string]string{}
	for i := range c.patch.lines {
		l := &c.patch.lines[i]
		if l.kind == lineRemoved {
			// A removed line has no section of its own; it stands where the next line of the head does.
			if r, ok := e.parse(l.scanned(), sections[l.new]); ok {
				before[r.name] = r.version + r.source
			} else if r, ok := e.parse(l.scanned(), sections[l.new-1]); ok {
				before[r.name] = r.version + r.source
			}
		}
	}
	majors := map[string]string{}
	if e.name == "Go" {
		for _, name := range sortedKeys(before) {
			majors[trimMajor(name)] = before[name]
		}
	}
	seen := map[string]bool{}
	for i := range c.patch.lines {
		l := &c.patch.lines[i]
		if l.kind != lineAdded {
			continue
		}
		r, ok := e.parse(l.scanned(), sections[l.new])
		if !ok || seen[r.name] {
			continue
		}
		seen[r.name] = true
		was, known := before[r.name]
		if !known && e.name == "Go" {
			was, known = majors[trimMajor(r.name)]
		}
		switch {
		case !known && r.indirect:
			d.indirect++
		case !known:
			d.added = append(d.added, declared{r, l, ""})
		case was == r.version+r.source:
		case majorOf(was) != majorOf(r.version):
			d.upgraded = append(d.upgraded, declared{r, l, was})
		default:
			d.changed++
		}
	}
	return d, true
}

// trimMajor is what a Go module's path has in common over its major versions.
func trimMajor(module string) string {
	dir, last := path.Split(module)
	if len(last) > 1 && last[0] == 'v' {
		if _, err := strconv.Atoi(last[1:]); err == nil {
			return strings.TrimSuffix(dir, "/")
		}
	}
	return module
}

// majorOf is a version's first number; "" when it has none.
func majorOf(version string) string {
	version = strings.TrimLeft(version, "^~<>=v !")
	end := strings.IndexFunc(version, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		return version
	}
	return version[:end]
}

// checkDependencies says what the pull request starts to depend on, and where
// manifest and lock file do not move together.
func checkDependencies(p *pull, found *collector) {
	manifests, locks := map[string]bool{}, map[string]bool{}
	var diffs []manifestDiff
	for _, c := range p.changes {
		if c.vendored || c.fixture {
			continue
		}
		base := strings.ToLower(c.base())
		if e := ecosystemOf(base); e != nil {
			manifests[e.name] = true
		}
		if name := lockEcosystem(base); name != "" {
			locks[name] = true
		}
		if d, ok := diffManifest(c); ok {
			diffs = append(diffs, d)
		}
	}
	for _, d := range diffs {
		d.report(found)
		moved := len(d.added) > 0 || len(d.upgraded) > 0
		if moved && d.ecosystem.locks != nil && !locks[d.ecosystem.name] && !p.gaps.unlisted {
			d.reportNoLock(found)
		}
	}
	for _, c := range p.changes {
		name := lockEcosystem(c.base())
		if name == "" || manifests[name] || c.vendored || c.fixture || c.Status == statusRemoved || p.gaps.unlisted {
			continue
		}
		found.add(c.about(SeverityInfo, "Lock file changed without its manifest",
			"An update of indirect packages looks like this, and so does a package that is swapped for another. Make the lock file again and compare."))
	}
}

func (d manifestDiff) report(found *collector) {
	if len(d.added) > 0 {
		names := make([]string, len(d.added))
		for i, r := range d.added {
			names[i] = strings.TrimSpace(r.name + " " + r.version)
		}
		extra := ""
		if d.indirect > 0 {
			extra = fmt.Sprintf(" (and %s with them)", count(d.indirect, "indirect one"))
		}
		found.add(d.change.at(d.added[0].line, SeverityInfo, count(len(names), "new "+d.ecosystem.name+" dependency"),
			quoteNames(names)+extra+". Are they needed, kept up, and under a licence that fits?"))
	}
	if len(d.upgraded) > 0 {
		names := make([]string, len(d.upgraded))
		for i, r := range d.upgraded {
			names[i] = fmt.Sprintf("%s %s → %s", r.name, r.was, r.version)
		}
		found.add(d.change.at(d.upgraded[0].line, SeverityInfo, count(len(names), "dependency")+" at another major version",
			quoteNames(names)+". Read what breaks."))
	}
}

func (d manifestDiff) reportNoLock(found *collector) {
	first := slices.Concat(d.added, d.upgraded)[0]
	if d.ecosystem.locksAlways {
		found.add(d.change.at(first.line, SeverityWarning, "Lock file did not change with the manifest",
			"Without new lines in "+quote(d.ecosystem.locks[0], maxQuotedName)+" the build stops or fetches what nobody checked."))
		return
	}
	found.add(d.change.at(first.line, SeverityInfo, "Manifest changed without a lock file",
		"If this repository keeps one, it is out of date now."))
}
