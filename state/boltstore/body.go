package boltstore

import (
	"fmt"
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/liaison-bot/liaison/state"
)

// The first byte of a stored body says how the rest is encoded.
const (
	bodyRaw byte = iota
	bodyS2
)

const (
	// minCompressed is the size from which compressing pays: a smaller body
	// shares its page with others anyway.
	minCompressed = 512
	// maxBody bounds what a damaged length can make us allocate. GitHub sends at
	// most 25 MB (https://docs.github.com/webhooks/webhook-events-and-payloads#payload-cap).
	maxBody = 64 << 20
)

// encodeBody appends the stored form of body to dst.
func encodeBody(dst, body []byte) []byte {
	if len(body) >= minCompressed {
		dst = slices.Grow(dst, 1+s2.MaxEncodedLen(len(body)))
		packed := s2.Encode(dst[len(dst)+1:cap(dst)], body)
		if len(packed) < len(body) {
			dst = append(dst, bodyS2)
			return dst[:len(dst)+len(packed)]
		}
	}
	dst = append(dst, bodyRaw)
	return append(dst, body...)
}

// decodeBody returns a copy of the body that stored holds.
func decodeBody(stored []byte) ([]byte, error) {
	if len(stored) == 0 {
		return nil, nil // none is kept
	}
	switch rest := stored[1:]; stored[0] {
	case bodyRaw:
		return slices.Clone(rest), nil
	case bodyS2:
		n, err := s2.DecodedLen(rest)
		if err != nil || n > maxBody {
			return nil, fmt.Errorf("body of %d bytes: %w", n, state.ErrCorrupt)
		}
		body, err := s2.Decode(nil, rest)
		if err != nil {
			return nil, fmt.Errorf("body (%w): %w", err, state.ErrCorrupt)
		}
		return body, nil
	default:
		return nil, fmt.Errorf("body of unknown encoding %d: %w", stored[0], state.ErrCorrupt)
	}
}
