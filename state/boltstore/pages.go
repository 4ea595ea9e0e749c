package boltstore

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"

	"github.com/liaison-bot/liaison/state"
)

// bbolt trusts its pages: a damaged one ends the process in a goroutine of
// bbolt's that no one can recover, while it looks for free pages. So the tree
// is walked here first, with every number checked before it is followed. The
// layout is bbolt's file format, version 2.
const (
	boltMagic      = 0xED0CDAED
	boltVersion    = 2
	pageHeaderSize = 16
	metaSize       = 64 // with its checksum in the last 8 bytes
	elementSize    = 16
	bucketSize     = 16

	flagBranch = 0x01
	flagLeaf   = 0x02
	// flagFreelist marks the list of free pages. A list too long for the header's
	// count has longFreelist there and the true count before its entries.
	flagFreelist = 0x10
	longFreelist = 0xffff
	flagBucket   = 0x01

	noFreelist = ^uint64(0)
	// quickCheck is how many pages are walked at each opening: 32 MiB of them
	// take some tens of milliseconds.
	quickCheck = 8192
	// maxDepth is more levels than a file of any size has.
	maxDepth = 64
)

// boltMeta is what a meta page says.
type boltMeta struct {
	pageSize                    int
	root, freelist, limit, txid uint64
}

// listed reports whether the list of free pages is in the file.
func (m boltMeta) listed() bool { return m.freelist != noFreelist }

// readMeta returns the newer meta page that is whole. It is safe while another
// process writes: only one of the two can be torn.
func readMeta(f *os.File) (boltMeta, error) {
	best, newer, found := metaAt(f, 0)
	if found {
		if second, _, ok := metaAt(f, int64(best.pageSize)); ok && second.txid > best.txid {
			best = second
		}
	}
	// The second one is one page on, and the page size is known only from it.
	for shift := 10; !found && shift <= 24; shift++ {
		var other bool
		best, other, found = metaAt(f, 1<<shift)
		found = found && best.pageSize == 1<<shift
		newer = newer || other
	}
	if !found {
		if newer {
			return best, fmt.Errorf("%s has a newer bbolt format: %w", f.Name(), state.ErrNewerSchema)
		}
		return best, damaged(f, "it has no valid header, so it is damaged or no database of Liaison")
	}
	info, err := f.Stat()
	if err != nil {
		return best, err
	}
	if uint64(info.Size())/uint64(best.pageSize) < best.limit {
		return best, damaged(f, "it is shorter (%d bytes) than its header says (%d pages of %d bytes)",
			info.Size(), best.limit, best.pageSize)
	}
	return best, nil
}

// metaAt reads the meta page at an offset; newer says that it has another format.
func metaAt(r io.ReaderAt, at int64) (m boltMeta, newer, ok bool) {
	var buf [pageHeaderSize + metaSize]byte
	if _, err := r.ReadAt(buf[:], at); err != nil {
		return m, false, false
	}
	b := buf[pageHeaderSize:]
	order := binary.NativeEndian
	sum := fnv.New64a()
	_, _ = sum.Write(b[:metaSize-8])
	if order.Uint32(b) != boltMagic || order.Uint64(b[metaSize-8:]) != sum.Sum64() {
		return m, false, false
	}
	m = boltMeta{
		pageSize: int(order.Uint32(b[8:])),
		root:     order.Uint64(b[16:]),
		freelist: order.Uint64(b[32:]),
		limit:    order.Uint64(b[40:]),
		txid:     order.Uint64(b[48:]),
	}
	version := order.Uint32(b[4:])
	ok = version == boltVersion && m.pageSize >= 512 && m.pageSize <= 16<<20 && m.limit < 1<<40
	return m, version > boltVersion, ok
}

// checkPages walks every page that the file's root reaches.
func checkPages(f *os.File, m boltMeta) error {
	w := pageWalk{f: f, meta: m, seen: make([]uint64, m.limit/64+1)}
	if err := w.page(m.root, 0, true); err != nil || !m.listed() {
		return err
	}
	return w.freelist()
}

// freelist checks the list of free pages, after all that is in use was seen: an
// entry that is wrong would have bbolt write over what is in use, or far beyond the end.
func (w *pageWalk) freelist() error {
	id := w.meta.freelist
	buf, pages, err := w.read(id, 0)
	if err != nil {
		return err
	}
	size := uint64(pages) * uint64(w.meta.pageSize)
	order := binary.NativeEndian
	if flags := order.Uint16(buf[8:]); flags != flagFreelist {
		return damaged(w.f, "page %d has kind %#x and should list free pages", id, flags)
	}
	if buf, err = w.whole(id, size); err != nil {
		return err
	}
	list, count := buf[pageHeaderSize:], uint64(order.Uint16(buf[10:]))
	if count == longFreelist {
		count, list = order.Uint64(list), list[8:]
	}
	if count > uint64(len(list))/8 {
		return damaged(w.f, "the list of free pages has %d entries, more than fit", count)
	}
	for i := range count {
		free := order.Uint64(list[8*i:])
		if free < 2 || free >= w.meta.limit || w.seen[free/64]&(1<<(free%64)) != 0 {
			return damaged(w.f, "the list of free pages names page %d, which is not free", free)
		}
		w.seen[free/64] |= 1 << (free % 64)
	}
	return nil
}

type pageWalk struct {
	f    *os.File
	meta boltMeta
	seen []uint64 // one bit a page
	bufs [][]byte // one a level
}

// page checks one page and what is below it. Only the leaves of the root hold buckets.
func (w *pageWalk) page(id uint64, depth int, root bool) error {
	if depth >= maxDepth {
		return damaged(w.f, "page %d is nested too deeply", id)
	}
	buf, pages, err := w.read(id, depth)
	if err != nil {
		return err
	}
	order := binary.NativeEndian
	flags, count := order.Uint16(buf[8:]), int(order.Uint16(buf[10:]))
	size := uint64(pages) * uint64(w.meta.pageSize)
	if flags != flagBranch && flags != flagLeaf || flags == flagBranch && count == 0 {
		return damaged(w.f, "page %d has kind %#x with %d elements", id, flags, count)
	}
	if pageHeaderSize+uint64(count)*elementSize > size {
		return damaged(w.f, "page %d has %d elements, more than fit", id, count)
	}
	if pageHeaderSize+count*elementSize > len(buf) {
		if buf, err = w.whole(id, size); err != nil {
			return err
		}
	}
	for i := range count {
		at := uint64(pageHeaderSize + i*elementSize)
		e := buf[at:]
		if flags == flagBranch {
			if at+uint64(order.Uint32(e))+uint64(order.Uint32(e[4:])) > size {
				return damaged(w.f, "element %d of page %d is out of bounds", i, id)
			}
			if err := w.page(order.Uint64(e[8:]), depth+1, root); err != nil {
				return err
			}
			continue
		}
		pos, key, value := uint64(order.Uint32(e[4:])), uint64(order.Uint32(e[8:])), uint64(order.Uint32(e[12:]))
		if at+pos+key+value > size {
			return damaged(w.f, "element %d of page %d is out of bounds", i, id)
		}
		if order.Uint32(e)&flagBucket == 0 {
			continue
		}
		if !root || value < bucketSize {
			return damaged(w.f, "element %d of page %d is a bucket out of place", i, id)
		}
		var header [8]byte
		if _, err := w.f.ReadAt(header[:], int64(id*uint64(w.meta.pageSize)+at+pos+key)); err != nil {
			return fmt.Errorf("check page %d: %w", id, err)
		}
		if child := order.Uint64(header[:]); child != 0 { // 0: kept inline
			if err := w.page(child, depth+1, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// read returns the first page of id, how many follow it, and marks them.
func (w *pageWalk) read(id uint64, depth int) ([]byte, int, error) {
	if id < 2 || id >= w.meta.limit {
		return nil, 0, damaged(w.f, "page %d does not exist", id)
	}
	for len(w.bufs) <= depth {
		w.bufs = append(w.bufs, make([]byte, w.meta.pageSize))
	}
	buf := w.bufs[depth]
	if _, err := w.f.ReadAt(buf, int64(id)*int64(w.meta.pageSize)); err != nil {
		return nil, 0, fmt.Errorf("check page %d: %w", id, err)
	}
	order := binary.NativeEndian
	if got := order.Uint64(buf); got != id {
		return nil, 0, damaged(w.f, "page %d says that it is page %d", id, got)
	}
	last := id + uint64(order.Uint32(buf[12:]))
	if last >= w.meta.limit {
		return nil, 0, damaged(w.f, "page %d goes beyond the end", id)
	}
	for p := id; p <= last; p++ {
		if w.seen[p/64]&(1<<(p%64)) != 0 {
			return nil, 0, damaged(w.f, "page %d is used twice", p)
		}
		w.seen[p/64] |= 1 << (p % 64)
	}
	return buf, int(last-id) + 1, nil
}

// whole reads a page with all that follow it: its elements fill more than one.
func (w *pageWalk) whole(id, size uint64) ([]byte, error) {
	buf := make([]byte, size)
	if _, err := w.f.ReadAt(buf, int64(id)*int64(w.meta.pageSize)); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("check page %d: %w", id, err)
	}
	return buf, nil
}

func damaged(f *os.File, format string, args ...any) error {
	return fmt.Errorf("%s: "+format+"; restore a backup, or move it and the folder "+JournalFolder+" away to begin anew: %w",
		append(append([]any{f.Name()}, args...), state.ErrCorrupt)...)
}
