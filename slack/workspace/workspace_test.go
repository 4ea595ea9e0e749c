package workspace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/liaison-bot/liaison/slack/workspace"
)

// However a workspace is printed, its token is not in it and its name is.
func TestTokenIsNeverPrinted(t *testing.T) {
	t.Parallel()
	const token = "not-a-real-token"
	w := workspace.Workspace{Team: "T1", Enterprise: "E1", BotUser: "UBOT", Name: "Acme", Token: token}
	printed := []string{w.String(), fmt.Sprint([]workspace.Workspace{w})}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		printed = append(printed, fmt.Sprintf(verb, w), fmt.Sprintf(verb, &w))
	}
	asJSON, err := json.Marshal(map[string]any{"workspace": w})
	if err != nil {
		t.Fatal(err)
	}
	printed = append(printed, string(asJSON))
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("here", "workspace", w, "pointer", &w)
	printed = append(printed, log.String())
	for _, text := range printed {
		if strings.Contains(text, token) || !strings.Contains(text, "T1") {
			t.Errorf("printed as %q", text)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for want, w := range map[string]workspace.Workspace{
		"Acme (T1)": {Team: "T1", Enterprise: "E1", Name: "Acme"},
		"T2":        {Team: "T2"},
		"Corp (E1)": {Enterprise: "E1", Name: "Corp"},
	} {
		if got := w.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
