package reviewer

import (
	"path"
	"slices"
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// role is what a file is for.
type role string

// The roles, in the order in which a report lists them.
const (
	roleCode         role = "Code"
	roleTest         role = "Tests"
	roleDatabase     role = "Database"
	roleCI           role = "CI"
	roleDependencies role = "Dependencies"
	roleConfig       role = "Configuration"
	roleDocs         role = "Docs"
	roleGenerated    role = "Generated"
	roleVendored     role = "Vendored"
	roleAsset        role = "Assets"
	roleOther        role = "Other"
)

func roles() []role {
	return []role{roleCode, roleTest, roleDatabase, roleCI, roleDependencies, roleConfig, roleDocs,
		roleGenerated, roleVendored, roleAsset, roleOther}
}

var (
	testName = lazyregexp.New(`(_test\.(go|py|rb|exs|dart|cc|cpp|c|js|ts)|^test_[^/]*\.py|[._-](test|spec|cy|e2e)\.[cm]?[jt]sx?|_spec\.rb|(Test|Tests|TestCase|IT|Spec)\.(java|kt|cs|scala|groovy|php|swift))$|^conftest\.py$`)
	// numberedMigration matches what migration tools put in front of a name: a counter or a time.
	numberedMigration = lazyregexp.New(`^(V?\d+[_.-]|U\d+__)|_V?\d{3,}`)
	generatedName     = lazyregexp.New(`(\.pb\.go|\.pb\.gw\.go|\.connect\.go|_pb2(_grpc)?\.pyi?|\.g\.dart|\.freezed\.dart|\.g\.cs|\.designer\.cs|_generated\.go|zz_generated[^/]*\.go|\.generated\.[a-z]+|_pb\.[jt]s|\.snap)$`)
	minifiedName      = lazyregexp.New(`[.-]min\.(js|css|mjs)$`)
	generatedHeader   = lazyregexp.New(`(?i)code generated .{0,80}do not edit|@generated\b|auto-?generated.{0,40}do not (edit|modify)`)
)

// classify fills in what a file's name says about it.
func classify(c *change) {
	lower := strings.ToLower(c.Path)
	folders := strings.Split(path.Dir(lower), "/")
	base := path.Base(lower)
	within := func(names ...string) bool {
		return slices.ContainsFunc(folders, func(folder string) bool { return slices.Contains(names, folder) })
	}
	c.language = languageOf(c.Path)
	c.fixture = within("testdata", "fixtures", "__fixtures__", "fixture", "examples", "example", "samples", "mocks", "__mocks__") ||
		strings.Contains(base, "test_data") || strings.Contains(base, "testdata")
	c.vendored = within("vendor", "node_modules", "third_party", "third-party", "bower_components", "pods")
	c.generated = generatedName.MatchString(base) || within("__generated__", "__snapshots__")
	c.minified = minifiedName.MatchString(base)
	isTest := testName.MatchString(path.Base(c.Path)) ||
		within("test", "tests", "__tests__", "spec", "specs", "testdata", "e2e", "__mocks__", "testing") ||
		within("fixtures", "__fixtures__")

	switch {
	case c.vendored:
		c.role = roleVendored
	case c.generated, c.minified:
		c.role = roleGenerated
	case isLockFile(base), isManifest(base):
		c.role = roleDependencies
	case isPipeline(lower):
		c.role = roleCI
	case isTest && (c.fixture || !isDocs(lower, false)):
		c.role = roleTest
	case isMigrationPath(lower):
		c.role = roleDatabase
	case isDocs(lower, within("docs", "doc")):
		c.role = roleDocs
	case c.language.isCode():
		c.role = roleCode
	case c.language == langSQL:
		c.role = roleDatabase
	case c.Kind == kindBinary || isAsset(base):
		c.role = roleAsset
	case c.language != "" || isConfig(base):
		c.role = roleConfig
	default:
		c.role = roleOther
	}
}

func isWorkflow(lower string) bool {
	return strings.HasPrefix(lower, ".github/workflows/") && hasAnySuffix(lower, ".yml", ".yaml")
}

func isAction(lower string) bool {
	return path.Base(lower) == "action.yml" || path.Base(lower) == "action.yaml"
}

func isPipeline(lower string) bool {
	if isWorkflow(lower) || isAction(lower) || hasAnyPrefix(lower, ".github/actions/", ".circleci/", ".buildkite/", ".woodpecker/", ".ci/") {
		return true
	}
	switch path.Base(lower) {
	case ".gitlab-ci.yml", ".travis.yml", "jenkinsfile", "azure-pipelines.yml", "bitbucket-pipelines.yml",
		".drone.yml", "appveyor.yml", "cloudbuild.yaml", ".woodpecker.yml":
		return true
	}
	return false
}

func isContainerFile(base string) bool {
	base = strings.ToLower(base)
	return base == "dockerfile" || base == "containerfile" || hasAnyPrefix(base, "dockerfile.", "containerfile.") ||
		strings.HasSuffix(base, ".dockerfile")
}

func isMigrationPath(lower string) bool {
	for _, folder := range strings.Split(path.Dir(lower), "/") {
		switch folder {
		case "migrations", "migration", "migrate", "alembic", "flyway":
			return !strings.HasSuffix(lower, ".go") && !strings.HasSuffix(lower, ".md")
		}
	}
	return false
}

func isDocs(lower string, inDocs bool) bool {
	if hasAnySuffix(lower, ".md", ".mdx", ".rst", ".adoc", ".markdown") {
		return true
	}
	base := path.Base(lower)
	return inDocs && (strings.HasSuffix(base, ".txt") || strings.HasSuffix(base, ".html")) ||
		hasAnyPrefix(base, "license", "licence", "changelog", "authors", "notice", "readme")
}

func isAsset(base string) bool {
	switch path.Ext(base) {
	case ".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico", ".svg", ".woff", ".woff2", ".ttf", ".otf", ".eot",
		".pdf", ".mp3", ".mp4", ".webm", ".css", ".scss", ".less", ".html":
		return true
	}
	return false
}

func isConfig(base string) bool {
	switch path.Ext(base) {
	case ".json", ".ini", ".cfg", ".conf", ".env", ".tf", ".tfvars", ".properties", ".xml", ".plist", ".hcl", ".nix":
		return true
	}
	return strings.HasPrefix(base, ".") || base == "codeowners" || base == "procfile"
}
