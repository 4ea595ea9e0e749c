package evidence

import (
	"context"
	"errors"
	"fmt"
)

// What is taken of the files in which maintainers say how to review.
const (
	// MaxInstruction is how much of one file is kept, in bytes.
	MaxInstruction = 32 << 10
	// maxInstructions is how many files are read.
	maxInstructions = 8
	// maxInstructionRead is the largest file of which the beginning is kept.
	maxInstructionRead = 1 << 20
)

// Instruction is a file of the base branch in which the maintainers say how to
// review. Whoever may change the base branch wrote it; the proposed change did not.
type Instruction struct {
	Path string
	// Text has everything in it that a reader of the page would not see made visible.
	Text string
}

// instructions reads the files that are there, in order. The strings say what
// of them was left out.
func (f *fetcher) instructions(ctx context.Context, base string, paths []string) (found []Instruction, left []string, err error) {
	if more := len(paths) - maxInstructions; more > 0 {
		left = append(left, fmt.Sprintf("%s: only the first %d are read", counted(more, "instruction file"), maxInstructions))
		paths = paths[:maxInstructions]
	}
	for _, path := range paths {
		content, e, err := f.contentsAt(ctx, path, base, maxInstructionRead)
		switch why, ok := whyMissing(err); {
		case err == nil && e.mode == "":
			text, _, isText := asText(content)
			if !isText {
				left = append(left, quote(path)+": not text")
				continue
			}
			shown, _ := Reveal(cut(string(text), MaxInstruction))
			found = append(found, Instruction{Path: path, Text: shown})
		case err == nil:
			left = append(left, quote(path)+": a link or a submodule, which is not followed")
		case isNotFound(err):
		case errors.Is(err, errUnusable):
			left = append(left, quote(path)+": no file")
		case errors.Is(err, errTooLarge):
			left = append(left, quote(path)+": larger than "+bytesText(maxInstructionRead))
		case ok:
			left = append(left, quote(path)+": "+why)
		default:
			return nil, nil, err
		}
	}
	return found, left, nil
}
