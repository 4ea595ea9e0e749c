package reviewer

import (
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

var (
	userInstruction = lazyregexp.New(`(?i)^\s*USER\s+(\S+)`)
	fromInstruction = lazyregexp.New(`(?i)^\s*FROM\s`)
	privileged      = lazyregexp.New(`^\s*(-\s+)?"?(privileged|hostNetwork|hostPID|allowPrivilegeEscalation)"?:\s*true\b`)
	dockerSocket    = lazyregexp.New(`/var/run/docker\.sock`)
)

// checkContainers finds images that end up as root, and containers with the
// host's rights.
func checkContainers(p *pull, found *collector) {
	for _, c := range p.changes {
		switch {
		case !c.written() || c.role == roleDocs || c.fixture:
		case c.language == langContainer:
			checkImageUser(c, found)
		case c.language == langYAML:
			c.eachAdded(func(_ int, l *line) {
				text := l.scanned()
				switch {
				case c.isComment(text):
				case privileged.MatchString(text):
					found.add(c.at(l, SeverityWarning, "A container gets the host's rights",
						"A break-out of it is a break-in to the host. Is it needed?"))
				case dockerSocket.MatchString(text):
					found.add(c.at(l, SeverityWarning, "A container gets the Docker socket",
						"Whoever controls the socket is root on the host."))
				}
			})
		}
	}
}

// checkImageUser looks at the last USER of the image: going to root in between,
// to install something, is ordinary.
func checkImageUser(c *change, found *collector) {
	var added *line
	last := ""
	for i := range c.patch.lines {
		l := &c.patch.lines[i]
		user := userOf(l.scanned())
		switch {
		case l.kind == lineRemoved:
		case user != "":
			last = user
			added = nil
			if l.kind == lineAdded && !l.moved && isRoot(user) {
				added = l
			}
		case fromInstruction.MatchString(l.text):
			last, added = "", nil
		}
	}
	if c.headSeen {
		last = ""
		for text := range strings.Lines(c.head) {
			if user := userOf(text); user != "" {
				last = user
			} else if fromInstruction.MatchString(text) {
				last = ""
			}
		}
	}
	if added != nil && isRoot(last) {
		found.add(c.at(added, SeverityWarning, "The image runs as root",
			"Nothing after this line leaves root again, so what runs in the container has all rights there."))
	}
}

func userOf(text string) string {
	if m := userInstruction.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func isRoot(user string) bool {
	name, _, _ := strings.Cut(user, ":")
	return name == "root" || name == "0"
}
