package chat

import "github.com/liaison-bot/liaison/bridge/local/chat/completions"

// params is a request as the client sends it.
func params(model, system string, messages []Message, tools []Tool, noTools, usage bool) completions.Request {
	p := completions.Request{
		Model:    model,
		Messages: []completions.Message{{Role: completions.RoleSystem, Content: completions.Text(system)}},
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
			p.Messages = append(p.Messages, completions.Message{Role: completions.RoleTool, Content: completions.Text(m.Text), ToolCallID: m.CallID})
		}
	}
	for _, t := range tools {
		p.Tools = append(p.Tools, completions.FunctionTool(completions.Function{Name: t.Name, Description: t.Description, Parameters: t.parameters()}))
	}
	if noTools && len(tools) > 0 {
		p.ToolChoice = "none"
	}
	if usage {
		p.StreamOptions = &completions.StreamOptions{IncludeUsage: true}
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

func userParam(m Message) completions.Message {
	out := completions.Message{Role: completions.RoleUser, Content: completions.Text(m.Text)}
	if len(m.Images) == 0 {
		return out
	}
	var parts completions.Parts
	if spoken(m.Text) {
		parts = append(parts, completions.TextPart(m.Text))
	}
	for _, image := range m.Images {
		parts = append(parts, completions.ImagePart(image.URL))
	}
	out.Content = parts
	return out
}

func assistantParam(m Message) completions.Message {
	out := completions.Message{Role: completions.RoleAssistant, ReasoningContent: m.Reasoning}
	if spoken(m.Text) {
		out.Content = completions.Text(m.Text)
	}
	for _, c := range m.Calls {
		call := completions.FunctionCall(c.ID, c.Name, c.Arguments)
		call.ExtraContent = c.Extra
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out
}
