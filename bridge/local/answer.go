package local

import (
	"encoding/json"
	"fmt"
	"strings"
)

// readAnswer is what a model reads of a custom tool's answer: its text, its
// images, and whether the tool says that it failed. The answer is the rich form
// {"content": […], "isError": …, "structuredContent": …}, a wrapped scalar
// {"value": …}, or any other object, which is read as its JSON.
func readAnswer(answer map[string]any) (text string, images []image, failed bool) {
	failed, _ = answer["isError"].(bool)
	parts, rich := answer["content"].([]any)
	if !rich {
		if value, ok := answer["value"]; ok && len(answer) == 1 {
			return jsonText(value), nil, failed
		}
		return jsonText(answer), nil, failed
	}
	var texts []string
	for _, p := range parts {
		part, _ := p.(map[string]any)
		switch part["type"] {
		case "text":
			t, _ := part["text"].(string)
			texts = append(texts, t)
		case "image":
			data, _ := part["data"].(string)
			mime, _ := part["mimeType"].(string)
			images = append(images, image{Data: data, MIMEType: mime})
		}
	}
	if text = strings.Join(texts, "\n"); text == "" && len(images) == 0 {
		text = "no result"
		if structured, ok := answer["structuredContent"]; ok {
			text = jsonText(structured)
		}
	}
	return text, images, failed
}

// jsonText is a string as it is, and any other value as its JSON.
func jsonText(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value) // what came as JSON goes as JSON
	}
	return string(data)
}
