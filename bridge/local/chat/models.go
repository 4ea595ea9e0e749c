package chat

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
)

// Model is a model that the endpoint lists.
type Model struct {
	ID string
	// Window is how many tokens its context holds; 0 when the endpoint does not say.
	Window int64
}

// ErrNoList is returned by an endpoint that has no list of models.
var ErrNoList = errors.New("the endpoint has no list of models")

// Models asks the endpoint for its models, in its own order, those first that
// look as if they could chat. Without a list the error is [ErrNoList], when the
// endpoint refuses or cannot be reached an [*Error]; neither is tried again.
func (e *Endpoint) Models(ctx context.Context) ([]Model, error) {
	list, err := e.client.Models(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("list the models of %s: %w", e.where, ctx.Err())
		}
		f := e.requestFault(err)
		switch f.status {
		case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusNotImplemented:
			return nil, fmt.Errorf("list the models of %s: %w", e.where, ErrNoList)
		}
		return nil, fmt.Errorf("list the models of %s: %w", e.where, &Error{Code: f.code, Reason: f.reason, Detail: f.detail})
	}
	var chat, other []Model
	seen := make(map[string]bool)
	for _, m := range list {
		if !validModelID(m.ID) || seen[m.ID] || len(seen) == maxListed {
			continue
		}
		seen[m.ID] = true
		model := Model{ID: m.ID, Window: m.Window()}
		if looksLikeChat(m.ID) {
			chat = append(chat, model)
		} else {
			other = append(other, model)
		}
	}
	if len(seen) == 0 {
		return nil, fmt.Errorf("list the models of %s: it is empty: %w", e.where, ErrNoList)
	}
	return append(chat, other...), nil
}

func validModelID(id string) bool {
	return id != "" && len(id) <= maxModelID && !strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) || unicode.IsSpace(r) })
}

// notChat are parts of the names of models that do something else. Lists do not
// tell them apart.
var notChat = []string{
	"embed", "whisper", "tts", "dall-e", "moderation", "transcribe", "rerank", "realtime", "image", "audio",
	"sora", "babbage", "davinci", "speech", "-ocr", "stable-diffusion",
}

func looksLikeChat(id string) bool {
	id = strings.ToLower(id)
	for _, part := range notChat {
		if strings.Contains(id, part) {
			return false
		}
	}
	return true
}
