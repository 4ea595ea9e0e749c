package reviewer

import (
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

var (
	installScript = lazyregexp.New(`^\s*"(preinstall|install|postinstall|prepare|preprepare|postprepare|post-install-cmd|post-update-cmd)"\s*:\s*"`)
	pipIndex      = lazyregexp.New(`^\s*(--(?:extra-)?index-url|-i|--find-links|--trusted-host)[ =]\s*(\S+)`)
	registryLine  = lazyregexp.New(`(?i)^\s*["']?(@[\w.-]+:)?(registry|npmRegistryServer|index-url|extra-index-url)["']?\s*[:=]\s*["']?([^\s"']+)`)
	goReplace     = lazyregexp.New(`^\s*(?:replace\s+)?(\S+)(?:\s+v\S+)?\s+=>\s+(\S+)`)
	lockedFrom    = lazyregexp.New(`^\s*"?(?:resolved|tarball)"?:?\s+"?((?:https?|git(?:\+\w+)?|ssh)://[^"\s]+)|^source = "((?:git|registry)\+[^"]+)"|^\s*remote: (\S+)`)
)

// usualHosts serve packages for their ecosystems.
var usualHosts = []string{
	"registry.npmjs.org", "registry.yarnpkg.com", "npm.pkg.github.com", "registry.npmmirror.com", "npm.jsr.io",
	"github.com/rust-lang/crates.io-index", "index.crates.io", "rubygems.org", "index.rubygems.org",
	"pypi.org", "files.pythonhosted.org", "repo.packagist.org", "api.github.com",
}

// checkDependencySources finds packages that do not come from where packages of
// their kind come from, and scripts that run when they are installed.
func checkDependencySources(p *pull, found *collector) {
	for _, c := range p.changes {
		if c.vendored || c.fixture || c.Status == statusRemoved {
			continue
		}
		base := strings.ToLower(c.base())
		switch {
		case isLockFile(base):
			checkLockedSources(c, found)
		case base == ".npmrc" || base == ".yarnrc" || base == ".yarnrc.yml" || base == "pip.conf" || base == "bunfig.toml":
			checkRegistry(c, registryLine, 3, found)
		case isManifest(base):
			checkManifestSources(c, base, found)
		}
	}
}

func checkManifestSources(c *change, base string, found *collector) {
	if d, ok := diffManifest(c); ok {
		for _, r := range slices.Concat(d.added, d.upgraded) {
			if r.source != "" {
				found.add(c.at(r.line, SeverityWarning, "Dependency does not come from a registry",
					fmt.Sprintf("%s comes from %s, which can change or vanish under the same name.", quote(r.name, maxQuotedName), quote(r.source, maxQuotedPath))))
			}
		}
	}
	switch {
	case base == "package.json" || base == "composer.json":
		c.eachAdded(func(_ int, l *line) {
			if m := installScript.FindStringSubmatch(l.scanned()); m != nil {
				found.add(c.at(l, SeverityWarning, "Script runs at installation",
					fmt.Sprintf("%s runs on every machine that installs this, before anyone looks.", quote(m[1], maxQuotedName))))
			}
		})
	case base == "go.mod" || base == "go.work":
		c.eachAdded(func(_ int, l *line) {
			m := goReplace.FindStringSubmatch(l.scanned())
			if m == nil || strings.HasPrefix(strings.TrimSpace(l.text), "//") {
				return
			}
			severity := SeverityWarning
			if hasAnyPrefix(m[2], "./", "../") {
				severity = SeverityInfo // another module of the same repository
			}
			found.add(c.at(l, severity, "Module is replaced",
				fmt.Sprintf("%s is taken from %s, here only: whoever imports this module gets the original.", quote(m[1], maxQuotedName), quote(m[2], maxQuotedName))))
		})
	case requirementsName.MatchString(base):
		checkRegistry(c, pipIndex, 2, found)
	}
}

func checkRegistry(c *change, expression *lazyregexp.Regexp, group int, found *collector) {
	c.eachAdded(func(_ int, l *line) {
		m := expression.FindStringSubmatch(l.scanned())
		if m == nil || slices.Contains(usualHosts, hostOf(m[group])) {
			return
		}
		found.add(c.at(l, SeverityWarning, "Packages come from another registry",
			fmt.Sprintf("From %s. A package of the same name there replaces the one that everybody knows.", quote(m[group], maxQuotedPath))))
	})
}

// checkLockedSources reports the first line for each unusual host of a lock file.
func checkLockedSources(c *change, found *collector) {
	known := map[string]bool{}
	for i := range c.patch.lines {
		if l := &c.patch.lines[i]; l.kind != lineAdded {
			if host := lockedHost(l.scanned()); host != "" {
				known[host] = true
			}
		}
	}
	c.eachAdded(func(_ int, l *line) {
		host := lockedHost(l.scanned())
		if host == "" || known[host] {
			return
		}
		known[host] = true
		found.add(c.at(l, SeverityWarning, "Lock file fetches from an unusual place",
			fmt.Sprintf("%s is not where packages of this kind usually come from.", quote(host, maxQuotedPath))))
	})
}

// lockedHost returns where a line of a lock file fetches from, unless it is usual.
func lockedHost(text string) string {
	if !strings.Contains(text, "://") {
		return ""
	}
	m := lockedFrom.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	address := m[1] + m[2] + m[3]
	for _, usual := range usualHosts {
		if hostOf(address) == usual || strings.Contains(usual, "/") && strings.HasPrefix(withoutScheme(address), usual) {
			return ""
		}
	}
	host, folder := splitAddress(address)
	if host == "github.com" || host == "gitlab.com" {
		return host + folder // anyone can have a repository there
	}
	return host
}

// hostOf is the host of an address, without a user or password.
func hostOf(address string) string {
	host, _ := splitAddress(address)
	return host
}

// splitAddress returns an address's host and path; what may hold a credential
// (user, query, fragment) is left out.
func splitAddress(address string) (host, folder string) {
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		return u.Host, path.Clean("/" + u.Path)
	}
	host, _, _ = strings.Cut(withoutScheme(address), "/")
	return host[strings.LastIndexByte(host, '@')+1:], ""
}

func withoutScheme(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		return rest
	}
	return address
}
