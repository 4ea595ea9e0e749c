package reviewer

// about says what a rule looks at and why, in one sentence for a person who asks.
func about(rule string) string {
	return map[string]string{
		"credential":        "keys, tokens, private keys and passwords that look real are reported, because whoever can read the repository has them from then on; in tests and documentation they count less",
		"conflict-marker":   "lines that a merge leaves behind are reported, because they are never meant to stay",
		"unicode":           "characters that turn the direction of text, have no shape or look like another letter are reported, because they make a reader see something else than a machine does",
		"workflow":          "changes by which CI gains rights are reported (`pull_request_target`, permissions, secrets, actions that are not pinned, text that gets into a shell), because whoever opens a pull request could use them",
		"symlink":           "links are reported, above all those that point out of the repository, because tools follow them",
		"submodule":         "a submodule's pointer or address is reported when it changes, because its content is in no diff",
		"repository-rules":  "changes of code owners, of configuration of coding agents and of attributes that hide diffs are reported, because they change how later changes are reviewed",
		"remote-script":     "a download that is piped into a shell is reported, because what runs is whatever the other side sends that day",
		"container":         "images that run as root and privileged containers are reported, because they widen what an intruder gets",
		"migration":         "statements that lose data, lock tables for long or edit a migration that may have been applied are reported, because they cannot be taken back",
		"dependency-source": "packages from Git, from URLs, from other registries or with install scripts are reported, because nobody checks them on their way in",
		"dependency":        "new dependencies, new major versions and a lock file that changes without its manifest are reported, because they bring code that is in no diff",
		"risky-code":        "certificate checks that are turned off, `eval`, SQL put together from text, swallowed errors and `chmod 777` are reported, because each has been the cause of many faults",
		"skipped-test":      "tests that are skipped, and a focus that leaves all others out, are reported, because a green run then says less than it seems to",
		"deleted-test":      "tests that go away without coming back elsewhere are reported, because nobody notices what is not tested any more",
		"debug":             "debugging statements are reported, because they are seldom meant to stay",
		"file":              "executables, archives, large files, generated and vendored ones and the executable bit are reported, because a diff does not show what is in them",
		"large-deletion":    "much code that is removed at once is reported, because a mistake hides well in it",
		"untested-code":     "code without a test is reported where tests are the custom in the repository",
		"owners":            "files that belong to somebody other than the author are reported, so that the owner is asked",
		"todo":              "comments that say TODO, FIXME or HACK are counted, because they are a promise to somebody",
	}[rule]
}
