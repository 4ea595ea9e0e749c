package slack

import (
	"bytes"
	"encoding/binary"
	"image"
	_ "image/gif" // so that its header is read
	_ "image/jpeg"
	_ "image/png"

	"github.com/liaison-bot/liaison/sessions"
)

const (
	// maxPicture is the most pixels along a side that models are shown
	// (https://docs.anthropic.com/en/docs/build-with-claude/vision).
	maxPicture = 8000
	// maxPicturesBytes bounds the images of one turn together: with base64 they fit
	// into one message of a bridge that takes 16 MiB.
	maxPicturesBytes = 10 << 20
)

// pictures gives the images among files to the model, within their bounds, and
// numbers them.
func pictures(all []sharedFile) []sessions.Image {
	var images []sessions.Image
	left := maxPicturesBytes
	for i := range all {
		f := &all[i]
		format, width, height := pictureOf(f.content)
		if format == "" || width > maxPicture || height > maxPicture || len(f.content) > min(left, sessions.MaxImageBytes) || len(images) == sessions.MaxImages {
			continue
		}
		left -= len(f.content)
		images = append(images, sessions.Image{Data: f.content, MIMEType: format, Width: width, Height: height})
		f.picture = len(images)
	}
	return images
}

// pictureOf reads what image content is by its header, and its size in pixels. An
// empty format means that it is none that models take.
func pictureOf(content []byte) (format string, width, height int) {
	if width, height, ok := webpSize(content); ok {
		return "image/webp", width, height
	}
	conf, name, err := image.DecodeConfig(bytes.NewReader(content))
	if err != nil || conf.Width < 1 || conf.Height < 1 {
		return "", 0, 0
	}
	return "image/" + name, conf.Width, conf.Height
}

// webpSize reads the header of a WebP image
// (https://developers.google.com/speed/webp/docs/riff_container).
func webpSize(b []byte) (width, height int, ok bool) {
	if len(b) < 30 || string(b[:4]) != "RIFF" || string(b[8:12]) != "WEBP" {
		return 0, 0, false
	}
	switch string(b[12:16]) {
	case "VP8 ": // three bytes of a frame's tag, a start code, and two sides of 14 bits
		if string(b[23:26]) != "\x9d\x01\x2a" {
			return 0, 0, false
		}
		width, height = int(binary.LittleEndian.Uint16(b[26:])&0x3fff), int(binary.LittleEndian.Uint16(b[28:])&0x3fff)
	case "VP8L": // a signature, and two sides of 14 bits less one
		if b[20] != 0x2f {
			return 0, 0, false
		}
		bits := binary.LittleEndian.Uint32(b[21:])
		width, height = int(bits&0x3fff)+1, int(bits>>14&0x3fff)+1
	case "VP8X": // flags, and two sides of 24 bits less one
		side := func(at int) int { return int(b[at]) | int(b[at+1])<<8 | int(b[at+2])<<16 }
		width, height = side(24)+1, side(27)+1
	}
	return width, height, width > 0 && height > 0
}
