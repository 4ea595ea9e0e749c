package agent

import (
	"path"
	"strings"
)

// belongs are names that people write at the top of a folder, and what they mean.
var belongs = map[string]string{
	"agent.yml": settingsFile, "agent.json": settingsFile, "agent.toml": settingsFile, "config.yaml": settingsFile,
	"instruction.md": instructionsFile, "instructions.txt": instructionsFile, "agents.md": instructionsFile,
	"claude.md": instructionsFile, "prompt.md": instructionsFile, "system.md": instructionsFile,
	"skill": skillsDir + "/", "tool": toolsDir + "/", "subagent": subagentsDir + "/", "sub-agents": subagentsDir + "/", "agents": subagentsDir + "/",
	"mcp": connectionsDir + "/", "mcp-connection": connectionsDir + "/", "mcp_connections": connectionsDir + "/",
	"mcp-servers": connectionsDir + "/", "connections": connectionsDir + "/", "mcp.json": connectionsDir + "/<name>.yaml",
	"workspace": seedsDir + "/", "seeds": seedsDir + "/", "seed": seedsDir + "/",
}

// misplaced warns of what nobody reads, with where it belongs as far as that can be guessed.
func (l *loader) misplaced() {
	for _, e := range l.tree.list(".") {
		if knownAs(e.name) {
			continue
		}
		lower := strings.ToLower(e.name)
		ext := path.Ext(lower)
		switch place := belongs[lower]; {
		case place != "":
			l.belongs(e.name, place)
		case lower != e.name && knownAs(lower):
			l.belongs(e.name, lower)
		case !e.dir && (ext == ".md" || ext == "" || ext == ".txt"): // for people: README.md, LICENSE
		default:
			l.warn(e.name, 0, "is not read: it is no part of an agent")
		}
	}
	l.misplacedIn(skillsDir, skillFile)
	l.misplacedIn(toolsDir, toolFile, "tool.yml", "tool.json")
	l.misplacedIn(subagentsDir, settingsFile)
	for _, e := range l.tree.list(connectionsDir) {
		switch stem := strings.TrimSuffix(e.name, path.Ext(e.name)); {
		case e.dir:
			l.belongs(path.Join(connectionsDir, e.name), path.Join(connectionsDir, e.name+".yaml"))
		case path.Ext(e.name) != ".yaml":
			l.belongs(path.Join(connectionsDir, e.name), path.Join(connectionsDir, stem+".yaml"))
		}
	}
	for _, e := range l.tree.list(sandboxDir) {
		if e.name != path.Base(seedsDir) {
			l.belongs(path.Join(sandboxDir, e.name), path.Join(seedsDir, e.name))
		}
	}
}

// misplacedIn warns of what stands in a folder of folders, each of which needs a
// file by the name of main.
func (l *loader) misplacedIn(dir, main string, near ...string) {
	for _, e := range l.tree.list(dir) {
		at := path.Join(dir, e.name)
		stem := strings.TrimSuffix(e.name, path.Ext(e.name))
		switch {
		case !e.dir && dir == toolsDir && path.Ext(e.name) != ".yaml" && path.Ext(e.name) != ".yml":
			l.belongs(at, path.Join(dir, stem, "run")+", beside "+main)
		case !e.dir && dir == subagentsDir && path.Ext(e.name) == ".md":
			l.belongs(at, path.Join(dir, stem, instructionsFile)+", beside "+main)
		case !e.dir:
			l.belongs(at, path.Join(dir, stem, main))
		case l.tree.file(path.Join(at, main)) == nil && dir != subagentsDir:
			l.warn(at, 0, "is not read: it has no %s%s", main, l.nearly(at, main, near))
		}
	}
}

// nearly says what somebody wrote in the place of a file.
func (l *loader) nearly(dir, main string, near []string) string {
	for _, e := range l.tree.list(dir) {
		if strings.EqualFold(e.name, main) {
			return "; rename " + e.name
		}
		for _, name := range near {
			if strings.EqualFold(e.name, name) {
				return "; rename " + e.name
			}
		}
	}
	return ""
}

func (l *loader) belongs(file, place string) {
	l.warn(file, 0, "is not read; it belongs in %s", place)
}

// knownAs reports whether something at the top of a folder is read.
func knownAs(name string) bool {
	switch name {
	case settingsFile, instructionsFile, instructionsDir, skillsDir, toolsDir, subagentsDir, connectionsDir, sandboxDir:
		return true
	}
	return false
}
