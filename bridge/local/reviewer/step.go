package reviewer

// Step is one thing that a review does, told twice: before it starts and after
// it is done.
type Step struct {
	// Call numbers the steps of a review from 1; a start and its end share it.
	Call int
	// Done is false at the start and true at the end.
	Done bool
	// Failed is set at the end of a step whose file could not be read.
	Failed bool
	// Tool is "read" for one file and "grep" for a sweep over several.
	Tool string
	// Path is below the workspace, with slashes, such as "pr/files.json".
	Path string
	// Summary is one line: what is looked for, then what was found. Text of
	// the pull request in it has its invisible characters written out and its
	// credentials masked.
	Summary string
	// Bytes is how much was read; 0 at the start.
	Bytes int64
}

// The tools of a step.
const (
	toolRead = "read"
	toolGrep = "grep"
)

// tracer numbers steps and hands them to whoever listens.
type tracer struct {
	emit  func(Step)
	calls int
}

// start announces a step and returns what announces its end.
func (t *tracer) start(tool, path, summary string) func(summary string, bytes int64, err error) {
	t.calls++
	step := Step{Call: t.calls, Tool: tool, Path: path, Summary: summary}
	if t.emit != nil {
		t.emit(step)
	}
	return func(summary string, bytes int64, err error) {
		step.Done, step.Failed, step.Summary, step.Bytes = true, err != nil, summary, bytes
		if t.emit != nil {
			t.emit(step)
		}
	}
}
