package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/sessions"
	"github.com/liaison-bot/liaison/tools"
)

// hand hands in a review as an agent does, and returns what it is told and what
// is kept.
func hand(t testing.TB, dir string, set *settings, input string) (told string, kept submission) {
	t.Helper()
	channel, turn := sample(t)
	r, err := parseRequest(turn.Request)
	must(t, err)
	r.Settings = set
	registry, err := tools.New(channel.Tools()...)
	must(t, err)
	keep := &keeper{}
	result, err := registry.Call(t.Context(), tools.Call{
		Turn:    tools.Turn{SessionID: "ses_01", TurnID: "trn_01", Channel: Name, Request: r.encode(), Dir: dir},
		AgentID: "agt_01", Input: json.RawMessage(input),
	}, toolSubmitReview, keep)
	must(t, err)
	if result.IsError {
		return "refused: " + result.Text, submission{}
	}
	kept, ok := submitted(map[string]json.RawMessage{toolSubmitReview: keep.raw})
	if !ok {
		t.Fatalf("what is kept cannot be read: %s", keep.raw)
	}
	return result.Text, kept
}

// keeper is a ledger that keeps the last output.
type keeper struct{ raw json.RawMessage }

func (k *keeper) Acting(context.Context, tools.Call, string) error {
	return errors.New("nothing is written here")
}

func (k *keeper) Ask(context.Context, tools.Call, tools.Tool) (tools.Result, error) {
	return tools.Result{}, errors.New("nobody is asked here")
}

func (k *keeper) Keep(_ context.Context, _ tools.Call, _ string, r tools.Result) error {
	k.raw = r.Output
	return nil
}

func TestSubmitReviewIsOfferedToReviewsOnly(t *testing.T) {
	t.Parallel()
	channel, turn := sample(t)
	review, err := parseRequest(turn.Request)
	must(t, err)
	ask := review
	ask.Kind = kindAsk
	registry, err := tools.New(channel.Tools()...)
	must(t, err)
	for name, tt := range map[string]struct {
		turn tools.Turn
		want bool
	}{
		"a review":          {tools.Turn{Channel: Name, Request: review.encode()}, true},
		"a question":        {tools.Turn{Channel: Name, Request: ask.encode()}, false},
		"another surface":   {tools.Turn{Channel: sessions.ChannelHTTP, Request: review.encode()}, false},
		"a strange request": {tools.Turn{Channel: Name, Request: json.RawMessage(`{`)}, false},
	} {
		got := slices.ContainsFunc(registry.Offered(tt.turn), func(o tools.Tool) bool { return o.Name == toolSubmitReview })
		if got != tt.want {
			t.Errorf("%s: offered is %t", name, got)
		}
	}
}

func TestAReviewIsTakenWithEachFindingAtItsPlace(t *testing.T) {
	t.Parallel()
	dir := changedFiles(t, map[string]string{"main.go": twoHunks}, nil)
	told, kept := hand(t, dir, nil, `{"verdict":"Request_Changes","summary":"Two things.","mood":"good","findings":[
		{"path":"main.go","line":15,"severity":"info","title":"Far away","body":"x"},
		{"path":"main.go","line":4,"startLine":3,"severity":"error","title":"Near","body":"y","suggestion":"a\r\nB\n","confidence":0.3}]}`)
	want := "The review is taken: 1 at their lines, 1 in the summary.\n" +
		"- finding 1 stands in the summary: line 15 of the new file is not in the diff\n\n" +
		"Where that can be put right, hand in the whole review again; the last one counts. Otherwise leave it so."
	if told != want {
		t.Errorf("the agent is told\n%s\nwant\n%s", told, want)
	}
	first := finding{Path: "main.go", StartLine: 3, Line: 4, Side: sideRight, Severity: severityError, Title: "Near", Body: "y", Suggestion: "a\nB"}
	if kept.Verdict != verdictRequestChanges || kept.Summary != "Two things." || kept.Head != headSHA || len(kept.Findings) != 2 ||
		kept.Findings[0] != first || kept.Findings[1].Demoted == "" {
		t.Errorf("kept is %+v", kept)
	}
}

// One bad finding takes neither the others nor the review with it.
func TestABadFindingIsDemotedAndNothingElse(t *testing.T) {
	t.Parallel()
	dir := changedFiles(t, map[string]string{"main.go": twoHunks}, nil)
	const good = `{"path":"main.go","line":4,"severity":"error","body":"the good one"}`
	for name, tt := range map[string]struct{ bad, want string }{
		"line is text":         {`{"path":"main.go","line":"four","body":"b"}`, "line is not a whole number above zero"},
		"line is a number":     {`{"path":"main.go","line":"4","body":"b"}`, ""},
		"line is a fraction":   {`{"path":"main.go","line":4.5,"body":"b"}`, "line is not a whole number above zero"},
		"line is negative":     {`{"path":"main.go","line":-4,"body":"b"}`, "line is not a whole number above zero"},
		"line is huge":         {`{"path":"main.go","line":1e300,"body":"b"}`, "line is not a whole number above zero"},
		"line is a list":       {`{"path":"main.go","line":[4],"body":"b"}`, "line is not a whole number above zero"},
		"line is null":         {`{"path":"main.go","line":null,"body":"b"}`, "it is about the file as a whole"},
		"startLine is a word":  {`{"path":"main.go","startLine":"x","line":4,"body":"b"}`, "startLine is not a whole number above zero"},
		"path is a number":     {`{"path":7,"line":4,"body":"b"}`, "path is not a string"},
		"no path":              {`{"line":4,"body":"b"}`, "it is about the pull request as a whole"},
		"side is odd":          {`{"path":"main.go","line":4,"side":"UP","body":"b"}`, "side is neither RIGHT nor LEFT"},
		"side is in lower":     {`{"path":"main.go","line":4,"side":"right","body":"b"}`, ""},
		"severity is a number": {`{"path":"main.go","line":4,"severity":3,"body":"b"}`, ""},
		"body is an object":    {`{"path":"main.go","line":4,"body":{"a":1}}`, ""},
		"a text":               {`"b"`, "it is no object with path, line and body"},
		"a number":             {`12`, "it is no object with path, line and body"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			told, kept := hand(t, dir, nil, `{"summary":"s","findings":[`+tt.bad+`,`+good+`]}`)
			if len(kept.Findings) != 2 {
				t.Fatalf("%d findings are kept: %s", len(kept.Findings), told)
			}
			if !kept.Findings[0].anchored() || kept.Findings[0].Body != "the good one" {
				t.Errorf("the good one is %+v", kept.Findings[0])
			}
			if bad := kept.Findings[1]; bad.Demoted != tt.want || bad.anchored() != (tt.want == "") || bad.Body == "" {
				t.Errorf("the bad one is %+v, want %q", bad, tt.want)
			}
			if tt.want != "" && !strings.Contains(told, "finding 1 stands in the summary: "+tt.want) {
				t.Errorf("the agent is told %s", told)
			}
		})
	}
	set := defaultSettings()
	set.Paths = []string{"**/*.md"}
	if told, kept := hand(t, dir, &set, `{"summary":"s","findings":[`+good+`]}`); len(kept.Findings) != 0 || !strings.Contains(told, "finding 1 was left out: the repository's configuration") {
		t.Errorf("a file that is not reviewed: %s, %+v", told, kept.Findings)
	}
	told, kept := hand(t, dir, nil, `{"summary":"s","findings":[null,{},{"path":"main.go","line":4},`+good+`]}`)
	if len(kept.Findings) != 1 || !strings.Contains(told, "finding 3 was left out: it says nothing") {
		t.Errorf("empty findings: %s, %+v", told, kept.Findings)
	}
}

func TestWhatIsNoReviewIsRefusedWithTheField(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{}`:                             "missing property 'summary'",
		`{"summary":7}`:                  "/summary: got number, want string",
		`{"summary":"s","findings":"f"}`: "/findings: got string, want array",
		`[]`:                             "not a JSON object",
	} {
		if told, _ := hand(t, t.TempDir(), nil, input); !strings.HasPrefix(told, "refused: ") || !strings.Contains(told, want) {
			t.Errorf("%s: %s", input, told)
		}
	}
}

func TestTheVerdictIsCommentUnlessItIsKnown(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`"approve"`: verdictApprove, `" APPROVE "`: verdictApprove, `"request_changes"`: verdictRequestChanges, `"comment"`: verdictComment,
		`"LGTM"`: verdictComment, `7`: verdictComment, `null`: verdictComment, `["approve"]`: verdictComment,
	} {
		if _, kept := hand(t, t.TempDir(), nil, `{"summary":"s","verdict":`+given+`}`); kept.Verdict != want {
			t.Errorf("%s became %s", given, kept.Verdict)
		}
	}
}

func TestSuggestionsStandOnNewLinesOnly(t *testing.T) {
	t.Parallel()
	dir := changedFiles(t, map[string]string{"main.go": twoHunks}, nil)
	off := defaultSettings()
	off.Suggestions = false
	one := func(set *settings, finding string) finding {
		t.Helper()
		_, kept := hand(t, dir, set, `{"summary":"s","findings":[`+finding+`]}`)
		return kept.Findings[0]
	}
	const fenced = "\"suggestion\":\"```go\\nx\\n```\""
	if f := one(nil, `{"path":"main.go","line":4,"body":"b",`+fenced+`}`); f.Suggestion != "```go\nx\n```" || f.Body != "b" {
		t.Errorf("on a new line: %+v", f)
	}
	const instead = "b\n\nInstead:\n\n````text\n```go\nx\n```\n````"
	if f := one(nil, `{"path":"main.go","line":21,"side":"LEFT","body":"b",`+fenced+`}`); f.Suggestion != "" || f.Body != instead || !f.anchored() {
		t.Errorf("on a deleted line: %+v", f)
	}
	if f := one(&off, `{"path":"main.go","line":4,"body":"b",`+fenced+`}`); f.Suggestion != "" || f.Body != instead {
		t.Errorf("where suggestions are off: %+v", f)
	}
	if f := one(nil, `{"path":"main.go","startLine":4,"line":9,"body":"b",`+fenced+`}`); f.anchored() {
		t.Errorf("beyond the hunk: %+v", f)
	}
	for size, stays := range map[int]bool{maxFindingBody - 1: true, maxFindingBody: true, maxFindingBody + 1: false} {
		f := one(nil, fmt.Sprintf(`{"path":"main.go","line":4,"body":"b","suggestion":%q}`, strings.Repeat("x", size)))
		if (f.Suggestion != "") != stays || !f.anchored() {
			t.Errorf("a suggestion of %d bytes: %t", size, f.Suggestion != "")
		}
	}
}

func TestTheMostSevereFindingsComeFirstAndStandAtTheirLines(t *testing.T) {
	t.Parallel()
	dir := changedFiles(t, map[string]string{"main.go": twoHunks}, nil)
	set := defaultSettings()
	set.MaxInline = 2
	_, kept := hand(t, dir, &set, `{"summary":"s","findings":[
		{"path":"main.go","line":3,"severity":"info","body":"1"},
		{"path":"main.go","line":4,"severity":"warning","body":"2"},
		{"path":"main.go","line":4,"severity":"warning","body":"2"},
		{"path":"other.go","line":4,"severity":"error","body":"3"},
		{"path":"main.go","line":5,"severity":"error","body":"4"}]}`)
	var got []string
	for _, f := range kept.Findings {
		got = append(got, fmt.Sprintf("%s%t", f.Body, f.anchored()))
	}
	if s := strings.Join(got, " "); s != "3false 4true 2true 1false" {
		t.Errorf("%s; %+v", s, kept.Findings)
	}
	if why := kept.Findings[3].Demoted; !strings.HasPrefix(why, "2 comments on lines are the most") {
		t.Error(why)
	}
}

func TestAReviewIsBounded(t *testing.T) {
	t.Parallel()
	dir := changedFiles(t, map[string]string{"main.go": twoHunks}, nil)
	many := func(n, body int) string {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`{"path":"main.go","line":4,"body":"%d %s"}`, i, strings.Repeat("<😀", body/5)))
		}
		return `{"summary":"s","findings":[` + strings.Join(all, ",") + `]}`
	}
	for _, n := range []int{maxFindings - 1, maxFindings, maxFindings + 1} {
		told, kept := hand(t, dir, nil, many(n, 10))
		if len(kept.Findings) != min(n, maxFindings) || kept.Omitted != max(0, n-maxFindings) ||
			strings.Contains(told, "1 more were left out") != (n > maxFindings) {
			t.Errorf("%d findings: %d kept, %d omitted; %.100s", n, len(kept.Findings), kept.Omitted, told)
		}
	}
	_, kept := hand(t, dir, nil, many(maxFindings, maxFindingBody-100))
	raw, err := compact(kept)
	must(t, err)
	if len(raw) > maxSubmission || len(kept.Findings) != maxFindings {
		t.Errorf("%d findings have %d bytes", len(kept.Findings), len(raw))
	}
	for _, n := range []int{maxSummary - 1, maxSummary, maxSummary + 1} {
		_, kept := hand(t, dir, nil, fmt.Sprintf(`{"summary":%q}`, strings.Repeat("x", n)))
		if len(kept.Summary) > maxSummary || strings.HasSuffix(kept.Summary, "…") != (n > maxSummary) {
			t.Errorf("a summary of %d bytes: %d kept", n, len(kept.Summary))
		}
		_, kept = hand(t, dir, nil, fmt.Sprintf(`{"summary":"s","findings":[{"body":%q}]}`, strings.Repeat("x", n-maxSummary+maxFindingBody)))
		if body := kept.Findings[0].Body; len(body) > maxFindingBody || strings.HasSuffix(body, "…") != (n > maxSummary) {
			t.Errorf("a body of %d bytes: %d kept", n-maxSummary+maxFindingBody, len(body))
		}
	}
}

func TestAnIncrementalReviewSaysSinceWhen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ since, want string }{
		"incremental":     {fmt.Sprintf(`{"from":%q,"to":%q,"incremental":true}`, beforeSHA, headSHA), beforeSHA},
		"of another head": {fmt.Sprintf(`{"from":%q,"to":%q,"incremental":true}`, beforeSHA, beforeSHA), ""},
		"not incremental": {fmt.Sprintf(`{"from":%q,"to":%q,"incremental":false}`, beforeSHA, headSHA), ""},
		"no commit":       {fmt.Sprintf(`{"from":"@mona","to":%q,"incremental":true}`, headSHA), ""},
		"no JSON":         {`{`, ""},
		"a first review":  {``, ""},
	} {
		dir := changedFiles(t, map[string]string{"main.go": twoHunks}, nil)
		if tt.since != "" {
			layOutFile(t, dir, "since.json", tt.since)
		}
		if _, kept := hand(t, dir, nil, `{"summary":"s"}`); kept.Since != tt.want {
			t.Errorf("%s: since %q", name, kept.Since)
		}
	}
}

func FuzzSubmitReview(f *testing.F) {
	dir := changedFiles(f, map[string]string{"main.go": twoHunks}, nil)
	for _, seed := range []string{
		`{"summary":"s","findings":[{"path":"main.go","line":4,"startLine":3,"side":"RIGHT","severity":"error","title":"t","body":"b","suggestion":"x"}]}`,
		`{"summary":"\u0000","findings":[null,1,"a",{"line":1e9,"body":"<!-- liaison:review -->"}],"verdict":["approve"]}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		_, kept := hand(t, dir, nil, input)
		raw, err := compact(kept)
		if err != nil || len(raw) > maxSubmission || len(kept.Findings) > maxFindings {
			t.Errorf("%d findings in %d bytes, %v", len(kept.Findings), len(raw), err)
		}
		for _, f := range kept.Findings {
			if f.anchored() && (f.Path != "main.go" || f.StartLine >= f.Line || f.Side == "") {
				t.Errorf("%+v has a place", f)
			}
		}
	})
}
