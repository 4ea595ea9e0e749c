package repoconfig

import (
	"errors"
	"path"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Bounds of the file and of its values.
const (
	// MaxFile is the longest file that is read, in bytes.
	MaxFile = 64 << 10
	// maxItems is the most entries of a list, and maxItem the longest of them in bytes.
	maxItems = 100
	maxItem  = 256
	// maxStyle is the longest text of instructions, in bytes. It goes into every prompt.
	maxStyle = 8 << 10
	// maxLanguage is the longest name of a language, in bytes.
	maxLanguage = 64
	// maxPerDay bounds budgets.
	maxPerDay = 100_000
	// MaxInlineComments is the most comments on lines in one review. GitHub names
	// no limit, but counts each towards its limit on content, and a longer list is
	// not read; others stop at as many.
	// https://github.com/reviewdog/reviewdog/blob/master/service/github/github.go
	MaxInlineComments = 30
)

// field declares one key. The table of them is what the reader, the JSON Schema
// and the printed configuration are made of.
type field struct {
	key string
	doc string
	// at returns where the value stands: a *bool, *int, *string or *[]string.
	at func(*Config) any
	// choices are the only values of a text, or of a list's entries.
	choices []string
	// most is the largest number or the longest text in bytes; for a list, of an entry.
	most int
	// pattern says in a few words what an entry must be, and check refuses what is not.
	pattern string
	check   func(string) error
}

var levels = []string{"read", "triage", "write", "maintain", "admin"}

// fields are all keys, in the order in which people read them.
func fields() []field {
	return []field{
		{key: "enabled", at: func(c *Config) any { return &c.Enabled },
			doc: "Whether anything is done in this repository. Help and the configuration are answered all the same."},

		{key: "review.on", at: func(c *Config) any { return &c.Review.On },
			choices: []string{OnOpened, OnPush, OnReady, OnReopened, OnLabel},
			doc:     "What starts a review by itself: opened, push (also a change of the base branch), ready (marked ready for review), reopened, label (a label of review.labels was set, or one with \"!\" taken away). An empty list leaves it to commands."},
		{key: "review.labels", at: func(c *Config) any { return &c.Review.Labels }, most: maxItem,
			doc: "Labels that a pull request needs, at least one of them, to be reviewed by itself. Those that begin with \"!\" keep it from being reviewed."},
		{key: "review.paths", at: func(c *Config) any { return &c.Review.Paths }, most: maxItem, pattern: "a glob", check: checkGlob,
			doc: "Globs of the files that are reviewed, such as \"src/**\". Those that begin with \"!\" leave files out. The last one that matches decides; with none but such as leave out, everything else is reviewed."},
		{key: "review.bases", at: func(c *Config) any { return &c.Review.Bases }, most: maxItem, pattern: "a glob", check: checkGlob,
			doc: "Globs of the base branches whose pull requests are reviewed by themselves; \"!\" leaves out. Empty means all."},
		{key: "review.authors.ignore", at: func(c *Config) any { return &c.Review.IgnoreAuthors }, most: maxItem,
			doc: "Logins whose pull requests are reviewed only when somebody asks for it, such as \"renovate[bot]\"."},
		{key: "review.drafts", at: func(c *Config) any { return &c.Review.Drafts },
			doc: "Whether drafts are reviewed by themselves."},
		{key: "review.teams", at: func(c *Config) any { return &c.Review.Teams }, most: maxItem,
			doc: "Slugs of teams; asking one of them for a review asks Liaison too."},
		{key: "review.minimum", at: func(c *Config) any { return &c.Review.Minimum }, choices: append([]string{Anyone}, levels...),
			doc: "Permission that somebody needs in the repository for a review to start by what they did. \"anyone\" asks for none."},
		{key: "review.after", at: func(c *Config) any { return &c.Review.After }, choices: []string{"", AfterChecks},
			doc: "\"checks\" has a review wait until the other checks of the commit are done, for at most 30 minutes."},
		{key: "review.incremental", at: func(c *Config) any { return &c.Review.Incremental },
			doc: "Whether a push is reviewed from the last reviewed commit on, where that is possible."},
		{key: "review.style", at: func(c *Config) any { return &c.Review.Style }, most: maxStyle,
			doc: "How to review, in your own words."},
		{key: "review.language", at: func(c *Config) any { return &c.Review.Language }, most: maxLanguage,
			doc: "Language of reviews and answers, such as \"German\". Empty leaves it open."},
		{key: "review.instructions", at: func(c *Config) any { return &c.Review.Instructions }, most: maxItem,
			pattern: "a path in the repository", check: checkPath,
			doc: "Files of the base branch that say how to review. Those that do not exist are left out."},
		{key: "review.inline.max", at: func(c *Config) any { return &c.Review.MaxInline }, most: MaxInlineComments,
			doc: "Most comments on lines in one review. What is more stands in the summary; 0 puts everything there."},
		{key: "review.inline.suggestions", at: func(c *Config) any { return &c.Review.Suggestions },
			doc: "Whether comments on lines may hold changes that are applied with a click."},
		{key: "review.verdicts", at: func(c *Config) any { return &c.Review.Verdicts }, choices: []string{"approve", "request_changes"},
			doc: "Verdicts that are passed on to GitHub as such. An approval may count as one that a branch needs. Otherwise reviews are comments."},
		{key: "review.resolveThreads", at: func(c *Config) any { return &c.Review.ResolveThreads },
			doc: "Whether Liaison's own threads are resolved when what they say is dealt with."},

		{key: "checks.failOn", at: func(c *Config) any { return &c.Checks.FailOn }, choices: []string{"never", "warning", "error"},
			doc: "Least severity of a finding that makes the check fail."},
		{key: "checks.onError", at: func(c *Config) any { return &c.Checks.OnError }, choices: []string{"failure", "neutral"},
			doc: "Conclusion of the check when a review could not be done."},

		{key: "commands.bare", at: func(c *Config) any { return &c.Commands.Bare },
			doc: "Whether \"/review\" is a command like \"/liaison review\". Other bots may know such words too."},
		{key: "commands.minimum", at: func(c *Config) any { return &c.Commands.Minimum }, choices: levels,
			doc: "Permission that somebody needs for commands, re-runs, and for labels and teams that start a review."},
		{key: "ask.minimum", at: func(c *Config) any { return &c.Ask.Minimum }, choices: levels,
			doc: "Permission that somebody needs to ask questions."},

		{key: "issues.on", at: func(c *Config) any { return &c.Issues.On }, choices: []string{OnMention, OnOpened, OnLabel},
			doc: "What starts an answer on an issue: mention, opened, label (a label of issues.labels was set)."},
		{key: "issues.labels", at: func(c *Config) any { return &c.Issues.Labels }, most: maxItem,
			doc: "Labels that an issue needs, at least one of them, to be answered by itself. Those that begin with \"!\" keep it from being answered."},

		{key: "budgets.actorPerDay", at: func(c *Config) any { return &c.Budgets.ActorPerDay }, most: maxPerDay,
			doc: "Most reviews and questions of one person in a day (UTC). The operator's own limit is the most, and holds where none is set."},
		{key: "budgets.pullPerDay", at: func(c *Config) any { return &c.Budgets.PullPerDay }, most: maxPerDay,
			doc: "Most reviews and questions on one pull request or issue in a day (UTC)."},
		{key: "budgets.repositoryPerDay", at: func(c *Config) any { return &c.Budgets.RepositoryPerDay }, most: maxPerDay,
			doc: "Most reviews and questions in this repository in a day (UTC)."},
	}
}

func checkGlob(s string) error {
	if glob := strings.TrimPrefix(s, "!"); glob == "" || !doublestar.ValidatePattern(glob) {
		return errors.New("is not a glob")
	}
	return nil
}

func checkPath(s string) error {
	if s != path.Clean(s) || path.IsAbs(s) || s == "." || s == ".." || strings.HasPrefix(s, "../") || strings.ContainsAny(s, "\\\x00\n") {
		return errors.New("is not a path in the repository")
	}
	return nil
}
