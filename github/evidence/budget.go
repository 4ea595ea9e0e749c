package evidence

// The default limits of one review.
const (
	// defaultCalls is how many API requests one review may make. The smallest
	// quota of an installation is 5,000 requests an hour
	// (https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api),
	// so even the largest pull requests leave room for sixteen reviews an hour.
	// Two calls per file give both sides of more than a hundred files.
	defaultCalls = 300

	// defaultBytes is how much of diff, patches and contents one review keeps.
	// It is far more than an agent reads in a turn, and bounds a workspace.
	defaultBytes = 16 << 20

	// defaultFileBytes is the largest content of one file that is kept. The
	// contents API stops at 1 MB; files above it come from the blobs API. Source
	// files above 2 MiB are generated, and their patch says more than their text.
	defaultFileBytes = 2 << 20

	// defaultParallel is how many requests are under way at once. GitHub asks
	// clients not to make many requests side by side.
	defaultParallel = 4
)

// The limits that the platform sets, and what we take of long lists.
const (
	// pageSize is the largest page that the REST API gives.
	pageSize = 100

	// maxFiles is where the files endpoint stops
	// (https://docs.github.com/rest/pulls/pulls#list-pull-requests-files).
	maxFiles = 3000

	// maxCommits is where the commits endpoint stops
	// (https://docs.github.com/rest/pulls/pulls#list-commits-on-a-pull-request).
	maxCommits = 250

	// maxListed is how many reviews, comments or checks are read of each kind.
	maxListed = 1000

	// maxConversation is the size in bytes of all text in conversation.md, and
	// maxText that of one text in it. A body holds at most 65,536 characters.
	maxConversation = 1 << 20
	maxText         = 16 << 10

	// maxDiff is the largest diff that is kept. GitHub stops at 1 MB.
	maxDiff = 4 << 20

	// maxMessage is how much of one commit message is kept, in bytes.
	maxMessage = 4 << 10

	// maxCodeowners is where GitHub stops reading a CODEOWNERS file
	// (https://docs.github.com/repositories/managing-your-repositorys-settings-and-features/customizing-your-repository/about-code-owners).
	maxCodeowners = 3 << 20

	// maxOwnerMatches bounds the work of finding owners, in rules tried against
	// files: a few seconds at worst.
	maxOwnerMatches = 3_000_000

	// lowQuota is the share of the quota, one part in so many, below which only
	// the manifest and the diff are fetched.
	lowQuota = 5
)

// Budget limits what one review may cost. A zero field stands for its default.
type Budget struct {
	// Calls is the number of API requests. Pages of the manifest and the two
	// readings of the pull request are made in any case, and counted.
	Calls int
	// Bytes is the total of diff, patches and contents on disk.
	Bytes int64
	// FileBytes is the largest content or patch of one file; larger ones are left out whole.
	FileBytes int64
	// Parallel is the number of requests under way at once.
	Parallel int
}

// orDefault fills in the defaults.
func (b Budget) orDefault() Budget {
	if b.Calls <= 0 {
		b.Calls = defaultCalls
	}
	if b.Bytes <= 0 {
		b.Bytes = defaultBytes
	}
	if b.FileBytes <= 0 {
		b.FileBytes = defaultFileBytes
	}
	if b.Parallel <= 0 {
		b.Parallel = defaultParallel
	}
	return b
}
