package reviewer

import "testing"

func TestWhatDeploys(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"Dockerfile": true, "svc/Dockerfile.dev": true, "fly.toml": true, ".github/workflows/ci.yml": true, "infra/k8s/a.yaml": true,
		"helm/x/values.yaml": true, "terraform/main.tf": true, "x/y.tf": true, "Procfile": true,
		"main.go": false, "docs/docker.md": false, "k8s.go": false, "helmet/x.go": false, ".github/CODEOWNERS": false,
	} {
		if got := deploys(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	dir := evidence{files: []file{{path: "Dockerfile", patch: "@@ -1 +1 @@\n-FROM a:1\n+FROM a:2\n"}, {path: "main.go", patch: "@@ -0,0 +1 @@\n+package main\n"}}}.write(t)
	report, err := Review(t.Context(), dir, nil)
	if err != nil || len(report.Deployment) != 1 || report.Deployment[0] != "Dockerfile" {
		t.Errorf("got %q, %v", report.Deployment, err)
	}
}
