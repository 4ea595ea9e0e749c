package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/liaison-bot/liaison/state"
	"github.com/liaison-bot/liaison/state/internal/durable"
)

// Lineage names the database that a journal belongs to: random bytes, which the
// marks of the records are made of. Whoever writes a body does not know them.
type Lineage [16]byte

// A segment begins with: magic, lineage, number, time of creation, sum.
const headerSize = 8 + 16 + 8 + 8 + 4

var magic = []byte("liaison1")

// header is the first bytes of a segment.
type header struct {
	lineage Lineage
	number  uint64
	created time.Time
}

func (h header) encode() []byte {
	raw := append(make([]byte, 0, headerSize), magic...)
	raw = append(raw, h.lineage[:]...)
	raw = binary.LittleEndian.AppendUint64(raw, h.number)
	raw = binary.LittleEndian.AppendUint64(raw, uint64(h.created.UnixNano()))
	return binary.LittleEndian.AppendUint32(raw, crc32.Checksum(raw, castagnoli))
}

func decodeHeader(raw []byte) (h header, ok bool) {
	if len(raw) < headerSize || !bytes.HasPrefix(raw, magic) ||
		crc32.Checksum(raw[:headerSize-4], castagnoli) != binary.LittleEndian.Uint32(raw[headerSize-4:]) {
		return h, false
	}
	h.lineage = Lineage(raw[8:])
	h.number = binary.LittleEndian.Uint64(raw[24:])
	h.created = time.Unix(0, int64(binary.LittleEndian.Uint64(raw[32:])))
	return h, true
}

// markOf is what the records of a segment begin with. It can be told without the
// header, which may be damaged.
func markOf(lineage Lineage, number uint64) [markSize]byte {
	sum := sha256.Sum256(binary.LittleEndian.AppendUint64(lineage[:], number))
	return [markSize]byte(sum[:])
}

const suffix = ".log"

func (j *Journal) path(number uint64) string {
	return filepath.Join(j.dir, fmt.Sprintf("%08d%s", number, suffix))
}

// list returns the numbers of the segments in a folder, in order. A folder that
// is not there has none.
func list(dir string) ([]uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var numbers []uint64
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		n, err := strconv.ParseUint(name, 10, 64)
		if ok && err == nil && n > 0 {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	return numbers, nil
}

// create makes an empty segment, durably, or none.
func (j *Journal) create(number uint64) (_ *os.File, err error) {
	if err := durable.MkdirAll(j.dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(j.path(number), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = f.Write(header{j.opts.Lineage, number, j.opts.Now()}.encode())
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = durable.SyncDir(j.dir)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// created returns when a segment was begun; false when that cannot be read.
func (j *Journal) created(number uint64) (time.Time, bool) {
	f, err := os.Open(j.path(number))
	if err != nil {
		return time.Time{}, false
	}
	defer func() { _ = f.Close() }()
	h, ok := readHeader(f)
	return h.created, ok
}

func readHeader(f *os.File) (header, bool) {
	raw := make([]byte, headerSize)
	n, _ := f.ReadAt(raw, 0)
	return decodeHeader(raw[:n])
}

// ours refuses a segment of another database.
func (j *Journal) ours(f *os.File) error {
	if h, ok := readHeader(f); ok && h.lineage != j.opts.Lineage {
		return fmt.Errorf("%s holds deliveries of another database than the one beside it; restore both from one backup, or move the folder %s away: %w",
			f.Name(), j.dir, state.ErrCorrupt)
	}
	return nil
}
