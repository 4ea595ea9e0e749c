package workspace

import "time"

// The limits of the tools. They bound what one call costs and what it tells the
// model: about 16,000 tokens at four bytes each, the rest is a further call away.
const (
	// maxResultBytes bounds the text of one result.
	maxResultBytes = 64 << 10
	// maxPathBytes bounds a path or a pattern; PATH_MAX of Linux.
	maxPathBytes = 4096
	// maxLineBytes is how much of one line is shown.
	maxLineBytes = 2000
	// maxReadLines is how many lines one read shows when it is not told.
	maxReadLines = 2000
	// maxFileBytes is the size of a file that read and grep open.
	maxFileBytes = 32 << 20
	// sniffBytes is how much of a file is looked at to tell text from binary, as
	// git does.
	sniffBytes = 8000
	// maxEntries is how many entries of a directory are looked at, and
	// maxListed how many are shown.
	maxEntries = 10_000
	maxListed  = 1000
	// maxWalked and maxDepth bound a walk: entries seen, and directories below
	// each other.
	maxWalked = 200_000
	maxDepth  = 64
	// maxFound bounds the paths that glob shows, maxMatches the lines that grep shows.
	maxFound   = 500
	maxMatches = 200
	// maxScannedBytes bounds what one grep reads of all files together.
	maxScannedBytes = 512 << 20
	// maxExpression bounds a regular expression, in instructions: twice what a
	// pattern without repetitions can have.
	maxExpression = 2 * maxPathBytes
	// maxContext is how many lines around a match grep shows at most.
	maxContext = 10
	// maxAlternatives bounds what the braces of one pattern stand for.
	maxAlternatives = 64
	// maxWalkTime bounds a glob or a grep: what was found until then is the result.
	maxWalkTime = 30 * time.Second
)
