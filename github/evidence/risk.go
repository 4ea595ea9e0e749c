package evidence

import (
	"path"
	"slices"
	"strings"
	"unicode"
)

// risk orders files by how much a reviewer loses without them: what comes first
// is fetched first.
type risk int

const (
	// riskAutomation is what machines run or obey: workflows, build and deploy
	// files, agent configuration, code owners.
	riskAutomation risk = iota
	riskMigration
	riskDependency
	// riskSecurity is code that looks like authentication or cryptography.
	riskSecurity
	riskCode
	riskTest
	riskOther
	riskDocs
	// riskGenerated is what nobody wrote by hand.
	riskGenerated
)

// riskOf looks at both names of a file: a rename must not hide what it was.
func riskOf(f *File) risk {
	if f.AgentConfig {
		return riskAutomation
	}
	r := pathRisk(f.Path)
	if f.PreviousPath != "" {
		r = min(r, pathRisk(f.PreviousPath))
	}
	return r
}

func pathRisk(name string) risk {
	words := pathWords(name)
	name = strings.ToLower(name)
	base, ext := path.Base(name), path.Ext(name)
	folders := strings.Split(path.Dir(name), "/")
	switch {
	case isAutomation(name, base, ext):
		return riskAutomation
	case isGenerated(base, folders):
		return riskGenerated
	case ext == ".sql" || containsAny(folders, "migrations", "migration", "migrate", "alembic", "flyway", "changelog"):
		return riskMigration
	case isDependencies(base, ext):
		return riskDependency
	case isDocs(base, ext, folders):
		return riskDocs
	case isTest(base, folders):
		return riskTest
	case isCode(ext) && slices.ContainsFunc(words, isSecurityWord):
		return riskSecurity
	case isCode(ext):
		return riskCode
	default:
		return riskOther
	}
}

// pathWords splits a path into its words, in lower case: "userAuth_v2.go" is user, auth, v and go.
func pathWords(name string) []string {
	var spaced strings.Builder
	var prev rune
	for _, r := range name {
		if unicode.IsUpper(r) && unicode.IsLower(prev) {
			spaced.WriteByte(' ')
		}
		spaced.WriteRune(unicode.ToLower(r))
		prev = r
	}
	return strings.FieldsFunc(spaced.String(), func(r rune) bool { return !unicode.IsLetter(r) })
}

func isAutomation(name, base, ext string) bool {
	switch base {
	case "action.yml", "action.yaml", ".gitlab-ci.yml", "jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml",
		".travis.yml", "appveyor.yml", "cloudbuild.yaml", "buildspec.yml", "makefile", "justfile", "taskfile.yml",
		"dockerfile", "docker-compose.yml", "docker-compose.yaml", "compose.yml", "compose.yaml", "fly.toml",
		"codeowners", ".gitmodules", ".gitattributes", "dependabot.yml", "renovate.json", ".npmrc", ".envrc":
		return true
	}
	if ext == ".tf" || strings.HasPrefix(base, "dockerfile.") || strings.HasSuffix(base, ".dockerfile") {
		return true
	}
	for _, folder := range []string{".github/", ".circleci/", ".buildkite/", ".woodpecker/", ".gitlab/", ".husky/", ".githooks/"} {
		if strings.HasPrefix(name, folder) && ext != ".md" {
			return true
		}
	}
	return false
}

func isDependencies(base, ext string) bool {
	switch base {
	case "go.mod", "go.work", "package.json", "pyproject.toml", "setup.py", "setup.cfg", "pipfile", "cargo.toml",
		"gemfile", "composer.json", "pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "mix.exs",
		"pubspec.yaml", "package.swift", "podfile", "deno.json", "environment.yml", "flake.nix", "conanfile.txt",
		"vcpkg.json", "directory.packages.props", "packages.config":
		return true
	}
	return ext == ".csproj" || ext == ".gemspec" ||
		strings.HasPrefix(base, "requirements") && ext == ".txt"
}

func isGenerated(base string, folders []string) bool {
	switch base {
	case "go.sum", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "cargo.lock",
		"gemfile.lock", "poetry.lock", "uv.lock", "pipfile.lock", "composer.lock", "podfile.lock", "mix.lock",
		"flake.lock", "packages.lock.json", "deno.lock", "gradle.lockfile":
		return true
	}
	for _, end := range []string{".pb.go", ".pb.cc", ".pb.h", "_pb2.py", ".connect.go", ".min.js", ".min.css", ".map", ".snap", ".svg", ".generated.ts", "_generated.go"} {
		if strings.HasSuffix(base, end) {
			return true
		}
	}
	return containsAny(folders, "vendor", "node_modules", "third_party", "dist", "generated", "__snapshots__")
}

func isDocs(base, ext string, folders []string) bool {
	switch ext {
	case ".md", ".mdx", ".rst", ".adoc", ".txt":
		return true
	}
	return base == "license" || base == "notice" || containsAny(folders, "docs", "doc") && !isCode(ext)
}

func isTest(base string, folders []string) bool {
	return strings.Contains(base, "_test.") || strings.Contains(base, ".test.") || strings.Contains(base, ".spec.") ||
		strings.HasPrefix(base, "test_") || containsAny(folders, "test", "tests", "__tests__", "testdata", "spec", "fixtures")
}

func isCode(ext string) bool {
	switch ext {
	case ".go", ".py", ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".vue", ".svelte", ".rb", ".rs", ".java",
		".kt", ".kts", ".scala", ".clj", ".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".fs", ".swift", ".m", ".mm", ".php",
		".pl", ".lua", ".ex", ".exs", ".erl", ".hs", ".ml", ".dart", ".r", ".jl", ".zig", ".nim", ".sh", ".bash", ".zsh",
		".ps1", ".bat", ".proto", ".graphql", ".html", ".erb", ".tmpl", ".sol":
		return true
	}
	return false
}

func isSecurityWord(word string) bool {
	switch word {
	case "auth", "authn", "authz", "authentication", "authorization", "oauth", "oidc", "saml", "sso", "login", "logout",
		"password", "passwords", "passwd", "secret", "secrets", "token", "tokens", "jwt", "session", "sessions", "cookie",
		"cookies", "crypto", "cipher", "encrypt", "encryption", "decrypt", "hash", "hmac", "signature", "signing", "tls",
		"ssl", "cert", "certs", "certificate", "key", "keys", "permission", "permissions", "acl", "rbac", "policy", "cors",
		"csrf", "sanitize", "sanitizer", "escape", "sandbox", "webhook", "payment", "payments", "billing", "admin":
		return true
	}
	return false
}

func containsAny(list []string, words ...string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return slices.Contains(words, s) })
}
