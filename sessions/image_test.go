package sessions

import (
	"slices"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/bridge"
)

// A bridge that takes no images gets the prompt, which says that there were some.
func TestABridgeWithoutImagesAnswersWithoutThem(t *testing.T) {
	t.Parallel()
	b := &fakeBridge{known: true}
	b.run = b.runFinished
	b.fail = func(call string, _ int) error {
		if call == "send p" {
			return &bridge.Error{Op: "send", Code: "unimplemented", SDKCode: "FEATURE_UNAVAILABLE", Message: "no images here"}
		}
		return nil
	}
	result, err := newBridgeRunner(b, nil).Run(t.Context(), RunRequest{
		SessionID: "s", TurnID: "t", AgentID: "agt_1", Dir: "/w", Prompt: "p", Model: "m",
		Images: []Image{{Data: []byte("x"), MIMEType: "image/png"}},
	}, func(bridge.Event) {})
	if err != nil || result.Status != bridge.RunFinished {
		t.Fatalf("got %v, %v", result, err)
	}
	sends := slices.DeleteFunc(slices.Clone(b.calls), func(c string) bool { return !strings.HasPrefix(c, "send ") })
	if len(sends) != 2 || sends[1] != "send p"+unseenImages {
		t.Errorf("sends %q", sends)
	}
}
