package completions

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
)

// decode reads a JSON object, or null. Fields of a wrong type are left as they are.
func decode(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) {
		return nil // the decoder went on behind that field
	}
	return err
}

// Number is a number as endpoints send them: an integer, one with a fraction, or
// either in a text. Anything else counts as missing.
type Number struct {
	Value int64
	// Valid is set when there was a number.
	Valid bool
}

// UnmarshalJSON never fails.
func (n *Number) UnmarshalJSON(data []byte) error {
	text := strings.Trim(string(data), `"`)
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		*n = Number{i, true}
		return nil
	}
	*n = Number{}
	f, err := strconv.ParseFloat(text, 64)
	if err == nil && math.Abs(f) < math.MaxInt64 {
		*n = Number{int64(f), true}
	}
	return nil
}

// Fragment is a piece of text. Some endpoints send a list of parts instead, of
// which the texts count.
type Fragment string

// UnmarshalJSON never fails.
func (f *Fragment) UnmarshalJSON(data []byte) error {
	*f = ""
	var text string
	if json.Unmarshal(data, &text) == nil {
		*f = Fragment(text)
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	if len(data) == 0 || data[0] != '[' {
		return nil
	}
	_ = json.Unmarshal(data, &parts) // parts of another shape have no text
	for _, p := range parts {
		*f += Fragment(p.Text)
	}
	return nil
}

// Arguments are a piece of the JSON of a call's arguments. Some endpoints send the
// object itself instead of its text.
type Arguments string

// UnmarshalJSON never fails.
func (a *Arguments) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) != nil {
		text = string(data)
	}
	*a = Arguments(text)
	return nil
}
