package reviewer

import (
	"strings"

	"github.com/liaison-bot/liaison/internal/lazyregexp"
)

// ecosystem is a way to declare dependencies.
type ecosystem struct {
	name string
	// locks are the lock files that may stand beside a manifest.
	locks []string
	// locksAlways is set where a new dependency cannot go without a change of the lock.
	locksAlways bool
	isManifest  func(base string) bool
	// parse reads one line of a manifest that is in a section, where the format has sections.
	parse func(text, section string) (requirement, bool)
}

// requirement is one dependency as a manifest declares it.
type requirement struct {
	name, version string
	// source is set when the package does not come from a registry.
	source string
	// indirect is set when it is there for another dependency's sake.
	indirect bool
}

func named(names ...string) func(string) bool {
	return func(base string) bool {
		for _, name := range names {
			if base == name {
				return true
			}
		}
		return false
	}
}

var requirementsName = lazyregexp.New(`^(.*[-_.])?requirements([-_.].*)?\.(txt|in)$`)

// ecosystems are found by a manifest's name in lower case.
var ecosystems = []ecosystem{
	{"Go", []string{"go.sum"}, true, named("go.mod"), parseGoMod},
	{"npm", []string{"package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "npm-shrinkwrap.json"}, false, named("package.json"), parsePackageJSON},
	{"Python", []string{"poetry.lock", "uv.lock", "pdm.lock"}, false, named("pyproject.toml"), parsePyproject},
	{"Python", []string{"pipfile.lock"}, false, named("pipfile"), parsePyproject},
	{"Python", nil, false, requirementsName.MatchString, parseRequirements},
	{"Rust", []string{"cargo.lock"}, false, named("cargo.toml"), parseCargo},
	{"Ruby", []string{"gemfile.lock"}, false, named("gemfile"), parseGemfile},
	{"PHP", []string{"composer.lock"}, false, named("composer.json"), parsePackageJSON},
	{"Java", []string{"gradle.lockfile"}, false, named("build.gradle", "build.gradle.kts"), parseGradle},
	{"Java", nil, false, named("pom.xml"), parsePOM},
}

func ecosystemOf(base string) *ecosystem {
	base = strings.ToLower(base)
	for i := range ecosystems {
		if ecosystems[i].isManifest(base) {
			return &ecosystems[i]
		}
	}
	return nil
}

func isManifest(base string) bool {
	return ecosystemOf(base) != nil || base == "go.work" || base == "libs.versions.toml"
}

func isLockFile(base string) bool {
	return lockEcosystem(base) != "" || base == "go.work.sum" || base == "flake.lock" || base == "deno.lock" || base == "mix.lock" || base == "podfile.lock" || base == "package.resolved"
}

// lockEcosystem names the ecosystem of a lock file.
func lockEcosystem(base string) string {
	base = strings.ToLower(base)
	for _, e := range ecosystems {
		for _, lock := range e.locks {
			if lock == base {
				return e.name
			}
		}
	}
	return ""
}

var (
	goRequirement = lazyregexp.New(`^\s*(?:require\s+)?([\w.\-~]+\.[\w.\-~]+(?:/[\w.\-~]+)*)\s+(v\d\S*)\s*(//\s*indirect\b)?`)
	jsonPair      = lazyregexp.New(`^\s*"([^"]+)"\s*:\s*"([^"]*)"\s*,?\s*$`)
	// jsonDependencies matches the keys of objects that hold dependencies.
	jsonDependencies = lazyregexp.New(`(?i)dependencies$|^(require|require-dev|overrides|resolutions|catalog)$`)
	fileName         = lazyregexp.New(`\.[cm]?[jt]sx?$|\.json$|^\.`)
	npmVersion       = lazyregexp.New(`^([~^<>=v\s]*\d|\*$|latest$|next$|npm:|workspace:|file:|link:|portal:|git|https?:|ssh:|[\w.-]+/[\w.-]+(#.*)?$)`)
	npmSource        = lazyregexp.New(`^(git\+|git:|git@|github:|gitlab:|bitbucket:|ssh:|https?:|file:\.\.|[A-Za-z][\w.-]*/[\w.-]+(#.*)?$)`)
	pipRequirement   = lazyregexp.New(`^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*(?:(?:==|~=|>=|<=|!=|===|>|<)\s*([^\s;,#]+)|\s*$|\s*[;#])`)
	pipSource        = lazyregexp.New(`^\s*(?:-e\s+|--editable[ =])?((?:[\w.-]+\s*@\s*)?(?:git\+|hg\+|svn\+|https?://)\S+)`)
	tomlPair         = lazyregexp.New(`^\s*"?([A-Za-z0-9][\w.-]*)"?\s*=\s*(.+)$`)
	tomlArrayItem    = lazyregexp.New(`^\s*(?:dependencies\s*=\s*\[\s*)?["']([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?\s*([^"']*)["'],?`)
	tomlVersion      = lazyregexp.New(`(?:^|version\s*=\s*)["']([^"']*)["']`)
	tomlSource       = lazyregexp.New(`\b(?:git|url)\s*=\s*["']([^"']*)["']`)
	gemLine          = lazyregexp.New(`^\s*gem\s*\(?\s*["']([^"']+)["'](?:\s*,\s*["']([^"']*)["'])?`)
	gemSource        = lazyregexp.New(`\b(?:git|github|gitlab|bitbucket|source)(?:\s*:|:?\s*=>)\s*["']([^"']+)["']`)
	gradleLine       = lazyregexp.New(`^\s*(?:implementation|api|compileOnly|runtimeOnly|testImplementation|testRuntimeOnly|annotationProcessor|kapt|ksp|classpath|compile)\s*\(?\s*["']([^"':]+:[^"':]+)(?::([^"']*))?["']`)
	pomArtifact      = lazyregexp.New(`<artifactId>\s*([^<\s]+)\s*</artifactId>`)
)

func parseGoMod(text, _ string) (requirement, bool) {
	trimmed := strings.TrimSpace(text)
	if hasAnyPrefix(trimmed, "//", "module ", "replace ", "exclude ", "retract ", "tool ") || strings.Contains(trimmed, "=>") {
		return requirement{}, false
	}
	m := goRequirement.FindStringSubmatch(text)
	if m == nil {
		return requirement{}, false
	}
	return requirement{name: m[1], version: m[2], indirect: m[3] != ""}, true
}

// parsePackageJSON reads a pair whose value has the form of a version. Where the
// section is not known, keys that hold versions of something else are left out.
func parsePackageJSON(text, section string) (requirement, bool) {
	m := jsonPair.FindStringSubmatch(text)
	if m == nil || !npmVersion.MatchString(m[2]) {
		return requirement{}, false
	}
	if section != "" && !jsonDependencies.MatchString(section) || section == "" && fileName.MatchString(m[2]) {
		return requirement{}, false
	}
	switch m[1] {
	case "version", "node", "npm", "yarn", "pnpm", "vscode", "main", "module", "types", "typings", "homepage", "url", "repository",
		"license", "directory", "bugs", "packageManager", "php", "$schema", "browser", "exports", "import", "require", "default", "name", "type",
		"minimum-stability", "target", "funding", "source", "description":
		return requirement{}, false
	}
	if strings.HasPrefix(m[1], ".") || strings.Contains(m[1], ":") || strings.HasPrefix(m[1], "ext-") {
		return requirement{}, false
	}
	r := requirement{name: m[1], version: m[2]}
	if npmSource.MatchString(m[2]) {
		r.source = m[2]
	}
	return r, true
}

func parseRequirements(text, _ string) (requirement, bool) {
	if strings.HasPrefix(strings.TrimSpace(text), "#") {
		return requirement{}, false
	}
	if m := pipSource.FindStringSubmatch(text); m != nil {
		name, _, ok := strings.Cut(m[1], "@")
		if !ok || strings.Contains(name, ":") {
			name = m[1]
		}
		return requirement{name: strings.TrimSpace(name), source: m[1]}, true
	}
	m := pipRequirement.FindStringSubmatch(text)
	if m == nil {
		return requirement{}, false
	}
	return requirement{name: m[1], version: m[2]}, true
}

func parsePyproject(text, section string) (requirement, bool) {
	inTable := section == "packages" || section == "dev-packages" || strings.HasSuffix(section, "dependencies") && section != "project.optional-dependencies"
	if inTable {
		return parseTOMLPair(text, "python", "python_version")
	}
	if section != "" && section != "project" && section != "project.optional-dependencies" && section != "dependency-groups" && section != "build-system" {
		return requirement{}, false
	}
	m := tomlArrayItem.FindStringSubmatch(text)
	if m == nil || m[2] != "" && !strings.ContainsAny(m[2][:1], "=<>!~;@ ") {
		return requirement{}, false
	}
	if m[2] == "" && section == "" {
		return requirement{}, false // any string in any list
	}
	r := requirement{name: m[1], version: strings.TrimLeft(m[2], "=<>!~ ")}
	if _, source, ok := strings.Cut(m[2], "@"); ok {
		r.version, r.source = "", strings.TrimSpace(source)
	}
	return r, true
}

func parseCargo(text, section string) (requirement, bool) {
	if !strings.HasSuffix(section, "dependencies") {
		return requirement{}, false
	}
	return parseTOMLPair(text)
}

func parseTOMLPair(text string, leaveOut ...string) (requirement, bool) {
	m := tomlPair.FindStringSubmatch(text)
	if m == nil || named(leaveOut...)(m[1]) {
		return requirement{}, false
	}
	r := requirement{name: m[1]}
	if v := tomlVersion.FindStringSubmatch(m[2]); v != nil {
		r.version = v[1]
	}
	if s := tomlSource.FindStringSubmatch(m[2]); s != nil {
		r.source = s[1]
	}
	return r, true
}

func parseGemfile(text, _ string) (requirement, bool) {
	m := gemLine.FindStringSubmatch(text)
	if m == nil {
		return requirement{}, false
	}
	r := requirement{name: m[1], version: m[2]}
	if s := gemSource.FindStringSubmatch(text); s != nil {
		r.source = s[1]
	}
	return r, true
}

func parseGradle(text, _ string) (requirement, bool) {
	m := gradleLine.FindStringSubmatch(text)
	if m == nil {
		return requirement{}, false
	}
	return requirement{name: m[1], version: m[2]}, true
}

func parsePOM(text, _ string) (requirement, bool) {
	m := pomArtifact.FindStringSubmatch(text)
	if m == nil {
		return requirement{}, false
	}
	return requirement{name: m[1]}, true
}
