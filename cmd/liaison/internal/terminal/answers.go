package terminal

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"
)

// maxAnswer bounds a line that somebody types, in bytes; tokens have some 100.
const maxAnswer = 4 << 10

// Answers reads what a person types, line by line.
type Answers struct {
	from  io.Reader
	lines *bufio.Reader
}

// NewAnswers returns the answers of an input, which may be a terminal.
func NewAnswers(from io.Reader) *Answers {
	return &Answers{from: from, lines: bufio.NewReaderSize(from, maxAnswer)}
}

// Next returns the next line without the spaces around it, and [io.EOF] when there
// is none. With hidden set, a terminal does not show what is typed. After the end
// of ctx it must not be called again: something may still be typed.
func (a *Answers) Next(ctx context.Context, hidden bool) (string, error) {
	if f, ok := a.from.(*os.File); ok && hidden && isTerminal(f) {
		restore, err := hide(f)
		if err != nil {
			return "", err
		}
		defer restore()
	}
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		text, err := a.lines.ReadSlice('\n')
		read <- line{strings.TrimSpace(string(text)), err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case l := <-read:
		if errors.Is(l.err, bufio.ErrBufferFull) {
			return "", errors.New("the line is too long")
		}
		if errors.Is(l.err, io.EOF) && l.text != "" {
			return l.text, nil
		}
		return l.text, l.err
	}
}
