package completions

import "encoding/json"

// Chunk is one piece of an answer.
type Chunk struct {
	Choices []Choice `json:"choices"`
	// Usage is nil where nothing was counted. Most count once, at the end; some count
	// up with every piece.
	Usage *Usage `json:"usage"`
}

// Choice is a piece of one of the answers that were asked for.
type Choice struct {
	Index Number `json:"index"`
	Delta Delta  `json:"delta"`
	// FinishReason is why the model stopped, empty before it has.
	FinishReason string `json:"finish_reason"`
}

// Delta is what a piece adds to an answer.
type Delta struct {
	Content   Fragment        `json:"content"`
	Refusal   string          `json:"refusal"`
	ToolCalls []ToolCallPiece `json:"tool_calls"`
	// ReasoningContent and Reasoning are two names for what the model thinks, neither
	// of them part of OpenAI's protocol.
	ReasoningContent string `json:"reasoning_content"`
	Reasoning        string `json:"reasoning"`
}

// ToolCallPiece is a piece of a call.
type ToolCallPiece struct {
	// Index says which call it is a piece of. Not every endpoint sends it.
	Index    Number `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string    `json:"name"`
		Arguments Arguments `json:"arguments"`
	} `json:"function"`
	ExtraContent json.RawMessage `json:"extra_content"`
}

// Usage counts tokens. Those of the prompt include what was read from a cache,
// those of the completion the reasoning.
type Usage struct {
	PromptTokens        Number `json:"prompt_tokens"`
	CompletionTokens    Number `json:"completion_tokens"`
	PromptTokensDetails struct {
		CachedTokens Number `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionTokensDetails struct {
		ReasoningTokens Number `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
}

// Model is a model of an endpoint's list.
type Model struct {
	ID string `json:"id"`
	// The names under which endpoints say how many tokens a context holds. None of
	// them is part of OpenAI's protocol.
	ContextLength    Number `json:"context_length"`
	ContextWindow    Number `json:"context_window"`
	MaxContextLength Number `json:"max_context_length"`
	MaxModelLen      Number `json:"max_model_len"`
}

// Window is how many tokens the model's context holds, 0 when the list does not say.
func (m Model) Window() int64 {
	for _, n := range []Number{m.ContextLength, m.ContextWindow, m.MaxContextLength, m.MaxModelLen} {
		if n.Value > 0 {
			return n.Value
		}
	}
	return 0
}
