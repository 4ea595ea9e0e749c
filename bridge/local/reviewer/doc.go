// Package reviewer is the built-in reviewer, the model "liaison-reviewer". It
// reads the evidence of a pull request below pr/ in a workspace and says what a
// maintainer should look at. It is a set of fixed rules: no model, no network,
// nothing executed, the same answer for the same evidence.
//
// Evidence is written by the host, but what it says comes from strangers. Every
// read is bounded and stays below pr/, and text of the pull request gets into a
// report only inside code spans, with invisible characters written out and
// credentials masked, see [Report.Markdown].
//
// # Rules
//
// Rules judge added lines unless noted. A line that was only moved counts for
// the rules about secrets and invisible characters, and for no other.
//
//	credential        a key, token, private key or password that looks real; lower in tests and docs
//	conflict-marker   <<<<<<<, |||||||, =======, >>>>>>> left by a merge; not the underline of a heading
//	unicode           bidirectional controls, invisible characters, look-alike letters; also in names, title and branch
//	workflow          CI that gains rights: pull_request_target, permissions, secrets, unpinned actions, text put into a shell
//	symlink           a link, above all one that points out of the repository
//	submodule         a submodule's pointer or address changed
//	repository-rules  CODEOWNERS, configuration of coding agents, attributes that hide diffs
//	remote-script     a download piped into a shell
//	container         images that run as root, privileged containers
//	migration         statements that lose data, lock tables, or edit a migration that has been applied
//	dependency-source packages from git, URLs, other registries or replaced ones; install scripts
//	dependency        new dependencies, new major versions, lock file and manifest apart
//	risky-code        certificate checks turned off, eval, SQL by concatenation, swallowed errors, chmod 777
//	skipped-test      tests skipped, or all others by a leftover focus
//	deleted-test      tests that went away without coming back elsewhere
//	debug             debugging statements
//	file              executables and archives, large files, generated and vendored ones, the executable bit
//	large-deletion    much code removed at once
//	untested-code     code without a test, where tests are the custom
//	owners            files that are owned by someone other than the author
//	todo              TODO, FIXME and HACK comments, counted
package reviewer
