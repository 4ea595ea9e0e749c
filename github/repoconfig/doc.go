// Package repoconfig is a repository's configuration of Liaison: the file
// .github/liaison.yml of the base branch, over the one of its owner's .github
// repository, over what is built in. It says what the keys are and mean, reads
// the file strictly, knows where each value came from, and keeps what was last
// good, so that neither an outage nor a slip of the pen changes what is done.
//
// It asks nobody by itself: how a file is fetched is its caller's to say.
package repoconfig
