package reviewer

import (
	"path"
	"strings"
)

// language is a programming language, by its usual name.
type language string

const (
	langC          language = "C"
	langCSharp     language = "C#"
	langCPP        language = "C++"
	langDart       language = "Dart"
	langElixir     language = "Elixir"
	langGo         language = "Go"
	langJava       language = "Java"
	langJavaScript language = "JavaScript"
	langKotlin     language = "Kotlin"
	langLua        language = "Lua"
	langPHP        language = "PHP"
	langPerl       language = "Perl"
	langPython     language = "Python"
	langR          language = "R"
	langRuby       language = "Ruby"
	langRust       language = "Rust"
	langSQL        language = "SQL"
	langScala      language = "Scala"
	langShell      language = "Shell"
	langSwift      language = "Swift"
	langTypeScript language = "TypeScript"
	langZig        language = "Zig"

	// These are no programming languages, but have comments.
	langContainer language = "Dockerfile"
	langMake      language = "Makefile"
	langTOML      language = "TOML"
	langYAML      language = "YAML"
)

// languageOf names the language of a file by its name.
func languageOf(name string) language {
	base := strings.ToLower(path.Base(name))
	switch {
	case isContainerFile(base):
		return langContainer
	case base == "makefile", base == "gnumakefile", strings.HasSuffix(base, ".mk"):
		return langMake
	case base == "gemfile", base == "rakefile":
		return langRuby
	}
	switch path.Ext(base) {
	case ".c", ".h", ".m":
		return langC
	case ".cs":
		return langCSharp
	case ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".mm":
		return langCPP
	case ".dart":
		return langDart
	case ".ex", ".exs":
		return langElixir
	case ".go":
		return langGo
	case ".java", ".groovy":
		return langJava
	case ".js", ".jsx", ".mjs", ".cjs":
		return langJavaScript
	case ".kt", ".kts":
		return langKotlin
	case ".lua":
		return langLua
	case ".php":
		return langPHP
	case ".pl", ".pm":
		return langPerl
	case ".py", ".pyi":
		return langPython
	case ".r":
		return langR
	case ".rb", ".erb", ".rake":
		return langRuby
	case ".rs":
		return langRust
	case ".sql":
		return langSQL
	case ".scala":
		return langScala
	case ".sh", ".bash", ".zsh", ".ps1", ".bat":
		return langShell
	case ".swift":
		return langSwift
	case ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte":
		return langTypeScript
	case ".zig":
		return langZig
	case ".toml":
		return langTOML
	case ".yml", ".yaml":
		return langYAML
	}
	return ""
}

// isCode reports whether programs are written in the language.
func (l language) isCode() bool {
	switch l {
	case "", langContainer, langMake, langTOML, langYAML, langSQL:
		return false
	}
	return true
}

// isScript reports whether the two languages that share a runtime are meant.
func (l language) isScript() bool { return l == langJavaScript || l == langTypeScript }

// isComment reports whether the trimmed line begins as a comment does.
func (l language) isComment(trimmed string) bool {
	switch l {
	case langPython, langRuby, langShell, langElixir, langPerl, langR, langContainer, langMake, langTOML, langYAML:
		return strings.HasPrefix(trimmed, "#")
	case langSQL, langLua:
		return strings.HasPrefix(trimmed, "--") || strings.HasPrefix(trimmed, "/*")
	case langPHP:
		return hasAnyPrefix(trimmed, "//", "#", "/*", "* ", "*/")
	case "":
		return false
	default:
		return trimmed == "*" || hasAnyPrefix(trimmed, "//", "/*", "* ", "*/")
	}
}

func hasAnyPrefix(s string, prefixes ...string) bool {
	for _, prefix := range prefixes {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return false
}

func hasAnySuffix(s string, suffixes ...string) bool {
	for _, suffix := range suffixes {
		if strings.HasSuffix(s, suffix) {
			return true
		}
	}
	return false
}

func containsAny(s string, parts ...string) bool {
	for _, part := range parts {
		if strings.Contains(s, part) {
			return true
		}
	}
	return false
}
