package reviewer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

var (
	privilegedTrigger = lazyregexp.New(`(^|[\s\[,"'-])pull_request_target\b`)
	writeAll          = lazyregexp.New(`^\s*permissions:\s*write-all\b`)
	writeScope        = lazyregexp.New(`^\s*(actions|attestations|checks|contents|deployments|discussions|id-token|issues|packages|pages|pull-requests|repository-projects|security-events|statuses):\s*write\b`)
	permissionsKey    = lazyregexp.New(`^\s*permissions:`)
	headCheckout      = lazyregexp.New(`ref:.*(github\.event\.pull_request\.head\.(sha|ref)|github\.head_ref|refs/pull/)`)
	secretUse         = lazyregexp.New(`\$\{\{[^}]*\bsecrets\.([A-Za-z_]\w*)`)
	allSecrets        = lazyregexp.New(`(?i)tojson\(\s*secrets\s*\)|^\s*secrets:\s*inherit\b`)
	usesAction        = lazyregexp.New(`^\s*(?:-\s+)?uses:\s*["']?([^\s"'#]+)`)
	fullSHA           = lazyregexp.New(`^[0-9a-f]{40}([0-9a-f]{24})?$`)
	versionTag        = lazyregexp.New(`^v?\d+(\.\d+)*`)
	untrustedText     = lazyregexp.New(`\$\{\{\s*(github\.head_ref|github\.event\.[\w.\[\]*-]*(title|body|message|head\.ref|head\.label|head_branch|(author|committer)\.(name|email)))\s*(\}\}|\|)`)
	yamlKey           = lazyregexp.New(`^\s*(?:-\s+)?([\w-]+):`)
)

// checkWorkflows finds CI that gains rights, or gives strangers a way in.
func checkWorkflows(p *pull, found *collector) {
	for _, c := range p.changes {
		lower := strings.ToLower(c.Path)
		if before := strings.ToLower(c.PreviousPath); isWorkflow(lower) && c.Status == statusRemoved || isWorkflow(before) && !isWorkflow(lower) && c.Status == statusRenamed {
			found.add(c.about(SeverityWarning, "Workflow removed", "What it checked or released is no longer done. Is it required by a branch rule?"))
			continue
		}
		if !isWorkflow(lower) && !isAction(lower) && !strings.HasPrefix(lower, ".github/actions/") || c.vendored {
			continue
		}
		checkTrigger(c, found)
		checkPermissions(c, found)
		checkSecretUse(c, found)
		checkActions(p, c, found)
		checkShellText(c, found)
	}
}

func checkTrigger(c *change, found *collector) {
	runsPrivileged := false
	for text := range strings.Lines(c.head) {
		if privilegedTrigger.MatchString(text) && !c.isComment(text) {
			runsPrivileged = true
		}
	}
	for i := range c.patch.lines {
		l := &c.patch.lines[i]
		if l.kind != lineRemoved && !c.isComment(l.text) && privilegedTrigger.MatchString(l.scanned()) {
			runsPrivileged = true
		}
	}
	if !runsPrivileged {
		return
	}
	c.eachAdded(func(_ int, l *line) {
		text := l.scanned()
		switch {
		case c.isComment(text):
		case headCheckout.MatchString(text):
			found.add(c.at(l, SeverityError, "Code of a fork is checked out with the repository's secrets",
				"This workflow runs on `pull_request_target`: whoever opens a pull request runs their code with a write token. Check out the base, or use `pull_request`."))
		case privilegedTrigger.MatchString(text):
			found.add(c.at(l, SeverityWarning, "Workflow runs on `pull_request_target`",
				"It has secrets and a write token on pull requests from forks. It must not check out, build or interpret anything that they bring."))
		}
	})
}

func checkPermissions(c *change, found *collector) {
	added, removed := 0, 0
	var lastRemoved *line
	for i := range c.patch.lines {
		l := &c.patch.lines[i]
		if !permissionsKey.MatchString(l.text) {
			continue
		}
		switch l.kind {
		case lineAdded:
			added++
		case lineRemoved:
			removed++
			lastRemoved = l
		}
	}
	if removed > added {
		found.add(Finding{Path: c.Path, Line: lastRemoved.old, Side: SideLeft, Severity: SeverityWarning,
			Title: "Workflow permissions removed",
			Body:  "Without them, jobs get whatever the repository grants by default, which may be write access to everything."})
	}
	var scopes []string
	var first *line
	c.eachAdded(func(_ int, l *line) {
		text := l.scanned()
		if writeAll.MatchString(text) {
			found.add(c.at(l, SeverityError, "Workflow gets write access to everything",
				"List the few permissions that the job needs instead of `write-all`."))
		} else if m := writeScope.FindStringSubmatch(text); m != nil {
			if first == nil {
				first = l
			}
			if !slices.Contains(scopes, m[1]) {
				scopes = append(scopes, m[1])
			}
		}
	})
	if first != nil {
		found.add(c.at(first, SeverityWarning, "Workflow gains write permission",
			"To "+quoteNames(scopes)+". Does every step of the job deserve it?"))
	}
}

func checkSecretUse(c *change, found *collector) {
	var names []string
	var first *line
	known := map[string]bool{"GITHUB_TOKEN": true}
	c.eachAdded(func(_ int, l *line) {
		text := l.scanned()
		if !strings.Contains(text, "secrets") || c.isComment(text) {
			return
		}
		if allSecrets.MatchString(text) {
			found.add(c.at(l, SeverityWarning, "All secrets are handed on",
				"Name the ones that are needed; a compromised step gets everything else as well."))
			return
		}
		for _, m := range secretUse.FindAllStringSubmatch(text, -1) {
			if known[m[1]] {
				continue
			}
			known[m[1]] = true
			names = append(names, m[1])
			if first == nil {
				first = l
			}
		}
	})
	if first != nil {
		found.add(c.at(first, SeverityInfo, "Workflow uses "+count(len(names), "more secret"),
			quoteNames(names)+": check which steps can read them."))
	}
}

// checkActions finds actions of third parties that can change under the same
// reference. The platform's own and the repository owner's are trusted anyway.
func checkActions(p *pull, c *change, found *collector) {
	owner, _, _ := strings.Cut(p.facts.Repository.FullName, "/")
	pinned := map[string]bool{}
	for i := range c.patch.lines {
		if l := &c.patch.lines[i]; l.kind == lineRemoved {
			if m := usesAction.FindStringSubmatch(l.scanned()); m != nil {
				if name, ref, _ := strings.Cut(m[1], "@"); fullSHA.MatchString(ref) {
					pinned[name] = true
				}
			}
		}
	}
	c.eachAdded(func(_ int, l *line) {
		m := usesAction.FindStringSubmatch(l.scanned())
		if m == nil || hasAnyPrefix(m[1], "./", "../", "${{") {
			return
		}
		if image, ok := strings.CutPrefix(m[1], "docker://"); ok {
			if !strings.Contains(image, "@sha256:") {
				found.add(c.at(l, SeverityInfo, "Image is not pinned", quote(m[1], maxQuotedName)+" can change under the same name; pin its digest."))
			}
			return
		}
		name, ref, _ := strings.Cut(m[1], "@")
		vendor, _, _ := strings.Cut(name, "/")
		switch {
		case fullSHA.MatchString(ref):
		case pinned[name]:
			found.add(c.at(l, SeverityWarning, "Action is no longer pinned to a commit",
				fmt.Sprintf("%s was at a fixed commit; a tag or branch can be moved.", quote(m[1], maxQuotedName))))
		case vendor == "actions" || vendor == "github" || owner != "" && strings.EqualFold(vendor, owner):
		case versionTag.MatchString(ref):
			found.add(c.at(l, SeverityInfo, "Third-party action is pinned to a tag only",
				fmt.Sprintf("%s can be moved by its owner, or by whoever gets into their account; pin the commit.", quote(m[1], maxQuotedName))))
		default:
			found.add(c.at(l, SeverityWarning, "Third-party action follows a branch",
				fmt.Sprintf("%s runs whatever is there at the time; pin a commit.", quote(m[1], maxQuotedName))))
		}
	})
}

// checkShellText finds text of strangers that is pasted into a script. As the
// value of a key other than run (env, with, if) it is no code.
func checkShellText(c *change, found *collector) {
	c.eachAdded(func(_ int, l *line) {
		text := l.scanned()
		if !strings.Contains(text, "${{") || c.isComment(text) || !untrustedText.MatchString(text) {
			return
		}
		if key := yamlKey.FindStringSubmatch(text); key != nil && key[1] != "run" && key[1] != "script" {
			return
		}
		found.add(c.at(l, SeverityError, "Text of strangers is pasted into a script",
			"A title, branch name or comment with shell characters in it becomes a command. Pass it through `env:` and quote the variable."))
	})
}
