package local

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// scriptModel is the id of the test model.
const scriptModel = "liaison-echo"

const (
	// maxScriptSteps and maxScriptWait bound what one message may ask of the test model.
	maxScriptSteps = 1_000_000
	maxScriptWait  = time.Hour
)

// scriptEngine is the test model: it does what the lines of the message say, so
// that streams, keepalives, custom tools, cancellation and failures can be
// tried without a model. docs/bridge-local.md lists the commands; a line that
// begins with none of them is said as it stands.
type scriptEngine struct{}

func (scriptEngine) Models() []model {
	return []model{{
		ID:          scriptModel,
		Name:        "Liaison test model",
		Description: "Does what the lines of the message say, for tests of what drives the bridge. Not for reviews.",
	}}
}

func (scriptEngine) Tools() []string { return nil }

func (scriptEngine) Abilities() abilities {
	return abilities{Images: true, CustomTools: true, Subagents: true}
}

func (scriptEngine) Run(ctx context.Context, t task, emit func(event)) (answer, error) {
	r := &scriptRun{task: t, emit: emit}
	for line := range strings.Lines(t.Prompt) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if err := r.do(ctx, line); err != nil {
			return answer{Usage: r.usage}, err
		}
	}
	return answer{Text: r.text.String(), Usage: r.usage}, nil
}

// scriptRun is one answer of the test model.
type scriptRun struct {
	task  task
	emit  func(event)
	text  strings.Builder
	usage usage
	steps int
	calls int
}

// do carries out one line.
func (r *scriptRun) do(ctx context.Context, line string) error {
	if r.steps++; r.steps > maxScriptSteps {
		return scriptError("more than %d commands", maxScriptSteps)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	command, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch command {
	case "say":
		r.say(rest)
	case "think":
		r.emit(thought{Text: rest})
		r.emit(thought{Took: time.Millisecond})
	case "fail":
		return &runFailure{Code: "scripted", Reason: rest}
	case "fill":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 0 || n > maxEventBytes/2 {
			return scriptError("fill wants a number of bytes up to %d", maxEventBytes/2)
		}
		r.say(strings.Repeat("x", n))
	case "wait":
		return r.wait(ctx, rest)
	case "usage":
		return r.count(rest)
	case "repeat":
		return r.repeat(ctx, rest)
	case "call":
		return r.call(ctx, rest)
	case "remember":
		r.task.Memory.Keep([]byte(rest))
	case "recall":
		data, err := r.task.Memory.Recall()
		if err != nil {
			return err
		}
		r.say(string(data))
	case "show":
		return r.show()
	default:
		r.say(line)
	}
	return nil
}

// say adds a line to the answer, told word by word before it is said whole.
func (r *scriptRun) say(text string) {
	if r.text.Len() > 0 {
		text = "\n" + text
	}
	r.text.WriteString(text)
	for _, word := range strings.SplitAfter(text, " ") {
		r.emit(delta{Type: deltaText, Fields: map[string]any{"text": word}})
	}
	r.emit(said{Text: text})
}

func (r *scriptRun) wait(ctx context.Context, text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || d > maxScriptWait {
		return scriptError("wait wants a duration up to %v, such as 20s", maxScriptWait)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// count adds to the tokens that the run reports.
func (r *scriptRun) count(text string) error {
	in, out, _ := strings.Cut(text, " ")
	input, err := strconv.ParseUint(in, 10, 32)
	output, err2 := strconv.ParseUint(strings.TrimSpace(out), 10, 32)
	if err != nil || err2 != nil {
		return scriptError("usage wants two numbers of tokens")
	}
	r.usage.Input += int64(input)
	r.usage.Output += int64(output)
	r.emit(spent{r.usage})
	return nil
}

func (r *scriptRun) repeat(ctx context.Context, text string) error {
	times, command, _ := strings.Cut(text, " ")
	n, err := strconv.Atoi(times)
	command = strings.TrimSpace(command)
	if err != nil || n < 0 || n > maxScriptSteps || command == "" || strings.HasPrefix(command, "repeat") {
		return scriptError("repeat wants a number up to %d and another command than repeat", maxScriptSteps)
	}
	for range n {
		if err := r.do(ctx, command); err != nil {
			return err
		}
	}
	return nil
}

// call calls a custom tool and says what a model would read of its answer.
func (r *scriptRun) call(ctx context.Context, text string) error {
	name, input, _ := strings.Cut(text, " ")
	args := map[string]any{}
	if input = strings.TrimSpace(input); input != "" {
		if err := json.Unmarshal([]byte(input), &args); err != nil {
			return scriptError("call wants a tool's name and a JSON object: %v", err)
		}
	}
	if r.task.CallCustom == nil {
		return scriptError("there are no custom tools, or mcp is not among the allowed tools")
	}
	r.calls++
	answer, err := r.task.CallCustom(ctx, strconv.Itoa(r.calls), name, args)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	r.say(heard(answer, err))
	return nil
}

// heard is what a model would read of a call.
func heard(answer map[string]any, err error) string {
	if err != nil {
		return "error: " + err.Error()
	}
	told, images, failed := readAnswer(answer)
	if failed {
		told = "error: " + told
	}
	for _, img := range images {
		told = strings.TrimSpace(fmt.Sprintf("%s [%s, %d base64 characters]", told, img.MIMEType, len(img.Data)))
	}
	return told
}

// show says what the run was given.
func (r *scriptRun) show() error {
	given := struct {
		Model     string   `json:"model"`
		Plan      bool     `json:"plan"`
		Custom    []string `json:"custom"`
		Subagents []string `json:"subagents"`
		Images    int      `json:"images"`
		Dirs      []string `json:"dirs"`
	}{
		Model: r.task.Model, Plan: r.task.Plan, Custom: []string{}, Subagents: []string{},
		Images: len(r.task.Images), Dirs: append([]string{r.task.Dir}, r.task.ExtraDirs...),
	}
	for _, c := range r.task.Custom {
		given.Custom = append(given.Custom, c.Name)
	}
	for _, s := range r.task.Subagents {
		given.Subagents = append(given.Subagents, s.Name)
	}
	data, err := json.Marshal(given)
	if err != nil {
		return err
	}
	r.say(string(data))
	return nil
}

func scriptError(format string, args ...any) error {
	return &runFailure{Code: "script_error", Reason: "the test model cannot do this: " + fmt.Sprintf(format, args...)}
}
