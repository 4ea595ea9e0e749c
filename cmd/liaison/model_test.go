package main_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
)

// A model of the operator's own reads the evidence and answers; what it found
// becomes the conclusion of the check.
func TestAModelOfOnesOwnReviews(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	model := chattest.Start(t)
	model.Decide(func(asked chattest.Request) chattest.Turn {
		last := asked.Last().Text()
		switch {
		case asked.Last().Role == "user":
			return chattest.Call("read", `{"path":"pr/files.json"}`)
		case strings.Contains(last, `"main.go"`):
			return chattest.Say("### Warnings\n\n", "- `main.go`, line 3: it greets in lower case.\n\n", "<!-- liaison:findings errors=0 warnings=1 -->")
		}
		return chattest.Say("I found no changed files in " + last)
	})
	p := w.serve("OPENAI_BASE_URL="+model.URL, "OPENAI_API_KEY="+chattest.Key)
	pull := w.open("Say hello")
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	check, comment := w.reviewed(pull.Number, pull.HeadSHA)
	if check.Conclusion != "neutral" || !strings.Contains(check.Title, "1 warning") {
		t.Errorf("the check is %+v", check)
	}
	if !strings.Contains(comment.Body, "it greets in lower case") || strings.Contains(comment.Body, "liaison:findings") {
		t.Errorf("the comment is %q", comment.Body)
	}
	if status := p.terminate(); status != 0 {
		t.Errorf("stopped with %d", status)
	}
	if log := w.log.String(); strings.Contains(log, chattest.Key) {
		t.Error("the log has the key")
	}
	for _, asked := range model.Asked() {
		if strings.Contains(string(asked.Body), chattest.Key) {
			t.Error("a prompt has the key")
		}
	}
}

// A model that cannot be used is a reason on the pull request, without the key.
func TestAModelThatRefusesTheKeyIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	model := chattest.Start(t)
	model.Decide(func(chattest.Request) chattest.Turn {
		return chattest.Refuse(401, "invalid_api_key", "Incorrect API key provided: "+chattest.Key)
	})
	p := w.serve("OPENAI_BASE_URL="+model.URL, "OPENAI_API_KEY="+chattest.Key)
	pull := w.open("Say hello")
	p.deliver(w.hub.Event(repo, pull.Number, "opened"))
	check := w.concluded(pull.HeadSHA, 1)
	p.terminate()
	if !strings.Contains(check.Summary, "OPENAI_API_KEY") {
		t.Errorf("the check says %q", check.Summary)
	}
	if strings.Contains(check.Summary+w.log.String(), chattest.Key) {
		t.Error("the key is in the check or in the log")
	}
}

// With a model of one's own configured and no list of models to be had, nobody
// gets the rules of the built-in reviewer for the model's review.
func TestAModelOutOfReachIsNotReplacedByRules(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		list http.HandlerFunc
		want string
	}{
		"wrong key": {func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusUnauthorized) }, "OPENAI_API_KEY"},
		"wrong URL": {http.NotFound, "OPENAI_BASE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			endpoint := httptest.NewServer(tt.list)
			t.Cleanup(endpoint.Close)
			p := w.serve("OPENAI_BASE_URL="+endpoint.URL, "OPENAI_API_KEY="+chattest.Key)
			pull := w.open("Say hello")
			p.deliver(w.hub.Event(repo, pull.Number, "opened"))
			check := w.concluded(pull.HeadSHA, 1)
			p.terminate()
			if check.Conclusion != "failure" || !strings.Contains(check.Summary, tt.want) {
				t.Errorf("the check is %s and says %q", check.Conclusion, check.Summary)
			}
		})
	}
}
