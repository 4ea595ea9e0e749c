package local

import (
	"encoding/base64"
	"slices"
)

const (
	defaultPage = 100
	maxPage     = 500
)

// page cuts one page out of all, in their order. The cursor is opaque to
// callers: it names the last item they have. A cursor whose item is gone is
// refused, since where it was is not known any more.
func page[T any](all []T, id func(T) string, limit uint32, cursor string) (items []T, next string, err error) {
	size := int(min(limit, maxPage))
	if limit == 0 {
		size = defaultPage
	}
	if cursor != "" {
		last, err := base64.RawURLEncoding.DecodeString(cursor)
		if err != nil {
			return nil, "", invalid("the cursor is not one that this call gave")
		}
		at := slices.IndexFunc(all, func(item T) bool { return id(item) == string(last) })
		if at < 0 {
			return nil, "", invalid("the cursor is of an item that is gone; list from the start")
		}
		all = all[at+1:]
	}
	if len(all) > size {
		all = all[:size]
		next = base64.RawURLEncoding.EncodeToString([]byte(id(all[size-1])))
	}
	return all, next, nil
}
