package reviewer

// Bounds on what is read. They keep a review within tens of megabytes whatever
// the evidence holds; what is cut off is named in the report.
const (
	// maxManifestBytes holds GitHub's 3,000 files with the longest of paths (4,096 bytes).
	maxManifestBytes = 16 << 20
	// maxFactsBytes holds a title and a body of 65,536 characters, escaped.
	maxFactsBytes = 1 << 20
	// maxChecksBytes bounds the list of check runs.
	maxChecksBytes = 4 << 20
	// maxDiffBytes is above the 1 MB at which GitHub refuses a diff.
	maxDiffBytes = 8 << 20
	// maxPatchBytes is above the 500 kB at which GitHub leaves out a file's patch.
	maxPatchBytes = 1 << 20
	// maxPatchBytesTotal bounds all patches of a review together.
	maxPatchBytesTotal = 16 << 20
	// maxPatchLinesTotal bounds their lines, of which each costs more memory than its text.
	maxPatchLinesTotal = 300_000
	// maxHeadBytes bounds a file's content where a rule needs the whole of it.
	maxHeadBytes = 512 << 10
	// maxHeaderBytes is enough to find a "generated" header.
	maxHeaderBytes = 2 << 10
	// maxQuestionBytes bounds the file with what is asked, and maxQuestions how much
	// of it is answered.
	maxQuestionBytes = 4 << 20
	maxQuestions     = 10
	// maxFiles is the number of files that GitHub lists of a pull request.
	maxFiles = 3000
	// maxPathBytes is more than any system has a path of.
	maxPathBytes = 4 << 10
	// maxScannedLine is how much of one line the rules look at, in bytes.
	maxScannedLine = 4 << 10
	// maxTracedPatches is how many patches are traced one by one; the rest is one step.
	maxTracedPatches = 100
	// maxCount caps a count of lines, so that sums cannot overflow.
	maxCount = 100_000_000
)

// Bounds on what is written.
const (
	// maxListed is how many points a report makes.
	maxListed = 20
	// maxListedPerRule is how many of these one rule may take; errors are exempt.
	maxListedPerRule = 5
	// maxPlaces is how many places one point names.
	maxPlaces = 6
	// maxKeptPerRule is how many findings of one rule and severity are kept at all; the rest is counted.
	maxKeptPerRule = 100
	// maxQuotedPath and maxQuotedName bound quoted text, in characters.
	maxQuotedPath = 160
	maxQuotedName = 60
	// maxQuotedSource bounds the text that is looked at to quote some of it, in bytes.
	maxQuotedSource = 4 << 10
	// maxNames is how many names one finding lists.
	maxNames = 8
)

// Sizes from which a change deserves a remark.
const (
	// largeBinary is where a binary file starts to weigh on every clone.
	largeBinary = 1 << 20
	// largeTextLines is more than one sitting can review in a single file.
	largeTextLines = 1000
	// largeDeletionLines is how much removed code, net, is named.
	largeDeletionLines = 1000
	// minifiedLine is longer than anyone writes by hand, in bytes.
	minifiedLine = 2000
	// untestedLines is how much new code should come with a test.
	untestedLines = 20
	// generatedProbeLines is how many added lines make it worth reading a file's header.
	generatedProbeLines = 200
)
