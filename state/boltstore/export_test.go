package boltstore

// AfterCopy returns options that call fn when a compaction has its copy, which
// is not in place yet.
func AfterCopy(o Options, fn func()) Options {
	o.afterCopy = fn
	return o
}

// MaxListed is the decision about the list of free pages.
func MaxListed(pages int64) int { return maxListed(pages) }
