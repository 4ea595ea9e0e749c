package reviewer

import (
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

var remoteScript = lazyregexp.New(`(?i)\b(curl|wget)\b[^|;&#]*\|\s*(sudo\s+(-\w+\s+)*)?(env\s+)?(/(usr/)?bin/)?(ba|z|da|k)?sh\b|\b(ba|z|da|k)?sh\s+(-c\s+)?["']?[<$]\(\s*(curl|wget)\b|\b(iex|invoke-expression)\b.{0,40}\b(iwr|irm|invoke-webrequest|downloadstring)\b|\b(iwr|irm|invoke-webrequest)\b[^|]*\|\s*(iex|invoke-expression)\b`)

// checkRemoteScripts finds downloads that a shell runs unseen, where commands
// are kept: pipelines, images, scripts, make files and package manifests.
func checkRemoteScripts(p *pull, found *collector) {
	for _, c := range p.changes {
		runs := c.role == roleCI || c.language == langContainer || c.language == langShell || c.language == langMake ||
			strings.EqualFold(c.base(), "package.json")
		if !runs || !c.written() || c.role == roleDocs {
			continue
		}
		c.eachAdded(func(_ int, l *line) {
			text := l.scanned()
			if c.isComment(text) || !remoteScript.MatchString(text) {
				return
			}
			found.add(c.at(l, SeverityWarning, "A download is run by a shell",
				"Whoever controls that address, today or later, runs commands here. Download a fixed version and check its digest first."))
		})
	}
}
