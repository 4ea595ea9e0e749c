package bridge

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
)

const (
	// maxToolResult bounds a result, as JSON. The whole of it goes into the model's
	// context, where even a tenth of this is more than any model reads well; the
	// rest is what images need.
	maxToolResult = 1 << 20
	// maxRefusal bounds the text of a refusal. A schema's error quotes what it does
	// not like.
	maxRefusal = 4 << 10
)

// check holds arguments against the tool's schema. The error names the fields.
func (t *offeredTool) check(args json.RawMessage) error {
	if t.arguments == nil || t.Unchecked {
		return nil
	}
	var value map[string]any
	if err := json.Unmarshal(args, &value); err != nil {
		return err
	}
	return t.arguments.Validate(value)
}

// encodeArguments makes JSON of what a bridge sent.
func encodeArguments(args *structpb.Struct) (json.RawMessage, error) {
	return encodeMessage(structpb.NewStructValue(args), maxNesting)
}

// encodeMessage makes JSON of a message of at most limit levels. Equal messages
// become equal text.
func encodeMessage(v *structpb.Value, limit int) (json.RawMessage, error) {
	if err := checkMessage(v, limit); err != nil {
		return nil, err
	}
	return json.Marshal(v.AsInterface())
}

// checkMessage refuses what JSON does not know, which AsInterface would make text
// of, and what has more levels than are left.
func checkMessage(v *structpb.Value, left int) error {
	var inner iter.Seq[*structpb.Value]
	switch k := v.GetKind().(type) {
	case *structpb.Value_NumberValue:
		if math.IsNaN(k.NumberValue) || math.IsInf(k.NumberValue, 0) {
			return errors.New("there is a number in it that JSON does not know")
		}
		return nil
	case *structpb.Value_StructValue:
		inner = maps.Values(k.StructValue.GetFields())
	case *structpb.Value_ListValue:
		inner = slices.Values(k.ListValue.GetValues())
	default:
		return nil
	}
	if left == 0 {
		return errors.New("it is nested too deep")
	}
	for v := range inner {
		if err := checkMessage(v, left-1); err != nil {
			return err
		}
	}
	return nil
}

// refusal tells the agent that its call failed. An error of Connect would reach
// it as text without any form, and a bridge may take it for its own failure.
func refusal(format string, args ...any) *structpb.Struct {
	text := strings.ToValidUTF8(fmt.Sprintf(format, args...), "\uFFFD")
	if len(text) > maxRefusal {
		text = strings.ToValidUTF8(text[:maxRefusal], "") + " …"
	}
	return &structpb.Struct{Fields: map[string]*structpb.Value{
		"content": structpb.NewListValue(&structpb.ListValue{Values: []*structpb.Value{textContent(text)}}),
		"isError": structpb.NewBoolValue(true),
	}}
}

func textContent(text string) *structpb.Value {
	return structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
		"type": structpb.NewStringValue("text"),
		"text": structpb.NewStringValue(strings.ToValidUTF8(text, "\uFFFD")),
	}})
}

// encodeResult puts a result into the form that bridges know.
func encodeResult(r ToolResult) (*structpb.Struct, error) {
	data, value, err := encodeValue(r.Value)
	if err != nil {
		return nil, err
	}
	object, bare := value.GetKind().(*structpb.Value_StructValue)
	structured := &structpb.Struct{Fields: map[string]*structpb.Value{"value": value}}
	if bare {
		structured = object.StructValue
	}
	// A bridge takes every object with a list named content for the rich form.
	_, misread := structured.GetFields()["content"].GetKind().(*structpb.Value_ListValue)
	if r.Content == nil && !r.IsError && !misread {
		return structured, nil
	}
	content, size, err := encodeContent(r.Content)
	if err != nil {
		return nil, err
	}
	if size+len(data) > maxToolResult {
		return nil, tooLarge(size + len(data))
	}
	if r.Content == nil {
		text := string(data)
		if s, ok := value.GetKind().(*structpb.Value_StringValue); ok {
			text = s.StringValue
		}
		content = append(content, textContent(text))
	}
	fields := map[string]*structpb.Value{
		"content": structpb.NewListValue(&structpb.ListValue{Values: content}),
		"isError": structpb.NewBoolValue(r.IsError),
	}
	if r.Value != nil {
		fields["structuredContent"] = structpb.NewStructValue(structured)
	}
	return &structpb.Struct{Fields: fields}, nil
}

func tooLarge(size int) error {
	return fmt.Errorf("it has %d bytes; the limit is %d", size, maxToolResult)
}

// encodeValue makes JSON of a value and a protobuf value of that.
func encodeValue(v any) ([]byte, *structpb.Value, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, nil, fmt.Errorf("it is no JSON: %w", err)
	}
	if len(data) > maxToolResult {
		return nil, nil, tooLarge(len(data))
	}
	if deeper(data, maxNesting) {
		return nil, nil, fmt.Errorf("it is nested more than %d levels deep", maxNesting)
	}
	var decoded any
	if err := json.Unmarshal(data, &decoded); err != nil {
		return nil, nil, fmt.Errorf("it is no JSON: %w", err)
	}
	value, err := structpb.NewValue(decoded)
	if err != nil {
		return nil, nil, err
	}
	return data, value, nil
}

// encodeContent returns the parts of a rich result and their size.
func encodeContent(parts []ToolContent) (content []*structpb.Value, size int, err error) {
	for i, p := range parts {
		if p.Image == nil {
			content = append(content, textContent(p.Text))
			size += len(p.Text)
			continue
		}
		if p.Text != "" || !strings.HasPrefix(p.MIMEType, "image/") {
			return nil, 0, fmt.Errorf("content %d must be text or an image with a MIME type of images", i)
		}
		encoded := base64.StdEncoding.EncodeToString(p.Image)
		content = append(content, structpb.NewStructValue(&structpb.Struct{Fields: map[string]*structpb.Value{
			"type":     structpb.NewStringValue("image"),
			"data":     structpb.NewStringValue(encoded),
			"mimeType": structpb.NewStringValue(strings.ToValidUTF8(p.MIMEType, "\uFFFD")),
		}}))
		size += len(encoded)
	}
	return content, size, nil
}
