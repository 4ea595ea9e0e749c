package reviewer

import (
	"strings"
	"testing"
)

// Made-up credentials, in two halves so that scanners of this repository's own
// text leave them alone.
var (
	fakeAWS    = "AKIA" + "Q3EGTZN5WXR7LPOD"
	fakeGitHub = "ghp_" + "h7Kd93mVqLx2RtYbW8sZpFnC4uJgE1aN6oQi"
	fakeSlack  = "xoxb-" + "739184620517-k3Jf8sLq9ZpWx2Rt"
	fakeGoogle = "AIza" + "SyD7kf93mVqLx2RtYbW8sZpFnC4uJgE1aNo"
	fakeStripe = "sk_live_" + "9fK2mVqLx7RtYbW8sZpFnC4u"
	fakeJWT    = "eyJhbGciOiJIUzI1NiJ9" + ".eyJ1c2VyIjoibW9uYSIsImlkIjo3fQ" + ".k3Jf8sLq9ZpWx2RtVb7nMc1d"
	fakeNPM    = "npm_" + "h7Kd93mVqLx2RtYbW8sZpFnC4uJgE1aN6oQi"
	fakeKeyRow = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + "BKcwggSjAgEAAoIBAQC7k3Jf8sLq9ZpWx2Rt"
	fakeHead   = "-----BEGIN RSA " + "PRIVATE KEY-----"
	fakeRandom = "q7Zr2" + "Kx9vTn4Lw8Yb3"
	fakeURL    = "postgres://app:" + "h7Kd93mVq" + "@db.prod.internal.net/shop"
)

func TestCredentials(t *testing.T) {
	t.Parallel()
	runRule(t, "credential", []ruleTest{
		{"AWS", one("a.go", `key := "`+fakeAWS+`"`), []string{"error a.go:10 AWS access key id in the code"}},
		{"GitHub", one("a.py", "token = '"+fakeGitHub+"'"), []string{"error a.py:10 GitHub token in the code"}},
		{"Slack", one(".env", "SLACK="+fakeSlack), []string{"error .env:10 Slack token in the code"}},
		{"Google", one("a.js", "k('"+fakeGoogle+"')"), []string{"error a.js:10 Google API key in the code"}},
		{"Stripe", one("a.rb", "Stripe.api_key = '"+fakeStripe+"'"), []string{"error a.rb:10 Live Stripe key in the code"}},
		{"token of a JSON kind", one("a.go", `x := "`+fakeJWT+`"`), []string{"warning a.go:10 JSON Web Token in the code"}},
		{"npm", one(".npmrc", "//registry.npmjs.org/:_authToken="+fakeNPM), []string{"error .npmrc:10 Npm token in the code"}},
		{"private key", one("id_rsa", fakeHead, fakeKeyRow), []string{"error id_rsa:10 Private key in the code"}},
		{"private key in a string", one("a.go", `k := "`+fakeHead+`\n`+fakeKeyRow+`"`), []string{"error a.go:10 Private key in the code"}},
		{"password in an address", one("a.yml", "url: "+fakeURL), []string{"error a.yml:10 Password in an address in the code"}},
		{"random value under a secret's name", one("a.ts", `const clientSecret = "`+fakeRandom+`";`), []string{"warning a.ts:10 Secret in the code"}},
		{"environment file without quotes", one("prod.env", "export DB_PASSWORD="+fakeRandom), []string{"warning prod.env:10 Secret in the code"}},
		{"in a test", one("a_test.go", `key := "`+fakeAWS+`"`), []string{"warning a_test.go:10 AWS access key id in the code"}},
		{"in a document", one("README.md", "export T="+fakeGitHub), []string{"warning README.md:10 GitHub token in the code"}},
		{"assignment in a fixture", one("testdata/a.env", "API_TOKEN="+fakeRandom), nil},

		{"documented sample", one("a.go", `"AKIA`+`IOSFODNN7EXAMPLE"`), nil},
		{"placeholders", one("a.go", `token = "ghp_`+strings.Repeat("x", 36)+`"`, `password: "changeme-please-now1"`, `apiKey: "your-api-key-goes-here1"`), nil},
		{"variables", one("a.yml", "password: ${DB_PASSWORD_FOR_PROD1}", `token: "{{ .Values.token1234 }}"`, "url: postgres://app:$PASSWORD@db.example.com/x"), nil},
		{"lookups", one("a.js", `const token = process.env["GITHUB_TOKEN_2024"]`, `secret := os.Getenv("A_SECRET_NAME_01")`), nil},
		{"words", one("a.go", `passwordResetTokenKey = "password_reset_token_v1"`, `secretName: "production-database-password2"`), nil},
		{"digests", one("a.go", `tokenHash := "9f86d081884c7d659a2feaa0c55ad015"`, `publicKey = "`+fakeRandom+`"`), nil},
		{"development address", one("a.yml", "url: postgres://postgres:postgres@localhost:5432/x", "url: redis://user:password@cache.internal.net"), nil},
		{"addresses without a password", one("a.md", "https://x.example/a:b@c", "git@github.com:octo/shop.git"), nil},
		{"code that looks for keys", one("a.go", `if strings.HasPrefix(s, "`+fakeHead+`") {`, "	return true"), nil},
		{"key in a manual", one("a.ini", `key="`+fakeHead+`\nXXXX\nXXXX\n"`), nil},
		{"lock file", one("yarn.lock", "integrity: sha512-"+fakeRandom), nil},
		{"removed", []file{{path: "a.go", patch: removed(`key := "` + fakeAWS + `"`)}}, nil},
	})
}

// A report must never carry a whole credential, wherever the pull request hides it.
func TestCredentialsNeverGetOut(t *testing.T) {
	t.Parallel()
	secrets := []string{fakeAWS, fakeGitHub, fakeSlack, fakeGoogle, fakeStripe, fakeJWT, fakeNPM, fakeKeyRow, fakeRandom, "h7Kd93mVq"}
	e := evidence{title: fakeGitHub + "\u202e", ref: fakeSlack, author: fakeNPM, missing: "see " + fakeStripe}
	for _, secret := range append(secrets, fakeURL) {
		e.files = append(e.files,
			file{path: secret + "/a.go", patch: added("x := \"" + secret + "\" // TODO")},
			file{path: "b/" + secret + ".go", patch: added("token = '"+secret+"'", "InsecureSkipVerify: true"), entry: map[string]any{"owners": []string{"@" + secret}}},
			file{path: "package.json", patch: added(`"a": "git+https://u:` + secret + `@x.example.com/a.git",`)},
			file{path: "yarn.lock", patch: added(`  resolved "https://u:` + secret + `@github.com/a.tgz"`)},
			file{path: ".npmrc", patch: added("registry=https://u:" + secret + "@x.example.com/")},
			file{path: ".github/workflows/a.yml", patch: added("- uses: a/b@" + secret)},
			file{path: "a_test.py", patch: removed("def test_" + secret + "():")},
			file{path: "x/" + secret, head: "/" + secret, entry: map[string]any{"kind": "symlink"}},
			file{path: ".gitmodules", patch: added("url = https://u:" + secret + "@x.example.com/y")},
		)
	}
	dir := e.write(t)
	var steps strings.Builder
	report, err := Review(t.Context(), dir, func(s Step) { steps.WriteString(s.Path + " " + s.Summary + "\n") })
	if err != nil {
		t.Fatal(err)
	}
	var findings strings.Builder
	for _, f := range report.Findings {
		findings.WriteString(f.Title + " " + f.Body + "\n")
	}
	for _, secret := range secrets {
		if secret == fakeRandom || secret == fakeKeyRow || secret == "h7Kd93mVq" {
			// Without a shape of their own they are secrets only beside a name; the
			// other places cannot tell them from a word.
			continue
		}
		for name, text := range map[string]string{"report": report.Markdown(), "steps": steps.String(), "findings": findings.String()} {
			if i := strings.Index(text, secret[:12]); i >= 0 {
				t.Errorf("the %s shows a credential: …%s…", name, text[max(0, i-80):min(len(text), i+80)])
			}
		}
	}
	for _, line := range []string{`password = "` + fakeRandom + `"`, "url: " + fakeURL} {
		text := review(t, evidence{files: one("a.ts", line)}.write(t)).Markdown()
		if strings.Contains(text, fakeRandom[:6]) || strings.Contains(text, "h7Kd") {
			t.Errorf("a secret is shown:\n%s", text)
		}
	}
}

func TestMaskKeepsTheIssuersPrefixOnly(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"a " + fakeGitHub + " b", "a ghp_… b"},
		{fakeURL, "postgres://app:…@db.prod.internal.net/shop"},
		{"nothing here", "nothing here"},
		{fakeAWS + fakeAWS, "AKIA…AKIA…"},
		{"test_" + fakeNPM, "test_npm_…"},
		{fakeAWS + " " + fakeSlack, "AKIA… xoxb…"},
	}
	for _, tt := range tests {
		if got := maskCredentials(tt.text); got != tt.want {
			t.Errorf("maskCredentials(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}
