package github

// settings is the part of a repository's configuration that a turn needs. It is
// stored with the turn, so that what was decided under one configuration ends
// under it, and so that effects stay pure.
type settings struct {
	// FailOn is the least severity of a finding that makes the check fail: "error",
	// "warning" or "never".
	FailOn string `json:"failOn"`
	// OnError is the check's conclusion when the review could not be done:
	// "failure" or "neutral".
	OnError string `json:"onError"`
	// MaxInline bounds the comments on lines in one review.
	MaxInline int `json:"maxInline"`
	// Suggestions allows blocks that people can apply with a click.
	Suggestions bool `json:"suggestions"`
	// Verdicts are the reviews' verdicts that are passed on to GitHub, beyond "comment".
	Verdicts []string `json:"verdicts,omitempty"`
	// ResolveThreads has our own threads resolved that are dealt with.
	ResolveThreads bool `json:"resolveThreads"`
	// AfterChecks lets a review wait for the head's checks.
	AfterChecks bool `json:"afterChecks,omitempty"`
	// Incremental reviews what came since the last review, where that is possible.
	Incremental bool `json:"incremental"`
	// Drafts has this review go ahead although the pull request is a draft: by the
	// configuration, or because a person asked for it.
	Drafts bool `json:"drafts,omitempty"`
	// Paths are globs of what is reviewed, in order; "!" leaves out. None means everything.
	Paths []string `json:"paths,omitempty"`
	// Style is the maintainers' word on how to review.
	Style string `json:"style,omitempty"`
	// Instructions are files of the base branch that tell the agent how to review.
	Instructions []string `json:"instructions,omitempty"`
	// Language is the language of answers, such as "German"; empty leaves it open.
	Language string `json:"language,omitempty"`
}

// defaultSettings is what holds where a repository says nothing.
func defaultSettings() settings {
	return settings{
		FailOn: "never", OnError: "failure", MaxInline: 20, Suggestions: true, ResolveThreads: true,
		Incremental: true, Instructions: []string{"REVIEW.md", "AGENTS.md"},
	}
}

// settings returns those of the turn.
func (r request) settings() settings {
	if r.Settings == nil {
		return defaultSettings()
	}
	return *r.Settings
}
