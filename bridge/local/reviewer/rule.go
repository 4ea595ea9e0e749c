package reviewer

// rule is one kind of thing to look for.
type rule struct {
	// name is stable: callers group and filter by it.
	name string
	// noun names one finding of the rule, for those that are only counted.
	noun string
	// check reports what it finds, in the order of the pull request's files.
	check func(p *pull, found *collector)
}

// rules lists all rules; within one severity, findings are sorted in this order.
func rules() []rule {
	return []rule{
		{"credential", "credential", checkCredentials},
		{"conflict-marker", "conflict marker", checkConflictMarkers},
		{"unicode", "hidden or misleading character", checkUnicode},
		{"workflow", "CI change", checkWorkflows},
		{"symlink", "symbolic link", checkSymlinks},
		{"submodule", "submodule change", checkSubmodules},
		{"repository-rules", "change of the repository's rules", checkRepositoryRules},
		{"remote-script", "download run by a shell", checkRemoteScripts},
		{"container", "container setting", checkContainers},
		{"migration", "risky migration statement", checkMigrations},
		{"dependency-source", "unusual package source", checkDependencySources},
		{"dependency", "dependency change", checkDependencies},
		{"risky-code", "risky line", checkRiskyCode},
		{"skipped-test", "skipped or focused test", checkSkippedTests},
		{"deleted-test", "deleted test", checkDeletedTests},
		{"debug", "debugging statement", checkDebugging},
		{"file", "unusual file", checkFiles},
		{"large-deletion", "large deletion", checkLargeDeletions},
		{"untested-code", "change without a test", checkUntestedCode},
		{"owners", "owner to ask", checkOwners},
		{"todo", "open TODO", checkTodos},
	}
}
