package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// read shows lines of a file.
func (w *Workspace) read(ctx context.Context, args arguments) (string, error) {
	given, err := args.text("path")
	if err != nil {
		return "", err
	}
	if given == "" {
		return "", refuse("the argument path is missing")
	}
	offset, err := args.number("offset", 1)
	if err != nil {
		return "", err
	}
	limit, err := args.number("limit", maxReadLines)
	if err != nil {
		return "", err
	}
	// Zero is what models give for "from the start" and "as usual".
	offset, limit = max(offset, 1), min(limit, maxReadLines)
	if limit <= 0 {
		limit = maxReadLines
	}
	p, err := w.locate(given)
	if err != nil {
		return "", err
	}
	f, info, err := p.open()
	if err != nil {
		return "", err
	}
	defer f.Close()
	if info.Size() > maxFileBytes {
		return "", refuse("%s has %d bytes, more than the %d that are read; grep for what you need in smaller files", p.name(), info.Size(), maxFileBytes)
	}
	lines := newLineReader(f)
	if binary, err := lines.binary(); err != nil {
		return "", p.explain(err)
	} else if binary {
		return "", refuse("%s is a binary file of %d bytes", p.name(), info.Size())
	}

	var out report
	shown, number := 0, 0
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", p.explain(err)
		}
		number++
		if number < offset {
			continue
		}
		if shown == limit || !out.line(fmt.Sprintf("%6d\t%s", number, clean(line))) {
			out.note("the file goes on; read it with offset %d for more", number)
			return out.text.String(), nil
		}
		shown++
	}
	switch {
	case number == 0:
		out.note("the file is empty")
	case shown == 0:
		out.note("the file has %d lines, so there is no line %d", number, offset)
	}
	return out.text.String(), nil
}

// Text is the beginning of a text file, for whoever sets up an agent; false when
// there is none, or none that could be shown to a model.
func (w *Workspace) Text(name string, limit int) (string, bool) {
	p, err := w.locate(name)
	if err != nil {
		return "", false
	}
	f, _, err := p.open()
	if err != nil {
		return "", false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, int64(limit)))
	if err != nil || bytes.IndexByte(data, 0) >= 0 {
		return "", false
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), true
}

// Folders are the names of the folders in a folder, in order, at most limit; none
// where there is no such folder.
func (w *Workspace) Folders(ctx context.Context, name string, limit int) []string {
	p, err := w.locate(name)
	if err != nil {
		return nil
	}
	entries, _, err := p.entries(ctx)
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && len(names) < limit {
			names = append(names, e.Name())
		}
	}
	return names
}

// lineReader reads lines without holding more of one than is shown.
type lineReader struct {
	in   *bufio.Reader
	line []byte
	// taken counts the bytes that were read, of long lines too.
	taken int64
}

func newLineReader(r io.Reader) *lineReader {
	// A file that grows while it is read ends where it may.
	return &lineReader{in: bufio.NewReaderSize(io.LimitReader(r, maxFileBytes), 64<<10)}
}

// binary looks for a zero byte near the start.
func (l *lineReader) binary() (bool, error) {
	head, err := l.in.Peek(sniffBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	return bytes.IndexByte(head, 0) >= 0, nil
}

// next returns a line without its end, valid until the next call, and [io.EOF]
// after the last. Of a long line it has a little more than is shown.
func (l *lineReader) next() ([]byte, error) {
	l.line = l.line[:0]
	some := false
	for {
		part, err := l.in.ReadSlice('\n')
		l.taken += int64(len(part))
		some = some || len(part) > 0
		if room := maxLineBytes + 2 - len(l.line); room > 0 {
			l.line = append(l.line, part[:min(room, len(part))]...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && some, err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(l.line, []byte("\n")), []byte("\r")), nil
		default:
			return nil, err
		}
	}
}
