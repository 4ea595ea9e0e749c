package evidence

import (
	"strings"
	"unicode"
)

// configuresAgent tells whether a file of this name would configure a coding
// agent, or be run by one or by git, in a checkout. The names are matched as a
// careless file system would: without regard to case, to characters that cannot
// be seen, and to dots and spaces at the end.
func configuresAgent(name string) bool {
	if name == "" {
		return false
	}
	segments := strings.Split(name, "/")
	for i, s := range segments {
		segments[i] = foldName(s)
	}
	last := len(segments) - 1
	for i, s := range segments {
		// The last segment counts too: it may be a link or a submodule.
		if isAgentFolder(s) || i < last && isAgentPair(s, segments[i+1]) {
			return true
		}
	}
	return isAgentFile(segments[last])
}

func foldName(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r) {
			return -1
		}
		return unicode.ToLower(r)
	}, s)
	return strings.TrimRight(s, ". ")
}

func isAgentFile(base string) bool {
	switch base {
	case "agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md", "qwen.md",
		"copilot-instructions.md", "skill.md", "warp.md", "crush.md",
		".cursorrules", ".cursorignore", ".cursorindexingignore", ".windsurfrules", ".clinerules", ".roorules", ".roomodes",
		".goosehints", ".rules", ".aider.conf.yml", ".aiderignore", ".geminiignore", ".claudeignore",
		".mcp.json", "mcp.json", ".mcp.yaml", ".mcp.yml", "opencode.json", "opencode.jsonc", ".opencode.json",
		"crush.json", ".crush.json", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", "lefthook.yaml":
		return true
	}
	return strings.HasSuffix(base, ".instructions.md") || strings.HasSuffix(base, ".chatmode.md") ||
		strings.HasSuffix(base, ".prompt.md") || strings.HasSuffix(base, ".mdc")
}

func isAgentFolder(folder string) bool {
	switch folder {
	case ".cursor", ".claude", ".claude-plugin", ".codex", ".gemini", ".qwen", ".windsurf", ".clinerules", ".cline", ".roo", ".kiro",
		".continue", ".amazonq", ".junie", ".opencode", ".agents", ".agent", ".augment", ".goose", ".crush", ".aider", ".trae",
		".factory", ".mcp", ".husky", ".githooks", ".lefthook":
		return true
	}
	return false
}

// isAgentPair knows names that configure an agent only below a certain folder.
func isAgentPair(folder, name string) bool {
	switch folder {
	case ".github":
		switch name {
		case "instructions", "prompts", "chatmodes", "agents", "skills", "hooks":
			return true
		}
	case ".vscode":
		switch name {
		case "mcp.json", "tasks.json", "settings.json":
			return true
		}
	case ".git":
		return name == "hooks" || name == "config"
	case "git", "scripts":
		return name == "hooks" || name == "git-hooks"
	}
	return false
}
