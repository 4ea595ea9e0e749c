package sessions

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// handNote says, for the next process, which deliveries this one has in hand, so
// that one that takes the process with it again and again can be told from the
// others. It is a file of its own, of one line, and not synced: the death of a
// process loses nothing of it, and after a power failure nothing is to blame.
type handNote struct{ f *os.File }

// handNoteName is its name in the state directory.
const handNoteName = "deciding"

// maxNoted bounds a note: more deliveries are never in hand.
const maxNoted = 4 * maxDispatching

// openHandNote returns what an earlier process had in hand when it died. Only
// the process that opened the store before this one counts: its epoch is one less.
func openHandNote(dir string, epoch uint64) (note *handNote, left []uint64, err error) {
	f, err := os.OpenFile(filepath.Join(dir, handNoteName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("open the note of deliveries in hand: %w", err)
	}
	line := make([]byte, 32*(maxNoted+1))
	n, _ := f.ReadAt(line, 0) // what cannot be read blames nobody
	wrote, left := parseHandNote(line[:n])
	if wrote+1 != epoch {
		left = nil
	}
	return &handNote{f}, left, nil
}

// parseHandNote reads the first line: an epoch and numbers of deliveries. A line
// that is torn or no note has none.
func parseHandNote(raw []byte) (epoch uint64, seqs []uint64) {
	line, _, whole := bytes.Cut(raw, []byte{'\n'})
	fields := bytes.Fields(line)
	if !whole || len(fields) == 0 || len(fields) > maxNoted+1 {
		return 0, nil
	}
	var numbers []uint64
	for _, f := range fields {
		n, err := strconv.ParseUint(string(f), 10, 64)
		if err != nil {
			return 0, nil
		}
		numbers = append(numbers, n)
	}
	return numbers[0], numbers[1:]
}

// write replaces the note. What follows its line is left of longer ones.
func (h *handNote) write(epoch uint64, seqs []uint64) error {
	line := strconv.AppendUint(nil, epoch, 10)
	for _, seq := range seqs {
		line = strconv.AppendUint(append(line, ' '), seq, 10)
	}
	_, err := h.f.WriteAt(append(line, '\n'), 0)
	return err
}

// remove says that nothing is in hand any more.
func (h *handNote) remove() {
	_ = h.f.Close()
	_ = os.Remove(h.f.Name()) // one that stays names deliveries that are settled
}
