package local

import (
	"encoding/base64"
	"slices"
)

const (
	defaultPage = 100
	maxPage     = 500
)

// pageSize is how many items a page has when limit was asked for.
func pageSize(limit uint32) int {
	if limit == 0 {
		return defaultPage
	}
	return int(min(limit, maxPage))
}

// readCursor gives the id of the last item that the caller has. Cursors are
// opaque to callers.
func readCursor(cursor string) (id string, err error) {
	last, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil {
		return "", invalid("the cursor is not one that this call gave")
	}
	return string(last), nil
}

func writeCursor(id string) string { return base64.RawURLEncoding.EncodeToString([]byte(id)) }

// page cuts one page out of all, in their order. A cursor whose item is gone is
// refused, since where it was is not known any more.
func page[T any](all []T, id func(T) string, limit uint32, cursor string) (items []T, next string, err error) {
	size := pageSize(limit)
	if cursor != "" {
		last, err := readCursor(cursor)
		if err != nil {
			return nil, "", err
		}
		at := slices.IndexFunc(all, func(item T) bool { return id(item) == last })
		if at < 0 {
			return nil, "", invalid("the cursor is of an item that is gone; list from the start")
		}
		all = all[at+1:]
	}
	if len(all) > size {
		all = all[:size]
		next = writeCursor(id(all[size-1]))
	}
	return all, next, nil
}
