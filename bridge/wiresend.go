package bridge

import (
	"encoding/base64"
	"math"
	"strings"
	"unicode/utf8"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	sdkv1 "github.com/liaison-bot/liaison/gen/sdk/v1"
)

// The limits of the images of one message. Both are the smallest of what the
// large model providers document, so that an image that passes here is not
// refused after it was sent
// (https://docs.anthropic.com/en/docs/build-with-claude/vision).
const (
	// MaxImages is the most images that one message may have.
	MaxImages = 20
	// MaxImageBytes is the most bytes that one image may have, before base64. What
	// the bridge takes in one message is a limit too, and may be reached before.
	MaxImageBytes = 5 << 20
)

// wireSend puts a message and the options of its run on the wire.
func (c *Client) wireSend(agentID string, m Message, o SendOptions) (*sdkv1.SendRequest, error) {
	const op = "send"
	message, err := wireMessage(op, m)
	if err != nil {
		return nil, err
	}
	if o.Model == "" && len(o.ModelParams) > 0 {
		return nil, invalid(op, "ModelParams are given without a Model that they belong to")
	}
	if o.MCPServers != nil && len(o.MCPServers) == 0 {
		return nil, invalid(op, "MCPServers is empty but not nil; the protocol has no way to take all servers away for one run")
	}
	mode, err := wireMode(op, o.Mode)
	if err != nil {
		return nil, err
	}
	servers, err := wireMCPServers(op, o.MCPServers)
	if err != nil {
		return nil, err
	}
	w := &sdkv1.SendOptions{
		Model: wireModel(o.Model, o.ModelParams), Mode: mode, McpServers: servers,
		EnableDeltas: o.Deltas, EnableSteps: o.Steps,
	}
	if o.Force {
		w.Local = &sdkv1.LocalSendOptions{Force: proto.Bool(true)}
	}
	if len(o.EnvironmentVariables) > 0 {
		w.Cloud = &sdkv1.CloudSendOptions{EnvVars: o.EnvironmentVariables}
	}
	return &sdkv1.SendRequest{AgentId: agentID, Message: message, Options: w}, nil
}

func wireMessage(op string, m Message) (*sdkv1.UserMessage, error) {
	switch {
	case m.Text == "" && len(m.Images) == 0:
		return nil, invalid(op, "the message is empty")
	case !utf8.ValidString(m.Text):
		return nil, invalid(op, "the text of the message is not valid UTF-8")
	case len(m.Images) > MaxImages:
		return nil, invalid(op, "the message has %d images; at most %d are accepted", len(m.Images), MaxImages)
	}
	w := &sdkv1.UserMessage{Text: m.Text}
	for i, image := range m.Images {
		picture, err := wireImage(op, i+1, image)
		if err != nil {
			return nil, err
		}
		w.Images = append(w.Images, picture)
	}
	return w, nil
}

// wireImage takes an image's number, from 1, for errors.
func wireImage(op string, number int, i Image) (*sdkv1.SdkImage, error) {
	w := new(sdkv1.SdkImage)
	switch {
	case (i.URL == "") == (len(i.Data) == 0):
		return nil, invalid(op, "image %d needs either a URL or Data", number)
	case i.URL != "":
		w.Source = &sdkv1.SdkImage_Url{Url: &sdkv1.SdkImageUrl{Url: i.URL}}
	case len(i.Data) > MaxImageBytes:
		return nil, invalid(op, "image %d has %d bytes; at most %d are accepted", number, len(i.Data), MaxImageBytes)
	case !strings.HasPrefix(i.MIMEType, "image/"):
		return nil, invalid(op, "image %d has the MIME type %.40q; one such as image/png is needed", number, i.MIMEType)
	default:
		w.Source = &sdkv1.SdkImage_Data{Data: &sdkv1.SdkImageData{
			Data: base64.StdEncoding.EncodeToString(i.Data), MimeType: i.MIMEType,
		}}
	}
	if i.Width != 0 || i.Height != 0 {
		if i.Width < 1 || i.Height < 1 || i.Width > math.MaxInt32 || i.Height > math.MaxInt32 {
			return nil, invalid(op, "image %d is said to have %d×%d pixels; set both, or neither", number, i.Width, i.Height)
		}
		w.Dimension = &sdkv1.SdkImageDimension{Width: uint32(i.Width), Height: uint32(i.Height)}
	}
	return w, nil
}

// invalid is the refusal of a request that is wrong, before it is made.
func invalid(op, format string, args ...any) *Error {
	return refuse(op, connect.CodeInvalidArgument, "VALIDATION_ERROR", format, args...)
}
