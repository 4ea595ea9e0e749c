package local

import (
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/liaison-bot/liaison/bridge/local/chat/chattest"
	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
	"github.com/liaison-bot/liaison/gen/sdk/v1/sdkv1connect"
)

// review is a model that reads the manifest of a pull request, then the patch
// that it names, and finds what the patch has.
func review(asked chattest.Request) chattest.Turn {
	last := asked.Last().Text()
	switch {
	case asked.Last().Role == "user":
		return chattest.Call("read", `{"path":"pr/files.json"}`, "glob", `{"pattern":"pr/**/patch.diff"}`)
	case strings.Contains(last, "pr/files/0001/patch.diff\n"):
		return chattest.Call("grep", `{"pattern":"^\\+<{7}","path":"pr/files"}`)
	case strings.Contains(last, "pr/files/0001/patch.diff:3: +<<<<<<< HEAD"):
		return chattest.Say("### Errors\n\n", "- `main.go`, line 2: a conflict marker.\n\n", "<!-- liaison:findings errors=1 warnings=0 -->")
	}
	return chattest.Say("I found nothing to read in: " + last)
}

func TestTheExecutableReviewsWithAModel(t *testing.T) {
	t.Parallel()
	server := chattest.Start(t)
	server.Decide(review)
	c := spawnWith(t, t.TempDir(), []string{envOpenAIBaseURL + "=" + server.URL, envOpenAIAPIKey + "=" + chattest.Key}, "--verbose")
	catalog := sdkv1connect.NewSdkCursorServiceClient(c.client, c.url)
	listed, err := catalog.ListModels(testContext(t), connect.NewRequest(&sdkv1.ListModelsRequest{Options: &sdkv1.CursorRequestOptions{ApiKey: "any"}}))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, m := range listed.Msg.GetItems() {
		ids = append(ids, m.GetId())
	}
	if want := []string{"test-model", reviewerModel}; !slices.Equal(ids, want) {
		t.Errorf("the models are %v, want %v", ids, want)
	}
	_, messages := c.reviewWith(t, ids[0])
	end := result(t, messages).GetResult()
	if !strings.Contains(end.GetResult(), "conflict marker") || !strings.HasSuffix(end.GetResult(), "errors=1 warnings=0 -->") || end.GetUsage().GetInputTokens() == 0 {
		t.Errorf("it ended as %v", end)
	}
	if said := c.stderr.String(); strings.Contains(said, chattest.Key) {
		t.Errorf("stderr has the key:\n%s", said)
	}
}
