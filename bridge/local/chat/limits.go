package chat

import (
	"time"

	"github.com/liaison-bot/liaison/bridge/local/chat/completions"
)

const (
	// defaultBaseURL is OpenAI's own
	// (https://platform.openai.com/docs/api-reference/introduction).
	defaultBaseURL = "https://api.openai.com/v1"
	// defaultIdle is how long an endpoint may send nothing at all. Models that think
	// before they speak take minutes.
	defaultIdle = 5 * time.Minute
	// afterFinish is how long the rest of a stream may take once the model has
	// finished: only the count of tokens is missing then.
	afterFinish = 10 * time.Second

	// maxTries is how often one request is made, firstWait and longestWait bound the
	// time between two of them when the endpoint gives none, and maxRetryAfter is the
	// longest that an endpoint's own wish is followed. A request that met with silence
	// is made maxSilent times: whoever thinks for that long will do so again, and
	// somebody pays for it.
	maxTries      = 6
	maxSilent     = 2
	firstWait     = time.Second
	longestWait   = 30 * time.Second
	maxRetryAfter = 5 * time.Minute

	// defaultSteps is how many requests one run makes at most.
	defaultSteps = 60
	// maxMalformed is how many steps in a row may consist of calls that no tool
	// could be given.
	maxMalformed = 5
	// maxEmpty is how many answers without content are asked for again.
	maxEmpty = 2
	// maxContinued is how often an answer that hit the model's output limit is continued.
	maxContinued = 3
	// maxParallel is how many tools run at once, maxCalls how many one message may call.
	maxParallel = 4
	maxCalls    = 32

	// maxStreamBytes bounds one response, maxEventBytes one event of it, maxTextBytes the text of one answer in it,
	// maxArgumentBytes the arguments of one call, maxReasoningBytes what is kept of the
	// reasoning of one message.
	maxStreamBytes    = 256 << 20
	maxEventBytes     = 2 * maxTextBytes
	maxTextBytes      = 16 << 20
	maxArgumentBytes  = 1 << 20
	maxReasoningBytes = 256 << 10
	// maxCallID bounds the id of a call, which each later request repeats twice.
	maxCallID = 256
	// maxArgumentDepth bounds how deep the arguments of a call are nested. Whoever
	// reads the run cannot decode what is nested thousands of levels deep.
	maxArgumentDepth = 100
	// maxErrorBytes is how much of an error's body is read, maxErrorText how much of
	// its message is shown.
	maxErrorBytes = 64 << 10
	maxErrorText  = 500
	// maxResultBytes bounds the result of one tool, whatever the tool.
	maxResultBytes = 128 << 10

	// maxConversationBytes bounds a conversation whose model has no known window, and
	// maxMemoryBytes what is kept of it for the next run: about 30,000 tokens, since
	// every request of that run pays for them.
	maxConversationBytes = 8 << 20
	maxMemoryBytes       = 128 << 10
	// maxCompactions bounds how often one request is made smaller.
	maxCompactions = 8
	// imageBytes is what an image counts for in an estimate: about 1,500 tokens.
	imageBytes = 4500

	// maxListBytes, maxListed and maxModelID bound a list of models.
	maxListBytes = 8 << 20
	maxListed    = 2000
	maxModelID   = 200
)

// limits are the bounds of what is read from an endpoint at once.
var limits = completions.Limits{Stream: maxStreamBytes, Event: maxEventBytes, List: maxListBytes, Error: maxErrorBytes}
