package chat

import (
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"
)

// params is a request as the client sends it.
func params(model, system string, messages []Message, tools []Tool, noTools, usage bool) openai.ChatCompletionNewParams {
	p := openai.ChatCompletionNewParams{
		Model:    model,
		Messages: []openai.ChatCompletionMessageParamUnion{openai.SystemMessage(system)},
	}
	for i := 0; i < len(messages); i++ {
		switch m := messages[i]; m.Role {
		case RoleUser:
			// Some models insist on taking turns, so that neighbours become one.
			for ; i+1 < len(messages) && messages[i+1].Role == RoleUser; i++ {
				m = joined(m, messages[i+1])
			}
			p.Messages = append(p.Messages, userParam(m))
		case RoleAssistant:
			p.Messages = append(p.Messages, assistantParam(m))
		case RoleTool:
			p.Messages = append(p.Messages, openai.ToolMessage(m.Text, m.CallID))
		}
	}
	for _, t := range tools {
		f := shared.FunctionDefinitionParam{Name: t.Name, Parameters: t.parameters()}
		if t.Description != "" {
			f.Description = param.NewOpt(t.Description)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(f))
	}
	if noTools && len(tools) > 0 {
		p.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt("none")}
	}
	if usage {
		p.StreamOptions = openai.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)}
	}
	return p
}

func joined(a, b Message) Message {
	text := a.Text
	if text != "" && b.Text != "" {
		text += "\n\n"
	}
	return Message{Role: RoleUser, Text: text + b.Text, Images: append(a.Images[:len(a.Images):len(a.Images)], b.Images...)}
}

func userParam(m Message) openai.ChatCompletionMessageParamUnion {
	if len(m.Images) == 0 {
		return openai.UserMessage(m.Text)
	}
	var parts []openai.ChatCompletionContentPartUnionParam
	if spoken(m.Text) {
		parts = append(parts, openai.TextContentPart(m.Text))
	}
	for _, image := range m.Images {
		parts = append(parts, openai.ImageContentPart(openai.ChatCompletionContentPartImageImageURLParam{URL: image.URL}))
	}
	return openai.UserMessage(parts)
}

func assistantParam(m Message) openai.ChatCompletionMessageParamUnion {
	var a openai.ChatCompletionAssistantMessageParam
	if spoken(m.Text) {
		a.Content.OfString = param.NewOpt(m.Text)
	}
	for _, c := range m.Calls {
		f := &openai.ChatCompletionMessageFunctionToolCallParam{
			ID:       c.ID,
			Function: openai.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Arguments},
		}
		if c.Extra != nil {
			f.SetExtraFields(map[string]any{"extra_content": c.Extra})
		}
		a.ToolCalls = append(a.ToolCalls, openai.ChatCompletionMessageToolCallUnionParam{OfFunction: f})
	}
	if m.Reasoning != "" {
		a.SetExtraFields(map[string]any{"reasoning_content": m.Reasoning})
	}
	return openai.ChatCompletionMessageParamUnion{OfAssistant: &a}
}
