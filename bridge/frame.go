package bridge

import (
	"bytes"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// frame is one RunStreamMessage. The JSON object in it stays in its wire form,
// from which only what is needed is read: decoding it whole into structpb, as
// the generated type does, is most of the cost of a stream, and few readers want
// more than two of its fields.
type frame struct {
	kind frameKind
	// name is the type of a message, a delta or a step.
	name   string
	body   object
	offset string
	result *sdkv1.RunStreamResult
	done   *sdkv1.RunStreamDone
}

// frameKind is the case of a frame's envelope.
type frameKind int

const (
	frameEmpty   frameKind = iota // a keepalive, or a case that this version does not know
	frameMessage                  // sdk_message
	frameDelta                    // interaction_update
	frameStep                     // step
	frameResult
	frameDone
)

// The field numbers of RunStreamMessage, and of the three messages in it that
// have the same shape.
const (
	fieldSDKMessage        = 1
	fieldResult            = 2
	fieldDone              = 3
	fieldOffset            = 4
	fieldInteractionUpdate = 5
	fieldStep              = 6

	fieldType = 1
	fieldBody = 2
)

// frameCodec is Connect's binary codec, but for frames.
type frameCodec struct{}

// Name implements connect.Codec.
func (frameCodec) Name() string { return "proto" }

// Marshal implements connect.Codec.
func (frameCodec) Marshal(m any) ([]byte, error) {
	message, ok := m.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is not a protobuf message", m)
	}
	return proto.Marshal(message)
}

// Unmarshal implements connect.Codec.
func (frameCodec) Unmarshal(data []byte, m any) error {
	switch m := m.(type) {
	case *frame:
		return m.unmarshal(data)
	case proto.Message:
		return proto.Unmarshal(data, m)
	default:
		return fmt.Errorf("%T is neither a frame nor a protobuf message", m)
	}
}

// unmarshal reads a frame. It keeps nothing of data, which is reused.
func (f *frame) unmarshal(data []byte) error {
	*f = frame{}
	for data = bytes.Clone(data); len(data) > 0; {
		field, rest, ok := cutField(data)
		if !ok {
			return errMalformed
		}
		data = rest
		if field.typ != protowire.BytesType { // of a later version
			continue
		}
		if err := f.set(field.number, field.bytes); err != nil {
			return err
		}
	}
	return nil
}

var errMalformed = errors.New("a message of the run's stream is malformed")

func (f *frame) set(number protowire.Number, field []byte) error {
	switch number {
	case fieldSDKMessage:
		f.kind = frameMessage
		return f.open(field)
	case fieldInteractionUpdate:
		f.kind = frameDelta
		return f.open(field)
	case fieldStep:
		f.kind = frameStep
		return f.open(field)
	case fieldResult:
		f.kind, f.result = frameResult, new(sdkv1.RunStreamResult)
		return proto.Unmarshal(field, f.result)
	case fieldDone:
		f.kind, f.done = frameDone, new(sdkv1.RunStreamDone)
		return proto.Unmarshal(field, f.done)
	case fieldOffset:
		f.offset = string(field)
	}
	return nil
}

// open reads the type and the object of a message, a delta or a step.
func (f *frame) open(data []byte) error {
	for len(data) > 0 {
		field, rest, ok := cutField(data)
		if !ok {
			return errMalformed
		}
		data = rest
		if field.typ == protowire.BytesType {
			switch field.number {
			case fieldType:
				f.name = typeName(field.bytes)
			case fieldBody:
				f.body = field.bytes
			}
		}
	}
	return nil
}

// typeName spares the types that are common an allocation.
func typeName(b []byte) string {
	switch string(b) {
	case "system":
		return "system"
	case "user":
		return "user"
	case "assistant":
		return "assistant"
	case "tool_call":
		return "tool_call"
	case "thinking":
		return "thinking"
	case "status":
		return "status"
	case "request":
		return "request"
	case "task":
		return "task"
	case "usage":
		return "usage"
	case "text-delta":
		return "text-delta"
	default:
		return validText(b)
	}
}
