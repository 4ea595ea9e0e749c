package eventlog

import (
	"io"

	"github.com/liaison-bot/liaison/state"
)

// AfterStep returns options that report each step that a crash can follow.
func AfterStep(o Options, fn func(name string)) Options {
	o.afterStep = fn
	return o
}

// ReadPacked reads the lines of a packed record as a reader of sessions does.
func ReadPacked(segment io.ReaderAt, id string, p state.PackedRecord) ([]byte, error) {
	r, err := newPackedReader(segment, id, p)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return io.ReadAll(r)
}
