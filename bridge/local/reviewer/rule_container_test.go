package reviewer

import "testing"

func TestContainers(t *testing.T) {
	t.Parallel()
	runRule(t, "container", []ruleTest{
		{"root at the end", one("Dockerfile", "USER root", "CMD x"), []string{"warning Dockerfile:10 The image runs as root"}},
		{"root by number", one("build/app.dockerfile", "USER 0:0"), []string{"warning build/app.dockerfile:10 The image runs as root"}},
		{"privileged", one("compose.yml", "    privileged: true"), []string{"warning compose.yml:10 A container gets the host's rights"}},
		{"socket", one("compose.yml", "  - /var/run/docker.sock:/var/run/docker.sock"), []string{"warning compose.yml:10 A container gets the Docker socket"}},
		{"root for a moment", one("Dockerfile", "USER root", "RUN apt-get update", "USER app"), nil},
		{"root for a moment, seen at head only", []file{{path: "Dockerfile", patch: added("USER root"), head: "FROM x\nUSER root\nRUN y\nUSER app\n"}}, nil},
		{"another stage", one("Dockerfile", "USER root", "FROM scratch"), nil},
		{"not privileged", one("compose.yml", "privileged: false", "# privileged: true"), nil},
	})
}
