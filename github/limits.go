package github

import (
	"time"

	"github.com/liaison-bot/liaison/github/repoconfig"
)

// GitHub's limits, and our own where GitHub names none.
const (
	// maxComment is the longest body of a comment, in characters: the API answers
	// 422 "body is too long (maximum is 65536 characters)" beyond it.
	// https://github.com/orgs/community/discussions/27190
	maxComment = 65536
	// maxCheckText is the longest summary, and the longest text, of a check run
	// in characters. https://docs.github.com/rest/checks/runs#create-a-check-run
	maxCheckText = 65535
	// maxCheckTitle keeps a check's title on one line of the page; GitHub names no limit.
	maxCheckTitle = 120
	// annotationChunk is the most annotations of a check run in one request.
	// https://docs.github.com/rest/checks/runs#update-a-check-run
	annotationChunk = 50
	// maxAnnotations bounds the annotations of a review, and with that what one
	// costs: each chunk is a write. The text has the others.
	maxAnnotations = 4 * annotationChunk
	// maxAnnotationMessage is the longest message of an annotation, and its
	// longest details, in bytes: "The maximum size is 64 KB".
	maxAnnotationMessage = 64 << 10
	// maxAnnotationTitle is its longest title in characters.
	maxAnnotationTitle = 255
	// maxRefusals bounds how many requests are spent on finding the annotations
	// that GitHub does not take; one in a chunk takes seven.
	maxRefusals = 16
	// maxStatusDescription is the longest description of a commit status in
	// characters: 422 "description is too long (maximum is 140 characters)".
	// https://github.com/palantir/policy-bot/issues/72
	maxStatusDescription = 140
	// maxAge is how old a text may be when it comes. A signature is good for ever, so
	// that whoever caught a delivery can send it again once what we remember of it is
	// gone, which is after 30 days unless the operator says otherwise. GitHub itself
	// sends again for 3 days.
	maxAge = 28 * 24 * time.Hour
	// maxBranch keeps a branch's name within a sentence; git allows about 250 bytes.
	maxBranch = 100
	// maxFindings bounds the findings of one review that are kept. GitHub takes 50
	// annotations a request, and nobody reads more of them than this.
	maxFindings = 200
	// maxFindingBody bounds the text of a finding, and its suggestion, in bytes; an
	// annotation's message ends at 64 KB, long after its reader does.
	// https://docs.github.com/rest/checks/runs#create-a-check-run
	maxFindingBody = 8 << 10
	// maxFindingTitle bounds the title in characters: GitHub's own limit for that of an annotation is 255.
	maxFindingTitle = 200
	// maxSummary bounds the summary in bytes, so that it leaves room in a comment.
	maxSummary = 60 << 10
	// maxSubmission bounds a whole review as it is kept, in bytes of JSON. A turn
	// keeps 256 KiB of outputs with their names.
	maxSubmission = 240 << 10
	// maxEvidencePatch and maxEvidenceManifest bound what is read back of the
	// evidence, in bytes: a manifest of 3,000 files of the longest names fits in.
	maxEvidencePatch    = 8 << 20
	maxEvidenceManifest = 32 << 20
	// pageSize is the most that GitHub lists on a page.
	pageSize = 100
	// maxReviewComments is the most comments on lines in one review.
	maxReviewComments = repoconfig.MaxInlineComments
	// maxProbes bounds how many parts of a refused review are tried for what GitHub
	// does not like about them: one bad comment of 30 is found in 10.
	maxProbes = 10
	// maxSettled bounds how many threads are settled at once, each with a write.
	maxSettled = 20
	// maxQuoted is how much of what is answered is repeated, in characters.
	maxQuoted = 120
	// maxCommentPages bounds the search for our own comment: 10,000 comments.
	maxCommentPages = 100
	// maxCheckPages bounds the search for a check run: one suite keeps 1,000 of a name.
	maxCheckPages = 10

	// maxPaceWait is the longest that a write stands in line before it is put off;
	// far below the two minutes that one attempt at an effect may take.
	maxPaceWait = 30 * time.Second
	// keptForReviews is the part of the hourly limit, in per cent, that work in
	// the background leaves alone.
	keptForReviews = 20
	// maxKeptAnswer bounds an answer that is kept to be asked for again, in bytes;
	// maxKeptAnswers and maxKeptBytes bound all of them. A pull request has 25 kB.
	maxKeptAnswer  = 256 << 10
	maxKeptAnswers = 512
	maxKeptBytes   = 8 << 20

	// hookWindow is how long GitHub shows a delivery and sends it again on request.
	// https://docs.github.com/webhooks/testing-and-troubleshooting-webhooks/redelivering-webhooks
	hookWindow = 3 * 24 * time.Hour
	// hookSettles is how old an attempt must be before its delivery counts as
	// missing; GitHub itself waits 10 s for an answer, Enterprise Server 30 s.
	hookSettles = time.Minute
	// sweepOverlap is how much of what was swept is looked at again: GitHub's
	// clock and its order of attempts are not ours.
	sweepOverlap = 2 * time.Minute
	// maxSweepPages and maxSweepRecoveries bound one sweep: 2,000 attempts looked
	// at, and about 200 deliveries taken in. The next goes on from there.
	maxSweepPages      = 20
	maxSweepRecoveries = 200
	// maxFetches is how often a delivery is fetched in vain before GitHub is asked
	// to send it again.
	maxFetches = 3
	// recoverPause and redeliverPause are the times between two deliveries that are
	// recovered; a request to send again changes something at GitHub.
	recoverPause   = 100 * time.Millisecond
	redeliverPause = time.Second
	// maxHookHeader bounds a header that is kept of a delivery, in bytes.
	maxHookHeader = 256

	// maxReconciled and maxReconcilePages bound one pass over the sessions: 200
	// pull requests looked at, of 2,000 sessions. The next goes on from there.
	maxReconciled     = 200
	maxReconcilePages = 20
	// reconcileRecent is how long a session may rest and still be compared.
	reconcileRecent = 30 * 24 * time.Hour
	// eventsLate is how long a delivery may be on its way, and leftOpen how long a
	// turn must be over before a check that it left in progress is ended for it.
	eventsLate = 2 * time.Minute
	leftOpen   = 10 * time.Minute

	// requestTimeout bounds one call with all that belongs to it: minting a
	// token, the answer's body, one repetition.
	requestTimeout = 30 * time.Second
	// maxResponse bounds the body of an answer in bytes. The largest that we
	// ask for, a file's content, is at most 100 MB at GitHub and far less in what
	// a review takes in.
	maxResponse = 32 << 20
	// maxErrorBody bounds how much of a refusal is read for its reason, in bytes.
	maxErrorBody = 64 << 10

	// unknownWait is the wait after a limit that names no end: "wait for at
	// least one minute". https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api#handle-rate-limit-errors-appropriately
	unknownWait = time.Minute
	// maxWait bounds what a header may make us wait; the primary limit's window is one hour.
	maxWait = 2 * time.Hour
	// pausedFor is how long a suspended or removed installation is left alone
	// before one call looks again.
	pausedFor = 5 * time.Minute
	// refusedFor is the wait after GitHub refused the App's own signature,
	// which only a person or a corrected clock can change.
	refusedFor = time.Minute
	// lagWait is the wait where GitHub's replicas are behind its own events, and
	// where a token is too young to be known everywhere.
	lagWait = 6 * time.Second
	// appearsWithin is how long after an event what it is about may still be
	// missing from an answer; what is missing later is gone.
	appearsWithin = time.Minute
	// freshToken is the age below which a refusal may be only such a lag; less
	// than lagWait, so that the second try is believed.
	// https://github.com/octokit/auth-app.js/issues/65
	freshToken = 5 * time.Second
	// grantsFor is how long an installation's permissions are taken as known;
	// whoever accepts new ones is heard of at once, by an event, or after this.
	grantsFor = time.Hour
	// MaxDrift is the difference between GitHub's clock and ours that is worth a
	// warning. The App's signature is dated 30 s back and lasts 2 min, so that a
	// clock 30 s fast or 90 s slow cannot sign in at all.
	MaxDrift = 20 * time.Second
)
