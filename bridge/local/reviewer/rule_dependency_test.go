package reviewer

import (
	"reflect"
	"strings"
	"testing"
)

func TestDependencies(t *testing.T) {
	t.Parallel()
	lock := func(name string) file { return file{path: name, patch: added("x")} }
	with := func(files []file, more ...file) []file { return append(files, more...) }
	runRule(t, "dependency", []ruleTest{
		{"Go", with(one("go.mod", "	example.com/a v1.2.3", "	example.com/b v0.1.0 // indirect"), lock("go.sum")), []string{"info go.mod:10 1 new Go dependency"}},
		{"Go without sums", one("go.mod", "require example.com/a v1.2.3"), []string{"warning go.mod:10 Lock file did not change with the manifest", "info go.mod:10 1 new Go dependency"}},
		{"Go major by path", with([]file{{path: "go.mod", patch: replaced([]string{"	example.com/a v1.9.0"}, []string{"	example.com/a/v2 v2.0.0"})}}, lock("go.sum")), []string{"info go.mod:10 1 dependency at another major version"}},
		{"npm", with(one("package.json", `    "left-pad": "^1.3.0",`), lock("package-lock.json")), []string{"info package.json:10 1 new npm dependency"}},
		{"npm major", with([]file{{path: "web/package.json", patch: replaced([]string{`"react": "^17.0.2",`}, []string{`"react": "^18.0.0",`})}}, lock("web/yarn.lock")), []string{"info web/package.json:10 1 dependency at another major version"}},
		{"npm without lock", one("package.json", `    "left-pad": "^1.3.0",`), []string{"info package.json:10 1 new npm dependency", "info package.json:10 Manifest changed without a lock file"}},
		{"requirements", one("requirements-dev.txt", "requests==2.31.0"), []string{"info requirements-dev.txt:10 1 new Python dependency"}},
		{"Poetry", with([]file{{path: "pyproject.toml", patch: "@@ -2,1 +2,2 @@\n x\n+httpx = \"^0.27\"\n", head: "[tool.poetry.dependencies]\nx\nhttpx = \"^0.27\"\n"}}, lock("poetry.lock")), []string{"info pyproject.toml:3 1 new Python dependency"}},
		{"PEP 621", with(one("pyproject.toml", `    "httpx>=0.27",`), lock("uv.lock")), []string{"info pyproject.toml:10 1 new Python dependency"}},
		{"Cargo", with(one("Cargo.toml", "[dependencies]", `serde = { version = "1", features = ["derive"] }`), lock("Cargo.lock")), []string{"info Cargo.toml:11 1 new Rust dependency"}},
		{"Gemfile", with(one("Gemfile", "gem 'rails', '~> 7.1'"), lock("Gemfile.lock")), []string{"info Gemfile:10 1 new Ruby dependency"}},
		{"Composer", with(one("composer.json", `"monolog/monolog": "^3.0",`), lock("composer.lock")), []string{"info composer.json:10 1 new PHP dependency"}},
		{"Gradle", with(one("build.gradle.kts", `    implementation("com.x:y:1.0")`), lock("gradle.lockfile")), []string{"info build.gradle.kts:10 1 new Java dependency"}},
		{"Maven", one("pom.xml", "<artifactId>y</artifactId>"), []string{"info pom.xml:10 1 new Java dependency"}},
		{"lock alone", []file{lock("yarn.lock")}, []string{"info yarn.lock:0 Lock file changed without its manifest"}},

		{"patch version", with([]file{{path: "go.mod", patch: replaced([]string{"	example.com/a v1.2.3"}, []string{"	example.com/a v1.2.4"})}}, lock("go.sum")), nil},
		{"sorted anew", []file{{path: "package.json", patch: replaced([]string{`"a": "^1.0.0"`}, []string{`"a": "^1.0.0",`})}}, nil},
		{"the package's own version", []file{{path: "package.json", patch: replaced([]string{`"version": "1.0.0",`}, []string{`"version": "2.0.0",`})}}, nil},
		{"engines and scripts", one("package.json", `"node": ">=18",`, `"test": "jest",`, `"main": "dist/a.js",`), nil},
		{"pairs outside of the dependencies", []file{{path: "package.json", patch: "@@ -3,1 +3,3 @@\n \n+    \"npx\": \"bin/npx\",\n+    \"vscode\": \"^1.80.0\"\n",
			head: "{\n  \"bin\": {\n\n    \"npx\": \"bin/npx\",\n    \"vscode\": \"^1.80.0\"\n  }\n}\n"}}, nil},
		{"Go version", one("go.mod", "go 1.26.0", "toolchain go1.26.1", "module example.com/x"), nil},
		{"Cargo metadata", one("Cargo.toml", "[package]", `version = "2.0.0"`, `edition = "2021"`), nil},
		{"tool settings", one("pyproject.toml", "[tool.ruff]", `target-version = "py312"`, `select = ["E", "F"]`), nil},
		{"comment", one("requirements.txt", "# requests==2.31.0"), nil},
		{"removed manifest", []file{{path: "package.json", patch: removed(`"a": "1.0.0"`), entry: map[string]any{"status": "removed"}}}, nil},
		{"example project", one("examples/x/package.json", `"a": "^1.0.0"`), nil},
	})
}

func TestJSONSections(t *testing.T) {
	t.Parallel()
	text := "{\n\"a\": \"b {\",\n\"deps\": {\n\"x\": \"1\",\n\"y\": {\"z\": [\n1]}\n},\n\"q\": \"\\\"{\"\n}\n"
	got := jsonSections(text)
	want := map[int]string{2: ".", 3: ".", 4: "deps", 5: "deps", 6: "z", 7: "deps", 8: ".", 9: ".", 10: "."}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, broken := range []string{`"`, `"\`, "{\"a\n\"b", strings.Repeat("{", 1000), "]]}}", "\"\\\n"} {
		jsonSections(broken)
	}
}

func TestDependencyNames(t *testing.T) {
	t.Parallel()
	text := review(t, evidence{files: []file{
		{path: "go.mod", patch: added("	example.com/a v1.2.3")}, {path: "go.sum", patch: added("x")},
		{path: "package.json", patch: replaced([]string{`"react": "^17.0.2",`}, []string{`"react": "^18.0.0",`})},
	}}.write(t)).Markdown()
	for _, want := range []string{"`example.com/a v1.2.3`", "`react ^17.0.2 → ^18.0.0`"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in:\n%s", want, text)
		}
	}
}

func TestDependencySources(t *testing.T) {
	t.Parallel()
	runRule(t, "dependency-source", []ruleTest{
		{"git in npm", one("package.json", `"a": "git+https://x.example/a.git",`), []string{"warning package.json:10 Dependency does not come from a registry"}},
		{"short form in npm", one("package.json", `"a": "someone/a#main",`), []string{"warning package.json:10 Dependency does not come from a registry"}},
		{"git in pip", one("requirements.txt", "a @ git+https://x.example/a"), []string{"warning requirements.txt:10 Dependency does not come from a registry"}},
		{"git in Cargo", one("Cargo.toml", "[dependencies]", `a = { git = "https://x.example/a" }`), []string{"warning Cargo.toml:11 Dependency does not come from a registry"}},
		{"git in a Gemfile", one("Gemfile", "gem 'a', github: 'b/a'"), []string{"warning Gemfile:10 Dependency does not come from a registry"}},
		{"install script", one("package.json", `"postinstall": "node x.js",`), []string{"warning package.json:10 Script runs at installation"}},
		{"replace", one("go.mod", "replace example.com/a => example.com/evil v1.0.0"), []string{"warning go.mod:10 Module is replaced"}},
		{"replace by a neighbour", one("go.mod", "replace example.com/a => ../a"), []string{"info go.mod:10 Module is replaced"}},
		{"index", one("requirements.txt", "--extra-index-url https://x.example/simple"), []string{"warning requirements.txt:10 Packages come from another registry"}},
		{"npmrc", one(".npmrc", "registry=https://x.example/"), []string{"warning .npmrc:10 Packages come from another registry"}},
		{"lock file", one("package-lock.json", `      "resolved": "https://x.example/a.tgz",`), []string{"warning package-lock.json:10 Lock file fetches from an unusual place"}},
		{"Cargo lock", one("Cargo.lock", `source = "git+https://github.com/a/b#123"`), []string{"warning Cargo.lock:10 Lock file fetches from an unusual place"}},

		{"ordinary", one("package.json", `"a": "^1.0.0",`, `"b": "workspace:*",`, `"build": "tsc",`), nil},
		{"ordinary lock", one("package-lock.json", `"resolved": "https://registry.npmjs.org/a/-/a-1.tgz",`), nil},
		{"ordinary Cargo lock", one("Cargo.lock", `source = "registry+https://github.com/rust-lang/crates.io-index"`), nil},
		{"a mirror that is there already", []file{{path: "yarn.lock", patch: replaced([]string{`  resolved "https://x.example/a-1.tgz"`}, []string{`  resolved "https://x.example/a-2.tgz"`})}}, nil},
		{"default index", one("requirements.txt", "--index-url https://pypi.org/simple"), nil},
		{"script moved", []file{{path: "package.json", patch: replaced([]string{`"prepare": "husky"`}, []string{`  "prepare": "husky"`})}}, nil},
	})
}
