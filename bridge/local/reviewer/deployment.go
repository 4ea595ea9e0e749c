package reviewer

import (
	"path"
	"slices"
	"strings"
)

// deploymentFolders and deploymentFiles are where it is said how software runs.
var (
	deploymentFolders = []string{".github/workflows", "k8s", "kubernetes", "helm", "charts", "terraform", "deploy", "deployment"}
	deploymentFiles   = []string{"dockerfile", "containerfile", "fly.toml", "procfile", "render.yaml", "app.yaml", "compose.yaml", "compose.yml", "docker-compose.yml", "docker-compose.yaml"}
)

// deploys reports whether a file says how the software is deployed.
func deploys(name string) bool {
	name = strings.ToLower(name)
	base := path.Base(name)
	if slices.Contains(deploymentFiles, base) || strings.HasPrefix(base, "dockerfile.") || path.Ext(base) == ".tf" {
		return true
	}
	folder := "/" + path.Dir(name) + "/"
	return slices.ContainsFunc(deploymentFolders, func(f string) bool { return strings.Contains(folder, "/"+f+"/") })
}

// deployment lists the changed files that say how the software is deployed.
func deployment(changes []*change) []string {
	var names []string
	for _, c := range changes {
		if deploys(c.Path) || c.PreviousPath != "" && deploys(c.PreviousPath) {
			names = append(names, plainName(c.Path))
		}
	}
	return names
}
