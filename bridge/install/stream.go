package install

import (
	"context"
	"fmt"
	"io"
)

// boundedReader fails once more than left bytes have come.
type boundedReader struct {
	r    io.Reader
	left int64
}

func (b *boundedReader) Read(p []byte) (int, error) {
	// One byte more than is left tells a full archive from a larger one.
	p = p[:min(int64(len(p)), b.left+1)]
	n, err := b.r.Read(p)
	if int64(n) > b.left {
		return 0, fmt.Errorf("%w: %w: it unpacks to more than the limit", ErrArchive, ErrTooLarge)
	}
	b.left -= int64(n)
	return n, err
}

// contextReader stops when its context does.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// recordingWriter remembers its error: after a copy, it tells a failed write
// from a failed read.
type recordingWriter struct {
	w   io.Writer
	err error
}

func (r *recordingWriter) Write(p []byte) (int, error) {
	n, err := r.w.Write(p)
	if err != nil {
		r.err = err
	}
	return n, err
}
