package repoconfig

// Config is what holds for one base branch.
type Config struct {
	// Enabled is false where nothing shall be done but answering help and config.
	Enabled  bool
	Review   Review
	Checks   Checks
	Commands Commands
	Ask      Ask
	Issues   Issues
	Budgets  Budgets
}

// Review says which pull requests are reviewed by themselves, and how.
type Review struct {
	// On lists what starts a review: the On… constants.
	On []string
	// Labels filter pull requests: one of those without "!" is needed, if there is
	// any, and none of those with it may be set.
	Labels []string
	// Paths are globs of what is reviewed, in order; "!" leaves out.
	Paths []string
	// Bases are globs of the branches for which pull requests are reviewed; empty means all.
	Bases []string
	// IgnoreAuthors are logins whose pull requests are reviewed only when asked for.
	IgnoreAuthors []string
	Drafts        bool
	// Teams are slugs; asking one of them for a review asks us.
	Teams []string
	// Minimum is the permission that who opened or pushed needs: a Level or "anyone".
	Minimum string
	// After is "" or AfterChecks.
	After          string
	Incremental    bool
	Style          string
	Language       string
	Instructions   []string
	MaxInline      int
	Suggestions    bool
	Verdicts       []string
	ResolveThreads bool
}

// Checks says what a review's check run concludes.
type Checks struct {
	// FailOn is "never", "warning" or "error".
	FailOn string
	// OnError is "failure" or "neutral".
	OnError string
}

// Commands says how commands are taken.
type Commands struct {
	// Bare allows "/review" beside "/liaison review".
	Bare    bool
	Minimum string
}

// Ask says who may ask questions.
type Ask struct{ Minimum string }

// Issues says what is done on issues.
type Issues struct {
	// On lists what starts an answer: OnMention, OnOpened, OnLabel.
	On     []string
	Labels []string
}

// Budgets bound what is taken up in a day (UTC). The operator's are the most.
type Budgets struct{ ActorPerDay, PullPerDay, RepositoryPerDay int }

// What starts a review or, the last three, an answer on an issue.
const (
	OnReady    = "ready"
	OnPush     = "push"
	OnReopened = "reopened"
	OnOpened   = "opened"
	OnLabel    = "label"
	OnMention  = "mention"
)

// AfterChecks has a review wait for the other checks.
const AfterChecks = "checks"

// Anyone is the minimum that asks for no permission.
const Anyone = "anyone"

// Default returns what holds where nobody says anything.
func Default() Config {
	return Config{
		Enabled: true,
		Review: Review{
			On: []string{OnOpened, OnPush, OnReady, OnReopened, OnLabel}, Minimum: Anyone, Incremental: true,
			Instructions: []string{"REVIEW.md", "AGENTS.md"}, MaxInline: 20, Suggestions: true, ResolveThreads: true,
		},
		Checks:   Checks{FailOn: "never", OnError: "failure"},
		Commands: Commands{Minimum: "write"},
		Ask:      Ask{Minimum: "write"},
		Issues:   Issues{On: []string{OnMention}},
		Budgets:  Budgets{ActorPerDay: 50, PullPerDay: 50, RepositoryPerDay: 500},
	}
}
